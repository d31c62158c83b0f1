"""Write docs/field from rows of benchmarks/field.toml: the page, the picture, the tables, the rows.

Usage: python docs/field.py ROWS.jsonl [--about TEXT]
"""

import argparse
import gzip
import tempfile
from pathlib import Path

from linkparity.cli.output import say
from linkparity.experiments.results import Results, Summary, summarize
from linkparity.report.report_page import Report

FOLDER = Path(__file__).parent / "field"
MEASURES = ("auc", "dp", "eo", "rdp")
HEAD = """# The methods of the field, side by side

Every method of [Other methods](../methods.md), at its default strength, on the same splits and
measured by the same measures: as it is (`none`), with the regularizer (`dp`, γ = 100), and without
it but with the I-projection afterwards (`projected`). Means ± standard deviations over the seeds.

{about}

```
linkparity run benchmarks/field.toml --out rows.jsonl
linkparity run benchmarks/field-projection.toml --out rows.jsonl
python docs/field.py rows.jsonl
```

The rows are in [rows.jsonl.gz](rows.jsonl.gz); [the interactive page](report.html) is
`linkparity report docs/field/rows.jsonl.gz --out report.html`. Predictions of `cfc` and `fairadj`
are not calibrated on the common training pairs, so that their gaps are on another scale.

![Accuracy against the parity gap](tradeoff.svg)
"""
KINDS = ("none", "dp", "projected")


def kind(summary: Summary) -> str:
    """How parity was asked for."""
    projected = summary.settings.get("postprocess") not in (None, "none")
    return "projected" if projected else summary.criterion


def table(summaries: list[Summary]) -> str:
    """One line per method and kind."""
    lines = [["model", "parity", "seeds", *MEASURES, "seconds"]]
    lines.append(["---"] * len(lines[0]))
    for each in sorted(summaries, key=lambda s: (s.model, KINDS.index(kind(s)))):
        several = len(each.rows) > 1
        values = (each.measures[name] for name in MEASURES)
        texts = [f"{v.mean:.3f}" + f" ± {v.std:.3f}" * several for v in values]
        seeds = str(len(each.rows))
        lines.append([each.model, kind(each), seeds, *texts, f"{each.fit_seconds:.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write(rows: str, about: str) -> None:
    """Everything in docs/field."""
    results = Results.read(rows)
    FOLDER.mkdir(exist_ok=True)
    parts = [HEAD.format(about=about)]
    summaries = summarize(results)
    for dataset in dict.fromkeys(each.dataset for each in summaries):
        parts.append(f"## {dataset}\n\n{table([s for s in summaries if s.dataset == dataset])}")
    for row in {(row.dataset, row.model, row.error): row for row in results.failed}.values():
        parts.append(f"`{row.model}` on {row.dataset} has no row: {row.error}\n")
    (FOLDER / "README.md").write_text("\n".join(parts))
    data = Path(rows).read_bytes()
    (FOLDER / "rows.jsonl.gz").write_bytes(gzip.compress(data, mtime=0))
    report = Report(results)
    report.save(FOLDER / "report.html", force=True)
    with tempfile.TemporaryDirectory() as folder:
        report.save_figures(folder, force=True)
        (FOLDER / "tradeoff.svg").write_bytes((Path(folder) / "tradeoff.svg").read_bytes())
    say(f"{len(results)} rows: {FOLDER}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows")
    parser.add_argument("--about", default="")
    given = parser.parse_args()
    write(given.rows, given.about)
