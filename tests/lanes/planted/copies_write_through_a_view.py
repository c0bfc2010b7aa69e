"""A fault that only shows where `numpy()` copies."""

import numpy as np
import warp as wp


def test_a_write_through_a_view_reaches_the_array():
    numbers = wp.zeros(3, dtype=float, device="cpu")

    numbers.numpy()[1] = 5.0

    np.testing.assert_array_equal(numbers.numpy(), [0, 5, 0])
