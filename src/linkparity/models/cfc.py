"""CFC: embeddings whose attributes are filtered out against adversaries."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from linkparity.graph.graph import Graph
from linkparity.models.adversarial import AdversarialTraining
from linkparity.models.base import LinkModel
from linkparity.models.filters import Filter
from linkparity.models.training.loop import epoch_rows
from linkparity.models.training.objective import Epoch, Objective, Settings
from linkparity.reading.groups import NO_GROUP, GraphWarning, number_groups
from linkparity.support.arrays import whole_number
from linkparity.support.errors import InputError


class CFC(LinkModel):
    r"""Filters of attributes, trained against discriminators that look for the attributes.

    .. math:: x_{ij} = \tfrac12 \big(f(u_i) \cdot v_j + f(u_j) \cdot v_i\big), \qquad
              f = \tfrac1K \sum_k f_k, \qquad \|u_i\|, \|v_i\| \le 1

    .. math:: \min_{u, v, f} \max_D\ \overline{\max(0,\ 1 - x_{ij} + x_{i'j'})}
              - \lambda \sum_k \overline{\mathrm{CE}(D_k(f(u_i)), s_k(i))}

    over links ij and as many pairs i'j' with one end replaced by a random node. ``strength`` is λ:
    at 0 there are no discriminators. With ``ends="both"``, both ends are filtered,
    :math:`x_{ij} = f(u_i) \cdot f(u_j)`. In a bipartite graph a node has one vector, and the sides
    that have groups are filtered. Nodes without a group are filtered like others and never shown to
    a discriminator.

    Bose & Hamilton (2019), *Compositional Fairness Constraints for Graph Embeddings*.

    Args:
        graph: to learn from.
        dimension: of the embeddings.
        generator: of the starting values.
        strength: λ.
        attributes: values of several attributes by name, one per node, in place of the groups of
            the graph; −1 or None where a value is not known.
        ends: ``"one"`` end of a pair is filtered, or ``"both"``.
        batch: links per step.
    """

    dimension = 128
    lr = 0.01
    epochs = 100
    strength = 100.0
    filtered_nodes: Tensor

    def __init__(
        self,
        graph: Graph,
        dimension: int = 128,
        *,
        generator: torch.Generator,
        strength: float = 100.0,
        attributes: Mapping[str, Any] | None = None,
        ends: Literal["one", "both"] = "one",
        batch: int = 4096,
    ) -> None:
        super().__init__()
        if ends not in ("one", "both"):
            problem = f"must give ends 'one' or 'both', got {ends!r:.60}"
            raise InputError(problem, argument="options", caller="cfc")
        self.batch = whole_number(batch, "batch", "cfc")
        if self.batch < 1:
            problem = f"must have a batch of at least 1, got {batch}"
            raise InputError(problem, argument="options", caller="cfc")
        self.strength = strength
        self.groups = attribute_groups(graph, attributes)
        known = torch.stack([group != NO_GROUP for group in self.groups.values()]).any(dim=0)
        if strength and not known.any():
            raise InputError(
                "needs nodes with a group, and this graph has none",
                "take a strength of 0, which has no adversary, or another model",
                where="cfc",
            )
        self.both, nodes = _filtered(graph, known, ends)
        self.register_buffer("filtered_nodes", nodes[:, None])
        self.u = _uniform(graph.num_nodes, dimension, generator)
        two_tables = graph.side is None and not self.both
        self.v = _uniform(graph.num_nodes, dimension, generator) if two_tables else None
        self.filters = nn.ModuleList(Filter(dimension, generator) for _ in self.groups)
        self.constrain()

    def factors(self) -> tuple[Tensor, Tensor]:
        """``(n, dimension)`` filtered vectors, or twice as wide where every node has two."""
        own = self.embedding()
        if self.v is None:
            return own, own
        return torch.cat([own, self.v], dim=1) / 2, torch.cat([self.v, own], dim=1)

    def embedding(self) -> Tensor:
        """``(n, dimension)`` vectors without the attributes, where these are filtered."""
        return self.filtered(*self.groups)

    def filtered(self, *names: str) -> Tensor:
        """``(n, dimension)`` vectors without the named attributes; as they are without a name."""
        if not names:
            return self.u
        for name in names:
            if name not in self.groups:
                known = ", ".join(self.groups)
                raise InputError(f"unknown attribute {name!r}", f"use one of {known}", caller="cfc")
        return torch.where(self.filtered_nodes, self.compose(self.u, names), self.u)

    def compose(self, x: Tensor, names: Sequence[str], count: Tensor | None = None) -> Tensor:
        """Mean over the named filters; ``count`` as in :class:`Filter`."""
        order = list(self.groups)
        each = [self.filters[order.index(name)](x, count) for name in names]
        return torch.stack(each).mean(dim=0) if len(each) > 1 else each[0]

    def scored(self, pairs: Tensor, names: Sequence[str]) -> tuple[Tensor, Tensor]:
        """``(P,)`` logits of pairs by batch statistics, and ``(P, ends, dimension)`` filtered ends.

        The first end is always filtered; with one end filtered, the order of a pair matters.
        """
        looked_up = pairs if self.both else pairs[:, :1]
        node, place, count = torch.unique(looked_up, return_inverse=True, return_counts=True)
        hidden = embedding(place, self.compose(embedding(node, self.u), names, count))
        if self.both:
            return (hidden[:, 0] * hidden[:, 1]).sum(dim=1), hidden
        other = embedding(pairs[:, 1], self.u if self.v is None else self.v)
        return (hidden[:, 0] * other).sum(dim=1), hidden

    def steps(self, graph: Graph, objective: Objective, settings: Settings) -> Iterator[Epoch]:
        """Adam on embeddings and filters, in turn with Adam on the discriminators."""
        training = AdversarialTraining(self, graph, objective, settings)
        for row in epoch_rows(self, settings, training.epoch):
            extra = {"adversary": training.adversary} if self.strength else None
            yield Epoch(*row, extra=extra)

    @torch.no_grad()
    def constrain(self) -> None:
        """Scale rows longer than 1 to length 1."""
        for rows in (self.u, self.v):
            if rows is not None:
                length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
                rows.div_(torch.where(length > 1, length, 1.0))


def attribute_groups(graph: Graph, attributes: Mapping[str, Any] | None) -> dict[str, Tensor]:
    """``(n,)`` group numbers by attribute, −1 where unknown; those of the graph by default.

    >>> graph = Graph(3, [[0, 1]], [0, 1, 1])
    >>> attribute_groups(graph, {"sex": ["m", "f", None]})
    {'sex': tensor([ 1,  0, -1])}
    """
    if attributes is None:
        return {graph.attribute or "group": graph.group}
    if not isinstance(attributes, Mapping) or not attributes:
        raise _refused(f"must map names to one value per node, got {attributes!r:.60}")
    found = {}
    for name, values in attributes.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise _refused(f"must give {name!r} one value per node, got {values!r:.60}")
        plain = values.tolist() if hasattr(values, "tolist") else list(values)
        if any(isinstance(value, list | tuple | Mapping) for value in plain):
            raise _refused(f"must give {name!r} one value per node, got several")
        if len(plain) != graph.num_nodes:
            problem = f"must give {name!r} {graph.num_nodes:,} values, one per node, got "
            raise _refused(f"{problem}{len(plain):,}")
        if all(value is None or value == NO_GROUP or str(value) == "nan" for value in plain):
            raise _refused(f"must give {name!r} a value for some node, and all are unknown")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            found[str(name)] = torch.from_numpy(number_groups(plain, "drop", caller="cfc").group)
    return found


def _refused(problem: str) -> InputError:
    return InputError(f"attributes {problem}", argument="options", caller="cfc")


def _filtered(graph: Graph, known: Tensor, ends: str) -> tuple[bool, Tensor]:
    """Whether both ends of a pair are filtered, and ``(n,)`` which nodes are."""
    if graph.side is None:
        return ends == "both", torch.ones(graph.num_nodes, dtype=torch.bool)
    sides = [bool(known[graph.side == side].any()) for side in (0, 1)]
    if not any(sides):
        sides = [True, False]
    return all(sides), torch.tensor(sides)[graph.side]


def _uniform(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    drawn = torch.rand(rows, columns, generator=generator, dtype=torch.float32)
    return nn.Parameter((2 * drawn - 1) * (6 / columns**0.5))
