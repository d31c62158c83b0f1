"""Targets by name, number or label → the logit that each constraint's mean must have."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from torch import Tensor

from linkparity.criteria import Cells, Custom
from linkparity.projection.solver import Infeasible, Problem
from linkparity.projection.sums import Sums
from linkparity.support.registry import nearest

NAMES = ("model", "data", "free")
Target = str | dict[Hashable, float]


def read_target(target: object, cells: Cells) -> Target:
    """A name, or a number per block of constraints; a sentence for anything else."""
    criterion, blocks = cells.criterion, cells.layout.blocks
    if isinstance(target, np.ndarray | Tensor):
        target = target.tolist()
    if isinstance(criterion, Custom) and target != "model":
        raise ValueError(
            f"i_project: a Custom criterion carries its own right side b, got target {target!r}; "
            "put the target into b"
        )
    if isinstance(target, str):
        return _check_name(target, cells)
    if isinstance(target, Mapping):
        if set(target) != set(blocks):
            raise ValueError(
                f"i_project: target must be one number, or a dict with the keys {list(blocks)} "
                f"where there are several, got the keys {list(target)}"
            )
        return {key: _check_number(value) for key, value in target.items()}
    if isinstance(target, Sequence):
        if len(target) != len(blocks) or blocks == (None,):
            raise ValueError(
                f"i_project: target must be one number, or for equalized-odds a pair, label 0 "
                f"first, got {len(target)} for criterion {criterion.name!r}"
            )
        return {key: _check_number(value) for key, value in zip(blocks, target, strict=True)}
    return dict.fromkeys(blocks, _check_number(target))


def _check_name(target: str, cells: Cells) -> str:
    if target not in NAMES:
        hint = nearest(target, list(NAMES))
        raise ValueError(
            f"i_project: target must be {', '.join(NAMES)} or a number, got {target!r}"
            f"{hint.removesuffix(';')}"
        )
    if target == "data" and not cells.criterion.data_target:
        raise ValueError(
            f"i_project: target 'data' does not exist for criterion {cells.criterion.name!r} "
            "(it would be the labels' agreement with themselves); use 'model', 'free' or a number"
        )
    if target == "data" and cells.label_mass is None:
        raise ValueError("i_project: target 'data' is the mean of the labels; give labels")
    return target


def _check_number(value: object) -> float:
    try:
        number = float(cast(float, value))
    except (TypeError, ValueError):
        raise ValueError(
            f"i_project: target must be one of {', '.join(NAMES)} or a number, got {value!r}"
        ) from None
    if not 0 < number < 1:
        raise ValueError(
            f"i_project: target must lie strictly between 0 and 1, got {number:g}; "
            "a mean of 0 or 1 has no finite I-projection"
        )
    return number


def with_goal(problem: Problem, target: Target, base: Sums, cells: Cells) -> Problem:
    """The same constraints with the logit of each one's target; unchanged when that is free."""
    if cells.layout.right is not None:
        return replace(problem, goal=_own_goal(problem, cells))
    if target == "free":
        return problem
    if target == "model":
        hit, miss = problem.hit_miss(base)
        return replace(problem, goal=np.log(problem.shared(hit)) - np.log(problem.shared(miss)))
    if target == "data":
        assert cells.label_mass is not None
        linked = problem.entries.times(cells.label_mass[cells.mass > 0])
        yes, weight = problem.shared(linked), problem.shared(problem.weight)
        if (yes <= 0).any() or (yes >= weight).any():
            which = "no link" if (yes <= 0).any() else "only links"
            raise Infeasible(
                f"i_project: target 'data' is a mean over {which}, and a mean of 0 or 1 has no "
                "finite I-projection; use 'model', 'free' or a number"
            )
        return replace(problem, goal=np.log(yes) - np.log(weight - yes))
    assert isinstance(target, dict)
    means = np.array([target[cells.layout.blocks[b]] for b in problem.block])
    return replace(problem, goal=np.log(means) - np.log1p(-means))


def _own_goal(problem: Problem, cells: Cells) -> np.ndarray:
    """The right side of a Custom criterion as means between 0 and 1."""
    right = cells.layout.right
    assert right is not None
    bare = cells.layout.weight(cells.mass) == 0
    if (right[bare] != 0).any():
        row = cells.layout.rows[int(np.flatnonzero(bare & (right != 0))[0])]
        raise Infeasible(f"i_project: {row} has no pair under it and a right side that is not 0")
    none = np.zeros_like(problem.mass)
    above, below = problem.entries.hit_miss(problem.mass, none)
    yes = right[~bare] + below
    no = problem.weight - yes
    outside = (yes <= 0) | (no <= 0)
    if outside.any():
        worst = int(np.flatnonzero(outside)[0])
        raise Infeasible(
            f"i_project: {problem.rows[worst]} must have a right side strictly between "
            f"{-below[worst]:g} and {above[worst]:g}, the sums at probabilities of 0 and 1, "
            f"got {right[~bare][worst]:g}"
        )
    return np.asarray(np.log(yes) - np.log(no))
