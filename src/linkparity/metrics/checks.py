"""Scores, groups, labels and weights: anything array-like → checked numpy arrays."""

from collections.abc import Sequence

import numpy as np

from linkparity.criteria.group_pairs import check_groups
from linkparity.reading.groups import NO_GROUP, is_unknown, number_groups
from linkparity.support.arrays import check_labels, check_weights, plain
from linkparity.support.errors import InputError


def check_scores(caller: str, logits: object = None, prob: object = None) -> np.ndarray:
    """``(P,)`` float64 logits or probabilities, whichever is given."""
    if (logits is None) == (prob is None):
        given = "neither" if logits is None else "both"
        raise InputError(f"give either logits or prob, got {given}", caller=caller)
    name = "prob" if logits is None else "logits"
    score = float_array(prob if logits is None else logits)
    if score.ndim != 1:
        problem, fix = f"must have the shape (P,), got {score.shape}", "give one score per pair"
        raise InputError(problem, fix, argument=name, caller=caller)
    missing = np.isnan(score)
    if missing.any():
        first, count = int(missing.argmax()), int(missing.sum())
        problem = f"has {count} nan of {len(score)}, the first at position {first}"
        raise InputError(problem, "leave those pairs out", argument=name, caller=caller)
    if logits is not None:
        return score
    outside = (score < 0) | (score > 1)
    if outside.any():
        first = int(outside.argmax())
        problem = f"must be in [0, 1], got {score[first]:g} at position {first}"
        raise InputError(problem, "give logits as {logits=}", argument=name, caller=caller)
    return score


def group_array(caller: str, groups: object, size: int) -> np.ndarray:
    """``groups`` as int64, ``(P,)`` or ``(P, 2)``, with one row per score."""
    if groups is None:
        fix = "give (P, 2) integers, −1 for none"
        raise InputError("are missing", fix, argument="groups", caller=caller)
    found = check_groups(groups).astype(np.int64)
    if len(found) != size:
        problem = f"must have one row per score, {size}, got {len(found)}"
        raise InputError(problem, argument="groups", caller=caller)
    return found


def numbered_names(
    groups: object, names: Sequence[str], caller: str
) -> tuple[object, tuple[str, ...]]:
    """Numbers of groups given by name, in sorted order or that of ``names``; others as given.

    A name that is None, NaN or empty is no group.

    >>> numbered_names([["b", "a"], ["a", None]], (), "f")
    (array([[ 1,  0],
           [ 0, -1]]), ('a', 'b'))
    """
    found = np.asarray(plain(groups))
    if found.dtype.kind not in "OSTU" or not found.ndim:
        return groups, tuple(names)
    values = found.ravel()
    known = np.array([not is_unknown(value) for value in values.tolist()])
    number = np.full(len(values), NO_GROUP)
    if len(named := values[known].tolist()):
        numbered = number_groups(named, "error", names=tuple(names), caller=caller)
        number[known], names = numbered.group, numbered.names
    return number.reshape(found.shape), tuple(names)


def label_array(
    caller: str, labels: object, size: int, argument: str = "labels"
) -> np.ndarray | None:
    """``labels`` as 0.0 and 1.0, or None."""
    return None if labels is None else float_array(check_labels(labels, size, argument, caller))


def weight_array(caller: str, weight: object, size: int) -> np.ndarray:
    """``weight`` as float64, at least 0; 1 where not given."""
    if weight is None:
        return np.ones(size)
    return float_array(check_weights(weight, size, "weight", caller))


def node_array(caller: str, nodes: object, size: int) -> np.ndarray | None:
    """``nodes`` as ``(P, 2)`` ids, whole numbers or text, or None."""
    if nodes is None:
        return None
    found = np.array(plain(nodes))
    fix = "give the ids of both nodes of each pair"
    if found.shape != (size, 2):
        problem = f"must have the shape ({size}, 2), got {found.shape}"
        raise InputError(problem, fix, argument="nodes", caller=caller)
    if found.dtype.kind == "O":
        found = found.astype(str)
    if found.dtype.kind not in "iuU":
        problem = f"must be whole numbers or text, got {found.dtype}"
        raise InputError(problem, fix, argument="nodes", caller=caller)
    return found


def float_array(values: object) -> np.ndarray:
    """A float64 copy of anything array-like, tensors of any device and precision included."""
    return np.array(plain(values), dtype=np.float64)
