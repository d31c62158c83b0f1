"""How far a model is from parity, in nats: ``kl``."""

from copy import copy
from dataclasses import replace

import numpy as np

from linkparity.criteria import CRITERIA, Criterion
from linkparity.criteria.cells import find_criterion
from linkparity.criteria.group_pairs import LARGEST
from linkparity.metrics.intervals.estimates import NAN, Estimate
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.pairs.arrays import ArrayPairs
from linkparity.pairs.fit import fit_pairs
from linkparity.pairs.source import Kinds
from linkparity.projection.solver import Infeasible, NotConverged
from linkparity.reading.groups import NO_GROUP
from linkparity.support.arrays import array
from linkparity.support.errors import InputError


def kl(scored: ScoredPairs) -> Estimate:
    r"""Divergence from the closest model at parity to the model, per constrained pair.

    .. math:: \frac{1}{W} \sum_k w_k \, \mathrm{KL}(h_{F,k} \,\|\, h_k)

    with h_F the I-projection for the scored criterion and the target ``"model"``. 0 is parity on
    that criterion; there is no upper bound. Weighted. ``nan`` where there is no projection, or
    fewer than two cells with weight.
    """
    chosen = find_criterion(scored.criterion)
    size = scored.source.size
    if chosen.cells is not None and len(chosen.cells) != size:
        problem = f"the custom criterion is about {len(chosen.cells)} pairs, but there are {size}"
        return _none(problem)
    if chosen.needs_baseline and scored.baseline is None:
        return _none(f"{chosen.name} needs a baseline's decisions, and none were given")
    unlabelled = chosen.needs_labels and not chosen.needs_baseline and not scored.labelled
    if unlabelled and not scored.name:
        return _none(f"{chosen.name} needs labels, and none were given")
    scored, chosen = _by_kind(scored, chosen)
    if not scored.name and scored.totals.certain:
        extreme = scored.totals.certain
        return _none(f"{extreme} probabilities are exactly 0 or 1, which no tilt can move")
    kinds = _renumbered(scored.source.kinds, chosen)
    groups = int(kinds.key.max(initial=-1)) + 1
    if kinds.key.shape[1] == 2 and groups > LARGEST:
        return _none(f"there are {groups:,} groups, more than the {LARGEST:,} of a projection")
    return _project(scored, chosen, kinds)


def _by_kind(scored: ScoredPairs, criterion: Criterion) -> tuple[ScoredPairs, Criterion]:
    """The pairs with kinds that tell the criterion's cells apart, and the criterion about kinds."""
    source = scored.source
    if criterion.cells is None and not criterion.needs_baseline:
        return scored, criterion
    assert isinstance(source, ArrayPairs)
    if criterion.cells is not None:
        cell = array(criterion.cells)
        kinds = Kinds.all(np.arange(int(cell.max(initial=-1)) + 1)[:, None], 1)
        known = copy(criterion)
        known.cells = kinds.pair
        moved = source.recoded(cell + 1, kinds)
        return replace(scored, source=moved, known={}), known
    assert scored.baseline is not None
    kinds = Kinds.all(source.kinds.key, 2, source.kinds.names)
    pair = source.kinds.pair[scored.rows.kind]
    moved = source.recoded(2 * (pair + 1) + scored.baseline.astype(np.int64), kinds)
    return replace(scored, source=moved, known={}), criterion


def _renumbered(kinds: Kinds, criterion: Criterion) -> Kinds:
    """The groups that occur, numbered 0, 1, 2 …, where that gives the criterion the same cells.

    A criterion of one's own may look at the groups, and meets them as they are.
    """
    if criterion not in CRITERIA.values():
        return kinds
    distinct = np.unique(kinds.key[kinds.key >= 0])
    key = np.where(kinds.key < 0, NO_GROUP, np.searchsorted(distinct, kinds.key))
    return replace(kinds, key=key)


def _project(scored: ScoredPairs, criterion: Criterion, kinds: Kinds) -> Estimate:
    totals = scored.totals
    try:
        found = fit_pairs(scored.source, totals, criterion, kinds=kinds, where=scored.name)
    except (Infeasible, NotConverged) as error:
        return _none(error.message.problem if scored.name else str(error))
    except InputError as error:
        if scored.name:
            raise
        return _none(str(error))
    count = int(totals.heavy[found.cells.code >= 0].sum())
    cells = int(np.count_nonzero(found.cells.mass))
    if cells < (2 if criterion.cells is None else 1):
        reason = f"needs pairs in two cells of {criterion.name}, got {cells}"
        return Estimate(NAN, count, reason=reason)
    return Estimate(found.kl, count)


def _none(reason: str) -> Estimate:
    return Estimate(NAN, 0, reason=reason)
