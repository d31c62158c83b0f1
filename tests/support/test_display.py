"""Numbers as people read them: a small number is never shown as 0."""

import math

from hypothesis import given
from hypothesis import strategies as st

from linkparity.cli.train import _values
from linkparity.models.training import Epoch
from linkparity.support.display import format_number, format_rounded

small = st.floats(1e-300, 1.0)


@given(value=small, negative=st.booleans())
def test_two_digits_of_every_number_are_shown(value, negative):
    value = -value if negative else value
    assert math.isclose(float(format_number(value)), value, rel_tol=0.051)


@given(value=small, decimals=st.integers(1, 6))
def test_no_rounded_number_reads_as_0(value, decimals):
    shown = float(format_rounded(value, decimals))
    assert shown > 0
    assert abs(shown - value) <= max(0.051 * value, 0.5000001 * 10**-decimals)


def test_0_and_undefined_numbers():
    assert [format_number(value) for value in (0.0, -0.0, math.nan)] == ["0.0000", "0.0000", "–"]
    assert format_rounded(0.0, 3) == "0.000"
    assert format_rounded(2e-8, 6, "+") == "+2e-08"
    assert format_rounded(0.25, 6, "+") == "+0.250000"


def test_progress_of_training_shows_small_gaps():
    epoch = Epoch(epoch=1, loss=0.25, fit=0.25, kl=1e-9, gap=3.2e-5, seconds=1.0)
    assert _values(epoch) == "loss 0.2500, kl 1.00e-09, gap 3.2e-05"
