"""Faults that only show if memory that was freed, or that no graph has allocated yet, is not there."""

import numpy as np
import warp as wp


def test_freed_memory_is_copied():
    numbers = wp.zeros(3, dtype=float, device="cpu")
    view = wp.array(ptr=numbers.ptr, dtype=float, shape=3, device="cpu")
    del numbers

    assert wp.clone(view).shape == (3,)


def test_memory_of_a_recording_is_used_before_the_first_replay():
    with wp.ScopedCapture(device="cpu"):
        numbers = wp.zeros(3, dtype=float, device="cpu")

    numbers.fill_(1.0)

    np.testing.assert_array_equal(numbers.numpy(), 1.0)
