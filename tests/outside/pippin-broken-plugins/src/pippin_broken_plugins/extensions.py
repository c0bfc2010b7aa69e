"""Extensions that break a promise."""

import attrs
import pippin

__all__ = ["Late"]


@attrs.frozen(kw_only=True)
class LateConfig:
    """No settings."""

    implementation = "Late"


class Late:
    """Raises when the simulation has run for a while."""

    def __init__(self, config: LateConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def after_step(self, simulation: pippin.Host) -> None:
        """Fail in the third step."""
        if simulation.step_count == 3:
            raise OSError("the file is gone")
