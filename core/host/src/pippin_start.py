"""Start of the command `pippin`. It is outside of the package, whose import takes half a second.

Before a command runs, and after it, Ctrl-C ends the process at once: in the middle of an import, an exception would be
shown with its traceback, or be taken for a missing module.
"""

import _signal as signal  # `signal` imports ten modules first
import os
import sys

_leave = os._exit


class Interruptible:
    """A block in which Ctrl-C raises KeyboardInterrupt, so that a command ends what it has begun.

    In the middle of an import it ends the process: some libraries would take the exception for a fault of their own.
    """

    def __enter__(self) -> None:
        signal.signal(signal.SIGINT, _interrupt)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, _stop)


def main() -> None:
    """Run the command line; `pippin.cli` has it."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's `&` has it ignored
    if is_heard:
        signal.signal(signal.SIGINT, _stop)
    from pippin.cli import main as run

    run(obj=Interruptible() if is_heard else None)


def _interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt, or stop at once in an import."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            _stop()
        frame = frame.f_back
    raise KeyboardInterrupt


def _stop(*_: object) -> None:
    os.write(2, b"stopped\n")
    _leave(130)  # `os._exit` may be another one, which reports plugins that end the process
