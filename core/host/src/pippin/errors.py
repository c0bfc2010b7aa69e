"""The errors and warnings of Pippin, for problems that a user can correct."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar


class PippinError(Exception):
    """The common base of all errors that Pippin reports.

    Args:
        *faults: One line per fault, each `where: what is wrong, the value; what to do`.
    """

    exit_code: ClassVar[int] = 1
    """Exit code of a command that it ends."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = faults
        #: The component whose hook raised the error, such as `sensors:torso`; None if the host found the fault.
        self.owner: str | None = None

    def restate(self, change: Callable[[str], str]) -> None:
        """Replace each fault by `change(fault)`; the error stays the same object, with its type and its cause."""
        self.faults = tuple(map(change, self.faults))
        self.args = ("\n".join(self.faults),)


class ConfigError(PippinError):
    """The configuration is wrong: a key, a value, a pattern that matches nothing."""

    exit_code = 2


class PluginError(PippinError):
    """A plugin is missing, ambiguous, broken, breaks its contract, or raised an exception, which is the `__cause__`."""

    exit_code = 3


class SimulationError(PippinError):
    """The simulation cannot continue: non-finite state, an overflowed buffer, a step that cannot be captured."""

    exit_code = 4


class BufferOverflowError(SimulationError):
    """Buffers of fixed size were too small, so that data were lost.

    Args:
        *faults: As for `ConfigError`.
        needed: The size that each buffer needed, by the key that sets it and in the unit of this key; None if only the
            overflow is known.
    """

    def __init__(self, *faults: str, needed: Mapping[str, int | None]) -> None:
        super().__init__(*faults)
        self.needed: Mapping[str, int | None] = needed

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process make the same error: an exception is otherwise made again without keyword arguments."""
        return partial(type(self), needed=self.needed), self.faults, self.__dict__


class CaptureWarning(UserWarning):
    """An operation runs eagerly, because a replay of it gives another result than running it."""
