"""Draw the figures of README and docs: ``make figures``."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import linkparity as lp
from linkparity.cli.output import say
from linkparity.experiments.results import Results, Summary
from linkparity.paper.demo import Demo, run_demo
from linkparity.paper.published import published
from linkparity.paper.report import Report
from linkparity.paper.reproduce import CRITERIA, PAPER_DATA
from linkparity.paper.tuned_fit import tuned_and_plain
from linkparity.support.errors import require

IMAGES = Path(__file__).parent / "img"
BEFORE, PAPER, AFTER = "#8c8c8c", "#c8553d", "#0b6e99"
#: Rows of ``linkparity reproduce`` and ``benchmarks/tradeoff.py run``.
ROWS = Path(__file__).parent / "reproduction" / "rows.jsonl.gz"


@contextmanager
def _figure(path: Path, size: tuple[float, float]) -> Iterator[Any]:
    """A figure of a width and a height in inches, saved in the end; the same bytes every time."""
    matplotlib = require("matplotlib", "docs/figures.py", "linkparity[dev]")
    matplotlib.use("agg")
    settings = {"svg.hashsalt": "linkparity", "svg.fonttype": "path", "font.size": 9}
    with matplotlib.rc_context(settings):
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, layout="constrained")
        yield figure
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata, dpi=160)


def draw_job_board(path: Path) -> None:
    """Mean score per group of seekers on the job board, with intervals, before and after project.

    Args:
        path: of the figure.
    """
    scores, people = lp.example("jobs")
    with _figure(path, (8, 2.9)) as figure:
        panels = figure.subplots(1, 2, width_ratios=(2, 3), sharex=True)
        for axes, sensitive in zip(panels, (["gender"], ["gender", "age"]), strict=True):
            fair = lp.project(scores, sensitive, people, bipartite=True)
            before = lp.audit(scores, sensitive, people, bipartite=True)
            after = lp.audit(
                fair, sensitive, people, bipartite=True, score="fair_score", confidence=None
            )
            places = range(len(before.cells))
            means = [[100 * cell.mean for cell in each.cells] for each in (before, after)]
            ends = [[100 * end for end in cell.interval] for cell in before.cells]
            axes.hlines(places, *zip(*ends, strict=True), color=BEFORE, linewidth=4, alpha=0.4)
            for mean, color, label in zip(
                means, (BEFORE, AFTER), ("as scored, 95 % interval", "after project"), strict=True
            ):
                axes.scatter(mean, places, color=color, s=30, label=label, zorder=3)
            axes.set_yticks(places, [cell.groups[0] for cell in before.cells])
            axes.invert_yaxis()
            axes.margins(y=0.12)
            axes.set_xlabel("mean score (%)")
            title = f"{' & '.join(sensitive)}: gap {before.dp:.3f} → {after.dp:.3f}"
            axes.set_title(title, fontsize=10, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set_xlim(left=0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def draw_parity(demo: Demo, path: Path) -> None:
    """Means per group pair of cne, plain and regularized: over all pairs for dp, links for eo."""
    with _figure(path, (8, 2.6)) as figure:
        panels = figure.subplots(1, 2)
        own = [run for run in demo.runs if run.predictor.pairs is None]
        plain, dp, eo = (run for run in own if run.predictor.model == "cne")
        titles = "Demographic parity: all held-out pairs", "Equal opportunity: held-out links"
        for axes, row, which, title in zip(
            panels, (dp, eo), ("mean", "link_mean"), titles, strict=True
        ):
            before = [100 * getattr(cell, which) for cell in plain.scores.cells]
            after = [100 * getattr(cell, which) for cell in row.scores.cells]
            places = range(len(before))
            axes.hlines(places, before, after, color=BEFORE, linewidth=1)
            axes.scatter(before, places, color=BEFORE, s=36, label="trained plain", zorder=3)
            axes.scatter(
                after, places, color=AFTER, s=36, label="trained with the regularizer", zorder=3
            )
            axes.set_yticks(places, [" – ".join(cell.groups) for cell in row.scores.cells])
            axes.invert_yaxis()
            axes.margins(y=0.25)
            axes.set_xlim(left=0)
            axes.set_xlabel("mean prediction (%)")
            axes.set_title(title, fontsize=10, loc="left")
            axes.spines[["top", "right"]].set_visible(False)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def draw_tradeoff(summaries: list[Summary], path: Path) -> None:
    """AUC against gap per data set and criterion: the paper's rows, plain models, what tune chose.

    Args:
        summaries: of the rows of ``benchmarks/tradeoff.py run``.
        path: of the figure.
    """
    tuned, plain = tuned_and_plain(summaries)
    shown = {(data, criterion) for data, _, criterion in tuned}
    panels = [each for each in product(PAPER_DATA, CRITERIA) if each in shown]
    rows = (len(panels) + 1) // 2
    with _figure(path, (8, 0.6 + 2.6 * rows)) as figure:
        drawn = figure.subplots(rows, 2, squeeze=False)
        for axes, (data, criterion) in zip(drawn.flat, panels, strict=False):
            own = {k[1]: v for k, v in tuned.items() if (k[0], k[2]) == (data, criterion)}
            before = {model: plain[data, model, "none"] for model in own}
            _draw_panel(axes, data, criterion, own, before)
        legend = drawn[0, 0].get_legend_handles_labels()
        figure.legend(*legend, loc="outside lower center", ncols=3)


def _draw_panel(
    axes: Any, data: str, criterion: str, tuned: dict[str, Summary], plain: dict[str, Summary]
) -> None:
    """The models of one data set: lines from the plain model to the paper's row and to ours."""
    for place, model in enumerate(tuned):
        points = {
            "plain": _point(plain[model].measures, criterion),
            "paper": _point(
                {n: published()[data, model, criterion, n] for n in (criterion, "auc")}, criterion
            ),
            "chosen by tune": _point(tuned[model].measures, criterion),
        }
        for (kind, point), color in zip(points.items(), (BEFORE, PAPER, AFTER), strict=True):
            axes.plot(*zip(points["plain"], point, strict=True), color=color, linewidth=1)
            label = kind if place == 0 else None
            axes.scatter(*point, color=color, s=30, zorder=3, label=label)
        axes.annotate(model, points["plain"], xytext=(5, 2), textcoords="offset points", fontsize=8)
    axes.set_xlabel(f"{criterion} gap")
    axes.set_ylabel("AUC")
    axes.margins(0.12)
    axes.set_xlim(left=0)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(f"{data}, {criterion}", fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def _point(figures: Any, criterion: str) -> tuple[float, float]:
    return figures[criterion].mean, figures["auc"].mean


def picture_report(demo: Demo, path: Path) -> None:
    """The top of the demo's report as Chromium shows it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("docs/figures.py needs chromium for the picture of the report")
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        Report(demo.results, "paper", "linkparity demo").save(page)
        flags = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/p"]
        flags += ["--window-size=1080,1215", "--virtual-time-budget=20000"]
        command = [chromium, *flags, f"--screenshot={path}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    image = require("PIL.Image", "docs/figures.py", "linkparity[dev]")
    image.open(path).convert("P", palette=image.Palette.ADAPTIVE).save(path, optimize=True)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_job_board(IMAGES / "jobs-audit.svg")
    draw_tradeoff(Results.read(ROWS).summaries(), IMAGES / "tradeoff.svg")
    demo = run_demo(say)
    draw_parity(demo, IMAGES / "polblogs-parity.svg")
    picture_report(demo, IMAGES / "report.png")
    say(f"wrote jobs-audit.svg, tradeoff.svg, polblogs-parity.svg and report.png in {IMAGES.name}/")
