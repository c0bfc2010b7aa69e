"""No shared memory: `array.numpy()` is a copy, as on a GPU, so that a write through it reaches nothing."""

from types import ModuleType

import numpy as np


def _numpy_copies(types: ModuleType) -> None:
    view = types.array.numpy
    types.array.numpy = lambda self: np.array(view(self))


PATCHES = {"warp._src.types": _numpy_copies}

PART = ("tests/views/test_rows.py",)
