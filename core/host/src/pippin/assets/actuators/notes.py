"""Notes on the asset's own actuators in a finalized model: those that nobody drives, and those that are off."""

from __future__ import annotations

from collections.abc import Iterator

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.attribute_rows import numbers
from pippin.axes import axis_labels
from pippin.labels import name_of
from pippin.spelling import listed

from .asset_actuators import FREE, IS_DRIVEN, OFF, AssetActuators

_CURE = 'drive them by a group of type = "control"'


def actuator_notes(model: newton.Model) -> list[str]:
    """Return notes on the actuators that nobody drives, and on those that are off although they drive other joints too.

    Equal actuators of several worlds count once.
    """
    own = AssetActuators(model)
    if not len(own):
        return []
    first = _of_one_world(own)
    notes = list(_partly_driven(model, own, first[own.owners[first] == OFF]))
    alone = [index for index in first[own.owners[first] == FREE] if _is_at_zero(model, own, index)]
    is_holding = own.is_servo | own.acts_at_zero
    holding, idle = ([own.labels[i] for i in alone if is_holding[i] == wanted] for wanted in (True, False))
    if holding:
        notes.append(f"{_counted(holding)} at ctrl = 0, which may hold joints at 0: {_names(holding)}; {_CURE}")
    if idle:
        notes.append(f"{_counted(idle)} at ctrl = 0, which exerts nothing: {_names(idle)}; {_CURE}")
    return notes


def _of_one_world(own: AssetActuators) -> np.ndarray:
    """Return the first of the actuators that have the same place, label and owner in their worlds, ascending."""
    places = np.arange(len(own)) - np.searchsorted(own.worlds, own.worlds)
    kinds = [f"{place} {owner} {label}" for place, owner, label in zip(places, own.owners, own.labels, strict=True)]
    return np.sort(np.unique(np.array(kinds), return_index=True)[1])


def _is_at_zero(model: newton.Model, own: AssetActuators, actuator: int) -> bool:
    """Tell whether an actuator is in use with a zero input."""
    if not own.is_servo[actuator]:
        return bool(numbers(model, "mujoco:ctrl")[actuator] == 0.0)
    dof, coordinate = own.transmissions.axis(actuator), own.transmissions.coordinate(actuator)
    if dof is None or on_host(model.joint_target_mode)[dof] == int(newton.JointTargetMode.NONE):
        return False
    if own.is_velocity[actuator]:
        return bool(on_host(model.joint_target_qd)[dof] == 0.0)
    return bool(on_host(model.joint_target_q)[coordinate] + own.transmissions.reference(actuator) == 0.0)


def _partly_driven(model: newton.Model, own: AssetActuators, off: np.ndarray) -> Iterator[str]:
    is_driven, names = numbers(model, IS_DRIVEN), None
    for actuator in off.tolist():
        rest = [dof for dof in sorted(own.transmissions.dofs(actuator)) if not is_driven[dof]]
        if rest:
            names = names or axis_labels(model)
            missed = listed([name_of(names[dof]) for dof in rest])
            yield (
                f"actuator {name_of(own.labels[actuator])!r} is off, since a group drives some of its joints; nothing"
                f" drives the others: {missed}"
            )


def _counted(found: list[str]) -> str:
    return "1 actuator of the asset stays" if len(found) == 1 else f"{len(found)} actuators of the asset stay"


def _names(found: list[str]) -> str:
    return listed([name_of(label) for label in found])
