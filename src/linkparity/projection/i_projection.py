r"""The I-projection of a link model onto the models at parity: section 3.3 of the paper.

.. math:: h_F = \arg\min_{p} \mathrm{KL}(p \,\|\, h) \quad \text{such that} \quad
          \sum_k w_k a_{ck} p_k = b_c \;\; \forall c, \qquad
          h_{F,k} = \sigma(x_k + t_{m(k)}), \quad t = A^\top\lambda
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.cells import check_prepared
from linkparity.projection.fit import Fit, FitGoal, fit_tilts, no_target
from linkparity.projection.logits import ArrayLogits, Logits, LogitSums, add_tilts
from linkparity.projection.solver import NotConverged
from linkparity.projection.subsample import subsample
from linkparity.support.arrays import is_tensor, plain, pytorch
from linkparity.support.errors import InputError, PlainError

if TYPE_CHECKING:
    from torch import Generator, Tensor

#: Default accuracy on the logit scale, by the bits of the type that the sums are computed in.
TOL = {64: 1e-10, 32: 1e-7}

#: Tilts that are printed.
MAX_SHOWN = 28


@dataclass(frozen=True, eq=False)
class Projection:
    """The closest model at parity, as one tilt per cell.

    Tensors where PyTorch can be imported, arrays elsewhere.

    Attributes:
        tilt: ``(M,)``; 0 for a cell without pairs.
        kl: 0-d, weighted sum of KL(h_F ‖ h) in nats; carries the gradient w (h − h_F). A lower
            bound of it with ``sample_size``.
        target: the mean that the constraints require; a dict by label or attribute if several.
        residual: largest distance of a constrained mean from its target.
        duality_gap: divergence at the tilts less the lower bound that the multipliers prove, in
            nats: with the residual, the certificate that this is the closest model.
        steps: steps of the solver.
        cells: the cell of each pair.
        given: ``(P,)`` the logits that were projected, detached.
        exact_tilt: ``(M,)`` the tilts in float64, whatever the logits' type.
        version: of those logits, which changes when they are changed in place.
    """

    tilt: "Tensor"
    kl: "Tensor"
    target: float | dict[Hashable, float]
    residual: float
    steps: int
    cells: Cells
    given: "Tensor"
    exact_tilt: np.ndarray = field(repr=False)
    version: int = field(repr=False, default=-1)
    duality_gap: float = 0.0

    def __str__(self) -> str:
        target = self.target if isinstance(self.target, dict) else {None: self.target}
        shown = ", ".join(f"{'' if k is None else f'{k}: '}{v:.6g}" for k, v in target.items())
        tilts = "; ".join(
            f"{name} {tilt:+.6g}"
            for name, tilt, mass in zip(
                self.cell_names[:MAX_SHOWN], self.exact_tilt, self.cells.mass, strict=False
            )
            if mass
        )
        more = " …" if len(self.cell_names) > MAX_SHOWN else ""
        return (
            f"Projection to {self.cells.criterion.name}, target {shown}\n"
            f"kl {float(plain(self.kl)):.6g} nats, {self.steps} steps\n"
            f"residual {self.residual:.2g}, duality gap {self.duality_gap:.2g} nats\n"
            f"tilts: {tilts}{more}"
        )

    @cached_property
    def logits(self) -> Any:
        """``(P,)`` detached logits of h_F: each logit plus the tilt of its cell.

        Computed at first access, which must come before the logits are changed in place.
        """
        if self.version not in (-1, getattr(self.given, "_version", -1)):
            raise PlainError(
                "the logits were changed in place since i_project",
                "read p.logits before the change, or project a clone",
                caller="Projection.logits",
            )
        return add_tilts(self.given, self.tilt, self.cells.code)

    @property
    def cell(self) -> Any:
        """``(P,)`` cell of each pair, −1 unconstrained."""
        cell = self.cells.cell
        return cell.to(self.given.device) if is_tensor(cell) else cell

    @property
    def cell_names(self) -> tuple[str, ...]:
        """M names, such as ``"0-1"`` for a pair of groups."""
        return self.cells.layout.names

    @property
    def empty(self) -> tuple[str, ...]:
        """Names of the cells without a pair."""
        return self.cells.empty


def i_project(
    logits: object,
    groups: object = None,
    criterion: str | Criterion | None = None,
    labels: object = None,
    weight: object = None,
    target: object = "model",
    *,
    cells: Cells | None = None,
    tolerance: float = 0.0,
    tol: float | None = None,
    start: object = None,
    directed: bool = False,
    combine: str | None = None,
    sample_size: int | None = None,
    through_target: bool = False,
    generator: "Generator | np.random.Generator | None" = None,
) -> Projection:
    r"""Find the closest model that satisfies a criterion of parity.

    .. math:: \min_p \sum_k w_k \mathrm{KL}(p_k \,\|\, \sigma(x_k)) \quad \text{such that every
              constrained mean equals its target}

    Args:
        logits: ``(P,)`` finite logits; ``kl`` is differentiable in them.
        groups: ``(P, 2)`` groups at the ends of each pair, or ``(P,)`` one per instance; −1 is
            none. A dict of them by attribute for several attributes.
        criterion: ``dp`` (the default), ``eo``, ``weak-dp``, ``equalized-odds``, ``accuracy``,
            ``churn``, or ``criteria.Custom(cells, A, b)``.
        labels: ``(P,)`` 0/1; for ``churn`` the decisions of the baseline.
        weight: ``(P,)`` non-negative; 1 by default.
        target: ``"model"`` (the model's own mean, held fixed), ``"data"`` (the labels' mean),
            ``"free"`` (whatever common mean is nearest), a number in (0, 1), or a pair of numbers
            for ``equalized-odds``, label 0 first.
        cells: from :meth:`Cells.prepare`, in place of groups, criterion, labels and weight.
        tolerance: how far a mean may stay from the target.
        tol: accuracy of the solver on the logit scale; 1e-10, or 1e-7 for many float32 logits.
        start: ``(M,)`` initial tilts.
        directed: whether (0, 1) and (1, 0) are different pairs of groups.
        combine: several attributes ``"cross"``-ed, or ``"each"`` constrained separately.
        sample_size: fit the tilts on about so many pairs, at least one of each cell. The residual
            is then that of all pairs, unchecked, and ``kl`` the dual value of all pairs at these
            tilts: never above the exact one, and negative where the sample is too small.
        through_target: let the gradient of ``kl`` include the path through the model's own mean.
        generator: source of randomness for the sample, of PyTorch where it can be imported, else of
            numpy; seeded with 0 by default.

    Raises:
        Infeasible: when no model satisfies the constraints.
        NotConverged: when the solver did not reach ``tol``.

    >>> p = i_project([2.0, 0.0, -1.0], groups=[0, 1, 2], target=0.5)
    >>> p.tilt.tolist()
    [-2.0, 0.0, 1.0]
    """
    x = read_logits(logits)
    if cells is None:
        cells = Cells.prepare(
            groups, criterion or "dp", labels, weight, directed=directed, combine=combine
        )
    else:
        check_prepared("i_project", cells, criterion, groups, labels, weight, directed, combine)
    if len(cells) != len(x.plain):
        raise InputError(
            f"{len(x.plain)} logits do not fit groups of {len(cells)} pairs",
            "give one per pair",
            caller="i_project",
        )
    part = None if sample_size is None else subsample(cells, sample_size, generator)
    if tol is not None and not tol >= 0:
        problem = f"must be a number ≥ 0, got {tol!r}"
        raise InputError(problem, "None is the default", argument="tol", caller="i_project")
    goal = FitGoal.of(cells, target, tolerance, start)
    if cells.total == 0:
        none = np.zeros(len(cells.mass))
        kl = x.value(0.0, None, None, False)
        return Projection(
            x.in_type(none), kl, no_target(cells), 0.0, 0, cells, x.plain, none
        )  # fmt: skip
    fit, source = fit_logits(x, cells, goal, part, tol)
    now = source(fit.tilt)
    value = fit.divergence(source, now) if part is None else fit.dual_value(source, now)
    through = through_target and goal.target == "model" and cells.layout.right is None
    kl = x.value(value, source, fit, through)
    source.close()
    return Projection(
        x.in_type(fit.tilt), kl, fit.target, fit.residual(now), fit.steps, cells, x.plain, fit.tilt,
        x.version, fit.duality_gap(now),
    )  # fmt: skip


def read_logits(logits: object) -> Logits:
    """Checked logits: a tensor where PyTorch can be imported, else an array."""
    if pytorch() is None:
        return ArrayLogits(logits)
    from linkparity.projection.tensor_logits import TensorLogits

    return TensorLogits(logits)


def fit_logits(
    x: Logits,
    cells: Cells,
    goal: FitGoal,
    part: Cells | None = None,
    tol: float | None = None,
) -> tuple[Fit, LogitSums]:
    """Fit in the logits' own type; in float64 where that is too coarse.

    Args:
        x: finite logits.
        cells: their cells.
        goal: target, tolerance and initial tilts.
        part: the cells of a sample to fit on; all pairs by default.
        tol: accuracy on the logit scale; the default of the type.

    Returns:
        The fit, and the sums over all pairs.
    """
    zero = np.zeros(len(cells.mass))
    for exact in (False, True):
        source = x.sums(cells, exact)
        base = source(zero)
        fitted = source if part is None else x.sums(part, exact)
        accuracy = TOL[source.digits] if tol is None else tol
        try:
            return fit_tilts(fitted, cells, goal, accuracy, x.bound, base), source
        except NotConverged:
            if exact or fitted.digits == 64:
                raise
    raise AssertionError("unreachable")
