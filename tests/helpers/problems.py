"""Hypothesis strategies: projections to solve."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st


@dataclass
class Drawn:
    logits: np.ndarray
    groups: np.ndarray
    weight: np.ndarray
    labels: np.ndarray

    def __repr__(self):
        return (
            f"Drawn(np.array({self.logits.tolist()}), np.array({self.groups.tolist()}), "
            f"np.array({self.weight.tolist()}), np.array({self.labels.tolist()}))"
        )


@st.composite
def problems(draw, reach=60.0, most=40, decades=3.0, none=True, groups=None):
    """1 to 7 groups, cells of size 1, −1 groups, weights over six decades."""
    seed = draw(st.integers(0, 2**32 - 1))
    size = groups or draw(st.integers(1, 7))
    count = draw(st.integers(1, most))
    scale = draw(st.sampled_from([0.1, 1.0, reach / 4, reach]))
    rng = np.random.default_rng(seed)
    logits = rng.uniform(-scale, scale, count)
    if draw(st.booleans()):
        logits = np.where(rng.random(count) < 0.5, -scale, scale)
    return Drawn(
        logits=logits,
        groups=rng.integers(-1 if none else 0, size, (count, 2)),
        weight=10 ** rng.uniform(-decades, decades, count),
        labels=rng.integers(0, 2, count),
    )
