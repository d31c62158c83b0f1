"""Checks of labels and weights, for every caller the same."""

import numpy as np
import pytest
import torch

from linkparity.support.errors import InputError
from linkparity.support.tensors import check_labels, check_weights

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "labels",
    [[0, 1, 1], (False, True, True), np.array([0.0, 1.0, 1.0]), torch.tensor([0, 1, 1]).byte()],
)
def test_labels_of_any_kind_are_accepted(labels):
    assert check_labels(labels, 3, "labels", "f").tolist() == [0, 1, 1]


def test_labels_and_weights_keep_their_dtype():
    for dtype in (torch.bool, torch.uint8, torch.float32):
        assert check_labels(torch.ones(2, dtype=dtype), 2, "labels", "f").dtype == dtype
    assert check_weights(torch.ones(2), 2, "weight", "f").dtype == torch.float32
    assert check_weights([1, 2], 2, "weight", "f").dtype == torch.float64


def test_a_weight_of_zero_is_accepted_and_gradients_are_not_kept():
    weight = check_weights(torch.tensor([0.0, 2.5], requires_grad=True), 2, "weight", "f")
    assert weight.tolist() == [0, 2.5]
    assert not weight.requires_grad


@pytest.mark.parametrize(
    ("check", "values", "said"),
    [
        (check_labels, [0, 1, 2], "f: y must be 0 or 1, got 2 at position 2; use 1 for a link"),
        (check_labels, [0, NAN, 1], "f: y must be 0 or 1, got nan at position 1"),
        (check_labels, [0, 1], r"f: y must have the shape \(3,\), got \(2,\); give one per pair"),
        (check_labels, ["0", "1", "1"], "expected numbers, got"),
        (check_weights, [1, 0, -1], "f: y must be finite and not negative, got -1 at position 2"),
        (check_weights, [1, NAN, 1], "f: y must be finite and not negative, got nan at position 1"),
        (check_weights, [INF, 1, 1], "f: y must be finite and not negative, got inf at position 0"),
        (check_weights, [[1, 1, 1]], r"f: y must have the shape \(3,\), got \(1, 3\)"),
        (check_weights, [1e308, 1e308, 1], "f: y must have a finite sum in float64"),
    ],
)
def test_wrong_values_are_named_with_their_position(check, values, said):
    with pytest.raises(InputError, match=said):
        check(values, 3, "y", "f")
