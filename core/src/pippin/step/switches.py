"""The switches of actuators: an actuator that is off is left out of the step."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
from pippin.actuation.effort import zero_efforts
from pippin.components.registry import Components
from pippin.errors import ConfigError

__all__ = ["Switches"]


class Switches:
    """The actuators of a simulation that are switched off.

    Args:
        components: The components of the simulation.
        control: The inputs of the solver.
    """

    def __init__(self, components: Components, control: newton.Control) -> None:
        self._components, self._control = components, control
        self._off: list[Any] = []

    def is_off(self, component: Any) -> bool:
        """Tell whether a component is switched off."""
        return any(each is component for each in self._off)

    @property
    def off(self) -> tuple[Any, ...]:
        """The actuators that are switched off."""
        return tuple(self._off)

    def turn(self, component: Any, *, on: bool) -> bool:
        """Switch an actuator on or off; return True if this changes the step.

        Raises:
            ConfigError: The component is not an actuator of this simulation.
        """
        if not isinstance(on, bool | np.bool_):
            raise ConfigError(f"switch: on: expected a boolean, got {on!r}; pass True or False")
        acting = {each.owner: each.component for each in self._components.implementations("apply_actuators")}
        name = next((name for name, each in acting.items() if each is component), None)
        if name is None:
            raise ConfigError(f"switch: {component!r} is no actuator of this simulation; take one of its `actuators`")
        if self.is_off(component) != on:
            return False
        self._off = [each for each in self._off if each is not component] + ([] if on else [component])
        dofs = self._components.bound[name].actuated_dofs
        if not on and dofs is not None:
            zero_efforts(dofs, self._control)
        return True
