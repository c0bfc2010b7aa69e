"""A command that serves a page until Ctrl-C, in this process."""

import io
import os
import re
import signal
import sys
import threading
import time
import urllib.request
from typing import Any

from click.testing import CliRunner
from pippin.cli import main

PAGE = r"page: (\S+) \(Ctrl-C ends\)"
"""What such a command tells."""


def until_ctrl_c(words: list[str], text: str = PAGE, after: float = 0.0, seconds: float = 120.0) -> tuple[Any, Any]:
    """Run a command, load its page once it has told a text, and press Ctrl-C; return status and result.

    Args:
        words: The words of the command.
        text: What it tells, a regular expression.
        after: Time between the page and Ctrl-C [s].
        seconds: Time after which Ctrl-C is pressed in any case [s].
    """
    served, ended = [], threading.Event()

    def interrupt() -> None:
        end = time.monotonic() + seconds
        try:
            while not re.search(text, _told()) and not ended.wait(0.05) and time.monotonic() < end:
                pass
            url = re.search(PAGE, _told())
            served.append(urllib.request.urlopen(url[1], timeout=30.0).status if url else None)
        finally:
            if not ended.wait(after):
                os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = CliRunner().invoke(main, words)
    ended.set()
    thread.join()
    return served, result


def _told() -> str:
    """Return what the command has said; while a kernel is compiled, it has another stream."""
    stream = getattr(sys.stdout, "buffer", None)
    return stream.getvalue().decode() if isinstance(stream, io.BytesIO) else ""
