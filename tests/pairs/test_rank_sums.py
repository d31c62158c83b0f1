"""AUCs of classes and their variances, against placements pair by pair."""

import numpy as np
import pytest

from linkparity.pairs.rank_sums import RankSums


def by_hand(score, member, c):
    """The AUC of a class and DeLong's variance of it."""
    own, rest = score[member == c], score[member != c]
    wins = (own[:, None] > rest) + (own[:, None] == rest) / 2
    variance = wins.mean(axis=1).var(ddof=1) / len(own) + wins.mean(axis=0).var(ddof=1) / len(rest)
    return wins.mean(), variance


@pytest.mark.parametrize("levels", [2, 4, 30, 10**6])
@pytest.mark.parametrize("cuts", [[], [30], [1, 2, 50, 51]])
def test_areas_and_variances_are_those_of_pairs_of_rows(levels, cuts):
    rng = np.random.default_rng(levels)
    score, member = np.sort(rng.integers(0, levels, 90)).astype(float), rng.integers(0, 3, 90)
    ranks = RankSums(np.bincount(member, minlength=3))
    for rows in np.split(np.arange(90), cuts):
        ranks.add(score[rows], member[rows])
    area, variance = ranks.result()
    known = np.array([by_hand(score, member, c) for c in range(3)])
    assert area == pytest.approx(known[:, 0], rel=1e-12)
    assert variance == pytest.approx(known[:, 1], rel=1e-9)
