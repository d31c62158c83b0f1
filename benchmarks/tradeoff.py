"""The paper's 24 regularized rows, with settings that ``tune`` chooses without test pairs.

    python benchmarks/tradeoff.py run ROWS [--data polblogs …] [--models cne …] [--seeds 5]
        [--as-published]
    python benchmarks/tradeoff.py report ROWS [ROWS …]

``run`` makes the rows that ROWS (a file of ``linkparity reproduce``) does not hold yet: plain
models and, for each of the paper's regularized rows, what ``tune`` chooses with a limit below the
paper's gap, measured on the paper's test pairs. ``report`` prints the tables of
docs/reproduction and docs/training.md, and what is to be reached; rows of benchmarks/field.toml
give the table of the defaults. With ``--as-published``, rows of bipartite data have the authors'
prior; ``report`` shows them in a table of their own.
"""

import argparse
from itertools import product
from statistics import fmean

from linkparity.cli.output import say
from linkparity.experiments.results import Results, Summary
from linkparity.experiments.run import run_fits
from linkparity.paper.published import published
from linkparity.paper.reproduce import (
    CRITERIA,
    PAPER_DATA,
    REGULARIZED,
    paper_fits,
    searches_beside,
)
from linkparity.paper.tuned_fit import Key, tuned_and_plain
from linkparity.report.live_display import LineDisplay

#: What is to be reached: rows, and mean gain of AUC on polblogs' dp rows.
ROWS, GAIN = 22, 0.08
#: What the default is to reach: times smaller, or down to.
TIMES, LOW = 5.0, 0.005
TUNED = (
    "data set", "model", "criterion", "AUC, paper", "AUC, ours", "AUC, plain", "gap, paper",
    "gap, ours", "exact dp, ours", "gap, plain", "as good", "seeds",
)  # fmt: skip
DEFAULT = (
    "data set", "model", "gap, plain", "gap, default dp", "times", "AUC, plain", "AUC", "reached",
    "seeds",
)  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Make what is missing."""
    fits = [
        fit
        for fit in paper_fits(
            options.data, options.seeds, options.as_published, models=options.models
        )
        if fit.parameters.get("criterion") is None
    ]
    with LineDisplay(say) as display:
        every = [*fits, *searches_beside(fits, options.seeds)]
        run_fits(every, options.rows[0], options.jobs, None, display)


def verdict(ours: Summary, key: Key) -> tuple[bool, bool]:
    """Whether gap and AUC are as good as the paper's, but for one of its standard deviations."""
    gap, auc = published()[*key, key[2]], published()[*key, "auc"]
    own = ours.measures
    return own[key[2]].mean <= gap.mean + gap.std, own["auc"].mean >= auc.mean - auc.std


def show(columns: tuple[str, ...], rows: list[list[str]]) -> None:
    """Print a table in Markdown."""
    print("\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows]))


def report_tuned(summaries: list[Summary], title: str) -> None:
    """The paper's rows beside what ``tune`` chose; nothing where there is no such row."""
    tuned, plain = tuned_and_plain(summaries)
    if not tuned:
        return
    print(f"{title}\n")
    rows, good, exact = [], 0, 0
    for key in product(PAPER_DATA, REGULARIZED, CRITERIA):
        if key not in tuned:
            continue
        ours, before, own = tuned[key], plain[*key[:2], "none"], key[2]
        gap, auc = published()[*key, own], published()[*key, "auc"]
        within = verdict(ours, key)
        dp = fmean(row.settings["dp_over_candidates"] for row in ours.rows)
        good += all(within)
        exact += within[1] and (dp <= gap.mean + gap.std if own == "dp" else within[0])
        said = {(1, 1): "yes", (1, 0): "AUC lower", (0, 1): "gap larger"}.get(within, "no")
        figures = (auc.mean, ours.measures["auc"].mean, before.measures["auc"].mean)
        gaps = (gap.mean, ours.measures[own].mean, dp, before.measures[own].mean)
        texts = [f"{value:.3f}" for value in (*figures, *gaps)]
        rows.append([*key, *texts, said, str(len(ours.rows))])
    show(TUNED, rows)
    print(f"\n{good} of {len(rows)} rows as good as the paper's; {ROWS} of 24 wanted of all")
    print(f"{exact} where the exact dp over all candidates counts in rows about dp")
    three = [("polblogs", model, "dp") for model in ("cne", "dot-product", "gae")]
    if all(key in tuned for key in three):
        gain = fmean(tuned[k].measures["auc"].mean - published()[*k, "auc"].mean for k in three)
        print(f"mean gain of AUC on polblogs' dp rows: {gain:.3f}; {GAIN} wanted")
    print()


def report_default(summaries: list[Summary]) -> None:
    """The exact gap on candidates, plain and with the criterion, at default settings."""
    own = {
        (str(each.dataset), each.model, each.criterion): each
        for each in summaries
        if each.rows[0].test_pairs == "candidates" and not each.settings.get("postprocess")
    }
    rows = []
    for (data, model, criterion), each in own.items():
        if criterion != "dp" or model not in ("dot-product", "cne", "gae"):
            continue
        before, after = own[data, model, "none"].measures, each.measures
        times = before["dp"].mean / after["dp"].mean if after["dp"].mean else float("inf")
        reached = times >= TIMES or after["dp"].mean <= LOW
        rows.append(
            [
                data, model, f"{before['dp'].mean:.4f}", f"{after['dp'].mean:.4f}", f"{times:.1f}",
                f"{before['auc'].mean:.3f}", f"{after['auc'].mean:.3f}",
                "yes" if reached else "no", str(len(each.rows)),
            ]
        )  # fmt: skip
    print("The default: plain, and with --criterion dp\n")
    show(DEFAULT, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("what", choices=("run", "report"))
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--data", nargs="+", default=PAPER_DATA)
    parser.add_argument("--models", nargs="+", default=REGULARIZED)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--as-published", action="store_true", help="fit the authors' prior")
    options = parser.parse_args()
    if options.what == "run":
        run(options)
        return
    summaries = Results(tuple(r for f in options.rows for r in Results.read(f))).summaries()
    own, authors = [], []
    for each in summaries:
        (authors if each.settings.get("options") else own).append(each)
    report_tuned(own, "The paper's rows with a setting that tune chose")
    report_tuned(authors, "The same with the authors' prior")
    report_default(own)


if __name__ == "__main__":
    main()
