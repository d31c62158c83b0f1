"""LinkPredictor: fit on a graph and predict, with the interface of scikit-learn."""

import inspect
import operator
import time
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Literal, Self, get_args, get_origin

import torch
from torch import Tensor

from linkparity.criteria import Criterion
from linkparity.criteria.constrained_group_pairs import graph_criterion
from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.models.base import check_learned
from linkparity.models.prediction.fitted import FittedPredictor
from linkparity.models.prediction.postprocess import Tilts, fit_tilt_table, withhold_links
from linkparity.models.training.loop import TrainingWarning, check_pairs
from linkparity.models.training.objective import (
    LARGEST,
    Epoch,
    Objective,
    Settings,
    bounded,
    chosen_pairs,
    pair_weights,
    parity_weights,
    trained_criterion,
    widen,
)
from linkparity.support.arrays import check_seed, real_number, whole_number
from linkparity.support.errors import InputError, warn
from linkparity.support.randomness import stream
from linkparity.support.registry import did_you_mean

#: Methods use a few hundred; with this one, an embedding of 100,000 nodes has 4 GB.
LARGEST_DIMENSION = 10_000


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
            the fit: links from both ends and the partners, as in the authors' code). By default
            candidates, in the training of maxent all pairs.
        patience: stop after so many epochs without a lower loss.
        postprocess: ``"i-projection"`` tilts the trained model to parity, by one number per pair
            of groups; with ``gamma=0`` in place of the regularizer, else on top of it. For criteria
            that look at links a twin is trained without a tenth of the links, and the tilts are
            fitted to these.
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
        pairs: str | None = None,
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

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every argument of the constructor, by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; they take effect at the next :meth:`fit`."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"unknown parameter {name!r}",
                    f"known: {', '.join(known)}",
                    caller=type(self).__name__,
                )
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """A graph in place of a matrix, and nothing in place of labels."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=False)
        return Tags(None, TargetTags(required=False), input_tags=inputs, no_validation=True)

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        shown = [
            f"{name}={value.__name__ if isinstance(value, type) else repr(value)}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def fit(
        self, graph: Graph, y: object = None, on_epoch: Callable[[Epoch], object] | None = None
    ) -> "LinkPredictor":
        """Train on ``graph``. Ctrl-C ends training early, with a warning and a usable model.

        During the training of a twin, without which there are no tilts, it is raised.

        Args:
            graph: to learn from.
            y: ignored, for scikit-learn's sake.
            on_epoch: called with each row of training as it comes.
        """
        begin = time.perf_counter()
        objective, settings = check_parameters(self, graph)
        model, history = self._train(graph, objective, settings, on_epoch)
        if history:
            check_learned(model, graph, stream(self.seed, "learned"))
        tilts = None if self.postprocess is None else self._tilts(model, graph)
        self.graph_, self.model_, self.history_, self.tilts_ = graph, model, history, tilts
        self.finish()
        self.fit_seconds_ = time.perf_counter() - begin
        return self

    def _train(
        self,
        graph: Graph,
        objective: Objective,
        settings: Settings,
        on_epoch: Callable[[Epoch], object] | None = None,
        whole: bool = False,
    ) -> tuple[LinkModel, list[Epoch]]:
        """A model of ``graph``, trained, and the rows of its training; if not ``whole``, some."""
        model = self.build(graph, settings.generator)
        rows = model.steps(graph, objective.for_graph(graph, settings.pairs), settings)
        history: list[Epoch] = []
        try:
            for row in rows:
                history.append(row)
                if on_epoch is not None:
                    on_epoch(row)
        except KeyboardInterrupt:
            if whole:
                raise
            stopped = f"stopped after {len(history)} epochs; usable as it is"
            warn(TrainingInterrupted, stopped, caller="LinkPredictor")
        model.constrain()
        model.eval()
        return model, history

    def tilt_fitted(self, other: "LinkPredictor", tilts: Tilts | None = None) -> "LinkPredictor":
        """Take over the model that another predictor trained, and tilt it as asked.

        The result is that of :meth:`fit` where both train alike; for criteria that tilt by group.
        Others need tilts that are known already.
        """
        check_parameters(self, other.graph_)
        self.graph_, self.model_, self.history_ = other.graph_, other.model_, other.history_
        self.tilts_ = self._tilts(self.model_, self.graph_) if tilts is None else tilts
        self.finish()
        self.fit_seconds_ = other.fit_seconds_
        return self

    def _tilts(self, model: LinkModel, graph: Graph) -> Tilts:
        """Tilts of the model; those for links come from a twin that has not seen these links."""
        assert self.criterion is not None
        unseen = None
        needs_links = trained_criterion(self.criterion).needs_labels
        if needs_links and (part := withhold_links(graph, self.seed)) is not None:
            twin = part.train
            model = self._train(twin, *check_parameters(self, twin), whole=True)[0]
            unseen = part.test.index[part.test.label == 1]
        return self.fit_tilts(model, graph, unseen)

    def fit_tilts(self, model: LinkModel, graph: Graph, unseen: Tensor | None = None) -> Tilts:
        """Tilts that bring a trained model to parity over pairs of ``graph``.

        Args:
            model: whose logits are tilted.
            graph: its pairs.
            unseen: ``(E, 2)`` links of ``graph`` that the model was not trained on, which stand
                for all links; None for all of them.
        """
        assert self.criterion is not None
        criterion = graph_criterion(trained_criterion(self.criterion), graph)
        pairs = chosen_pairs(LinkModel, self.pairs)
        weights = parity_weights(pairs, criterion, pair_weights(graph, self.negatives))
        return fit_tilt_table(
            model, graph, criterion, self.target, self.tolerance, weights,
            stream(self.seed, "postprocess"), unseen,
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


def check_parameters(given: LinkPredictor, graph: Graph) -> tuple[Objective, Settings]:
    """What one training minimises, and how; refuses what cannot be trained with."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"LinkPredictor: fit takes a Graph, got {type(graph).__name__}; make one with "
            "linkparity.load or linkparity.Graph"
        )
    check_seed(given.seed, "seed", "LinkPredictor")
    if given.dimension is not None:
        dimension = whole_number(given.dimension, "dimension", "LinkPredictor")
        if not 1 <= dimension <= LARGEST_DIMENSION:
            bounds = f"must lie between 1 and {LARGEST_DIMENSION:,}"
            raise _refused("dimension", f"{bounds}, got {dimension:,}")
    if not isinstance(given.model, str) and not (
        isinstance(given.model, type) and issubclass(given.model, LinkModel)
    ):
        known = ", ".join(MODELS)
        raise _refused(
            "model", f"must be one of {known}, or a subclass of LinkModel, got {given.model!r:.60}"
        )
    if not isinstance(given.options, Mapping | None):
        raise _refused("options", f"must be a dict, got {given.options!r:.60}")
    _check_options(given)
    _check_strength(given)
    check_pairs(graph)
    made = MODELS[given.model] if isinstance(given.model, str) else given.model
    pairs = chosen_pairs(made, given.pairs)
    settings = Settings(
        given.epochs, given.lr, given.negatives, pairs, None, given.patience,
        stream(given.seed, "model"),
    )  # fmt: skip
    objective = Objective.of(given.criterion, given.gamma, given.target, given.tolerance)
    _check_postprocess(given)
    return objective, settings


