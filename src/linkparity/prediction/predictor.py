"""LinkPredictor: fit on a graph and predict, with the interface of scikit-learn."""

import operator
import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from linkparity.criteria import Criterion
from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.prediction.fitted import FittedPredictor
from linkparity.prediction.parameters import check_parameters
from linkparity.prediction.tilt_table import Tilts, fit_group_tilts
from linkparity.support.errors import InputWarning, warn
from linkparity.support.randomness import stream
from linkparity.training.loop import Diverged, train
from linkparity.training.objective import (
    Epoch,
    pair_weights,
    parity_weights,
    trained_criterion,
    widen,
)

#: Links, and about as many random pairs, on which a model is compared with a constant one.
CHECKED_PAIRS = 10_000
#: Relative difference of two means that rounding may cause.
ROUNDING = 1e-9


class TrainingWarning(InputWarning):
    """Training ended unexpectedly; the message says how."""


class TrainingInterrupted(TrainingWarning):
    """Training was stopped by Ctrl-C; the model is usable."""


class LinkPredictor(FittedPredictor):
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
        pairs: what parity is about, in training and in post-processing: ``"candidates"`` (every
            pair that is no training link), ``"all"`` (every pair) or ``"sampled"`` (the pairs of
            the fit: links from both ends and the partners, as in the authors' code).
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
        check_parameters(self, graph)
        generator = stream(self.seed, "model")
        model = self.build(graph, generator)
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
            stopped = f"stopped after {len(history)} epochs; usable as it is"
            warn(TrainingInterrupted, stopped, caller="LinkPredictor")
        model.constrain()
        model.eval()
        if history:
            _check_learned(model, graph, stream(self.seed, "learned"))
        tilts = self._tilts(model, graph)
        self.graph_, self.model_, self.history_, self.tilts_ = graph, model, history, tilts
        self.finish()
        self.fit_seconds_ = time.perf_counter() - begin
        return self

    def _tilts(self, model: LinkModel, graph: Graph) -> Tilts | None:
        if self.postprocess is None:
            return None
        assert self.criterion is not None
        criterion = trained_criterion(self.criterion)
        weights = parity_weights(self.pairs, criterion, pair_weights(graph, self.negatives))
        return fit_group_tilts(
            model, graph, criterion, self.target, self.tolerance, weights,
            stream(self.seed, "postprocess"),
        )  # fmt: skip

    def finish(self) -> None:
        """Set the fitted attributes that follow from the parameters and the model."""
        self.params_ = self.get_params()
        self.held_out_: Tensor | None = None
        with torch.no_grad():
            embedding = self.model_.embedding()
        self.embedding_ = None if embedding is None else widen(embedding.detach()).numpy()

    def build(self, graph: Graph, generator: torch.Generator) -> LinkModel:
        """The model of the parameters, untrained."""
        made = MODELS[self.model] if isinstance(self.model, str) else self.model
        options = dict(self.options or {})
        if self.strength is not None:
            options["strength"] = self.strength
        dimension = operator.index(made.dimension if self.dimension is None else self.dimension)
        return made(graph, dimension, generator=generator, **options)


@torch.no_grad()
def _check_learned(model: LinkModel, graph: Graph, generator: torch.Generator) -> None:
    """Warn of a model that tells links from other pairs no better than a constant does.

    Its cross-entropy, at the best scale and shift of the logits, is below that of a constant
    if and only if the mean logit of links is above that of all pairs, here by three standard
    errors.
    """
    if graph.num_links in (0, graph.num_pairs):
        return
    ends = [torch.arange(graph.num_nodes)] * 2
    if graph.side is not None:
        ends = [torch.nonzero(graph.side == side)[:, 0] for side in (0, 1)]
    size = (CHECKED_PAIRS,)
    drawn = [end[torch.randint(len(end), size, generator=generator)] for end in ends]
    index = torch.stack(drawn, dim=1)
    others = index[index[:, 0] != index[:, 1]]
    links = graph.links[torch.randint(graph.num_links, size, generator=generator)]
    logits = model(torch.cat([links, others])).double()
    if not logits.isfinite().all():
        fix = "take a smaller lr"
        raise Diverged("the model's logits are not finite", fix, caller="LinkPredictor")
    parts = logits[: len(links)], logits[len(links) :]
    mean = [float(part.mean()) for part in parts]
    error = sum(float(part.var(correction=0)) / len(part) for part in parts) ** 0.5
    if mean[0] - mean[1] <= 3 * error + ROUNDING * abs(mean[0]):
        warn(
            TrainingWarning,
            f"the model learned nothing: links have a mean logit of {mean[0]:.3g}, all pairs "
            f"{mean[1]:.3g}, so that its cross-entropy is not below that of a constant",
            "try another lr, gamma or number of epochs",
            caller="LinkPredictor",
        )
