"""The table of measures: everything that lists, explains or prints measures reads it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from linkparity.metrics.gaps import dp, eo
from linkparity.metrics.intervals.estimates import Estimate
from linkparity.metrics.kl import kl
from linkparity.metrics.ranks import ap, auc, rdp
from linkparity.metrics.rb import rb
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.errors import InputError
from linkparity.support.registry import Registry


@dataclass(frozen=True)
class Measure:
    """One measure: how it is computed and how it is explained.

    Attributes:
        name: Key in results, JSON and ``--fail-if``.
        title: A few words, for headings.
        sentence: What it is and how to read it, for people who do not know it.
        function: Scored pairs → estimate.
        parity: Value at parity; None for a measure of quality.
        worst: Worst value; None where there is no bound.
        unit: What its count is a count of: ``pairs``, ``links`` or ``nodes``.
        needs: What it needs beside scores and groups: ``labels``, ``embedding``, ``candidates``.
        in_tables: Whether an audit of a score table has it.
        in_views: Whether an audit has it in every view.
        in_runs: Whether tables of runs have a column for it; a run's row always has its value.
        for_criterion: Whether its value is about one criterion.
        has_interval: Whether its estimate has an interval.
        over: ``"means"``, ``"ranks"`` or ``"links"`` if it can be measured over all candidates:
            which of three samples of them it needs where there are too many; else ``"test"``.
    """

    name: str
    title: str
    sentence: str
    function: Callable[[ScoredPairs], Estimate]
    parity: float | None
    worst: float | None
    unit: str = "pairs"
    needs: tuple[str, ...] = ()
    in_tables: bool = False
    in_views: bool = False
    in_runs: bool = True
    for_criterion: bool = False
    has_interval: bool = True
    over: str = "test"

    def label(self, criterion: str) -> str:
        """Its name, with the criterion that it is measured for: ``kl (dp)``."""
        return f"{self.name} ({criterion})" if self.for_criterion else self.name


_ALL = (
    Measure(
        "auc",
        "Ranking quality",
        "How often a true link scores higher than another pair. 0.5 is chance, 1 is perfect.",
        auc, parity=None, worst=0.0, needs=("labels",), in_tables=True,
    ),
    Measure(
        "auc_candidates",
        "Ranking quality among candidates",
        "How often a held-out link scores higher than another pair that is no training link, of "
        "all there are. 0.5 is chance, 1 is perfect.",
        auc, parity=None, worst=0.0, needs=("labels", "candidates"), in_runs=False, over="links",
    ),
    Measure(
        "ap",
        "Average precision",
        "Mean precision at the ranks where true links appear. The fraction of links among all "
        "pairs is chance, 1 is perfect.",
        ap, parity=None, worst=0.0, needs=("labels",), in_runs=False, has_interval=False,
    ),
    Measure(
        "dp",
        "Gap between group pairs",
        "Largest difference between two group pairs' mean scores. 0 is parity on this measure.",
        dp, parity=0.0, worst=1.0, in_tables=True, in_views=True, over="means",
    ),
    Measure(
        "eo",
        "Gap among true links",
        "Largest difference between two group pairs' mean scores over true links alone. 0 is "
        "parity on this measure.",
        eo, parity=0.0, worst=1.0, unit="links", needs=("labels",), in_tables=True, in_views=True,
    ),
    Measure(
        "rdp",
        "Rank disparity",
        "How often pairs of one group pair score higher than all others, for the group pair where "
        "that is largest. 0.5 is parity of ranks, 1 is the worst.",
        rdp, parity=0.5, worst=1.0, in_tables=True, over="ranks",
    ),
    Measure(
        "rb",
        "Group in the embedding",
        "How well a linear classifier predicts a node's group from its embedding, as an AUC. "
        "0.5 is chance, 1 is the worst.",
        rb, parity=0.5, worst=1.0, unit="nodes", needs=("embedding",), has_interval=False,
    ),
    Measure(
        "kl",
        "Distance to parity",
        "KL-divergence to the nearest scores at parity, in nats per pair. 0 is parity; there is "
        "no upper bound.",
        kl, parity=0.0, worst=None, in_tables=True, for_criterion=True, has_interval=False,
        over="means",
    ),
)  # fmt: skip

#: Every measure by its name, in the order in which measures are shown.
MEASURES: Registry[Measure] = Registry("measure", {each.name: each for each in _ALL})
#: The measures of an audit of a score table, and those that it has in every view.
TABLE_MEASURES = tuple(each.name for each in _ALL if each.in_tables)
VIEW_MEASURES = tuple(each.name for each in _ALL if each.in_views)


def check_measures(
    names: Iterable[str] | None, candidates: bool, fix: str, caller: str = ""
) -> None:
    """Refuse unknown names, and without ``candidates`` measures that need them.

    Args:
        names: of the measures wanted; None for all that there are.
        candidates: whether candidates are measured too.
        fix: how to have them measured.
        caller: the function that was called.
    """
    for name in names or ():
        if name not in measurable([name], candidates):
            problem = f"names {name}, which needs candidates"
            raise InputError(problem, fix, argument="measures", caller=caller)


def measurable(names: Iterable[str], candidates: bool) -> list[str]:
    """The names without those of measures that need candidates, where there are none."""
    return [each for each in names if candidates or "candidates" not in MEASURES[each].needs]


def take_measures(
    scored: ScoredPairs | Mapping[str, ScoredPairs],
    names: Iterable[str],
    on_measure: Callable[[str], object] | None = None,
) -> dict[str, Estimate]:
    """The measures of some pairs.

    Args:
        scored: the pairs; of several sets, those that a measure is over.
        names: of the measures.
        on_measure: called with the name of each measure before it is taken.
    """
    found = {}
    for name in names:
        if on_measure is not None:
            on_measure(name)
        measure = MEASURES[name]
        pairs = scored if isinstance(scored, ScoredPairs) else scored[measure.over]
        found[name] = measure.function(pairs)
    return found