#: What an option of a model may be, by the annotation of its parameter, and how to say so.
OPTION_KINDS: dict[object, tuple[Callable[[Any], bool], str]] = {
    int: (
        lambda v: isinstance(v, Integral) and not isinstance(v, bool) and int(v) > 0,
        "a whole number > 0",
    ),
    float: (
        lambda v: isinstance(v, Real) and not isinstance(v, bool) and 0 < v <= LARGEST,  # type: ignore[operator]
        "a number > 0",
    ),
    bool: (lambda v: isinstance(v, bool), "true or false"),
}


def _check_options(given: "LinkPredictor") -> None:
    """Refuse options that the model does not take."""
    made = MODELS[given.model] if isinstance(given.model, str) else given.model
    takes = list(inspect.signature(made).parameters.values())
    if not given.options or any(each.kind is each.VAR_KEYWORD for each in takes):
        return
    own = ("graph", "dimension", "generator", "strength")
    known = [each.name for each in takes if each.name not in own]
    for name in given.options:
        if name not in known:
            fix = f"it takes {', '.join(known)}" if known else "it takes none"
            problem = f"name {name!r}, which the model {given.model!r} does not take"
            raise _refused("options", problem, did_you_mean(str(name), known) + fix)
    for each in takes:
        if each.name in given.options:
            fits, kind = _option_kind(each.annotation)
            if not fits(value := given.options[each.name]):
                raise _refused("options", f"must give {each.name} {kind}, got {value!r:.60}")
            if each.name == "hidden" and value > LARGEST_DIMENSION:  # a dimension too
                bound = f"at most {LARGEST_DIMENSION:,}"
                raise _refused("options", f"must give hidden {bound}, got {value:,}")


def _option_kind(annotation: object) -> tuple[Callable[[Any], bool], str]:
    """What a value may be, and how to say so; anything where the annotation does not tell."""
    if get_origin(annotation) is not Literal:
        return OPTION_KINDS.get(annotation, (lambda _: True, "anything"))
    values = get_args(annotation)
    named = " or ".join(repr(value) for value in values if value is not None)
    return lambda value: value in values, named


def _check_strength(given: LinkPredictor) -> None:
    """Refuse a strength that the model does not have, and one that is no strength."""
    if given.strength is None:
        return
    made = MODELS[given.model] if isinstance(given.model, str) else given.model
    if made.strength is None:
        name = given.model if isinstance(given.model, str) else made.__name__
        have = [each for each, model in MODELS.items() if model.strength is not None]
        fix = f"leave it out, or choose one of {', '.join(have)}" if have else "leave it out"
        raise _refused("strength", f"does not apply to the model {name!r}", fix)
    made.check_strength(real_number(given.strength, "strength", "LinkPredictor"))
    bounded(given.strength, "strength")


def _check_postprocess(given: LinkPredictor) -> None:
    if given.postprocess is None:
        return
    if given.postprocess != "i-projection":
        raise _refused("postprocess", f"must be None or 'i-projection', got {given.postprocess!r}")
    if given.criterion is None:
        raise _refused("postprocess", "'i-projection' needs a criterion", "add {criterion=dp}")
    found = trained_criterion(given.criterion)
    if not (found.tilts_by_group or found.by_group_pair):
        raise _refused(
            "postprocess",
            f"'i-projection' needs a criterion about pairs of groups, which {found.name!r} is not",
        )


def _refused(argument: str, problem: str, fix: str = "") -> InputError:
    return InputError(problem, fix, argument=argument, caller="LinkPredictor")
