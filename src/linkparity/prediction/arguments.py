"""What a predictor is asked for, checked with a sentence."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from linkparity.graph.graph import Graph
from linkparity.models import MODELS, LinkModel
from linkparity.support.errors import InputError
from linkparity.support.validation import check_seed, real_number, whole_number
from linkparity.training.objective import Objective, trained_criterion
from linkparity.training.settings import Settings, check_pairs

if TYPE_CHECKING:
    from linkparity.prediction.predictor import LinkPredictor


def check_arguments(asked: "LinkPredictor", graph: Graph) -> None:
    """Refuse what no training can be made of, before anything is built."""
    if not isinstance(graph, Graph):
        raise TypeError(
            f"LinkPredictor: fit takes a Graph, got {type(graph).__name__}; make one with "
            "linkparity.load or linkparity.Graph"
        )
    check_seed(asked.seed, "seed", "LinkPredictor")
    if asked.dimension is not None:
        dimension = whole_number(asked.dimension, "dimension", "LinkPredictor")
        if dimension < 1:
            raise ValueError(f"LinkPredictor: dimension must be at least 1, got {dimension}")
    if not isinstance(asked.model, str) and not (
        isinstance(asked.model, type) and issubclass(asked.model, LinkModel)
    ):
        raise ValueError(
            f"LinkPredictor: model must be one of {', '.join(MODELS)}, or a subclass of "
            f"LinkModel, got {asked.model!r:.60}"
        )
    if not isinstance(asked.options, Mapping | None):
        raise ValueError(f"LinkPredictor: options must be a dict, got {asked.options!r:.60}")
    _check_strength(asked)
    check_pairs(graph)
    Settings(asked.epochs, asked.lr, asked.negatives, asked.pairs, patience=asked.patience)
    Objective.of(asked.criterion, asked.gamma, asked.target, asked.tolerance)
    if asked.postprocess is None:
        return
    if asked.postprocess != "i-projection":
        raise ValueError(
            f"LinkPredictor: postprocess must be None or 'i-projection', got {asked.postprocess!r}"
        )
    found = None if asked.criterion is None else trained_criterion(asked.criterion)
    if found is None or not found.tilts_by_group:
        name = None if found is None else found.name
        raise ValueError(
            f"LinkPredictor: postprocess='i-projection' needs criterion 'dp' or 'weak-dp', got "
            f"{name!r}: other criteria tilt by the true label, which a prediction does not know"
        )


def _check_strength(asked: "LinkPredictor") -> None:
    """Refuse a strength that the model does not have, and one that no model can have."""
    if asked.strength is None:
        return
    made = MODELS[asked.model] if isinstance(asked.model, str) else asked.model
    if made.strength is None:
        name = asked.model if isinstance(asked.model, str) else made.__name__
        have = [each for each, model in MODELS.items() if model.strength is not None]
        raise InputError(
            f"does not apply to the model {name!r}",
            f"leave it out, or choose one of {', '.join(have)}" if have else "leave it out",
            argument="strength",
            caller="LinkPredictor",
        )
    strength = real_number(asked.strength, "strength", "LinkPredictor")
    if not 0 <= strength < math.inf:
        problem = f"must be finite and at least 0, got {asked.strength!r}"
        raise InputError(problem, argument="strength", caller="LinkPredictor")
