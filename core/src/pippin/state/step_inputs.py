"""The inputs of a step: targets and inputs of actuator groups, which a user or a program writes between steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import warp as wp


@attrs.frozen(kw_only=True, eq=False)
class StepInput:
    """An array of an actuator group that is written between steps, shape [worlds, columns]."""

    group: str
    name: str
    array: wp.array
    worlds: np.ndarray
    """The world of each row."""
    labels: Sequence[str]
    """A label for each column."""

    def fault(self, index: int) -> str:
        """Return the fault of a number that is not finite, given its index."""
        row, column = divmod(index, len(self.labels))
        place = f"{self.labels[column]!r} in world {self.worlds[row]}"
        return f"{self.group}: {self.name} of {place} is not finite; write finite numbers"


def inputs_of(group: str, attributes: Any, world_count: int) -> Iterator[StepInput]:
    """Yield the inputs of an actuator group, given the attributes of a component; nothing for another component."""
    worlds = np.arange(world_count) if attributes.worlds is None else np.asarray(attributes.worlds)
    of_joints = dict.fromkeys(("position_targets", "velocity_targets", "feedforward"), attributes.joint_labels)
    for name, labels in {**of_joints, "ctrl": attributes.actuator_labels}.items():
        array = getattr(attributes, name)
        if array is not None and array.size and array.shape == (len(worlds), len(labels)):
            yield StepInput(group=group, name=name, array=array, worlds=worlds, labels=labels)
