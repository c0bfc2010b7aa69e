"""Controllers that break one promise each."""

from __future__ import annotations

import attrs
import pippin
from pippin.controllers import Controller, ControllerConfig


@attrs.frozen(kw_only=True)
class HomelessConfig(ControllerConfig):
    """Nothing of its own."""

    implementation = "Homeless"


class Homeless(Controller):
    """Sends its tools to the origin after a reset."""

    def build(self, binding):
        pass

    def compute(self, state, dt):
        pass

    @pippin.hookimpl
    def reset_worlds(self, state, world_mask):
        self.goals.zero_()


@attrs.frozen(kw_only=True)
class IdleConfig(ControllerConfig):
    """Nothing of its own."""

    implementation = "Idle"


class Idle(Homeless):
    """Follows no goal."""
