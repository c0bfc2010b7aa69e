"""Faults of the machine, such as a full disk, as errors with a sentence and a cure: Python has a traceback for them."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from typing import Any

from pippin.console.progress import silence
from pippin.errors import SimulationError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_NO_ROOM = re.compile(r"Failed to allocate (\d+) bytes|out of memory|Unable to allocate", re.IGNORECASE)
"""What Warp, CUDA and NumPy say about memory."""

_BROKEN_MODULE = re.compile(r"Failed to load (?:CPU|CUDA) module '([^']*)'")
"""What Warp says about a compiled module that it cannot load."""


def machine_fault(error: BaseException) -> SimulationError | None:
    """Return the error of a fault that is the machine's; None for another one."""
    text = str(error)
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_ROOM.search(text)):
        return SimulationError(f"the memory is full ({text or 'MemoryError'}); simulate fewer worlds, or record less")
    if found := _BROKEN_MODULE.search(text):
        place = os.path.join(sys.modules["warp"].config.kernel_cache_dir or "", f"wp_{found[1]}*")
        return SimulationError(f"a compiled kernel is damaged ({text}); remove {place}, and it is compiled again")
    if "PytorchStreamWriter failed" in text:
        return SimulationError(f"the disk is full ({text.splitlines()[0]}); make room, or choose another folder")
    if not isinstance(error, OSError) or isinstance(error, ConnectionError) or error.errno is None:
        return None
    of_warp = any("/warp/" in frame.filename for frame in traceback.extract_tb(error.__traceback__))
    if of_warp and isinstance(error, PermissionError):
        cure = "set WARP_CACHE_PATH to a folder that can be written"
        return SimulationError(f"Warp cannot write its kernels to '{error.filename}' ({error.strerror}); {cure}")
    where = "a file or the output" if error.filename is None else f"'{os.fsdecode(error.filename)}'"
    cure = "make room, or choose another folder" if error.errno in _FULL else "see to the file or its folder"
    if error.filename is None and not _can_write(sys.stdout):
        cure = "give it a file or a terminal"
    return SimulationError(f"{where}: {error.strerror or error}; {cure}")


def _can_write(stream: Any) -> bool:
    """Tell whether a stream takes what is in its buffer; one that does not gets nothing more, also at the end."""
    try:
        stream.flush()
    except OSError:
        silence(stream)
        return False
    return True
