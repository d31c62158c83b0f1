"""A trial of ``tune``, and which of several is chosen or tried next."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from linkparity.models.prediction.postprocess import Tilts
from linkparity.support.display import or_none

#: A loss of AUC that is next to nothing. Once the first strengths are compared, a setting within
#: the limits that costs no more ends the search: each further trial on the same validation links is
#: another chance to be lucky. It is also what a choice may cost whose gap, an estimate, is within
#: the limit by its standard error.
SMALL_LOSS = 0.001
#: A gap that is 0 but for rounding.
ROUNDING = 1e-7


@dataclass(frozen=True)
class Trial:
    """One setting, fitted without the validation links and judged on them.

    Attributes:
        model: name of the model.
        gamma: weight of the regularizer; 0 is plain.
        postprocess: ``"i-projection"`` or None.
        auc: on the validation pairs.
        gaps: the value that is compared with the limit, by measure; ``eo`` is corrected by plain
            models of further splits.
        excess: largest ratio of a gap to its limit; at most 1 when all limits are kept.
        cautious_excess: the same of a gap and its standard error, where it is an estimate.
        seconds: of the fit and its judgement, without those of further splits.
        tolerance: of the tilts.
        tilts: those that were judged, where they were fitted to withheld links.
    """

    model: str
    gamma: float
    postprocess: str | None
    auc: float
    gaps: dict[str, float]
    excess: float
    cautious_excess: float
    seconds: float
    tolerance: float = 0.0
    tilts: Tilts | None = None

    @property
    def qualified(self) -> bool:
        """Whether every gap is within its limit."""
        return self.excess <= 1

    def suffices(self, auc: float) -> bool:
        """Whether every gap is within its limit, at no less than this AUC."""
        return self.qualified and self.auc >= auc

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        names = ("model", "gamma", "postprocess", "tolerance", "seconds")
        gaps = {name: or_none(value) for name, value in self.gaps.items()}
        own = {name: getattr(self, name) for name in names}
        return own | {"auc": or_none(self.auc), "gaps": gaps, "qualified": self.qualified}


def describe(trial: Trial) -> str:
    """A setting in a few words.

    >>> describe(Trial("cne", 10.0, "i-projection", 0.9, {"dp": 0.01}, 1.0, 1.0, 2.0))
    'cne, γ = 10, I-projection'
    """
    parts = [trial.model, f"γ = {trial.gamma:.3g}" if trial.gamma else "plain"]
    if trial.postprocess:
        within = f" within {trial.tolerance:.3g}" if trial.tolerance else ""
        parts.append(f"I-projection{within}")
    return ", ".join(parts)


def times_limit(gap: float, limit: float) -> float:
    """How often the limit goes into the gap; infinite where the gap is undefined.

    What rounding adds to a projection within the limit does not count.
    """
    if math.isnan(gap):
        return math.inf
    allowed = max(limit, ROUNDING)
    return min(gap / allowed, 1.0) if gap <= allowed * (1 + 1e-6) else gap / allowed


def best_trial(curve: Sequence[Trial]) -> Trial:
    """The best AUC among those that qualify, else the one nearest to the limits."""
    qualified = [trial for trial in curve if trial.qualified]
    if qualified:
        return max(qualified, key=lambda trial: trial.auc)
    return min(curve, key=lambda trial: trial.excess)


def chosen_trial(curve: Sequence[Trial]) -> Trial:
    """The best trial, or one that costs next to no AUC and is within the limits more safely.

    An estimate that is just within its limit is beyond it on other links half of the time. Of the
    trials within the limits and 0.001 of the best AUC, the most accurate is taken that stays
    within them with a standard error added; where none does, the one that comes nearest to it.
    """
    best = best_trial(curve)
    if not best.qualified:
        return best
    near = [each for each in curve if each.suffices(best.auc - SMALL_LOSS)]
    safe = [each for each in near if each.cautious_excess <= 1]
    if safe:
        return max(safe, key=lambda trial: trial.auc)
    return min(near, key=lambda trial: trial.cautious_excess)


def next_strength(found: Mapping[float, Trial]) -> float:
    """The strength to try next: between the best and its neighbour on the more accurate side.

    While nothing qualifies, the range around the trial nearest to the limits is halved, or
    extended where it is at an end.
    """
    gammas = sorted(found)
    best = best_trial(list(found.values()))
    at = gammas.index(best.gamma)
    step = -1 if best.qualified else 1  # less strength, more accuracy; else more strength
    other = at + step
    if not 0 <= other < len(gammas):
        return best.gamma * 10.0**step
    return math.sqrt(best.gamma * gammas[other])
