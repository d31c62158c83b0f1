"""Arrays checked where they come in: each error names the argument, the row and the way out."""

import numpy as np
import torch

from linkparity.support.arrays import expit, logit


def check_scores(
    where: str, logits: object, prob: object
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits, probabilities, and the scores as received, from whichever is given."""
    if (logits is None) == (prob is None):
        raise ValueError(
            f"{where}: give either logits or prob, got " + ("neither" if logits is None else "both")
        )
    name = "prob" if logits is None else "logits"
    score = np.array(plain(prob if logits is None else logits), dtype=np.float64)
    if score.ndim != 1:
        raise ValueError(
            f"{where}: {name} must have the shape (P,), got {score.shape}; one score per pair"
        )
    if np.isnan(score).any():
        raise ValueError(
            f"{where}: {name} has {int(np.isnan(score).sum())} nan of {len(score)}, the first "
            f"at row {int(np.isnan(score).argmax())}; leave those pairs out"
        )
    if logits is not None:
        return score, expit(score), score
    outside = (score < 0) | (score > 1)
    if outside.any():
        raise ValueError(
            f"{where}: prob must lie in [0, 1], got {score[outside.argmax()]:g} at row "
            f"{int(outside.argmax())}; give logits if these are no probabilities"
        )
    return logit(score), score, score


def check_labels(where: str, labels: object, size: int, name: str = "labels") -> np.ndarray | None:
    """``labels`` as 0.0 and 1.0, or None."""
    if labels is None:
        return None
    label = np.array(plain(labels), dtype=np.float64)
    check_length(where, name, label, size)
    wrong = (label != 0) & (label != 1)
    if wrong.any():
        raise ValueError(
            f"{where}: {name} must be 0 or 1, got {label[wrong.argmax()]:g} at row "
            f"{int(wrong.argmax())}; 1 is a link, 0 a non-link"
        )
    return label


def check_weight(where: str, weight: object, size: int) -> np.ndarray:
    """``weight`` as positive float64; 1 where not given."""
    if weight is None:
        return np.ones(size)
    w = np.array(plain(weight), dtype=np.float64)
    check_length(where, "weight", w, size)
    wrong = ~(np.isfinite(w) & (w > 0))
    if wrong.any():
        raise ValueError(
            f"{where}: weight must be positive and finite, got {w[wrong.argmax()]:g} at row "
            f"{int(wrong.argmax())}; leave out pairs that should not count"
        )
    return w


def check_length(where: str, what: str, array: np.ndarray, size: int) -> None:
    """Raise unless ``array`` is ``(size,)``."""
    if array.shape != (size,):
        raise ValueError(
            f"{where}: {what} must have one row per score, {size}, got the shape {array.shape}"
        )


def plain(values: object) -> object:
    """Tensors leave their graph and device; everything else stays as it is.

    What comes out is copied before use: arrays may be read-only or turned around, and torch takes
    neither. Nor has numpy bfloat16, so floats come as float64.
    """
    if not isinstance(values, torch.Tensor):
        return values
    values = values.detach().cpu()
    return (values.double() if values.is_floating_point() else values).numpy()
