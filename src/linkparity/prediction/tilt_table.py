"""The I-projection after training: one number per pair of groups, added to every logit."""

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.group_pairs import cell_table, number_group_pairs, possible_pairs
from linkparity.graph.candidates import candidate_pairs, stratified_candidates
from linkparity.graph.graph import Graph
from linkparity.graph.split import Split, SplitWarning, split_links
from linkparity.models import LinkModel
from linkparity.projection.group_tilts import project_by_group
from linkparity.support.errors import InputError, warn
from linkparity.training.loop import TrainingWarning
from linkparity.training.objective import PairWeights, link_density

#: Number of pairs that tilts are fitted on at most; of more, equally many of every pair of groups.
MAX_PAIRS = 1 << 24
#: Share of the links that tilts are fitted to, where a criterion looks at links.
WITHHELD = 0.1
#: What all links that the model has seen count for in a pair of groups, in links that it has not.
SEEN = 20.0


@dataclass(frozen=True, eq=False)
class Tilts:
    """What is added to the logit of a pair: a table by the groups of its ends, −1 last.

    Attributes:
        table: ``(S + 1, S + 1)`` float64, symmetric.
    """

    table: Tensor

    def of(self, groups: Tensor) -> Tensor:
        """``(P, 2)`` groups → ``(P,)`` tilts."""
        return self.table[groups[:, 0], groups[:, 1]]

    def between(self, rows: Tensor, columns: Tensor) -> Tensor:
        """``(R,)`` and ``(C,)`` groups → ``(R, C)`` tilts."""
        return self.table[rows][:, columns]


def withhold_links(graph: Graph, seed: int) -> Split | None:
    """A tenth of the links apart, for tilts; with a warning, None where that is impossible.

    A model knows the links it was trained on better than others, so that their means say little
    about new ones.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SplitWarning)
        try:
            return split_links(graph, test=WITHHELD, seed=seed)
        except InputError as error:
            problem = f"the tilts are fitted to links that the model was trained on: {error}"
            warn(TrainingWarning, problem, caller="LinkPredictor")
            return None


def weigh_links(graph: Graph, part: Split) -> tuple[Tensor, Tensor]:
    r"""Links to fit tilts to: those that a twin has not seen, and with less weight those it has.

    .. math:: w = \frac{N_g}{n_g + K} \text{ unseen}, \qquad
              w = \frac{N_g}{n_g + K} \cdot \frac{K}{m_g} \text{ seen}

    with N the links of a pair of groups, n of them unseen and m = N − n seen: all seen links of a
    pair of groups together count as K unseen ones, which steadies the tilts of small ones.

    Returns:
        ``(E, 2)`` links and ``(E,)`` their weights, whose sum per pair of groups is N.
    """
    unseen, seen = part.test.index[part.test.label == 1], part.train.links
    links = torch.cat([unseen, seen])
    code = number_group_pairs(graph.group[links]).code + 1
    fresh = torch.arange(len(links)) < len(unseen)
    count, known = torch.bincount(code), torch.bincount(code[~fresh], minlength=int(code.max()) + 1)
    steady = torch.where(known > 0, SEEN, 0.0).double()
    share = count / (count - known + steady)
    weight = share * torch.where(known > 0, steady / known.clamp(min=1), 0.0)
    return links, torch.where(fresh, share[code], weight[code])


@torch.no_grad()
def fit_tilt_table(
    model: LinkModel,
    graph: Graph,
    links: Tensor,
    link_weight: Tensor,
    criterion: Criterion,
    target: object,
    tolerance: float,
    weights: PairWeights,
    generator: torch.Generator,
) -> Tilts:
    """Tilts by pair of groups that bring the model to parity over pairs of the graph.

    Args:
        model: whose logits are tilted.
        graph: its pairs that are no links are the other pairs.
        links: ``(E, 2)`` links of ``graph``.
        link_weight: ``(E,)`` how many links each stands for.
        criterion: which parity.
        target: mean that it asks for.
        tolerance: how far a mean may stay from it.
        weights: of a link, and of any other pair.
        generator: source of randomness where there are too many pairs.
    """
    from linkparity.prediction.ranking import pair_logits

    pairs = possible_pairs(graph.group, graph.side)
    weighted = links, link_weight * weights.link
    index, label, weight = _pairs(graph, weighted, criterion, weights.other, generator)
    if target == "data" and criterion.data_target and weights.link in (0, weights.other):
        target = link_density(graph, criterion)
    logits = pair_logits(model, index)
    # every possible pair of groups, without weight, so that each has its cell
    found, cells = project_by_group(
        torch.cat([logits, logits.new_zeros(len(pairs))]),
        torch.cat([graph.group[index], pairs]),
        criterion,
        labels=torch.cat([label, label.new_zeros(len(pairs))]),
        weight=torch.cat([weight, weight.new_zeros(len(pairs))]),
        target=target,
        tolerance=tolerance,
    )
    table = cell_table(pairs, cells.cell[len(index) :], graph.num_groups)
    return Tilts(torch.from_numpy(np.append(found.tilt, 0.0))[table])


def _pairs(
    graph: Graph,
    links: tuple[Tensor, Tensor],
    criterion: Criterion,
    other: float,
    generator: torch.Generator,
) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs ``(P, 2)`` with labels ``(P,)`` and weights ``(P,)``: links, then other pairs."""
    index, weight = _others(graph, generator) if _sees_others(graph, criterion) else _no_pairs()
    label = torch.zeros(len(index), dtype=torch.int64)
    weight = weight * other
    if links[1].any():
        index = torch.cat([links[0], index])
        label = torch.cat([torch.ones(len(links[0]), dtype=torch.int64), label])
        weight = torch.cat([links[1].double(), weight])
    return index, label, weight


def _sees_others(graph: Graph, criterion: Criterion) -> bool:
    """Whether a criterion constrains any pair that is no link."""
    pairs = possible_pairs(graph.group, graph.side)
    return Cells.prepare(pairs, criterion, torch.zeros(len(pairs), dtype=torch.int64)).total > 0


def _no_pairs() -> tuple[Tensor, Tensor]:
    return torch.empty((0, 2), dtype=torch.int64), torch.empty(0, dtype=torch.float64)


def _others(graph: Graph, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """``(P, 2)`` pairs that are no links, and ``(P,)`` how many of them each stands for."""
    if graph.num_pairs <= MAX_PAIRS:
        index = candidate_pairs(graph)
        return index, torch.ones(len(index), dtype=torch.float64)
    most = MAX_PAIRS // len(possible_pairs(graph.group, graph.side))
    drawn = list(stratified_candidates(graph, most, generator))
    weight = [torch.full((len(part),), count / len(part)).double() for part, count in drawn]
    return torch.cat([part for part, _ in drawn]), torch.cat(weight)
