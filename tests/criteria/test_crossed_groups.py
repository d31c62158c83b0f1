"""Cells of crossed attributes, against combinations written out pair by pair."""

import numpy as np
import pytest

from linkparity.criteria.group_pairs import cross_groups


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_keys_of_crossed_attributes_are_the_groups_of_each(paired, directed):
    """Of every pair: the groups of all attributes at one end, then those at the other."""
    rng = np.random.default_rng(0)
    shape = (60, 2) if paired else (60,)
    attributes = [rng.integers(-1, size, shape) for size in (2, 3, 2)]
    cells = cross_groups(attributes, directed)
    code, ends = cells.code, 2 if paired else 1
    assert cells.key.shape == (len(cells), 3 * ends)
    assert len(np.unique(cells.key, axis=0)) == len(cells)
    for pair in range(60):
        both = [tuple(int(a[pair].flat[end]) for a in attributes) for end in range(ends)]
        both = [(-1, -1, -1) if -1 in each else each for each in both]
        if both == [(-1, -1, -1)] * ends:
            assert code[pair] == -1
            continue
        if not directed or (-1, -1, -1) in both:
            both.sort(reverse=(-1, -1, -1) in both)
        assert tuple(cells.key[code[pair]]) == sum(both, ())
        known = ["+".join(map(str, each)) for each in both if each[0] >= 0]
        assert cells.names[code[pair]] == "-".join(known)


def test_keys_of_a_single_attribute_are_those_of_its_groups():
    groups = np.array([[0, 1], [1, -1], [2, 2]])
    assert [tuple(key) for key in cross_groups([groups]).key[cross_groups([groups]).code]] == [
        (0, 1), (1, -1), (2, 2),
    ]  # fmt: skip
