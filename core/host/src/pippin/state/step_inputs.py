"""The inputs of a step: targets and inputs of actuators, which a user or a program writes between steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.attribute_rows import texts

from .world_rows import worlds_of


@attrs.frozen(kw_only=True, eq=False)
class StepInput:
    """An array of an actuator group or of `control` that is written between steps, shape [rows, columns]."""

    group: str
    name: str
    array: wp.array
    worlds: np.ndarray
    """The world of each row."""
    labels: Sequence[str]
    """A label for each column, or for each row of a single column."""

    def fault(self, index: int) -> str:
        """Return the fault of a number that is not finite, given its index."""
        row, column = divmod(index, self.array.shape[1])
        label = self.labels[column if len(self.labels) == self.array.shape[1] else row]
        place = f" in world {self.worlds[row]}" if self.worlds[row] >= 0 else ""
        return f"{self.group}: {self.name} of {label!r}{place} is not finite; write finite numbers"


def inputs_of(group: str, attributes: Any, world_count: int) -> Iterator[StepInput]:
    """Yield the inputs of an actuator group, given the attributes of a component; nothing for another component."""
    worlds = np.arange(world_count) if attributes.worlds is None else np.asarray(attributes.worlds)
    of_joints = dict.fromkeys(("position_targets", "velocity_targets", "feedforward"), attributes.joint_labels)
    for name, labels in {**of_joints, "ctrl": attributes.actuator_labels}.items():
        array = getattr(attributes, name)
        if array is not None and array.size and array.shape == (len(worlds), len(labels)):
            yield StepInput(group=group, name=name, array=array, worlds=worlds, labels=labels)


def inputs_of_control(model: newton.Model, control: newton.Control) -> Iterator[StepInput]:
    """Yield the inputs that the solver itself reads: targets, if a joint has a drive, and `ctrl` of MuJoCo's actuators.

    Groups come first in an error: they write what they hold into `control`.
    """
    arrays: dict[str, tuple[Any, Sequence[str]]] = {}
    if model.joint_count and on_host(model.joint_target_mode).any():
        for name, starts in (("joint_target_q", model.joint_q_start), ("joint_target_qd", model.joint_qd_start)):
            arrays[name] = (getattr(control, name), np.repeat(model.joint_label, np.diff(on_host(starts))).tolist())
    of_mujoco: Any = getattr(control, "mujoco", None)
    arrays["mujoco:ctrl"] = (getattr(of_mujoco, "ctrl", None), texts(model, "mujoco:actuator_label"))
    for name, (array, labels) in arrays.items():
        worlds = worlds_of(model, name)
        if array is not None and array.size and worlds is not None:
            column, name = array.reshape((-1, 1)), name.replace(":", ".")
            yield StepInput(group="control", name=name, array=column, worlds=worlds, labels=labels)
