"""Owners of degrees of freedom: the one component that drives each of them, wherever the component comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.actuation.asset_actuators import CONTROLLED, FREE, IS_DRIVEN, AssetActuators
from pippin.actuation.attribute_rows import numbers
from pippin.arrays import on_host
from pippin.axes import axis_labels
from pippin.components.registry import Components
from pippin.errors import ConfigError, PluginError

__all__ = ["DofOwners"]


class DofOwners:
    """The component that drives each degree of freedom: a group of the file or of a stage, or an object made in Python.

    Args:
        components: The bound components.
        model: The model of all worlds.

    Raises:
        ConfigError: Two components drive one degree of freedom, or a drive of the asset acts beside a component.
        PluginError: An actuator of the file has no `actuated_dofs`.
    """

    def __init__(self, components: Components, model: newton.Model) -> None:
        self._components, self._model = components, model
        self._dofs = dict(_driven(components, model.joint_dof_count))
        #: Number of the owner of each degree of freedom in `names`, -1 for none, shape [joint_dof_count].
        self.of_dof = np.full(model.joint_dof_count, -1)
        #: Names of the components that drive something, such as `actuators:legs`.
        self.names = tuple(self._dofs)
        for index, (name, dofs) in enumerate(self._dofs.items()):
            self._refuse_driven(name, dofs)
            self.of_dof[dofs] = index
        self._refuse_asset_drives()

    def acting(self, off: Collection[Any] = ()) -> wp.array | None:
        """Return the driven degrees of freedom, ascending, without those of some components; None if there are none."""
        acting = [dofs for name, dofs in self._dofs.items() if not self._is_one_of(name, off)]
        found = np.unique(np.concatenate(acting)) if acting else np.zeros(0, dtype=int)
        return wp.array(found, dtype=int, device=self._model.device) if len(found) else None

    def owning(self, dofs: np.ndarray, off: Collection[Any] = ()) -> dict[str, Any]:
        """Return the components that drive one of some degrees of freedom, by name, without those in `off`."""
        indices = np.unique(self.of_dof[dofs])
        names = [self.names[index] for index in indices.tolist() if index >= 0]
        return {name: self._components[name] for name in names if not self._is_one_of(name, off)}

    def _is_one_of(self, name: str, components: Collection[Any]) -> bool:
        return any(each is self._components[name] for each in components)

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
        """Refuse drives of the asset on driven joints that no component has switched off."""
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
    for name, bound in components.bound.items():
        array = bound.actuated_dofs
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
