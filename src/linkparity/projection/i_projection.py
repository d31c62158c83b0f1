r"""The I-projection of a link model onto the models at parity: section 3.3 of the paper.

.. math:: h_F = \arg\min_{p} \mathrm{KL}(p \,\|\, h) \quad \text{such that} \quad
          \sum_k w_k a_{ck} p_k = b_c \;\; \forall c, \qquad
          h_{F,k} = \sigma(x_k + t_{m(k)}), \quad t = A^\top\lambda
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.cells import check_prepared
from linkparity.projection.fit import Fit, FitGoal, fit_tilts, no_target
from linkparity.projection.solver import NotConverged
from linkparity.projection.subsample import subsample
from linkparity.projection.sums import TensorSums, tensor_sums
from linkparity.support.arrays import PART_SIZE, tensor
from linkparity.support.errors import InputError, PlainError

#: Default accuracy on the logit scale, by the type that the sums are computed in.
TOL = {torch.float64: 1e-10, torch.float32: 1e-7}


@dataclass(frozen=True, eq=False)
class Projection:
    """The closest model at parity, as one tilt per cell.

    Attributes:
        tilt: ``(M,)``; 0 for a cell without pairs.
        kl: 0-d, weighted sum of KL(h_F ‖ h) in nats; carries the gradient w (h − h_F). A lower
            bound of it with ``sample_size``.
        target: the mean that the constraints require; a dict by label or attribute if several.
        residual: largest distance of a constrained mean from its target.
        steps: steps of the solver.
        cells: the cell of each pair.
        given: ``(P,)`` the logits that were projected, detached.
        exact_tilt: ``(M,)`` the tilts in float64, whatever the logits' type.
        version: of those logits, which changes when they are changed in place.
    """

    tilt: Tensor
    kl: Tensor
    target: float | dict[Hashable, float]
    residual: float
    steps: int
    cells: Cells
    given: Tensor
    exact_tilt: np.ndarray = field(repr=False)
    version: int = field(repr=False, default=-1)

    @cached_property
    def logits(self) -> Tensor:
        """``(P,)`` detached logits of h_F: each logit plus the tilt of its cell.

        Computed at first access, which must come before the logits are changed in place.
        """
        if self.version not in (-1, self.given._version):
            raise PlainError(
                "the logits were changed in place since i_project",
                "read p.logits before the change, or project a clone",
                caller="Projection.logits",
            )
        tilt = torch.cat([self.tilt, self.tilt.new_zeros(1)])
        out = self.given.clone()
        parts = zip(
            torch.split(out, PART_SIZE), torch.split(self.cells.code, PART_SIZE), strict=True
        )
        for part, code in parts:
            part.add_(tilt[code.int()])
        return out

    @property
    def cell(self) -> Tensor:
        """``(P,)`` cell of each pair, −1 unconstrained."""
        return self.cells.cell

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
    generator: torch.Generator | None = None,
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
        generator: source of randomness for the sample; seeded with 0 by default.

    Raises:
        Infeasible: when no model satisfies the constraints.
        NotConverged: when the solver did not reach ``tol``.

    >>> p = i_project(torch.tensor([2.0, 0.0, -1.0]), groups=[0, 1, 2], target=0.5)
    >>> p.tilt
    tensor([-2.,  0.,  1.])
    """
    x, bound = check_logits(logits)
    if cells is None:
        cells = Cells.prepare(
            groups, criterion or "dp", labels, weight, directed=directed, combine=combine
        )
    else:
        check_prepared("i_project", cells, criterion, groups, labels, weight, directed, combine)
    if len(cells) != len(x):
        raise InputError(
            f"{len(x)} logits do not fit groups of {len(cells)} pairs",
            "give one per pair",
            caller="i_project",
        )
    cells = cells.to(x.device)
    plain = x.detach()
    part = None if sample_size is None else subsample(cells, sample_size, generator)
    if tol is not None and not tol >= 0:
        raise _refused(f"must be a number ≥ 0, got {tol!r}", "None is the default", "tol")
    goal = FitGoal.of(cells, target, tolerance, start)
    if cells.total == 0:
        kl = _with_gradient(x, x.new_zeros(()), torch.zeros_like(plain))
        none = np.zeros(len(cells.mass))
        tilt = plain.new_zeros(len(none))
        return Projection(tilt, kl, no_target(cells), 0.0, 0, cells, plain, none)
    fit, source = fit_logits(plain, cells, goal, bound, part, tol)
    now = source(fit.tilt)
    wide = x.dtype if x.dtype in TOL else torch.float32
    value = fit.divergence(source, now) if part is None else fit.dual_value(source, now)
    kl = torch.tensor(value, dtype=wide, device=x.device)
    if x.requires_grad and torch.is_grad_enabled():
        through = through_target and goal.target == "model" and cells.layout.right is None
        kl = _with_gradient(x, kl, _gradient(source, fit, x, through))
    source.close()
    tilt = torch.as_tensor(fit.tilt, dtype=x.dtype, device=x.device)
    version = -1 if plain.is_inference() else plain._version
    residual = fit.residual(now)
    return Projection(
        tilt, kl, fit.target, residual, fit.steps, cells, plain, fit.tilt, version
    )  # fmt: skip


