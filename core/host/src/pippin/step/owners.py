"""Owners of degrees of freedom: the one component that drives each of them, unless it is disabled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.actuation.effort import zero_efforts
from pippin.arrays import on_host
from pippin.assets.actuators.asset_actuators import CONTROLLED, FREE, IS_DRIVEN, AssetActuators
from pippin.attribute_rows import numbers
from pippin.axes import axis_labels
from pippin.components.registry import Components
from pippin.errors import ConfigError, PluginError

_TARGETS = "write targets that it has, such as its `velocity_targets` or `ctrl`"
_CURES = {
    "joint_target_q": _TARGETS,
    "joint_target_qd": _TARGETS,
    "joint_f": "write its `feedforward`, disable it, or write control.joint_f of other joints",
    "joint_target_ke": 'use its parameter: set("kp", …)',
    "joint_target_kd": 'use its parameter: set("kd", …)',
    "joint_effort_limit": 'use its parameter, set("effort_limit", …), which it has if the file or the asset gives one',
}
"""What to do instead of setting an array for the joints that a component drives."""


class DofOwners:
    """The component that drives each degree of freedom: a group of the file or of a stage, or an object made in Python.

    Raises:
        ConfigError: Two components drive one degree of freedom, or a drive of the asset acts beside a component.
        PluginError: An actuator of the file has no `actuated_dofs`.
    """

    def __init__(self, components: Components, model: newton.Model, disabled: DisabledActuators) -> None:
        self._components, self._model, self._disabled = components, model, disabled
        self._dofs = dict(_driven(components, model.joint_dof_count))
        #: Number of the owner of each degree of freedom in `names`, -1 for none, shape [joint_dof_count].
        self.of_dof = np.full(model.joint_dof_count, -1)
        #: Names of the components that drive something, such as `actuators:legs`.
        self.names = tuple(self._dofs)
        for index, (name, dofs) in enumerate(self._dofs.items()):
            self._refuse_driven(name, dofs)
            self.of_dof[dofs] = index
        self._refuse_asset_drives()

    def acting(self) -> wp.array | None:
        """Return the degrees of freedom that are driven now, ascending; None if there are none."""
        acting = [dofs for name, dofs in self._dofs.items() if not self._is_off(name)]
        found = np.unique(np.concatenate(acting)) if acting else np.zeros(0, dtype=int)
        return wp.array(found, dtype=int, device=self._model.device) if len(found) else None

    def owning(self, dofs: np.ndarray) -> tuple[str, ...]:
        """Return the names of the components that drive one of some degrees of freedom; -1 stands for none."""
        indices = np.unique(self.of_dof[dofs[dofs >= 0]])
        return tuple(self.names[index] for index in indices.tolist() if index >= 0)

    def taken(self, array: str, dofs: np.ndarray) -> np.ndarray:
        """Tell for each of some degrees of freedom whether its driver takes an array over that a user sets."""
        attributes = self._components.attributes
        takers = [index for index, name in enumerate(self.names) if array in attributes[name].shared_arrays]
        return (dofs >= 0) & np.isin(self.of_dof[dofs], takers)

    def fault(self, array: str, names: Sequence[str]) -> str | None:
        """Return why an array may not be set for what some components drive; None if it may."""
        cure = _CURES.get(array)
        if cure is None:
            return None
        attributes = self._components.attributes
        keeping = (name for name in names if array not in attributes[name].shared_arrays and not self._is_off(name))
        owner = next(keeping, None)
        if owner is None:
            return None
        return f"{owner.replace(':', '.')} drives joints of the view, and sets this itself; {cure}"

    def _is_off(self, name: str) -> bool:
        return self._disabled.has(self._components[name])

    def _refuse_driven(self, name: str, dofs: np.ndarray) -> None:
        taken = dofs[self.of_dof[dofs] >= 0]
        if taken.size:
            other = self.names[self.of_dof[taken[0]]]
            raise ConfigError(
                f"{self._where(name)}: joint {axis_labels(self._model)[taken[0]]!r} is driven by"
                f" {other.replace(':', '.')} already; give each joint to one group"
                + ("" if name.startswith("actuators:") else ", or leave it out of actuated_dofs and only add effort")
            )

    def _refuse_asset_drives(self) -> None:
        marks = numbers(self._model, IS_DRIVEN)
        dofs = np.flatnonzero((self.of_dof >= 0) & ~(marks != 0 if len(marks) else False))
        dofs = dofs[_is_driven_by_asset(self._model, dofs)] if dofs.size else dofs
        if dofs.size:
            raise ConfigError(
                f"{self._where(self.names[self.of_dof[dofs[0]]])}: joint {axis_labels(self._model)[dofs[0]]!r} is"
                " driven by the asset too; call switch_off_drives of pippin.actuation.Axes in extend_prototype"
            )

    def _where(self, name: str) -> str:
        dotted = name.replace(":", ".")
        return f"{dotted}.joints" if name.startswith("actuators:") else dotted


def _driven(components: Components, dof_count: int) -> Iterator[tuple[str, np.ndarray]]:
    for name, attributes in components.attributes.items():
        array = attributes.actuated_dofs
        if array is None and name.startswith("actuators:"):
            raise PluginError(f"{name}: has no actuated_dofs after bind; list the DOFs whose effort it sets")
        dofs = np.zeros(0, dtype=int) if array is None else array.numpy()
        outside = dofs[(dofs < 0) | (dofs >= dof_count)]
        if outside.size:
            raise PluginError(f"{name}: actuated_dofs lists DOF {outside[0]}; there are {dof_count}, counted from 0")
        if dofs.size:
            yield name, dofs


def _is_driven_by_asset(model: newton.Model, dofs: np.ndarray) -> np.ndarray:
    """Return whether a drive or an actuator of the asset acts on degrees of freedom, except by a `control` group."""
    own = AssetActuators(model)
    axes = [(row, own.transmissions.axis(row)) for row in np.flatnonzero(own.owners == CONTROLLED).tolist()]
    of_control = {axis for _, axis in axes if axis is not None}
    of_tendons = [row for row, axis in axes if axis is None]
    alone = np.flatnonzero((own.owners == FREE) & ~own.is_servo & own.acts_at_zero).tolist()
    beside = {dof for row in (*of_tendons, *alone) for dof in own.transmissions.dofs(row)}
    has_drive = (on_host(model.joint_target_ke)[dofs] != 0.0) | (on_host(model.joint_target_kd)[dofs] != 0.0)
    return (has_drive | np.isin(dofs, list(beside))) & ~np.isin(dofs, list(of_control))


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
