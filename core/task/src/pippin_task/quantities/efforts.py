"""Quantities of efforts: what the actuators apply to joints, and the power of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs
import newton
import warp as wp
from pippin import ConfigError, labels

from pippin_task import Quantity, TermContext

from .configs import JointEffortsConfig, JointPowerConfig
from .joints import unit_of
from .kernels import copy_columns, take_power


@attrs.frozen(eq=False)
class _GroupEfforts:
    """Columns of one group's efforts, and their columns among the numbers of the quantity."""

    efforts: wp.array
    columns: wp.array[int]
    targets: wp.array[int]


class JointEfforts(Quantity):
    """The quantity `joint-efforts`: the effort of the last physics step as the actuators applied it, t."""

    unit = "N·m, N"

    def __init__(self, config: JointEffortsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        efforts = dict(_efforts(config, context))
        driven = [label for group in efforts for label in context.actuator(group, "actuators").joint_labels]
        chosen = [driven[index] for index in labels.match(config.joints, driven, "joint", "joints")]
        self.labels, _, self._dofs = context.joints([re.escape(label) for label in chosen])
        if sorted(self.labels) != sorted(chosen):
            raise ConfigError("joints: two of the driven joints have one label; choose others")
        self._groups: list[_GroupEfforts] = []
        for group, applied in efforts.items():
            own = list(context.actuator(group, "actuators").joint_labels)
            pairs = [(own.index(label), index) for index, label in enumerate(self.labels) if label in own]
            if pairs:
                columns, targets = zip(*pairs, strict=True)
                self._groups.append(_GroupEfforts(applied, context.ints(columns), context.ints(targets)))
        self.unit = unit_of(self._dofs, context, linear="N", angular="N·m")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the efforts."""
        for group in self._groups:
            shape = (len(out), len(group.columns))
            wp.launch(copy_columns, shape, [group.efforts, group.columns, group.targets, out], device=out.device)


class JointPower(JointEfforts):
    """The quantity `joint-power`: abs(t qd)."""

    unit = "W"

    def __init__(self, config: JointPowerConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit = type(self).unit

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the power."""
        super().measure(state, out)
        wp.launch(take_power, out.shape, [state.joint_qd, self._dofs, out], device=out.device)


def _efforts(config: JointEffortsConfig, context: TermContext) -> Iterator[tuple[str, wp.array]]:
    groups = config.actuators or tuple(context.simulation.actuators)
    if not groups:
        raise ConfigError("actuators: the simulation has none, so that no effort is applied; add a group")
    for label in groups:
        group = context.actuator(label, "actuators")
        try:
            yield label, group.applied_effort
        except AttributeError:
            raise ConfigError(
                f"actuators: {label!r} does not report the effort that it applies; name groups that do, such as 'pd'"
            ) from None
