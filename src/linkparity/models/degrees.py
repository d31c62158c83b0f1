r"""The maximum entropy model of a graph's degrees, one parameter per class of nodes.

.. math:: \min_a \; \sum_{i<j} \mathrm{softplus}(a_i + a_j) - \sum_i d_i a_i, \qquad
          \text{so that } \sum_{j \ne i} \sigma(a_i + a_j) = d_i

Nodes of one degree (and side) have one parameter, so that Newton's method works on a matrix of
distinct degrees, however many nodes there are.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from linkparity.graph.graph import Graph
from linkparity.graph.groups import GraphWarning
from linkparity.support.arrays import expit
from linkparity.support.errors import warn

MAX_STEPS = 200
#: Largest distance of an expected degree from the observed one, relative to 1 + the degree.
ACCURACY = 1e-9


@dataclass(frozen=True, eq=False)
class Classes:
    """Nodes that share a parameter.

    Attributes:
        of: ``(n,)`` the class of each node.
        size: ``(K,)`` nodes of each class.
        degree: ``(K,)`` the degree that is asked of each of them.
        side: ``(K,)`` 0 or 1, all 0 when the graph is not bipartite.
        bipartite: whether pairs join two sides only.
    """

    of: np.ndarray
    size: np.ndarray
    degree: np.ndarray
    side: np.ndarray
    bipartite: bool

    @property
    def pairs(self) -> np.ndarray:
        """``(K, K)`` ordered pairs of nodes that join two classes and may be links."""
        pairs = self.size[:, None] * self.size[None, :]
        if self.bipartite:
            return np.asarray(pairs * (self.side[:, None] != self.side[None, :]))
        return np.asarray(pairs - np.diag(self.size))


def classes(graph: Graph, split: Tensor | None = None) -> Classes:
    """Nodes by degree, side, and ``split (n,)`` where given; warns of degrees no finite a has."""
    degree = graph.degree().numpy()
    side = np.zeros(graph.num_nodes, dtype=np.int64) if graph.side is None else graph.side.numpy()
    asked = _pull_inside(degree, side, graph.bipartite)
    extra = np.zeros_like(degree) if split is None else split.numpy() - int(split.min())
    return degree_classes(degree, asked, side, graph.bipartite, extra)


def degree_classes(
    degree: np.ndarray,
    asked: np.ndarray,
    side: np.ndarray,
    bipartite: bool,
    extra: np.ndarray | int = 0,
) -> Classes:
    """Nodes by degree, side and ``extra``; ``asked (n,)`` is a function of these."""
    key = (extra * 2 + side) * (int(degree.max(initial=0)) + 1) + degree
    _, first, of, size = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Classes(of, size.astype(float), asked[first], side[first], bipartite)


def half_inside(degree: np.ndarray, side: np.ndarray, bipartite: bool) -> np.ndarray:
    """``(n,)`` what brings degrees of 0 and of every possible link half a link inside."""
    count = np.bincount(side, minlength=2)
    most = count[1 - side] if bipartite else np.full(len(degree), len(degree) - 1)
    return np.asarray(0.5 * ((degree == 0).astype(float) - (degree == most)))


def _pull_inside(degree: np.ndarray, side: np.ndarray, bipartite: bool) -> np.ndarray:
    """Degrees of 0 and of every possible link half a link inside, the other side making up."""
    pull = half_inside(degree, side, bipartite)
    if not pull.any():
        return degree.astype(float)
    warn(
        GraphWarning,
        f"{int((pull > 0).sum()):,} nodes without a link and {int((pull < 0).sum()):,} linked to "
        "every other have no finite parameter; their degree is taken half a link inside",
        caller="maxent",
    )
    asked = degree + pull
    if bipartite:  # what one side gains, the other must
        count = np.bincount(side, minlength=2)
        gain = np.bincount(side, weights=pull, minlength=2)
        asked = asked + gain[1 - side] / np.maximum(count[side], 1)
    return np.asarray(asked)


def solve_degrees(graph: Graph) -> Tensor:
    """``(n,)`` float64 parameters under which expected degrees are the observed ones."""
    found = classes(graph)
    return torch.from_numpy(solve_classes(found)[found.of])


def solve_classes(found: Classes) -> np.ndarray:
    """``(K,)`` parameters of the classes: Newton, halving steps that do not lower the gradient."""
    pairs, asked = found.pairs, found.size * found.degree
    a = _start(found)
    gradient, curve = _derivatives(a, pairs, asked)
    for _ in range(MAX_STEPS):
        off = np.abs(gradient) / found.size
        if (off <= ACCURACY * (1 + found.degree)).all():
            break
        step = _newton(gradient, curve)
        for _ in range(60):
            tried = a - step
            there = _derivatives(tried, pairs, asked)
            if there[0] @ step >= -0.5 * abs(gradient @ step):
                break
            step = step / 2
        a, (gradient, curve) = tried, there
    return a


def solve_distinct_degrees(found: Classes) -> np.ndarray:
    """The same as :func:`solve_classes`, faster where many classes have one degree and side."""
    both = np.stack([found.degree, found.side], axis=1)
    distinct, of = np.unique(both, axis=0, return_inverse=True)
    of = of.reshape(-1)
    degree, side = distinct[:, 0], distinct[:, 1].astype(found.side.dtype)
    size = np.bincount(of, found.size, minlength=len(distinct))
    return solve_classes(Classes(of[found.of], size, degree, side, found.bipartite))[of]


def _start(found: Classes) -> np.ndarray:
    """Parameters of a sparse graph: the probability of a link proportional to both degrees."""
    total = found.size @ found.degree
    half = np.array([found.size @ (found.degree * (found.side == s)) for s in (0, 1)])
    scale = np.sqrt(half[found.side]) if found.bipartite else np.sqrt(total)
    return np.asarray(np.log(found.degree) - np.log(scale))


def _derivatives(
    a: np.ndarray, pairs: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient ``(K,)`` and the weights ``(K, K)`` that make up the Hessian."""
    prob = expit(a[:, None] + a[None, :])
    expected = pairs * prob
    return expected.sum(axis=1) - asked, expected * (1 - prob)


def _newton(gradient: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """H⁻¹ g; a bipartite graph leaves one direction free, which a small ridge fixes."""
    hessian = curve + np.diag(curve.sum(axis=1))
    hessian[np.diag_indices_from(hessian)] *= 1 + 1e-13
    ridge = 1e-14 * np.trace(hessian) / len(hessian)
    hessian[np.diag_indices_from(hessian)] += ridge
    # Not numpy's solver: its threads and torch's would wait for each other on a busy machine.
    step = torch.linalg.solve(torch.from_numpy(hessian), torch.from_numpy(gradient))
    return np.asarray(step.numpy())
