"""The errors Pippin raises for what a user can put right."""

__all__ = ["ConfigError", "PippinError", "PluginError", "SimulationError"]


class PippinError(Exception):
    """The common base: catch it to catch everything Pippin reports."""


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
        *faults: As of `ConfigError`.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults: tuple[str, ...] = faults


class FeatureWarning(UserWarning):
    """The solver leaves out something that the scene sets."""


class CaptureWarning(UserWarning):
    """An operation runs eagerly, because replaying it does not give what running it gives."""
