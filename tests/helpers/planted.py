"""Small graphs with three groups, spread degrees and a structure to learn."""

import warnings

import torch

from linkparity import Graph, GraphWarning, LinkModel, LinkPredictor
from linkparity.datasets import block_model
from linkparity.models import MODELS


def planted(seed: int = 0, scale: int = 1) -> Graph:
    sizes = (60 * scale, 50 * scale, 40 * scale)
    graph = block_model(sizes=sizes, degree=12, homophily=8, spread=0.8, seed=seed)
    plain = Graph(graph.num_nodes, graph.links, graph.group, graph.group_names)
    return plain.subgraph(plain.degree() > 0)


def planted_bipartite(seed: int = 0, scale: int = 1) -> Graph:
    """80 sources of three groups and 40 targets without one; like sources link alike."""
    sources, targets = 80 * scale, 40 * scale
    generator = torch.Generator().manual_seed(seed)
    group = torch.randint(3, (sources,), generator=generator)
    taste = torch.arange(targets) % 3
    popular = torch.rand(targets, generator=generator)
    chance = (0.05 + 0.7 * (group[:, None] == taste[None, :])) * popular
    links = torch.nonzero(torch.rand(sources, targets, generator=generator) < chance)
    links[:, 1] += sources
    everyone = torch.cat([group, torch.full((targets,), -1)])
    side = torch.cat([torch.zeros(sources), torch.ones(targets)]).long()
    graph = Graph(sources + targets, links, everyone, ("a", "b", "c"), side)
    return graph.subgraph(graph.degree() > 0)


def make(name: str, graph: Graph, seed: int = 0) -> LinkModel:
    made = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        return made(graph, made.dimension, generator=torch.Generator().manual_seed(seed))


def suited(name: str, graph: Graph) -> Graph:
    """The same graph; for fairdrop a larger one with groups on both sides."""
    if name != "fairdrop" or graph.side is None:
        return graph
    graph = planted_bipartite(scale=3)
    count = torch.zeros(graph.num_nodes, 3)
    count.index_put_((graph.links[:, 1], graph.group[graph.links[:, 0]]), torch.ones(1), True)
    group = torch.where(graph.group < 0, count.argmax(dim=1), graph.group)  # that of most sources
    return Graph(graph.num_nodes, graph.links, group, graph.group_names, graph.side)


def untidy(graph: Graph) -> Graph:
    """Some nodes without a group, and two without a link."""
    group = torch.cat([graph.group, torch.tensor([0, 2])])
    group[::7] = -1
    side = None if graph.side is None else torch.cat([graph.side, torch.tensor([0, 1])])
    return Graph(graph.num_nodes + 2, graph.links, group, graph.group_names, side)


def cell_gap(predictor: LinkPredictor, graph: Graph) -> float:
    """Largest difference of two pairs of groups' mean predictions, over all pairs."""
    index = all_index(graph)
    prob, code = predictor.predict_proba(index), graph.group[index].sort(dim=1).values
    known = [c for c in torch.unique(code, dim=0) if int(c[1]) >= 0]
    mean = [prob[(code == c).all(dim=1).numpy()].mean() for c in known]
    return float(max(mean) - min(mean))


def all_index(graph: Graph) -> torch.Tensor:
    if graph.side is None:
        return torch.triu_indices(graph.num_nodes, graph.num_nodes, 1).T
    return torch.cartesian_prod(*(torch.nonzero(graph.side == s)[:, 0] for s in (0, 1)))
