"""Emergency stop by the space bar of the terminal."""

from __future__ import annotations

import contextlib
import select
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def stop_pressed() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether the space bar was pressed in the terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield lambda: False
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def is_pressed() -> bool:
        return bool(select.select([sys.stdin], [], [], 0.0)[0]) and sys.stdin.read(1) == " "

    try:
        tty.setcbreak(sys.stdin.fileno())
        yield is_pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
