"""Checks of scores, labels and weights: anything array-like → float64 arrays."""

import numpy as np
import torch

from linkparity.support.arrays import expit, logit
from linkparity.support.errors import InputError


def check_scores(
    caller: str, logits: object, prob: object
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits, probabilities, and the scores as received, from whichever is given."""
    if (logits is None) == (prob is None):
        given = "neither" if logits is None else "both"
        raise InputError(f"give either logits or prob, got {given}", caller=caller)
    name = "prob" if logits is None else "logits"
    score = float_array(prob if logits is None else logits)
    if score.ndim != 1:
        raise InputError(
            f"must have the shape (P,), got {score.shape}", "give one score per pair",
            argument=name, caller=caller,
        )  # fmt: skip
    missing = np.isnan(score)
    if missing.any():
        raise InputError(
            f"has {int(missing.sum())} nan of {len(score)}, the first at position "
            f"{int(missing.argmax())}", "leave those pairs out", argument=name, caller=caller,
        )  # fmt: skip
    if logits is not None:
        return score, expit(score), score
    inside = (score >= 0) & (score <= 1)
    _check_rows(inside, score, "must be in [0, 1]", "give logits if these are logits", name, caller)
    return logit(score), score, score


def check_labels(caller: str, labels: object, size: int, name: str = "labels") -> np.ndarray | None:
    """``labels`` as 0.0 and 1.0, or None."""
    if labels is None:
        return None
    label = float_array(labels)
    _check_shape(label, size, name, caller)
    known = (label == 0) | (label == 1)
    _check_rows(known, label, "must be 0 or 1", "use 1 for a link", name, caller)
    return label


def check_weight(caller: str, weight: object, size: int) -> np.ndarray:
    """``weight`` as float64, at least 0; 1 where not given."""
    if weight is None:
        return np.ones(size)
    given = float_array(weight)
    _check_shape(given, size, "weight", caller)
    valid = np.isfinite(given) & (given >= 0)
    fix = "use 0 to leave a pair out"
    _check_rows(valid, given, "must be finite and not negative", fix, "weight", caller)
    return given


def check_groups_length(caller: str, groups: np.ndarray, size: int) -> None:
    """Raise unless ``groups``, ``(P,)`` or ``(P, 2)``, has one row per score."""
    if len(groups) != size:
        problem = f"must have one row per score, {size}, got {len(groups)}"
        raise InputError(problem, argument="groups", caller=caller)


def float_array(values: object) -> np.ndarray:
    """A float64 copy of anything array-like, tensors of any device and precision included."""
    return np.array(_detached(values), dtype=np.float64)


def integer_array(values: object) -> np.ndarray:
    """A copy of anything array-like in its own type, which must be checked to be integers."""
    return np.array(_detached(values))


def _detached(values: object) -> object:
    """Tensors without graph and device; floats as float64, because numpy has no bfloat16."""
    if not isinstance(values, torch.Tensor):
        return values
    values = values.detach().cpu()
    return (values.double() if values.is_floating_point() else values).numpy()


def _check_shape(values: np.ndarray, size: int, argument: str, caller: str) -> None:
    if values.shape != (size,):
        problem = f"must have the shape ({size},), got {values.shape}"
        raise InputError(problem, "give one per pair", argument=argument, caller=caller)


def _check_rows(
    valid: np.ndarray, values: np.ndarray, rule: str, fix: str, argument: str, caller: str
) -> None:
    """Raise with the first value that breaks the rule."""
    if not valid.all():
        position = int(valid.argmin())
        problem = f"{rule}, got {values[position]:g} at position {position}"
        raise InputError(problem, fix, argument=argument, caller=caller)
