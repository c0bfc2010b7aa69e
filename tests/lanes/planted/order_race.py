"""A fault that only shows if the threads of a launch run in another order, or at once."""

import numpy as np
import warp as wp


@wp.kernel
def add_neighbour(values: wp.array[float]):
    i = wp.tid()
    values[i] += values[(i + 1) % values.shape[0]]  # another thread writes this element


def test_each_number_grows_by_the_next_one():
    values = wp.array([1.0, 2.0, 4.0, 8.0, 16.0], dtype=float, device="cpu")

    wp.launch(add_neighbour, dim=5, inputs=[values], device="cpu")

    np.testing.assert_array_equal(values.numpy()[:4], [3.0, 6.0, 12.0, 24.0])
