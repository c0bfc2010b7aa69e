"""A fault that only shows when a kernel is compiled for a GPU."""

import numpy as np
import warp as wp


@wp.func_native("return __builtin_popcount(bits);")  # a function of the CPU's compiler alone
def count_bits(bits: int) -> int: ...


@wp.kernel
def write_counts(values: wp.array[int], out: wp.array[int]):
    i = wp.tid()
    out[i] = count_bits(values[i])


def test_bits_are_counted():
    values = wp.array([0, 1, 7], dtype=int, device="cpu")
    out = wp.zeros(3, dtype=int, device="cpu")

    wp.launch(write_counts, dim=3, inputs=[values], outputs=[out], device="cpu")

    np.testing.assert_array_equal(out.numpy(), [0, 1, 3])
