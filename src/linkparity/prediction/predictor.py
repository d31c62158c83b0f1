"""LinkPredictor: a graph in, predictions out, with the manners of scikit-learn."""

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkparity.criteria import Criterion
from linkparity.graph.graph import Graph
from linkparity.graph.groups import GraphWarning
from linkparity.graph.pairs import Pairs
from linkparity.models import MODELS, LinkModel
from linkparity.prediction.arguments import check_arguments
from linkparity.prediction.parameters import Parameters
from linkparity.prediction.ranking import Ranking, node_numbers, pair_logits, rank_partners
from linkparity.prediction.tilt_table import Tilts, fit_group_tilts
from linkparity.support.arrays import expit
from linkparity.support.randomness import stream
from linkparity.training.loop import train
from linkparity.training.objective import Epoch, trained_criterion


class TrainingWarning(UserWarning):
    """Training ended otherwise than asked for; the message says how."""


class LinkPredictor(Parameters):
    """Learn which links a graph lacks, at parity between groups where asked.

    Parameters are only stored; :meth:`fit` reads them. Fitted attributes end in ``_``.

    Args:
        model: ``cne``, ``dot-product``, ``gae``, ``maxent``, a method such as ``debayes`` (all are
            in :data:`linkparity.models.MODELS`), or a :class:`LinkModel` subclass.
        criterion: ``dp``, ``eo``, ``weak-dp``, ``equalized-odds``, ``accuracy``; None is plain.
        gamma: how much the divergence to parity counts in training.
        seed: of everything random.
        target: mean that the criterion asks for, as in :func:`~linkparity.i_project`.
        tolerance: how far a cell's mean may stay from the target.
        dimension: of the embedding; the model's own by default, as are ``epochs`` and ``lr``.
        epochs: steps over all training pairs.
        lr: step size of Adam.
        negatives: random partners per node among the training pairs.
        pairs: what the divergence is measured on, ``"sampled"`` (the pairs of the fit: links from
            both ends and the partners) or ``"all"`` (each pair once).
        patience: stop after so many epochs without a lower loss.
        postprocess: ``"i-projection"`` tilts the trained model to parity; for dp and weak-dp,
            with ``gamma=0`` in place of the regularizer, else on top of it.
        options: further arguments of the model, such as ``{"hidden": 32}``.
        strength: of a method that has one of its own; 0 is its plain form, None its default.

    Attributes:
        model_: the trained :class:`LinkModel`.
        graph_: the graph it was trained on.
        embedding_: ``(n, d)`` numpy, or None.
        history_: one :class:`~linkparity.Epoch` per epoch.
        tilts_: what the post-processing adds, or None.
        fit_seconds_: how long :meth:`fit` took.
        held_out_: ``(E, 2)`` links kept from training, which :meth:`top` leaves out too, or None.
        params_: the arguments that :meth:`fit` read; :meth:`save` writes these.

    >>> from linkparity.datasets import load
    >>> predictor = LinkPredictor("maxent").fit(load("polbooks"))
    >>> predictor.predict_proba([[0, 1], [0, 104]]).round(3)
    array([0.025, 0.019])
    """

    def __init__(
        self,
        model: str | type[LinkModel] = "cne",
        criterion: str | Criterion | None = None,
        gamma: float = 100.0,
        seed: int = 0,
        target: object = "model",
        tolerance: float = 0.0,
        dimension: int | None = None,
        epochs: int | None = None,
        lr: float | None = None,
        negatives: int = 100,
        pairs: str = "sampled",
        patience: int | None = None,
        postprocess: str | None = None,
        options: Mapping[str, Any] | None = None,
        strength: float | None = None,
    ) -> None:
        self.model = model
        self.criterion = criterion
        self.gamma = gamma
        self.seed = seed
        self.target = target
        self.tolerance = tolerance
        self.dimension = dimension
        self.epochs = epochs
        self.lr = lr
        self.negatives = negatives
        self.pairs = pairs
        self.patience = patience
        self.postprocess = postprocess
        self.options = options
        self.strength = strength

    def fit(
        self, graph: Graph, y: object = None, on_epoch: Callable[[Epoch], object] | None = None
    ) -> "LinkPredictor":
        """Train on ``graph``. Ctrl-C ends training early, with a warning and a usable model.

        Args:
            graph: to learn from.
            y: ignored, for scikit-learn's sake.
            on_epoch: called with each row of training as it comes.
        """
        begin = time.perf_counter()
        check_arguments(self, graph)
        generator = stream(self.seed, "model")
        model = self._build(graph, generator)
        rows = train(
            model, graph, self.criterion, self.gamma, target=self.target,
            tolerance=self.tolerance, epochs=self.epochs, lr=self.lr, negatives=self.negatives,
            pairs=self.pairs, patience=self.patience, generator=generator,
        )  # fmt: skip
        history: list[Epoch] = []
        try:
            for row in rows:
                history.append(row)
                if on_epoch is not None:
                    on_epoch(row)
        except KeyboardInterrupt:
            text = f"LinkPredictor: stopped after {len(history)} epochs; usable as it is"
            warnings.warn(text, TrainingWarning, stacklevel=2)
        model.constrain()
        model.eval()
        tilts = self._tilts(model, graph)
        self.graph_, self.model_, self.history_, self.tilts_ = graph, model, history, tilts
        self.params_ = self.get_params()
        self.held_out_: Tensor | None = None
        self._embed()
        self.fit_seconds_ = time.perf_counter() - begin
        return self

    def _tilts(self, model: LinkModel, graph: Graph) -> Tilts | None:
        if self.postprocess is None:
            return None
        assert self.criterion is not None
        return fit_group_tilts(
            model, graph, trained_criterion(self.criterion), self.target, self.tolerance,
            stream(self.seed, "postprocess"),
        )  # fmt: skip

    def _embed(self) -> None:
        with torch.no_grad():
            embedding = self.model_.embedding()
        self.embedding_ = None if embedding is None else embedding.detach().numpy()

    def restore(
        self, state: dict[str, Tensor], rows: list[Epoch], tilts: Tilts | None, seconds: float
    ) -> None:
        """Take on what a fitted predictor had, given ``graph_``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            self.model_ = self._build(self.graph_, stream(self.seed, "model"))
        self.model_.load_state_dict(state)
        self.model_.eval()
        self.history_, self.tilts_, self.fit_seconds_ = rows, tilts, seconds
        self.params_ = self.get_params()
        self.held_out_ = None
        self._embed()

    def _build(self, graph: Graph, generator: torch.Generator) -> LinkModel:
        made = MODELS[self.model] if isinstance(self.model, str) else self.model
        options = dict(self.options or {})
        if self.strength is not None:
            options["strength"] = self.strength
        dimension = made.dimension if self.dimension is None else self.dimension
        return made(graph, dimension, generator=generator, **options)

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

    def top(self, k: int = 10, nodes: object = None) -> Ranking:
        """The ``k`` likeliest new partners of each node, or of ``nodes (N,)``.

        Known links and the node itself are left out, sides respected, ties broken by node number.
        """
        self._fitted()
        every = range(self.graph_.num_nodes)
        chosen = node_numbers(every if nodes is None else nodes, self.graph_, "nodes", "top")
        if chosen.ndim != 1:
            raise ValueError(f"top: nodes must be a list of them, got {nodes!r:.60}")
        with torch.no_grad():
            return rank_partners(self.model_, self.graph_, k, chosen, self.tilts_, self.held_out_)

    def _index(self, pairs: object) -> Tensor:
        self._fitted()
        given = pairs.index if isinstance(pairs, Pairs) else pairs
        index = node_numbers(given, self.graph_, "pairs", "LinkPredictor")
        if not index.numel():
            return index.view(0, 2)
        if index.ndim != 2 or index.shape[1] != 2:
            raise ValueError(
                f"LinkPredictor: pairs must be a (P, 2) array of node numbers, got the shape "
                f"{tuple(index.shape)}"
            )
        return index

    def _fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise RuntimeError("LinkPredictor: not fitted yet; call fit(graph) first")

    def save(self, path: str | Path) -> None:
        """Write the fitted predictor to the directory ``path``: safetensors and JSON, no pickle."""
        from linkparity.prediction.saving import save_predictor

        self._fitted()
        save_predictor(self, Path(path))

    @classmethod
    def load(cls, path: str | Path, model: type[LinkModel] | None = None) -> "LinkPredictor":
        """Read what :meth:`save` wrote; ``model`` is the class, where it is one of your own."""
        from linkparity.prediction.loading import load_predictor

        return load_predictor(cls, Path(path), model)
