"""The main job on an embedded graph: score, audit, project, compare.

Until models can be trained here, the scores are those of a plain logistic regression, fitted to the
graph and blind to the groups: log-odds of a link from the degrees and the common neighbours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from linkparity.datasets import load
from linkparity.evaluation import Scores, score_pairs
from linkparity.graph import Graph
from linkparity.pairs import Pairs, all_pairs
from linkparity.projection import Projection, i_project
from linkparity.split import split_links

DATASET = "polblogs"
MODEL = "logistic regression on log degrees and log(1 + common neighbours)"
CRITERIA = ("dp", "eo")


@dataclass(frozen=True, eq=False)
class Row:
    """One column of the table: the plain model, or its projection on a criterion.

    Attributes:
        criterion: ``"none"`` for the plain model.
        scores: measures of these predictions.
        projection: how the plain model was projected; None for itself.
    """

    criterion: str
    scores: Scores
    projection: Projection | None = None

    @property
    def measures(self) -> dict[str, float | None]:
        """``auc dp eo rdp``; no auc for a projection that has seen the labels."""
        peeked = self.criterion == "eo"
        auc = None if peeked else self.scores.auc
        return {"auc": auc, "dp": self.scores.dp, "eo": self.scores.eo, "rdp": self.scores.rdp}

    @property
    def kl(self) -> float:
        """Nats per constrained pair from the plain model to this one."""
        if self.projection is None:
            return 0.0
        return float(self.projection.kl) / self.projection.cells.total

    def to_dict(self) -> dict[str, object]:
        """Measures, cells and tilts as plain values."""
        p = self.projection
        return {
            "criterion": self.criterion,
            **self.measures,
            "kl": self.kl,
            "target": None if p is None else p.target,
            "tilts": None
            if p is None
            else dict(zip(cell_names(self), p.tilt.tolist(), strict=True)),
            "cells": [
                {
                    "groups": list(cell.groups),
                    "pairs": cell.pairs,
                    "links": cell.links,
                    "mean": cell.mean,
                    "link_mean": cell.link_mean,
                }
                for cell in self.scores.cells
            ],
        }


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo found: a graph, the pairs scored, one row per model."""

    graph: Graph
    pairs: int
    links: int
    rows: tuple[Row, ...]
    seconds: float

    def to_dict(self) -> dict[str, object]:
        """One object for ``--json``."""
        return {
            "dataset": DATASET,
            "model": MODEL,
            "pairs": self.pairs,
            "links": self.links,
            "seconds": round(self.seconds, 2),
            "rows": [row.to_dict() for row in self.rows],
        }


def cell_names(row: Row) -> list[str]:
    """``left – right`` and so on, in the order of the cells."""
    return [" – ".join(cell.groups) for cell in row.scores.cells]


def run_demo(tell: Callable[[str], None] = lambda text: None) -> Demo:
    """Fit to 80 % of the links, score all other pairs, project them to dp and to eo.

    Args:
        tell: is told what happens next.
    """
    began = perf_counter()
    graph = load(DATASET)
    tell(f"{DATASET}: {graph}")
    train = split_links(graph, test=0.2, seed=0).train
    tell("fitting a logistic regression that does not see the groups …")
    pairs, logits = fitted_logits(train)
    held_out = pairs.label == 0
    index, x = pairs.index[held_out], logits[held_out]
    groups, labels = graph.group[index], graph.is_link(index).long()
    tell(f"scoring and projecting {len(x):,} pairs …")
    rows = [Row("none", _score(x, groups, labels, graph))]
    for criterion in CRITERIA:
        p = i_project(x, groups, criterion, labels)
        rows.append(Row(criterion, _score(p.logits, groups, labels, graph), p))
    return Demo(graph, len(x), int(labels.sum()), tuple(rows), perf_counter() - began)


def fitted_logits(train: Graph) -> tuple[Pairs, Tensor]:
    r"""Every pair of ``train`` and its logit ``(P,)`` from a maximum-likelihood fit.

    .. math:: x_{ij} = \beta_0 + \beta_1 \log(d_i d_j) + \beta_2 \log(1 + c_{ij})

    with degrees d and c the number of common neighbours. No node may be without a link.
    """
    from sklearn.linear_model import LogisticRegression

    pairs = next(all_pairs(train, block=max(train.num_pairs, 1)))
    first, second = pairs.index.numpy().T
    degree = np.log(train.degree().numpy())
    links = train.adjacency()
    common = (links @ links).toarray()[first, second]
    features = np.stack([degree[first] + degree[second], np.log1p(common)], axis=1)
    model = LogisticRegression(C=np.inf).fit(features, pairs.label.numpy())
    return pairs, torch.from_numpy(model.decision_function(features))


def _score(logits: Tensor, groups: Tensor, labels: Tensor, graph: Graph) -> Scores:
    return score_pairs(logits, groups, labels, group_names=graph.group_names, confidence=None)
