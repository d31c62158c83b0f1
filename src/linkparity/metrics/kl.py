"""How far a model is from parity, in nats: ``kl``."""

import numpy as np
import torch

from linkparity.criteria import CRITERIA, Criterion
from linkparity.criteria.cells import find_criterion
from linkparity.criteria.group_pairs import LARGEST, occurring_pairs
from linkparity.graph.groups import NO_GROUP
from linkparity.metrics.intervals.estimates import NAN, Estimate
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.errors import InputError


def kl(scored: ScoredPairs) -> Estimate:
    r"""Divergence from the closest model at parity to the model, per constrained pair.

    .. math:: \frac{1}{W} \sum_k w_k \, \mathrm{KL}(h_{F,k} \,\|\, h_k)

    with h_F the I-projection for the scored criterion and the target ``"model"``. 0 is parity on
    that criterion; there is no upper bound. Weighted. ``nan`` where there is no projection, or
    fewer than two cells with weight.
    """
    chosen = find_criterion(scored.criterion)
    if chosen.cells is not None and len(chosen.cells) != len(scored.logits):
        return _none(
            f"the custom criterion is about {len(chosen.cells)} pairs, but there are "
            f"{len(scored.logits)}"
        )
    if chosen.needs_baseline and scored.baseline is None:
        return _none(f"{chosen.name} needs a baseline's decisions, and none were given")
    if chosen.needs_labels and not chosen.needs_baseline and scored.label is None:
        return _none(f"{chosen.name} needs labels, and none were given")
    if np.isinf(scored.logits).any():
        extreme = int(np.isinf(scored.logits).sum())
        return _none(f"{extreme} probabilities are exactly 0 or 1, which no tilt can move")
    groups = _renumbered(scored.groups, chosen)
    size = int(groups.max(initial=-1)) + 1
    if groups.ndim == 2 and size > LARGEST:
        return _none(f"there are {size:,} groups, more than the {LARGEST:,} of a projection")
    return _project(scored, chosen, groups)


def _renumbered(groups: np.ndarray, criterion: Criterion) -> np.ndarray:
    """The groups that occur, numbered 0, 1, 2 …, where that gives the criterion the same cells.

    A criterion of one's own may look at the groups, and meets them as they are.
    """
    if criterion not in CRITERIA.values():
        return groups
    if criterion.by_group_pair:
        return occurring_pairs(groups)[1]
    distinct = np.unique(groups[groups >= 0])
    return np.where(groups < 0, NO_GROUP, np.searchsorted(distinct, groups))


def _project(scored: ScoredPairs, criterion: Criterion, groups: np.ndarray) -> Estimate:
    from linkparity.projection.i_projection import i_project
    from linkparity.projection.solver import NotConverged

    weight = torch.from_numpy(scored.weight)
    label = scored.baseline if criterion.needs_baseline else scored.label
    try:
        projection = i_project(
            torch.from_numpy(scored.logits),
            groups=torch.from_numpy(groups),
            criterion=criterion,
            labels=None if label is None else torch.from_numpy(label),
            weight=weight,
            target="model",
        )
    except (InputError, NotConverged) as error:
        return _none(str(error))
    counted = (projection.cell >= 0) & (weight > 0)
    count = int(counted.sum())
    cells = len(np.unique(projection.cell[counted].numpy()))
    if cells < (2 if criterion.cells is None else 1):
        reason = f"needs pairs in two cells of {criterion.name}, got {cells}"
        return Estimate(NAN, count, reason=reason)
    return Estimate(float(projection.kl) / float(weight[counted].sum()), count)


def _none(reason: str) -> Estimate:
    return Estimate(NAN, 0, reason=reason)
