"""Products of vectors, with the bits of `np.cross`."""

import numpy as np
import pytest
from pippin.quaternions import cross


@pytest.mark.parametrize(
    ("first", "second"),
    [((3,), (3,)), ((5, 3), (5, 3)), ((5, 1, 3), (3, 3)), ((3,), (4, 7, 3))],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_vectors_have_the_bits_of_numpy(first, second, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape).astype(dtype) for shape in (first, second))

    found = cross(a, b)
    np.testing.assert_array_equal(found, np.cross(a, b))
    assert found.dtype == dtype
