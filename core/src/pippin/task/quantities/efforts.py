"""Quantities of efforts: what the actuators apply to joints, and the power of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin import labels
from pippin.errors import ConfigError
from pippin.task.terms import Quantity

from .joints import unit_of

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["JointEfforts", "JointPower"]


@attrs.frozen(kw_only=True)
class EffortsConfig:
    """A quantity of joints that actuators drive."""

    actuators: tuple[str, ...] = ()
    """Labels of the actuator groups; by default all. Each must tell its applied effort, and be in all worlds."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes that these groups drive; by default all."""


@attrs.frozen
class _Part:
    """Columns of one group's efforts, and their places among the numbers of the quantity."""

    efforts: Any
    columns: Any
    places: Any


class JointEfforts(Quantity):
    """The quantity `joint-efforts`: the effort of the last physics step as the actuators applied it, t."""

    Config: ClassVar[type] = EffortsConfig
    unit = "N·m, N"

    def __init__(self, config: EffortsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        efforts = dict(_efforts(config, context))
        driven = [label for group in efforts for label in context.actuator(group, "actuators").joint_labels]
        chosen = [driven[index] for index in labels.match(config.joints, driven, "joint", "joints")]
        self._labels, _, self._dofs = context.joints([re.escape(label) for label in chosen])
        if sorted(self._labels) != sorted(chosen):
            raise ConfigError("joints: two of the driven joints have one label; choose others")
        self._parts: list[_Part] = []
        for group, applied in efforts.items():
            own = list(context.actuator(group, "actuators").joint_labels)
            pairs = [(own.index(label), index) for index, label in enumerate(self._labels) if label in own]
            if pairs:
                columns, places = zip(*pairs, strict=True)
                self._parts.append(_Part(applied, context.ints(columns), context.ints(places)))
        self.unit = unit_of(self._dofs, context, linear="N", angular="N·m")

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the joints."""
        return self._labels

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the efforts."""
        import warp as wp

        from .kernels import copy_columns

        for part in self._parts:
            shape = (len(out), len(part.columns))
            wp.launch(copy_columns, shape, [part.efforts, part.columns, part.places, out], device=out.device)


class JointPower(JointEfforts):
    """The quantity `joint-power`: abs(t qd)."""

    unit = "W"

    def __init__(self, config: EffortsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit = type(self).unit

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the power."""
        import warp as wp

        from .kernels import take_power

        super().measure(state, out)
        wp.launch(take_power, out.shape, [state.joint_qd, self._dofs, out], device=out.device)


def _efforts(config: EffortsConfig, context: TermContext) -> Iterator[tuple[str, Any]]:
    groups = config.actuators or tuple(context.simulation.actuators)
    if not groups:
        raise ConfigError("actuators: the simulation has none, so that no effort is applied; add a group")
    for label in groups:
        group = context.actuator(label, "actuators")
        try:
            yield label, group.applied_effort
        except AttributeError:
            raise ConfigError(
                f"actuators: {label!r} does not tell the effort that it applies; name groups that do, such as 'pd'"
            ) from None
