"""The parameters of a predictor: read, changed and shown as in scikit-learn; checked by ``fit``."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.support.errors import InputError
from linkparity.support.validation import check_seed, whole_number
from linkparity.training.loop import check_pairs
from linkparity.training.objective import Objective, Settings, bounded, trained_criterion

if TYPE_CHECKING:
    from linkparity.prediction.predictor import LinkPredictor


class Parameters:
    """Arguments of the constructor are attributes of the same name."""

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


def check_parameters(given: "LinkPredictor", graph: Graph) -> None:
    """Refuse parameters and graphs that cannot be trained with, before anything is built."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"LinkPredictor: fit takes a Graph, got {type(graph).__name__}; make one with "
            "linkparity.load or linkparity.Graph"
        )
    check_seed(given.seed, "seed", "LinkPredictor")
    if given.dimension is not None:
        dimension = whole_number(given.dimension, "dimension", "LinkPredictor")
        if dimension < 1:
            raise _refused("dimension", f"must be at least 1, got {dimension}")
    if not isinstance(given.model, str) and not (
        isinstance(given.model, type) and issubclass(given.model, LinkModel)
    ):
        known = ", ".join(MODELS)
        raise _refused(
            "model", f"must be one of {known}, or a subclass of LinkModel, got {given.model!r:.60}"
        )
    if not isinstance(given.options, Mapping | None):
        raise _refused("options", f"must be a dict, got {given.options!r:.60}")
    _check_strength(given)
    check_pairs(graph)
    Settings(given.epochs, given.lr, given.negatives, given.pairs, patience=given.patience)
    Objective.of(given.criterion, given.gamma, given.target, given.tolerance)
    _check_postprocess(given)


def _check_strength(given: "LinkPredictor") -> None:
    """Refuse a strength that the model does not have, and one that is no strength."""
    if given.strength is None:
        return
    made = MODELS[given.model] if isinstance(given.model, str) else given.model
    if made.strength is None:
        name = given.model if isinstance(given.model, str) else made.__name__
        have = [each for each, model in MODELS.items() if model.strength is not None]
        fix = f"leave it out, or choose one of {', '.join(have)}" if have else "leave it out"
        raise _refused("strength", f"does not apply to the model {name!r}", fix)
    bounded(given.strength, "strength")


def _check_postprocess(given: "LinkPredictor") -> None:
    if given.postprocess is None:
        return
    if given.postprocess != "i-projection":
        raise _refused("postprocess", f"must be None or 'i-projection', got {given.postprocess!r}")
    found = None if given.criterion is None else trained_criterion(given.criterion)
    if found is None or not found.tilts_by_group:
        raise _refused(
            "postprocess",
            f"'i-projection' needs criterion 'dp' or 'weak-dp', got "
            f"{None if found is None else found.name!r}: other criteria tilt by the true label, "
            "which a prediction does not know",
        )


def _refused(argument: str, problem: str, fix: str = "") -> InputError:
    return InputError(problem, fix, argument=argument, caller="LinkPredictor")
