"""Start of the command `pippin`. It is outside of the package, whose import takes half a second.

Before a command runs, and after it, Ctrl-C ends the process at once: in the middle of an import, an exception would be
shown with its traceback, or be taken for a missing module. SIGTERM and SIGHUP, by which Docker, systemd, Slurm and a
closed terminal end a process, do what Ctrl-C does.
"""

import _signal as signal  # `signal` imports ten modules first
import io
import os
import sys

_leave = os._exit

_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruptible:
    """A block in which Ctrl-C raises KeyboardInterrupt, so that a command ends what it has begun.

    In the middle of an import it ends the process: some libraries would take the exception for a fault of their own.
    """

    def __init__(self, heard: list[int]) -> None:
        self._heard = heard

    def __enter__(self) -> None:
        _answer(self._heard, _interrupt)

    def __exit__(self, *_: object) -> None:
        _answer(self._heard, _stop)


def main() -> None:
    """Run the command line; `pippin.cli` has it."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        # A pipe of Windows has the characters of one language, and "−" is in none.
        sys.stdout.reconfigure(errors="backslashreplace")
    usual = (signal.default_int_handler, signal.SIG_DFL)  # a shell's `&` and `nohup` have some ignored
    heard = [each for each in _STOPS if signal.getsignal(each) in usual]
    _answer(heard, _stop)
    from pippin.cli import main as run

    run(obj=Interruptible(heard))


def _answer(heard: list[int], how: object) -> None:
    for each in heard:
        signal.signal(each, how)


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


if __name__ == "__main__":
    main()
