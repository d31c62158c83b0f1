r"""One tilt per pair of groups, whatever the labels: the I-projection that can be deployed.

.. math:: t_g = \arg\min_t \sum_{c \in g} \max(0, |\bar u_c(t) - d_c| - \varepsilon)^2

with :math:`\bar u_c(t)` the mean of the statistic of constraint c when all cells of the pair of
groups g are tilted by t, and :math:`d_c` its target. Of several minima the one nearest 0 is taken.

The I-projection tilts cells, and the cells of eo, equalized-odds, accuracy and churn depend on the
label, which a new pair does not have. For dp, weak-dp and eo a pair of groups has one cell under
constraint, and the tilts are those of the I-projection. For accuracy and churn the mean rises and
falls with the tilt, and for equalized-odds one tilt faces two targets: both are searched for on a
grid of tilts, between whose points the means are known cubics, and then refined.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linkparity.criteria import CRITERIA, Cells, Criterion
from linkparity.projection.fit import Fit
from linkparity.projection.solver.shared_tilt import SharedTilts, refine, search
from linkparity.projection.sums import Sums, SumSource
from linkparity.support.errors import InputError

TILT_BY = ("groups", "labels")
#: No tilt of a saved file is further from 0, since no fit gives one: a logit that can be tilted is
#: at most 700 in absolute value, that of a mean as well, and a tilt may exceed their sum by 40.
LARGEST_TILT = 1500.0
#: Beyond the largest logit by this, a tilt changes no mean by more than 1e-6.
MARGIN = 14.0
#: A mean that cannot meet its target may be so much further from it than the nearest one.
SLACK = 1e-4
#: Half the interval in which a tilt fitted to binned logits is corrected with the exact ones.
NEAR = 1e-3


def group_criterion(criterion: Criterion) -> Criterion:
    """The criterion whose cells have one tilt each: itself where groups alone make its cells.

    >>> group_criterion(CRITERIA["weak-dp"]).name, group_criterion(CRITERIA["eo"]).name
    ('weak-dp', 'dp')
    """
    if criterion.tilts_by_group:
        return criterion
    if not criterion.by_group_pair:
        raise InputError(
            f"'groups' needs a criterion about pairs of groups, and {criterion.name!r} brings "
            "cells of its own",
            "use i_project, which tilts by cell",
            argument="tilt_by",
        )
    return CRITERIA["dp"]


@dataclass(frozen=True, eq=False)
class GroupTilts:
    """One tilt per pair of groups.

    Attributes:
        tilt: ``(G,)`` by the cells of :func:`group_criterion`; 0 where nothing is constrained.
        residual: largest distance of a constrained mean from its target at these tilts.
    """

    tilt: np.ndarray
    residual: float


def fit_group_tilts(
    fit: Fit, groups: Cells, exact: SumSource, rough: Callable[[], SumSource], bound: float
) -> GroupTilts:
    """Find one tilt per pair of groups for the targets and the tolerance of a label-wise fit.

    Args:
        fit: the I-projection by cell, which has its targets.
        groups: the same pairs in the cells of :func:`group_criterion`.
        exact: sums per cell of ``fit.cells``; a few tilts are asked for.
        rough: makes the same from binned logits, where a search needs them.
        bound: a number that no logit exceeds in absolute value.
    """
    used = fit.cells.mass > 0
    member, size = owners(fit.cells, groups)[used], len(groups.mass)
    means = SharedTilts(fit.problem, member, size, _used_sums(exact, used))
    low, high = means.ranges(fit.tilt[used], bound + MARGIN)
    tilt = low
    if (low < high).any():
        binned = SharedTilts(fit.problem, member, size, _used_sums(rough(), used))
        found = search(binned, low, high)
        lost = (found.distance > 0) & means.mixed  # where the best tilt may be infinite
        if lost.any():
            least = refine(binned, found, found.low, (found.low + found.high) / 2, found.high)
            distance = np.minimum(found.distance, binned.distance(least))
            near = np.where(lost, distance + SLACK, 0.0)[means.owner]
            means.tolerance, binned.tolerance = means.tolerance + near, binned.tolerance + near
            found = search(binned, low, high)
        near = refine(binned, found, found.low, (found.low + found.high) / 2, found.high)
        half = np.where(found.low < found.high, NEAR, 0.0)
        low, high = np.maximum(low, near - half), np.minimum(high, near + half)
        tilt = refine(means, found, low, near, high)
    error = np.abs(means.at(tilt)[0])
    return GroupTilts(tilt, float(error.max(initial=0.0)))


def _used_sums(source: SumSource, used: np.ndarray) -> SumSource:
    """The sums of the cells that have weight, from sums of all."""

    def sums(tilt: np.ndarray) -> Sums:
        every = np.zeros(len(used))
        every[used] = tilt
        return Sums(*(part[used] for part in source(every)))

    return sums


def owners(cells: Cells, groups: Cells) -> np.ndarray:
    """``(M,)`` the pair of groups, a cell of ``groups``, that each cell of ``cells`` belongs to."""
    if cells.layout.overlapping:
        problem = "'groups' needs one attribute, or several that are crossed"
        raise InputError(problem, "use {combine=cross}", argument="tilt_by")
    key = groups.layout.key
    place = {tuple(each): number for number, each in enumerate(key.tolist())}
    mine = cells.layout.key[:, : key.shape[1]].tolist()
    return np.array([place[tuple(each)] for each in mine], dtype=np.int64)
