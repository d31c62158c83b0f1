"""Logits as an array, and what a projection needs of logits of any kind."""

from typing import Any, Protocol

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.fit import Fit, PairSums
from linkparity.projection.sums import ArraySums
from linkparity.support.arrays import PART_SIZE, array, is_tensor, plain
from linkparity.support.errors import InputError


class LogitSums(PairSums, Protocol):
    """Sums per cell over logits in memory.

    Attributes:
        digits: bits of the type that they are computed in, 32 or 64.
    """

    digits: int

    def close(self) -> None:
        """Return borrowed memory."""
        ...


class Logits(Protocol):
    """Checked logits.

    Attributes:
        plain: ``(P,)``, detached.
        bound: a number that none of them exceeds in absolute value.
        version: changes when they are changed in place; −1 where that is not known.
    """

    plain: Any
    bound: float
    version: int

    def sums(self, cells: Cells, exact: bool) -> LogitSums:
        """Sums per cell; ``exact`` for float64 whatever the logits' type."""
        ...

    def in_type(self, values: np.ndarray) -> Any:
        """Numbers in the type of the logits."""
        ...

    def value(self, value: float, source: LogitSums | None, fit: Fit | None, through: bool) -> Any:
        """The divergence as a 0-d value that carries its gradient in the logits."""
        ...


class ArrayLogits:
    """Logits as an array; see :class:`Logits`."""

    version = -1

    def __init__(self, logits: object) -> None:
        self.plain = array(logits)
        self.bound = check_logits(self.plain)

    def sums(self, cells: Cells, exact: bool) -> ArraySums:
        """Sums per cell in float64."""
        return ArraySums(self.plain, cells)

    def in_type(self, values: np.ndarray) -> np.ndarray:
        """Numbers in the type of the logits."""
        return values.astype(self.plain.dtype)

    def value(
        self, value: float, source: LogitSums | None, fit: Fit | None, through: bool
    ) -> np.ndarray:
        """The divergence as a 0-d array."""
        return np.array(value, dtype=np.promote_types(self.plain.dtype, np.float32))


def check_logits(x: Any) -> float:
    """Refuse what is no finite logits ``(P,)``, in an array or a tensor; a bound on the others."""
    kind = x.is_floating_point() if is_tensor(x) else x.dtype.kind == "f"
    if not kind:
        problem = f"must be floating-point numbers, got {x.dtype}"
        raise _refused(problem, "give log-odds, not decisions")
    if x.ndim != 1:
        raise _refused(f"must have the shape (P,), got {tuple(x.shape)}", "flatten them")
    if not len(x):
        return 0.0
    low, high = (float(end) for end in (x.aminmax() if is_tensor(x) else (x.min(), x.max())))
    if not (-np.inf < low and high < np.inf):
        values = plain(x)
        wrong = np.flatnonzero(~np.isfinite(values))
        raise _refused(
            f"must be finite, got {values[wrong[0]].item():g} at position {int(wrong[0])} "
            f"({len(wrong)} in all)",
            "a probability of 0 or 1 cannot be tilted",
        )
    return max(abs(low), abs(high)) + 1.0


def _refused(problem: str, fix: str) -> InputError:
    return InputError(problem, fix, argument="logits", caller="i_project")


def add_tilts(x: Any, tilt: Any, code: np.ndarray) -> Any:
    """``(P,)`` logits plus the tilt ``(M,)`` of each one's cell, ``code (P,)``; −1 is none."""
    out: Any
    more: Any
    if is_tensor(x):
        import torch

        out, more = x.clone(), torch.cat([tilt, tilt.new_zeros(1)])
    else:
        out, more = x.copy(), np.append(tilt, tilt.dtype.type(0))
    for low in range(0, len(out), PART_SIZE):
        part = slice(low, low + PART_SIZE)
        at = code[part].astype(np.int32)
        out[part] += more[torch.from_numpy(at).to(x.device) if is_tensor(x) else at]
    return out
