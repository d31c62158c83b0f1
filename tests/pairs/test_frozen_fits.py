"""Fits where every score is exactly 0 or 1, so that no tilt changes anything."""

import numpy as np
import pytest

from linkparity.criteria import CRITERIA
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.fit import fit_pairs
from linkparity.pairs.totals import Totals

#: Fractions of ones of three pairs of groups.
SHARES = {(0, 0): 0.2, (0, 1): 0.3, (1, 1): 0.6}


def frozen_rows(label=None):
    """Twenty rows of each pair of groups, and their sums."""
    groups = np.repeat(list(SHARES), 20, axis=0)
    score = np.concatenate([np.arange(20) < 20 * share for share in SHARES.values()]).astype(float)
    source = array_pairs(score, groups, False, label)
    totals = Totals(source.kinds)
    source.run(totals)
    return source, totals


def test_the_free_target_is_midway_between_those_that_each_mean_allows():
    """Means of 0.2, 0.3 and 0.6 within 0.3 of a target allow 0.3 to 0.5."""
    found = fit_pairs(*frozen_rows(), "dp", "free", 0.3)
    assert found.target == pytest.approx(0.4, abs=1e-9)
    assert found.residual == pytest.approx(0.2, abs=1e-9)
    assert (found.kl, found.tilt.tolist()) == (0.0, [0.0] * 3)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
@pytest.mark.parametrize("tilt_by", ["groups", "labels"])
def test_nothing_is_tilted(criterion, tilt_by):
    label = (np.arange(60) % 2).astype(float)
    found = fit_pairs(*frozen_rows(label), criterion, "model", 0.9, tilt_by)
    assert (found.tilt == 0).all()
    assert (found.kl, found.kl_applied) == (0, 0)
    assert found.target == pytest.approx(found.target)
