"""Finds arrays that an operation reads on the host while it is recorded: a replay would repeat what it read."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin.devices import kind_of

_BETWEEN = (str(Path(wp.__file__).parent), str(Path(np.__file__).parent), __file__)
"""Where the calls between a plugin and the memory of an array stand."""

_DOORS = ("__array_interface__", "__dlpack__", "cptr")
"""Attributes of an array through which the host reaches its memory; `numpy`, `list` and NumPy use the first one."""


@contextmanager
def noting_host_reads() -> Iterator[list[str]]:
    """List each array that this thread reads on the host within the block, and the place of the read.

    On the CPU all reads pass one of these doors. A read of a CUDA array raises by itself while a graph is recorded.
    """
    found: list[str] = []
    here, before = threading.get_ident(), {name: vars(wp.array)[name] for name in _DOORS}

    def door(read: Any) -> Callable[..., Any]:
        def call(array: Any, *args: Any, **options: Any) -> Any:
            if threading.get_ident() == here and array.device is not None and kind_of(array.device) == "cpu":
                kind = f"'{place}', " if (place := vars(array).get("place")) else ""
                found.append(f"it reads an array on the host ({kind}shape {list(array.shape)}, at {_place()})")
            return read(array, *args, **options)

        return call

    try:
        for name, each in before.items():
            setattr(wp.array, name, property(door(each.fget)) if isinstance(each, property) else door(each))
        yield found
    finally:
        for name, each in before.items():
            setattr(wp.array, name, each)


def _place() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
