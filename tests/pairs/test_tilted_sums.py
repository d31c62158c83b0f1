"""Sums at tilts and the divergence of tilted rows, against a loop over the rows."""

import numpy as np
import pytest
from scipy.special import expit, log_expit

from linkparity.pairs.source import Chunk
from linkparity.pairs.totals import DivergenceSums, TiltedSums

TILTS = ([0.0, 0.5, -2.0], [0.0, 40.0, -35.0])


def make_rows(weighted):
    """Logits of either sign, and two that no tilt can change."""
    rng = np.random.default_rng(2)
    logit, weight = rng.normal(size=80) * 4, rng.random(80)
    logit[:2] = -np.inf, np.inf
    return Chunk(rng.integers(0, 3, 80), logit, True, None, weight if weighted else None)


def sums_of(sums, other, chunk):
    """Half of the rows in each of two sums, merged."""
    for each, rows in ((sums, slice(0, 30)), (other, slice(30, 80))):
        weight = None if chunk.weight is None else chunk.weight[rows]
        each.add(Chunk(chunk.kind[rows], chunk.score[rows], True, None, weight))
    sums.merge(other)
    return sums.sums


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tilt", TILTS)
def test_sums_at_tilts_and_divergence_are_those_of_a_loop(tilt, weighted):
    chunk, tilt = make_rows(weighted), np.array(tilt)
    found = sums_of(TiltedSums(tilt), TiltedSums(tilt), chunk)
    divergence = sums_of(DivergenceSums(tilt), DivergenceSums(tilt), chunk)
    known, nats = np.zeros((3, 3)), np.zeros(3)
    weight = np.ones(80) if chunk.weight is None else chunk.weight
    for k, x, w in zip(chunk.kind, chunk.score, weight, strict=True):
        if np.isfinite(x):
            z = x + tilt[k]
            known[:, k] += w * np.array([expit(z), expit(-z), expit(z) * expit(-z)])
            change = expit(z) * (log_expit(z) - log_expit(x))
            nats[k] += w * (change + expit(-z) * (log_expit(-z) - log_expit(-x)))
    assert found == pytest.approx(known, rel=1e-12)
    assert divergence == pytest.approx(nats, rel=1e-9, abs=1e-12)
