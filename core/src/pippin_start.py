"""Start of the command `pippin`. It is outside of the package, whose import takes half a second.

Before a command runs, and after it, Ctrl-C ends the process at once: in the middle of an import, an exception would be
shown with its traceback, or be taken for a missing module.
"""

import _signal as signal  # pyright: ignore[reportMissingImports]  # `signal` imports ten modules first
import os


class Interruptible:
    """A block in which Ctrl-C raises KeyboardInterrupt, so that a command ends what it has begun."""

    def __enter__(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, _stop)


def main() -> None:
    """Run the command line; `pippin.cli` has it."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a shell's `&` has it ignored
    if is_heard:
        signal.signal(signal.SIGINT, _stop)
    from pippin.cli import main as run

    run(obj=Interruptible() if is_heard else None)


def _stop(*_: object) -> None:
    os.write(2, b"stopped\n")
    os._exit(130)