def fit_logits(
    x: Tensor,
    cells: Cells,
    goal: FitGoal,
    bound: float,
    part: Cells | None = None,
    tol: float | None = None,
) -> tuple[Fit, TensorSums]:
    """Fit in the logits' own type; in float64 where that is too coarse.

    Args:
        x: ``(P,)`` finite logits.
        cells: their cells.
        goal: target, tolerance and initial tilts.
        bound: a number that no logit exceeds in absolute value.
        part: the cells of a sample to fit on; all pairs by default.
        tol: accuracy on the logit scale; the default of the type.

    Returns:
        The fit, and the sums over all pairs.
    """
    zero = np.zeros(len(cells.mass))
    for exact in (False, True):
        source = tensor_sums(x, cells, exact)
        base = source(zero)
        fitted = source if part is None else tensor_sums(x, part, exact)
        accuracy = TOL[source.x.dtype] if tol is None else tol
        try:
            return fit_tilts(fitted, cells, goal, accuracy, bound, base), source
        except NotConverged:
            if exact or fitted.x.dtype == torch.float64:
                raise
    raise AssertionError("unreachable")


def _gradient(source: TensorSums, fit: Fit, x: Tensor, through: bool) -> Tensor:
    """``w (h − h_F)`` in the order of the pairs, with the path through the target if needed."""
    cells = fit.cells
    change = source.shift(fit.tilt)
    if through:
        sizes = torch.as_tensor(np.diff(cells.start), device=x.device)
        factor = torch.as_tensor(fit.target_gradient_factor, device=x.device)
        change = change + factor.repeat_interleave(sizes) * source.slope()
    change = change.to(x.dtype)
    if cells.order is None:
        return change
    gradient = torch.zeros_like(x, requires_grad=False)
    return gradient.index_copy_(0, cells.order.long(), change)


class _WithGradient(torch.autograd.Function):
    """A value whose gradient is known: nothing of the solver is kept for it."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(logits, gradient)
        return value.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        logits, gradient = ctx.saved_tensors
        found = (upstream * gradient).to(gradient.dtype)
        return (_Once.apply(found, logits) if torch.is_grad_enabled() else found), None, None  # type: ignore[no-untyped-call]


class _Once(torch.autograd.Function):
    """A gradient that has none of its own."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, logits: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[None, None]:
        raise PlainError("kl has no second derivative in the logits", caller="i_project")


def _with_gradient(logits: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    out: Tensor = _WithGradient.apply(logits, value, gradient)  # type: ignore[no-untyped-call]
    return out


def check_logits(logits: object) -> tuple[Tensor, float]:
    """The logits as a floating ``(P,)`` tensor, and a bound on their absolute values."""
    x = tensor(logits)
    if not x.is_floating_point():
        raise _refused(
            f"must be floating-point numbers, got {x.dtype}", "give log-odds, not decisions"
        )
    if x.ndim != 1:
        raise _refused(f"must have the shape (P,), got {tuple(x.shape)}", "flatten them")
    if not len(x):
        return x, 0.0
    low, high = (float(end) for end in torch.aminmax(x.detach()))
    if not (-np.inf < low and high < np.inf):
        wrong = (~torch.isfinite(x.detach())).nonzero().flatten()
        raise _refused(
            f"must be finite, got {x[wrong[0]].item():g} at position {int(wrong[0])} "
            f"({len(wrong)} in all)",
            "a probability of 0 or 1 cannot be tilted",
        )
    return x, max(abs(low), abs(high)) + 1.0


def _refused(problem: str, fix: str, argument: str = "logits") -> InputError:
    return InputError(problem, fix, argument=argument, caller="i_project")
