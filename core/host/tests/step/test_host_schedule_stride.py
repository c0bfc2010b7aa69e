"""Strides between two looks at the clock."""

import pytest
from pippin.step.host_schedule import next_stride


@pytest.mark.parametrize(
    ("stride", "elapsed", "expected"),
    [(1, 0.01, 2), (10, 0.5, 5), (10, 0.25, 10), (4, 100.0, 1), (3, 0.0, 6)],
    ids=["at most twice as many", "fewer if they took longer", "as many as fit", "at least one", "no time at all"],
)
def test_a_stride_takes_about_a_period(stride, elapsed, expected):
    assert next_stride(stride, elapsed, period=0.25) == expected
