r"""MaxEnt with the regularizer: Newton on one number per class of nodes, to full accuracy.

.. math:: \min_a \; \frac{1}{W} \Big[ \sum_{i<j} \mathrm{softplus}(a_i + a_j) - d \cdot a \Big]
          + \frac{\gamma}{W_F} \mathrm{KL}(h_F \| h)

The second derivative of the divergence in the logits, its target moving with them, is

.. math:: \mathrm{diag}\big(w(h' - h_F') + \tau w h''\big)
          + \sum_c \frac{(\beta_c - \omega_c \alpha)(\beta_c - \omega_c \alpha)^\top}{V_c}

with :math:`\beta_c = w h_F'` on the pairs of constraint c, :math:`\alpha = w h'`,
:math:`V_c = \sum \beta_c`, :math:`\omega_c` its share of the weight and τ the mean tilt; for a
target given as a number, τ and ω are 0. Nodes of one degree and group share a number, unless the
criterion looks at links: these tell such nodes apart.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from linkparity.criteria import Cells
from linkparity.criteria.base import ConstraintMatrix
from linkparity.graph import Graph
from linkparity.models.degrees import Classes, classes, solve_distinct_degrees
from linkparity.models.training.objective import Epoch
from linkparity.projection import FairnessRegularizer, NotConverged
from linkparity.projection.fit import Fit
from linkparity.projection.solver import Problem
from linkparity.projection.tensor_sums import tensor_sums
from linkparity.support.errors import InputError

#: Largest gradient per node of the mean loss at the end; what is aimed at, and what is enough.
AIM, ENOUGH = 1e-11, 1e-8
MAX_STEPS = 100
#: Largest number of nodes for a dense matrix of second derivatives.
MAX_NODES = 12_000
#: Largest number of constraints times classes of nodes.
MAX_ENTRIES = 10**8


def solve_maxent(
    graph: Graph, regularizer: FairnessRegularizer, gamma: float, links: bool = True
) -> Iterator[tuple[Epoch, Tensor]]:
    """Minimise the regularized loss: a row and ``(n,)`` parameters per step of Newton's method.

    Args:
        graph: whose degrees are fitted.
        regularizer: measures the divergence to parity.
        gamma: weight of the divergence.
        links: whether the cells hold the graph's links too.
    """
    begin = time.perf_counter()
    problem = _Problem(graph, regularizer, gamma, links)
    if not problem.cells.total:  # nothing is constrained: plain MaxEnt is the minimum
        return
    here = problem.state(torch.from_numpy(solve_distinct_degrees(problem.found)))
    damping = 0.0
    for step in range(1, MAX_STEPS + 1):
        seconds = time.perf_counter() - begin
        row = Epoch(step, here.loss, here.fit, here.kl, here.gap, seconds)
        yield row, here.a[problem.of]
        if problem.off(here) <= AIM:
            break
        there, damping = _improve(problem, here, damping)
        if there is None:
            break
        here = there
    if problem.off(here) > ENOUGH:
        raise NotConverged(
            f"the largest gradient is {problem.off(here):.1e} after {step} steps, above "
            f"{ENOUGH:.0e}",
            "take a smaller gamma",
            where="maxent",
        )


@dataclass(frozen=True)
class _State:
    """Where the solver stands."""

    a: Tensor
    loss: float
    fit: float
    kl: float
    gap: float
    gradient: Tensor
    hessian: Tensor


@dataclass(frozen=True)
class _Curvature:
    """Second derivative by the logits: a diagonal, and signed outer products of rows.

    Attributes:
        diagonal: ``(P,)``.
        rows: ``(R, K)``, already by the numbers of the classes.
        sign: ``(R,)``.
        factor: ``(P,)`` of ``w h (1 − h)`` in the path through the model's mean.
    """

    diagonal: Tensor
    rows: Tensor
    sign: Tensor
    factor: Tensor


class _Problem:
    """The loss of one graph as a function of the numbers of its classes."""

    def __init__(self, graph: Graph, reg: FairnessRegularizer, gamma: float, links: bool) -> None:
        self.gamma, self.links = gamma, links
        alike = links and not reg.criterion.needs_labels
        self.criterion = reg.criterion
        if not alike and graph.num_nodes > MAX_NODES:
            which = f"criterion {reg.criterion.name!r}" if links else "pairs='candidates'"
            raise InputError(
                f"{which} needs a parameter per node, and {graph.num_nodes:,} nodes are more than "
                f"{MAX_NODES:,}",
                "use 'dp' or 'weak-dp' on all pairs, or another model",
                where="maxent",
            )
        split = graph.group if alike else torch.arange(graph.num_nodes)
        self.found: Classes = classes(graph, split)
        self.of = torch.from_numpy(self.found.of)
        self.size = torch.from_numpy(self.found.size)
        self.pairs = torch.from_numpy(self.found.pairs) / 2
        self.asked = self.size * torch.from_numpy(self.found.degree)
        self.total = float(self.pairs.sum())
        self.ends, self.cells = self._constrained(graph, alike)
        self.target = reg.target
        self.reg = FairnessRegularizer(reg.criterion, self.target, tolerance=reg.tolerance)

    def _constrained(self, graph: Graph, alike: bool) -> tuple[Tensor, Cells]:
        """Class pairs with their weight, or links one by one and the rest; sorted into cells."""
        first = torch.zeros(len(self.size), dtype=torch.int64)
        first[self.of] = torch.arange(graph.num_nodes)
        group = graph.group[first]
        ends = torch.nonzero(self.pairs)
        weight, label = self.pairs[ends[:, 0], ends[:, 1]], torch.zeros(len(ends))
        if not alike:
            links = self.of[graph.links]
            linked = torch.zeros_like(self.pairs, dtype=torch.bool)
            linked[links[:, 0], links[:, 1]] = linked[links[:, 1], links[:, 0]] = True
            label = linked[ends[:, 0], ends[:, 1]].double()
            weight = weight if self.links else weight * (1 - label)
        groups = group[ends]
        cells = Cells.prepare(groups, self.criterion, label.long(), weight)
        kept = slice(None) if cells.order is None else torch.from_numpy(cells.order).long()
        again = Cells.prepare(groups[kept], self.criterion, label[kept].long(), weight[kept])
        return ends[kept], again

    def off(self, here: _State) -> float:
        """Largest gradient per node."""
        return float((here.gradient.abs() / self.size).max())

    def state(self, a: Tensor) -> _State:
        """Loss, gradient and Hessian at ``a (K,)``."""
        x = a[:, None] + a
        prob = torch.sigmoid(x)
        fit = float((self.pairs * softplus(x, threshold=40)).sum() - self.asked @ a) / self.total
        expected = self.pairs * prob
        gradient = (2 * expected.sum(dim=1) - self.asked) / self.total
        curve = expected.mul_(1 - prob).div_(self.total)
        kl, gap, slope, curvature = self._parity(a[self.ends[:, 0]] + a[self.ends[:, 1]])
        gamma = self.gamma / self.cells.total
        gradient += gamma * self._gather(slope)
        curve.index_put_(tuple(self.ends.T), gamma * curvature.diagonal, accumulate=True)
        hessian = curve + curve.T
        hessian.diagonal().add_(hessian.sum(dim=1))
        hessian += gamma * (curvature.rows.T * curvature.sign) @ curvature.rows
        return _State(a, fit + self.gamma * kl, fit, kl, gap, gradient, hessian)

    def _spread(self, per_cell: np.ndarray) -> Tensor:
        """``(M,)`` numbers of cells → ``(P,)`` of their pairs."""
        return torch.from_numpy(np.repeat(per_cell, np.diff(self.cells.start)))

    def _gather_rows(self, entries: ConstraintMatrix, values: Tensor) -> Tensor:
        """``(C, K)``: for each constraint, :meth:`_gather` of its numbers times the values."""
        size = entries.shape[0] * len(self.size)
        if size > MAX_ENTRIES:
            raise InputError(
                f"{entries.shape[0]:,} constraints on {len(self.size):,} classes of nodes need a "
                f"matrix of {size:,} numbers, more than {MAX_ENTRIES:,}",
                "merge groups into fewer, or use another model",
                where="maxent",
            )
        cell = np.flatnonzero(self.cells.mass > 0)[entries.cell]
        begin, sizes = self.cells.start[cell], np.diff(self.cells.start)[cell]
        behind = np.cumsum(sizes) - sizes
        pair = torch.from_numpy(np.arange(sizes.sum()) + np.repeat(begin - behind, sizes))
        row = torch.from_numpy(np.repeat(entries.row, sizes)) * len(self.size)
        weighted = torch.from_numpy(np.repeat(entries.value, sizes)) * values[pair]
        found = torch.zeros(size, dtype=values.dtype)
        for end in self.ends.T:
            found.index_add_(0, row + end[pair], weighted)
        return found.view(entries.shape[0], -1)

    def _gather(self, values: Tensor) -> Tensor:
        """``(P,)`` derivatives by the logits → ``(K,)`` by the numbers of the classes."""
        out = torch.zeros_like(self.size)
        return out.index_add_(0, self.ends[:, 0], values).index_add_(0, self.ends[:, 1], values)

    def _parity(self, x: Tensor) -> tuple[float, float, Tensor, _Curvature]:
        """Divergence, gap, and derivatives of the divergence by the logits."""
        source = tensor_sums(x, self.cells, exact=True)
        bound = float(x.abs().max()) + 1.0
        found = self.reg.measure(source, self.cells, bound, 1e-12)
        curvature = self._second_derivative(x, found.fit)
        slope = source.shift(found.fit.tilt)
        if self.target == "model":
            slope = slope + curvature.factor * source.slope()
        return found.kl, found.gap, slope, curvature

    def _second_derivative(self, x: Tensor, fit: Fit) -> _Curvature:
        """The second derivative of the divergence; see the head of this file."""
        cells, through = self.cells, self.target == "model"
        weight = torch.ones_like(x) if cells.weight is None else torch.from_numpy(cells.weight)
        h, q = torch.sigmoid(x), torch.sigmoid(x + self._spread(fit.tilt))
        slope, tilted = weight * h * (1 - h), weight * q * (1 - q)
        factor = self._spread(fit.target_gradient_factor if through else np.zeros(len(cells.mass)))
        diagonal = slope - tilted + factor * slope * (1 - 2 * h)
        beta = self._gather_rows(fit.problem.entries, tilted)
        if through:
            beta -= self._through(fit.problem, slope)
        spread = fit.problem.entries.absolute_times(cells.sum(tilted.numpy())[cells.mass > 0])
        multiplier, block, mass = fit.solution.multiplier, fit.problem.block, fit.problem.weight
        binding = (multiplier != 0) | (fit.problem.tolerance == 0)
        rows = (beta / torch.from_numpy(spread)[:, None].sqrt())[torch.from_numpy(binding)]
        sign = torch.ones(len(rows), dtype=x.dtype)
        if self.target == "free":  # less what a common mean is free to take up
            blocks = np.unique(block[binding])
            ratio = (mass / spread) * (binding & (block == blocks[:, None]))
            norm = np.sqrt(ratio @ mass)[:, None]
            rows = torch.cat([rows, torch.from_numpy(ratio / norm) @ beta])
            sign = torch.cat([sign, sign.new_full((len(blocks),), -1.0)])
        return _Curvature(diagonal, rows, sign, factor)

    def _through(self, problem: Problem, slope: Tensor) -> Tensor:
        """``(C, K)`` each constraint's share of its block's mean, as that moves with the model."""
        share, used = problem.weight / problem.block_sum(problem.weight), self.cells.mass > 0
        found = torch.zeros(len(share), len(self.size), dtype=slope.dtype)
        for b in np.unique(problem.block):
            mine = problem.block == b
            own = np.zeros(len(used))
            own[used] = problem.entries.transpose_times(mine.astype(float))
            found += torch.outer(
                torch.from_numpy(share * mine), self._gather(self._spread(own) * slope)
            )
        return found


def _improve(problem: _Problem, here: _State, damping: float) -> tuple[_State | None, float]:
    """A Newton step, damped until it is one downhill; None when there is none left."""
    scale = float(here.hessian.diagonal().abs().mean())
    eye = problem.size / problem.size.mean()
    for _ in range(60):
        shifted = here.hessian.clone()
        shifted.diagonal().add_((damping + 1e-13) * scale * eye)
        factor, failed = torch.linalg.cholesky_ex(shifted)
        if not int(failed):
            step = torch.cholesky_solve(here.gradient[:, None], factor)[:, 0]
            there = problem.state(here.a - step)
            promised = float(here.gradient @ step)
            noise = 1e-13 * (1 + abs(here.loss))
            if there.loss <= here.loss - 1e-4 * promised + noise and (
                promised > noise or problem.off(there) < problem.off(here)
            ):
                return there, damping / 10 if damping > 1e-9 else 0.0
            if promised <= noise:
                return None, damping
        damping = max(10 * damping, 1e-8)
    return None, damping
