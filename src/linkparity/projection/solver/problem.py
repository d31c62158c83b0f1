r"""What the solver is given and what it gives: constraints on means, tilts and multipliers.

Every constraint c is about a mean: of ``p`` over cells where A is positive, of ``1 − p`` where it
is negative. With ``hit`` and ``miss`` the weight for and against it,

.. math:: \text{hit}_c = d_c W_c, \qquad \text{hit} = A^+ S + A^- R, \quad
          \text{miss} = A^+ R + A^- S, \quad W = \text{hit} + \text{miss}

Means live on the logit scale, log hit − log miss, so that 10⁻²⁰ and 1 − 10⁻²⁰ are ordinary numbers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkparity.criteria.constraints import ConstraintMatrix
from linkparity.projection.sums import Sums
from linkparity.support.arrays import expit
from linkparity.support.errors import PlainError

MAX_STEPS = 200
#: A matrix that holds its zeros has at most so many numbers.
MOST_NUMBERS = 10**8


class NotConverged(PlainError):
    """The solver stopped short of its tolerance."""


class Infeasible(ValueError):
    """No model satisfies the constraints, or only one with probabilities of 0 and 1."""


@dataclass(frozen=True)
class Problem:
    """Constraints on the means of cells.

    Attributes:
        entries: ``(C, M)``, the A above, by its numbers that are not 0.
        mass: ``(M,)`` weight of each cell.
        goal: ``(C,)`` logit of each target; None for a free common mean per block.
        block: ``(C,)`` which target a constraint shares.
        slack: how far a mean may stay from its target.
        rows: C names of constraints, for messages.
        limits: ``(2, C)`` lowest and highest free target of each; None for any.
    """

    entries: ConstraintMatrix
    mass: np.ndarray
    goal: np.ndarray | None
    block: np.ndarray
    slack: float
    rows: tuple[str, ...]
    limits: np.ndarray | None = None

    @cached_property
    def weight(self) -> np.ndarray:
        """``(C,)`` W: weight under each constraint."""
        return self.entries.weigh(self.mass)

    def hit_miss(self, sums: Sums) -> tuple[np.ndarray, np.ndarray]:
        """``(C,)`` weight for and against each constraint's statistic."""
        return self.entries.hit_miss(sums.yes, sums.no)

    def logits(self, sums: Sums) -> np.ndarray:
        """``(C,)`` logit of the mean of each constraint's statistic; infinite at 0 and 1."""
        hit, miss = self.hit_miss(sums)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(hit) - np.log(miss))

    def means(self, sums: Sums) -> np.ndarray:
        """``(C,)`` mean of each constraint's statistic."""
        return np.asarray(self.hit_miss(sums)[0] / self.weight)

    def lack(self, sums: Sums, multiplier: np.ndarray) -> np.ndarray:
        """``(C,)`` weight that each active constraint still lacks."""
        assert self.goal is not None
        goal = shift_logit(self.goal, -self.slack * np.sign(multiplier))
        hit, miss = self.hit_miss(sums)
        yes, no = self.weight * expit(goal), self.weight * expit(-goal)
        return np.asarray(np.where(goal < 0, yes - hit, miss - no))

    def shared(self, values: np.ndarray) -> np.ndarray:
        """``(C,)`` the sum of ``values (C,)`` over the constraints that share each one's target."""
        return np.asarray(np.bincount(self.block, weights=values)[self.block])

    @property
    def matrix(self) -> np.ndarray:
        """``(C, M)`` the A above, with its zeros; a sentence when these are too many."""
        self._check_size()
        return self.entries.dense

    @cached_property
    def together(self) -> np.ndarray:
        """``(C, C)`` whether two constraints share a target."""
        self._check_size()
        return np.asarray(self.block[:, None] == self.block[None, :])

    def _check_size(self) -> None:
        rows, cells = self.entries.shape
        if rows * max(rows, cells) > MOST_NUMBERS:
            raise ValueError(
                f"i_project: {rows:,} constraints on {cells:,} cells are solved at once and need "
                f"a matrix of more than {MOST_NUMBERS:,} numbers; put groups together into fewer, "
                "or constrain one attribute"
            )

    @property
    def centre(self) -> np.ndarray:
        """``(C, C)`` takes its block's mean from each mean where that mean is the target."""
        self._check_size()
        if self.goal is not None or self.slack:
            return np.eye(len(self.block))
        share = self.together * self.weight[None, :]
        return np.asarray(np.eye(len(self.block)) - share / share.sum(axis=1, keepdims=True))

    @property
    def separable(self) -> bool:
        """Whether each cell stands under one constraint, with one size of coefficient."""
        return self.entries.separable


@dataclass(frozen=True)
class Solution:
    """Tilts ``(M,)``, multipliers ``(C,)`` with ``tilt = Aᵀ multiplier``, steps taken.

    ``goal (C,)`` holds the logit of each constraint's target, also of one that was free.
    """

    tilt: np.ndarray
    multiplier: np.ndarray
    steps: int
    goal: np.ndarray


def shift_logit(goal: np.ndarray, by: float | np.ndarray) -> np.ndarray:
    """logit(σ(goal) + by), infinite where that leaves (0, 1)."""
    if not np.any(by):
        return goal
    yes, no = expit(goal) + by, expit(-goal) - by
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.log(yes) - np.log(no)
    return np.where(yes <= 0, -np.inf, np.where(no <= 0, np.inf, inside))
