"""Draw the figures of README and docs: ``make figures``."""

from pathlib import Path

from linkparity.cli.output import say
from linkparity.experiments.demo import Demo, run_demo
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
        plain, dp, eo = (run for run in demo.runs if run.predictor.model == "cne")
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


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    draw_parity(run_demo(say), IMAGES / "polblogs-parity.svg")
    say(f"wrote {IMAGES.name}/polblogs-parity.svg")
