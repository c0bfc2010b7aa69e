"""Disabled actuators: the step leaves them out."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
from pippin.actuation.effort import zero_efforts
from pippin.components.registry import Components
from pippin.errors import ConfigError


class DisabledActuators:
    """The actuators of a simulation that are disabled."""

    def __init__(self, components: Components, control: newton.Control) -> None:
        self._components, self._control = components, control
        #: The components.
        self.all: tuple[Any, ...] = ()
        #: Incremented by each change.
        self.revision = 0

    def has(self, component: Any) -> bool:
        """Tell whether a component is disabled."""
        return any(each is component for each in self.all)

    def set_enabled(self, component: Any, enabled: bool) -> None:
        """Enable or disable an actuator."""
        if not isinstance(enabled, bool | np.bool_):
            raise ConfigError(f"set_enabled: expected a boolean, got {enabled!r}; pass True or False")
        acting = {each.owner: each.component for each in self._components.implementations("apply_actuators")}
        name = next((name for name, each in acting.items() if each is component), None)
        if name is None:
            raise ConfigError(
                f"set_enabled: {component!r} is not an actuator of this simulation; take one of its `actuators`"
            )
        if self.has(component) != enabled:
            return
        self.all = (*(each for each in self.all if each is not component), *(() if enabled else (component,)))
        dofs = self._components.attributes[name].actuated_dofs
        if not enabled and dofs is not None:
            zero_efforts(dofs, self._control)
        self.revision += 1
