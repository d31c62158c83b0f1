"""Draw the figures of README and docs: ``make figures``."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from linkparity.cli.output import say
from linkparity.experiments.demo import Demo, run_demo
from linkparity.report.report_page import Report
from linkparity.support.errors import require

IMAGES = Path(__file__).parent / "img"
BEFORE, AFTER = "#8c8c8c", "#0b6e99"


def draw_parity(demo: Demo, path: Path) -> None:
    """Means per group pair of cne, plain and regularized: over all pairs for dp, links for eo."""
    matplotlib = require("matplotlib", "docs/figures.py", "linkparity[dev]")
    matplotlib.use("agg")
    settings = {"svg.hashsalt": "linkparity", "svg.fonttype": "path", "font.size": 9}
    with matplotlib.rc_context(settings):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 2.6), layout="constrained")
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
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, metadata=metadata, dpi=160)


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
    demo = run_demo(say)
    draw_parity(demo, IMAGES / "polblogs-parity.svg")
    picture_report(demo, IMAGES / "report.png")
    say(f"wrote polblogs-parity.svg and report.png in {IMAGES.name}/")
