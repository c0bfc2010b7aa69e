"""Armature, friction and damping of driven joints: given by the file, drawn at a reset, set while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Host
from pippin.errors import ConfigError

from .config import JointConfig
from .kernels import write_lanes
from .parameters import Lanes, Parameters

JOINT_PROPERTIES = ("armature", "friction", "damping")
"""Properties of joints that a group may give, by their names in its table."""

_FEATURES = {"armature": "armature", "friction": "joint_friction", "damping": "joint_damping"}

FEATURES_OF_KEYS = {**_FEATURES, "velocity_limit": "velocity_limits"}
"""Features that keys of a group ask of the solver."""


class JointProperties:
    """The properties of the driven joints in the model, as parameters of a group."""

    def __init__(self, config: JointConfig, names: Sequence[str], lanes: Lanes, host: Host) -> None:
        self._host, self._lanes = host, lanes
        self._dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=lanes.device)
        self._values: dict[str, wp.array] = {name: self._array(config, name) for name in names}
        #: Properties that are drawn when a world is reset.
        self.random: tuple[str, ...] = tuple(name for name in names if lanes.parameters[name].is_random)
        # A reset in a step writes them, so they are among the arrays of the actuator that the host saves.
        self._of_model = {name: _array_of(host.model, name) for name in self.random}

    def _array(self, config: JointConfig, name: str) -> wp.array:
        value = getattr(config, name)
        if value is not None:
            return self._lanes.per_lane(value, name, minimum=0.0)
        return self._lanes.own(on_host(_array_of(self._host.model, name))[self._lanes.dofs], name, minimum=0.0)

    def get(self, name: str) -> wp.array:
        """Return a copy of a property as the solver has it, shape [len(worlds), DOFs]. Reads the device."""
        return wp.array(self._present(name), dtype=float, device=self._lanes.device)

    def set(self, parameters: Parameters, name: str, *arguments: Any) -> None:
        """Set a property by the group's parameters, in the model too; the solver is notified before its next step.

        Raises:
            ConfigError: The solver does not honour the property or the values, accepted or not; or as `Parameters.set`.
        """
        support, feature = self._host.services.support, _FEATURES[name]
        if fault := support.left_out(feature) or support.change_fault(feature, f"joint_{name}"):
            raise ConfigError(f"{name}: {fault}")
        before = self._present(name)
        self._values[name].assign(before.ravel())  # a view may have set it
        parameters.set(name, *arguments)
        try:
            self._refuse_held(name, before, self._values[name].numpy().reshape(before.shape))
            self.publish([name])
        except ConfigError:
            self._values[name].assign(before.ravel())
            raise

    def publish(self, names: Sequence[str], world_mask: wp.array | None = None) -> None:
        """Copy properties into the model, and notify the solver: before its next step, or at once in a reset.

        Args:
            names: Some of `JOINT_PROPERTIES`.
            world_mask: The worlds of a reset that changed them, shape [world_count + 1]; the solver is notified at
                once. None means all worlds, and before the next step.
        """
        kinds = newton.ModelFlags
        for name in names:
            is_inertial = name == "armature"
            flag = kinds.JOINT_DOF_INERTIAL_PROPERTIES if is_inertial else kinds.JOINT_DOF_FORCE_PROPERTIES
            if world_mask is None:  # this comes first: if the solver does not apply the change, nothing is written
                self._host.notify_model_changed(flag)
            inputs = [self._dofs, self._values[name], _array_of(self._host.model, name)]
            wp.launch(write_lanes, self._dofs.size, inputs, device=self._lanes.device)
            if world_mask is not None:
                self._host.services.notify_solver(flag, world_mask)

    def _present(self, name: str) -> np.ndarray:
        return on_host(_array_of(self._host.model, name))[self._lanes.dofs]

    def _refuse_held(self, name: str, before: np.ndarray, values: np.ndarray) -> None:
        """Refuse values that the built solver cannot take over, shape [worlds, DOFs]."""
        found = self._host.services.support.range_of(f"joint_{name}")
        if found is None:
            return
        low, high = (np.asarray(end)[self._lanes.dofs] for end in (found.low, found.high))
        wrong = np.argwhere(((values < low) | (values > high)) & (values != before))
        for world, column in wrong[:1].tolist():
            raise ConfigError(
                f"{name}: the built solver cannot have {values[world, column]:g} at {self._lanes.labels[column]!r};"
                f" give {found.what} in the file, or set scene.settable_joints = true"
            )


def _array_of(model: newton.Model, name: str) -> wp.array:
    return getattr(model, f"joint_{name}")
