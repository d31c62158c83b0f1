"""The first places of lists, against a loop over the lists."""

import numpy as np
import pytest

from linkparity.pairs import lists
from linkparity.pairs.arrays import array_pairs
from linkparity.pairs.lists import list_places

GROUP = np.array([0, 1, 2, 0, 1, -1, 2, 0, 1, 2, 0, 0])


def by_hand(pairs, score, ends, k, every):
    """Candidates and places of each group, the last for none."""
    filled = {}
    for (a, b), x in zip(pairs, score, strict=True):
        for owner, other, whose in ((a, b, "first"), (b, a, "second")):
            if ends in ("both", whose) and owner % every == 0:
                filled.setdefault(owner, []).append((x, GROUP[other]))
    have, places = np.zeros(4), np.zeros(4)
    for rows in filled.values():
        for x, g in rows:
            above = sum(y > x for y, _ in rows)
            tied = sum(y == x for y, _ in rows)
            have[g] += 1
            places[g] += min(max(k - above, 0) / tied, 1)
    return have, places


@pytest.mark.parametrize("ends", ["both", "first", "second"])
@pytest.mark.parametrize(("most", "primes"), [(10**6, (1, 1)), (44, (3, 2)), (14, (11, 5))])
@pytest.mark.parametrize("names", [(), ("a", "b", "c"), ("a", "b", "c", "d")])
def test_places_are_those_of_a_loop_over_one_list_in_so_many(
    ends, most, primes, names, monkeypatch
):
    monkeypatch.setattr(lists, "MAX_CANDIDATES", most)
    pairs = np.stack(np.triu_indices(12, 1), axis=1)
    score = np.random.default_rng(0).integers(0, 5, len(pairs)) / 5
    source = array_pairs(score, GROUP[pairs], False, names=names, ids=pairs)
    have, places, every = list_places(source, ends, 3)
    assert every == primes[ends != "both"]
    known = by_hand(pairs.tolist(), score, ends, 3, every)
    unused = len(names) - 3 if names else 0
    for found, wanted in zip((have, places), known, strict=True):
        assert found == pytest.approx([*wanted[:3], *[0.0] * unused, wanted[3]])
