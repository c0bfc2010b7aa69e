"""Finds arrays that an operation reads on the host while it is recorded: a replay would repeat what it read."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from . import compilation
from .compilation import standing_in

_BETWEEN = (str(Path(wp.__file__).parent), str(Path(np.__file__).parent), __file__, compilation.__file__)
"""Where the calls between a plugin and the memory of an array stand."""


@contextmanager
def noting_host_reads() -> Iterator[list[str]]:
    """List each array that this thread reads on the host within the block, and the place of the read, which goes on.

    On the CPU all reads pass one of these doors. A read of a CUDA array raises by itself while a graph is recorded.
    """
    found: list[str] = []
    interface, here = wp.array.__array_interface__, threading.get_ident()

    def note(array: Any) -> None:
        if array.device is not None and array.device.is_cpu:
            kind = "" if (place := vars(array).get("place")) is None else f"'{place}', "
            found.append(f"it reads an array on the host ({kind}shape {list(array.shape)}, at {_place()})")

    def door(read: Any) -> Any:
        def call(array: Any, *args: Any, **options: Any) -> Any:
            note(array)
            return read(array, *args, **options)

        return call

    def read_interface(array: wp.array) -> Any:
        if threading.get_ident() == here:
            note(array)
        return interface.__get__(array)

    with ExitStack() as doors:
        for owner, name in ((wp.array, "__dlpack__"), (wp.array, "cptr"), (wp, "to_dlpack")):
            doors.enter_context(standing_in(owner, name, door(getattr(owner, name))))
        doors.callback(setattr, wp.array, "__array_interface__", interface)
        wp.array.__array_interface__ = property(read_interface)
        yield found


def _place() -> str:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
