"""How two scores of a row vary together, against a loop over the rows."""

import numpy as np
import pytest

from linkparity.pairs.nodes import CrossedSums
from linkparity.pairs.source import Chunk


@pytest.mark.parametrize("by_weight", [False, True])
def test_two_scores_vary_together_as_in_a_loop(by_weight):
    rng = np.random.default_rng(1)
    kind, now, was, weight = rng.integers(0, 3, 50), rng.random(50), rng.random(50), rng.random(50)
    mean = rng.random((2, 4))
    sums = [CrossedSums(by_weight, mean) for _ in range(2)]
    for part, rows in zip(sums, (slice(0, 20), slice(20, 50)), strict=True):
        columns = kind[rows], now[rows], False, None, weight[rows], None, None, was[rows]
        part.add(Chunk(*columns))
    sums[0].merge(sums[1])
    known = [0.0] * 4
    for k, a, b, w in zip(kind, now, was, weight, strict=True):
        known[k] += (a - mean[0, k]) * (b - mean[1, k]) * (w * w if by_weight else 1)
    assert sums[0].sums == pytest.approx(known, abs=1e-12)
