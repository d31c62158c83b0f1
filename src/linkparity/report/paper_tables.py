"""The paper's tables beside ours, for the terminal."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from linkparity.experiments.comparison import (
    AGREES,
    BETTER,
    DIFFERS,
    TOLERANCE,
    TOLERANCES,
    ComparedCell,
    count_verdicts,
)
from linkparity.experiments.results import Summary, failures
from linkparity.support.display import Grid, format_number, format_rounded

if TYPE_CHECKING:
    from linkparity.experiments.reproduce import Reproduction, RunTime
    from linkparity.experiments.subsample_kl import SampledKL

MARKS = {AGREES: "  ", BETTER: " <", DIFFERS: " !"}


def reproduction_document(found: "Reproduction") -> list[Grid | str]:
    """Tables of results and run times, the cells that differ, and how many there are."""
    parts: list[Grid | str] = []
    for dataset in dict.fromkeys(cell.dataset for cell in found.cells):
        parts.append(cells_grid(dataset, [c for c in found.cells if c.dataset == dataset]))
    parts += differences(found.cells)
    tuned = [each for each in found.results.summaries() if "max_gap" in each.settings]
    parts += [tuned_grid(tuned)] if tuned else []
    parts += [runtimes_grid(found.runtimes)] if found.runtimes else []
    parts += [sampled_grid(found.figure3)] if found.figure3 else []
    return [*parts, *failures(found.results.failed), verdict_sentence(found.cells)]


def comparison_tables(
    cells: Sequence[ComparedCell],
) -> dict[str, tuple[list[str], dict[tuple[str, str], dict[str, ComparedCell]]]]:
    """By data set: the measures, and the cells by model and criterion, then by measure."""
    found: dict[str, tuple[list[str], dict[tuple[str, str], dict[str, ComparedCell]]]] = {}
    for cell in cells:
        names, rows = found.setdefault(cell.dataset, ([], {}))
        if cell.measure not in names:
            names.append(cell.measure)
        rows.setdefault((cell.model, row_label(cell)), {})[cell.measure] = cell
    return found


def cells_grid(dataset: str, cells: Sequence[ComparedCell]) -> Grid:
    """One row per model and criterion, ours and the paper's side by side."""
    measures, rows = comparison_tables(cells)[dataset]

    def text(cell: ComparedCell | None) -> str:
        if cell is None:
            return ""
        return f"{format_rounded(cell.ours.mean, 3)} | {cell.paper.mean:.3f}{MARKS[cell.verdict]}"

    table = [[*key, *(text(own.get(name)) for name in measures)] for key, own in rows.items()]
    return Grid(
        ("model", "criterion", *measures), table, f"{dataset}: ours | the paper's",
        "< a smaller gap at no less AUC, ! differs; all others agree",
    )  # fmt: skip


def tuned_grid(summaries: Sequence[Summary]) -> Grid:
    """Figure 2's third layer: the best models with no more than the paper's gap."""
    rows = [
        [str(each.dataset), each.method, *(str(each.measures[n]) for n in ("auc", "dp", "eo"))]
        for each in summaries
    ]
    return Grid(
        ("data set", "search", "auc", "dp", "eo"), rows,
        "What tune finds within the paper's gaps, chosen without test pairs",
        "limits hold over all candidates in validation; measured here on the paper's test pairs",
    )  # fmt: skip


def row_label(cell: "ComparedCell | RunTime") -> str:
    """The criterion, or the strength of a method that has one; whose prior was fitted."""
    label = cell.criterion if cell.strength is None else f"strength {cell.strength:g}"
    return f"{label}, authors' prior" if getattr(cell, "as_published", False) else label


def differences(cells: Sequence[ComparedCell]) -> list[str]:
    """One sentence per cell that differs."""
    return [
        f"Differs: {cell.dataset}, {cell.model}, {row_label(cell)}, {cell.measure}: "
        f"{format_rounded(cell.ours.mean, 3)}, the paper has {cell.paper.mean:.3f}; {cell.reason}"
        for cell in cells
        if cell.verdict == DIFFERS
    ]


def verdict_sentence(cells: Sequence[ComparedCell]) -> str:
    """How many cells agree."""
    found = count_verdicts(cells)
    own = [name for name in TOLERANCES if any(cell.model == name for cell in cells)]
    others = "".join(f"; {TOLERANCES[name]:g} for {name}" for name in own)
    return (
        f"Of {found['total']} published numbers {found['agree']} agree (within 3 of the paper's "
        f"standard deviations, or {TOLERANCE:g}{others}), {found['better']} are better, "
        f"{found['differ']} differ."
    )


def runtimes_grid(runtimes: "Sequence[RunTime]") -> Grid:
    """Seconds per fit beside the paper's."""
    alone = any(each.alone is not None for each in runtimes)
    columns = ["data set", "model", "criterion", "seconds", *(["alone"] if alone else []), "paper"]
    rows = []
    for each in runtimes:
        own = [f"{each.seconds:.2f}"]
        if alone:
            own.append("" if each.alone is None else f"{each.alone:.2f}")
        paper = "" if each.paper is None else f"{each.paper:.0f}"
        rows.append([each.dataset, each.model, row_label(each), *own, paper])
    caption = "seconds: median over the seeds, with the other jobs beside"
    caption += "; alone: fastest of three with nothing beside" if alone else ""
    return Grid(columns, rows, "Seconds per fit", f"{caption}; paper: on its authors' machine")


def sampled_grid(found: "Sequence[SampledKL]") -> Grid:
    """Figure 3: mean and deviation of the divergence by sample size."""
    rows = []
    for size in dict.fromkeys(each.size for each in found):
        own = [each for each in found if each.size == size]
        spread = stdev(each.kl for each in own) if len(own) > 1 else 0.0
        values = (fmean(e.kl for e in own), spread, fmean(e.bound for e in own))
        rows.append([f"{size:,}", str(len(own)), *map(format_number, values)])
    return Grid(
        ("pairs", "samples", "kl", "deviation", "lower bound"), rows,
        "Figure 3: KL-divergence per pair of gae on facebook, tilts fitted on a sample",
        "the last row is exact",
    )  # fmt: skip
