"""The errors and warnings of Pippin, for problems that a user can correct."""

from collections.abc import Mapping

__all__ = ["BufferOverflowError", "ConfigError", "PippinError", "PluginError", "SimulationError"]


class PippinError(Exception):
    """The common base of all errors that Pippin reports."""


class ConfigError(PippinError):
    """The configuration is wrong: a key, a value, a pattern that matches nothing.

    Args:
        *faults: One line per fault, each `where: what is wrong, the value; what to do`.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = faults


class PluginError(PippinError):
    """A plugin is missing, ambiguous, broken, or breaks its contract."""


class SimulationError(PippinError):
    """The simulation cannot go on: non-finite state, an overflowed buffer, a step that cannot be captured.

    Args:
        *faults: As for `ConfigError`.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = faults


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


class FeatureWarning(UserWarning):
    """The solver ignores a feature of the scene."""


class CaptureWarning(UserWarning):
    """An operation runs eagerly, because a replay of it gives another result than running it."""
