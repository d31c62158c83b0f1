"""What a fitted predictor does: predict, rank, save, load."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Criterion
from linkparity.graph.graph import Graph
from linkparity.models import LinkModel
from linkparity.models.prediction.postprocess import Tilts
from linkparity.models.prediction.ranking import (
    Ranking,
    node_numbers,
    pair_index,
    pair_logits,
    rank_partners,
)
from linkparity.models.training.objective import Epoch
from linkparity.support.arrays import expit
from linkparity.support.errors import InputError, PlainError, require


class FittedPredictor:
    """The methods that need ``model_``, ``graph_`` and ``tilts_``."""

    seed: int
    model_: LinkModel
    graph_: Graph
    tilts_: Tilts | None
    held_out_: Tensor | None

    def build(self, graph: Graph, generator: torch.Generator) -> LinkModel:
        """The model of the parameters, untrained."""
        raise NotImplementedError

    def finish(self) -> None:
        """Set the fitted attributes that follow from the parameters and the model."""
        raise NotImplementedError

    def restore(
        self, model: LinkModel, rows: list[Epoch], tilts: Tilts | None, seconds: float
    ) -> None:
        """Take on the fitted attributes of a saved predictor, given ``graph_``."""
        self.model_ = model.eval()
        self.history_, self.tilts_, self.fit_seconds_ = rows, tilts, seconds
        self.finish()

    def predict_logits(self, pairs: object) -> np.ndarray:
        """``(P,)`` float64 logits of a ``(P, 2)`` array of nodes, or of ``Pairs``."""
        index = self._index(pairs)
        with torch.no_grad():
            logits = pair_logits(self.model_, index).double()
        if self.tilts_ is not None:
            logits += self.tilts_.of(self.graph_.group[index])
        return np.asarray(logits.numpy())

    def predict_proba(self, pairs: object) -> np.ndarray:
        """``(P,)`` probabilities that the pairs are links."""
        return np.asarray(expit(self.predict_logits(pairs)))

    def top(
        self,
        k: int = 10,
        nodes: object = None,
        on_nodes: Callable[[int], object] = lambda done: None,
    ) -> Ranking:
        """The ``k`` likeliest new partners of each node, or of ``nodes (N,)``.

        Known links and the node itself are left out, sides respected, ties broken by node number.
        ``on_nodes`` is called with the number of nodes done.
        """
        self._check_fitted()
        every = range(self.graph_.num_nodes)
        chosen = node_numbers(every if nodes is None else nodes, self.graph_, "nodes", "top")
        if chosen.ndim != 1:
            problem = f"must be a list of node numbers, got {nodes!r:.60}"
            raise InputError(problem, argument="nodes", caller="top")
        with torch.no_grad():
            return rank_partners(
                self.model_, self.graph_, k, chosen, self.tilts_, self.held_out_, on_nodes
            )

    def _index(self, pairs: object) -> Tensor:
        self._check_fitted()
        return pair_index(pairs, self.graph_, "pairs", "LinkPredictor")

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise PlainError("not fitted yet", "call fit(graph) first", caller="LinkPredictor")

    def save(self, path: str | Path) -> None:
        """Write the fitted predictor to the directory ``path``: safetensors and JSON, no pickle."""
        require("safetensors", "LinkPredictor.save")
        from linkparity.models.prediction.saving import save_predictor

        self._check_fitted()
        save_predictor(self, Path(path))  # type: ignore[arg-type]

    @classmethod
    def load(
        cls,
        path: str | Path,
        model: type[LinkModel] | None = None,
        criterion: Criterion | None = None,
    ) -> Self:
        """Read what :meth:`save` wrote.

        Args:
            path: the directory.
            model: the class, where it is one of your own.
            criterion: the criterion, where it is one of your own.
        """
        require("safetensors", "LinkPredictor.load")
        from linkparity.models.prediction.loading import load_predictor

        place = Path(path)
        return load_predictor(cls, place, model, criterion)  # type: ignore[arg-type, return-value]
