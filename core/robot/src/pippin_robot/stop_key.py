"""Emergency stop by the space bar of the terminal."""

from __future__ import annotations

import contextlib
import importlib
import logging
import select
import sys
from collections.abc import Callable, Iterator
from typing import Any

_LOGGER = logging.getLogger(__name__)


@contextlib.contextmanager
def stop_pressed() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether the space bar was pressed in the terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield lambda: False
        return
    try:
        import termios
        import tty
    except ModuleNotFoundError:
        yield _key_of_windows()
        return

    before = termios.tcgetattr(sys.stdin)

    def is_pressed() -> bool:
        return bool(select.select([sys.stdin], [], [], 0.0)[0]) and sys.stdin.read(1) == " "

    try:
        tty.setcbreak(sys.stdin.fileno())
        yield is_pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _key_of_windows() -> Callable[[], bool]:
    try:
        keys: Any = importlib.import_module("msvcrt")
    except ModuleNotFoundError:
        _LOGGER.warning("this system tells no single keys: the space bar stops nothing; use Ctrl-C or the page")
        return lambda: False
    return lambda: keys.kbhit() and keys.getwch() == " "
