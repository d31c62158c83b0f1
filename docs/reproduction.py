"""Write docs/reproduction from rows of ``linkparity reproduce``: the page, the tables, the rows.

Usage: python docs/reproduction.py ROWS.jsonl [ROWS.jsonl …] [--figure3 FIGURE3.json]
"""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from linkparity.cli.output import say
from linkparity.experiments.results import Results
from linkparity.paper.comparison import ComparedCell, compare, count_verdicts
from linkparity.paper.report import Report
from linkparity.paper.reproduce import run_times
from linkparity.paper.subsample_kl import SampledKL
from linkparity.paper.tables import (
    comparison_tables,
    differences,
    runtimes_grid,
    sampled_grid,
    tuned_grid,
    verdict_sentence,
)
from linkparity.support.display import Grid, format_rounded

FOLDER = Path(__file__).parent / "reproduction"
COMMAND = "linkparity report docs/reproduction/rows.jsonl.gz --out report.html --against paper"
#: Begins the part of the page that this script keeps.
BY_HAND = "<!-- Everything below is written by hand; docs/reproduction.py keeps it. -->"
BESIDE = "#beside-the-paper-at-the-same-gap"
MARKS = {"agrees": "", "better": " (better)", "differs": " **differs**"}


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def grid(found: Grid) -> str:
    """A table of the console, with its title and caption."""
    return f"{markdown(found.columns, found.rows)}\n{found.caption}\n"


def comparison(cells: Sequence[ComparedCell]) -> str:
    """Ours and, in brackets, the paper's, one table per data set."""
    parts = []
    for dataset, (names, rows) in comparison_tables(cells).items():
        own = count_verdicts([cell for cell in cells if cell.dataset == dataset])
        parts.append(f"### {dataset}: {own['agree']} of {own['total']} agree\n")
        table = []
        for (model, label), found in rows.items():
            texts = [
                f"{format_rounded(c.ours.mean, 3)} ({c.paper.mean:.3f}){MARKS[c.verdict]}"
                if c
                else ""
                for c in map(found.get, names)
            ]
            table.append([model, label, *texts])
        parts.append(markdown(["model", "criterion", *names], table))
    return "\n".join(parts)


def by_hand(page: Path) -> str:
    """The part of a page that is written by hand, with its mark; only the mark if there is none."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return BY_HAND + text.partition(BY_HAND)[2]


def write(rows: Sequence[str], figure3: str | None) -> None:
    """The folder: report.html, README.md, rows.jsonl.gz."""
    FOLDER.mkdir(exist_ok=True)
    results = Results(tuple(row for name in rows for row in Results.read(name)))
    text = "".join(row.to_json() + "\n" for row in results)
    (FOLDER / "rows.jsonl.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    Report(results, "paper", COMMAND).save(FOLDER / "report.html", force=True)
    cells = compare(results.summaries())
    parts = [
        "# The paper, reproduced\n",
        f"{verdict_sentence(cells)}\nOurs is the mean over the seeds; in brackets the paper's.\n"
        f"What `linkparity tune` finds stands [beside the paper's rows]({BESIDE}), "
        "at the same gap.\n",
        "[The same as a page](report.html) (download it, then open it) · "
        "[all rows](rows.jsonl.gz) · `python docs/reproduction.py` wrote the tables.\n",
        seeds(results),
        comparison(cells),
        "## Cells that differ\n",
        "\n".join(f"- {said}" for said in differences(cells)) + "\n",
        "[What is known of them](../method.md#against-the-paper).\n",
        "## Run times\n",
        grid(runtimes_grid(run_times(results.summaries(), {}))),
    ]
    tuned = [each for each in results.summaries() if "max_gap" in each.settings]
    if tuned:
        shown = tuned_grid(tuned)
        parts += ["## Figure 2: what tune finds\n", f"{shown.title}.\n", grid(shown)]
        parts += [f"[Beside the paper's rows]({BESIDE}).\n"]
    if figure3:
        found = [SampledKL(**each) for each in json.loads(Path(figure3).read_text())]
        parts += ["## Figure 3\n", grid(sampled_grid(found))]
    page = FOLDER / "README.md"
    page.write_text("\n".join([*parts, by_hand(page)]), encoding="utf-8")
    say(f"wrote {FOLDER}: {len(results)} rows")


def seeds(results: Results) -> str:
    """How many seeds each data set has, and what is missing of the largest number."""
    by_method: dict[str, dict[str, int]] = {}
    for each in (one for one in results.summaries() if "max_gap" not in one.settings):
        by_method.setdefault(str(each.dataset), {})[each.method] = len(each.rows)
    said = []
    for dataset, counts in by_method.items():
        fewest, most = min(counts.values()), max(counts.values())
        said.append(f"{dataset} {most if fewest == most else f'{fewest} to {most}'}")
    return f"Seeds per row: {', '.join(said)}.\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--figure3")
    given = parser.parse_args()
    write(given.rows, given.figure3)
