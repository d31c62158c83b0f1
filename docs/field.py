"""Write docs/field from rows of benchmarks/field.toml: the page, the picture, the tables, the rows.

Usage: python docs/field.py ROWS.jsonl
"""

import argparse
import gzip
from pathlib import Path
from typing import Any

from linkparity.cli.output import say
from linkparity.experiments.results import Results, Summary, summarize
from linkparity.paper.report import Report
from linkparity.report.chart_style import Look
from linkparity.support.errors import require

FOLDER = Path(__file__).parent / "field"
MEASURES = ("auc", "dp", "eo", "rdp")
HEAD = """# The methods of the field, side by side

Every method of [Other methods](../methods.md) on the same splits, by the same measures. By itself
no method closes the dp gap on all data. The I-projection closes it with every method, and the
regularizer makes it smaller with nearly all. [Which to choose](../methods.md#which-to-choose) says
what that costs.

A row is a method at its default strength: as it is (`none`), with the regularizer
(`dp`, γ = 100), or without it but with the I-projection afterwards (`projected`). Numbers are means
± standard deviations over the seeds. dp and rdp are over all candidates, auc and eo on held-out
pairs. Seconds are those of one fit with one thread, on two cores with other work beside it: upper
bounds.

```
linkparity run benchmarks/field.toml --out rows.jsonl
linkparity run benchmarks/field-projection.toml --out rows.jsonl
python docs/field.py rows.jsonl
```

The rows are in [rows.jsonl.gz](rows.jsonl.gz); [the interactive page](report.html) is
`linkparity report docs/field/rows.jsonl.gz --out report.html`. Predictions of `cfc` and `fairadj`
are not calibrated on the common training pairs, so that their gaps are on another scale.

![AUC against the dp gap of every method on four data sets](tradeoff.svg)

*Each colour is a method: a circle as it is, a diamond with the regularizer, a square with the
I-projection. Lines join the three.*
"""
KINDS = {"none": "o", "dp": "D", "projected": "s"}


def kind(summary: Summary) -> str:
    """How parity was asked for."""
    projected = summary.settings.get("postprocess") not in (None, "none")
    return "projected" if projected else summary.criterion


def table(summaries: list[Summary]) -> str:
    """One line per method and kind."""
    lines = [["model", "parity", "seeds", *MEASURES, "seconds"]]
    lines.append(["---"] * len(lines[0]))
    for each in sorted(summaries, key=lambda s: (s.model, list(KINDS).index(kind(s)))):
        several = len(each.rows) > 1
        values = (each.measures[name] for name in MEASURES)
        texts = [f"{v.mean:.3f}" + f" ± {v.std:.3f}" * several for v in values]
        seeds = str(len(each.rows))
        lines.append([each.model, kind(each), seeds, *texts, f"{each.fit_seconds:.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def draw(summaries: list[Summary], path: Path) -> None:
    """AUC against the dp gap, a panel per data set."""
    matplotlib = require("matplotlib", "docs/field.py", "linkparity[dev]")
    matplotlib.use("agg")
    settings = {"svg.hashsalt": "linkparity", "svg.fonttype": "path", "font.size": 9}
    models = sorted({each.model for each in summaries})
    colors = dict(zip(models, Look.models, strict=False))
    datasets = list(dict.fromkeys(str(each.dataset) for each in summaries))
    with matplotlib.rc_context(settings):
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        figure = Figure(figsize=(8, 7), layout="constrained")
        for axes, data in zip(figure.subplots(2, 2).flat, datasets, strict=False):
            _draw_panel(axes, [s for s in summaries if s.dataset == data], colors)
            axes.set_title(data, fontsize=10, loc="left")
        handles = [Line2D([], [], color=colors[name], label=name, linewidth=3) for name in models]
        handles += [
            Line2D([], [], color=Look.dim, marker=mark, linestyle="", label=name)
            for name, mark in KINDS.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=5)
        figure.savefig(path, metadata={"Date": None})


def _draw_panel(axes: Any, summaries: list[Summary], colors: dict[str, str]) -> None:
    for model, color in colors.items():
        own = {kind(each): each.measures for each in summaries if each.model == model}
        points = [(own[k]["dp"].mean, own[k]["auc"].mean, m) for k, m in KINDS.items() if k in own]
        axes.plot([p[0] for p in points], [p[1] for p in points], color=color, linewidth=0.7)
        for gap, auc, mark in points:
            axes.scatter(gap, auc, color=color, marker=mark, s=26, zorder=3)
    axes.set_xlabel("dp gap over all candidates")
    axes.set_ylabel("AUC")
    axes.locator_params(axis="x", nbins=5)
    axes.spines[["top", "right"]].set_visible(False)


def write(rows: str) -> None:
    """Everything in docs/field."""
    results = Results.read(rows)
    FOLDER.mkdir(exist_ok=True)
    parts = [HEAD]
    summaries = summarize(results)
    for dataset in dict.fromkeys(each.dataset for each in summaries):
        parts.append(f"## {dataset}\n\n{table([s for s in summaries if s.dataset == dataset])}")
    for row in {(row.dataset, row.model, row.error): row for row in results.failed}.values():
        parts.append(f"`{row.model}` on {row.dataset} has no row: {row.error}\n")
    (FOLDER / "README.md").write_text("\n".join(parts))
    data = Path(rows).read_bytes()
    (FOLDER / "rows.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
    Report(results).save(FOLDER / "report.html", force=True)
    draw(summaries, FOLDER / "tradeoff.svg")
    say(f"{len(results)} rows: {FOLDER}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows")
    write(parser.parse_args().rows)
