"""Our results beside the paper's, cell by cell, with a verdict each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from linkparity.experiments.model_defaults import DEFAULTS
from linkparity.experiments.results import Spread, Summary
from linkparity.paper.published import GAMMA, PAIRS, Published, published
from linkparity.support.display import or_none

AGREES, BETTER, DIFFERS = "agrees", "better", "differs"
#: A mean agrees within so many published standard deviations, or so much of the published mean.
DEVIATIONS = 3
TOLERANCE = 0.015
#: The paper's adversarial method varies between seeds, and its code is not published.
TOLERANCES = {"cfc": 0.03}
UNPUBLISHED = {
    "cfc": "the authors' code of cfc is not published, and its results vary between seeds"
}
#: How much AUC may be lost where a gap is called smaller than the paper's.
AUC_LOSS = 0.005
PRIOR = "the authors' prior also fits pairs of two users and of two movies; compare --as-published"
#: Why cells differ, by data set, model, criterion and measure; docs/method.md has the numbers.
KNOWN = {
    ("ml100k", "maxent", "none", "eo"): PRIOR,
    ("ml100k", "maxent", "dp", "auc"): "not explained; their solver is known to stop early",
    ("ml100k", "cne", "none", "auc"): PRIOR,
    ("ml100k", "cne", "none", "rb"): f"in part {PRIOR}",
    ("ml100k", "cne", "dp", "dp"): PRIOR,
    ("ml100k", "cne", "eo", "auc"): PRIOR,
}


@dataclass(frozen=True)
class ComparedCell:
    """One number of the paper's tables and ours.

    Attributes:
        dataset: Name of the data set.
        model: Name of the model.
        criterion: Criterion of the regularizer; ``"none"`` when plain.
        strength: Strength of the method's own, or None.
        measure: Name of the measure.
        ours: Mean and deviation over our seeds.
        paper: Mean and deviation over the paper's ten.
        verdict: ``agrees``, ``better`` or ``differs``.
        reason: Why it differs, where that is known.
        as_published: Whether bipartite data were fitted with the authors' prior.
    """

    dataset: str
    model: str
    criterion: str
    strength: float | None
    measure: str
    ours: Spread
    paper: Published
    verdict: str
    reason: str = ""
    as_published: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        names = ("dataset", "model", "criterion", "strength", "measure", "verdict", "reason")
        return {name: getattr(self, name) for name in (*names, "as_published")} | {
            "ours": or_none(self.ours.mean),
            "ours_std": or_none(self.ours.std),
            "paper": self.paper.mean,
            "paper_std": self.paper.std,
        }


def compare(summaries: Iterable[Summary]) -> list[ComparedCell]:
    """Every published number that these results have a counterpart of.

    ``rb`` is compared in plain rows only: in regularized ones it depends on which end of the
    classifier's grid wins on embeddings that hold next to nothing.
    """
    cells = []
    for each in summaries:
        theirs = published_row(each)
        for name, paper in theirs.items():
            if isnan(each.measures[name].mean) or (name == "rb" and each.criterion != "none"):
                continue
            said = verdict(each.model, each.criterion, name, each.measures, theirs)
            known = (str(each.dataset), each.model, each.criterion, name)
            theirs_too = (each.settings.get("options") or {}).get("sides") is False
            reasons = {} if theirs_too else KNOWN
            other = UNPUBLISHED.get(each.model, "not explained")
            reason = reasons.get(known, other) if said == DIFFERS else ""
            cells.append(
                ComparedCell(
                    *known[:3], each.strength, name, each.measures[name], paper, said, reason,
                    theirs_too,
                )
            )  # fmt: skip
    return cells


def published_row(summary: Summary) -> dict[str, Published]:
    """The paper's figures for the same data, model, criterion and settings, by measure."""
    if not has_paper_settings(summary):
        return {}
    where = (summary.dataset, summary.model, summary.criterion)
    figures = published(summary.strength or 0)
    return {measure: value for (*key, measure), value in figures.items() if tuple(key) == where}


def has_paper_settings(summary: Summary) -> bool:
    """Whether a result is like the paper's rows: test pairs, γ, pairs, and the models' defaults."""
    settings, defaults = summary.settings, DEFAULTS.get(summary.model)
    if any(row.test_pairs != "paper" for row in summary.rows):
        return False
    changed = (settings.get(name) for name in ("postprocess", "tolerance", "max_gap"))
    if defaults is None or any(changed):
        return False
    trained = summary.criterion != "none"
    if trained and (summary.gamma, settings.get("pairs")) != (GAMMA, PAIRS):
        return False
    own = ("dimension", "epochs", "lr")
    return all(settings.get(name) == getattr(defaults, name) for name in own)


def verdict(
    model: str,
    criterion: str,
    measure: str,
    ours: dict[str, Spread],
    theirs: dict[str, Published],
) -> str:
    """Whether a measure is the paper's, better, or neither.

    It agrees within 3 published standard deviations or 0.015 (0.03 for cfc) of the published
    mean. It is better if it is the gap of the criterion itself, smaller than the paper's, at an
    AUC of no more than 0.005 below.
    """
    mean, std = theirs[measure]
    near = max(DEVIATIONS * std, TOLERANCES.get(model, TOLERANCE))
    if abs(ours[measure].mean - mean) <= near:
        return AGREES
    smaller = measure == criterion and ours[measure].mean < mean
    as_good = ours["auc"].mean >= theirs["auc"].mean - AUC_LOSS
    return BETTER if smaller and as_good else DIFFERS


def count_verdicts(cells: Sequence[ComparedCell]) -> dict[str, int]:
    """How many cells agree, are better, differ, and how many there are."""
    found = Counter(cell.verdict for cell in cells)
    numbers = {"agree": found[AGREES], "better": found[BETTER], "differ": found[DIFFERS]}
    return numbers | {"total": len(cells)}
