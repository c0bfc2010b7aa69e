"""Quantities of joints: positions, velocities, efforts and power of actuators; and the rate of any quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean, labels
from pippin.arrays import on_host

from pippin_task import Quantity, TermContext

from . import kernels
from .configs import JointEffortsConfig, JointPositionsConfig, JointPowerConfig, JointVelocitiesConfig


class Rate(Quantity):
    """A quantity (x − x before) / control_dt, with x of the end of the control step and of the one before.

    It stands before the class that measures x, or has a `read` of its own. In the first step of an episode, the one
    before is the start of the episode; right after a reset the rate is zero.
    """

    is_differentiable = False

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        shape: Any = (context.world_count, len(self.labels))
        self._present, self._before, self._latest = (
            wp.zeros(shape, dtype=float, device=context.device) for _ in range(3)
        )
        # Number of the control step that `latest` belongs to.
        self._steps: Any = wp.full(shape, -1, dtype=wp.int64, device=context.device)

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write x of all worlds."""
        super().measure(state, out)  # pyrefly: ignore[abstract-method-call]

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the rate."""
        host = self.context.simulation
        self.read(state, self._present)
        inputs = [self._present, host.step_counter, host.control_dt, self._steps, self._before, self._latest, out]
        wp.launch(kernels.take_rates, out.shape, inputs, device=out.device)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Begin with the present state of the masked worlds."""
        host = self.context.simulation
        self.read(host.state, self._present)
        inputs = [world_mask, self._present, host.step_counter, self._steps, self._before, self._latest]
        wp.launch(kernels.begin_rates, self._present.shape, inputs, device=self._present.device)


class OfJoints(Quantity):
    """A quantity with a number for each axis of some joints."""

    per: ClassVar[str] = ""
    """What its unit adds to that of positions."""

    def __init__(self, config: JointVelocitiesConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.labels, self._coordinates, self._dofs = context.joints(config.joints)
        self.unit = unit_of(self._dofs, context, self.per)
        shape = self._dofs.shape
        self._offset, self._scale = self._rows(np.zeros(shape)), self._rows(np.ones(shape))

    def _rows(self, values: np.ndarray) -> wp.array:
        return wp.array(values.astype("float32"), dtype=float, device=self.context.device)

    def _gather(self, values: wp.array, indices: wp.array, out: wp.array) -> None:
        wp.launch(kernels.gather, out.shape, [values, indices, self._offset, self._scale, out], device=out.device)


class JointPositions(OfJoints):
    """The quantity `joint-positions`: q; or q − q_0; or 2 (q − lower) / (upper − lower) − 1; or a cosine or sine.

    With `offsets`, all of q − e in place of q, with what the event adds to the position targets, e.
    """

    unit = "rad, m"
    is_differentiable = True

    def __init__(self, config: JointPositionsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        if config.relative:
            start = on_host(context.simulation.state.joint_q)
            self._offset = self._rows(start[on_host(self._coordinates)])
        if config.normalised:
            self.unit = "1"
            lower, upper = self._asset_limits("normalised")
            self._offset, self._scale = self._rows(0.5 * (lower + upper)), self._rows(2.0 / (upper - lower))
        if config.form != "angle":
            if self.unit != "rad":
                raise ConfigError(f"form: a slider has no {config.form}; choose hinges by `joints`")
            self.unit = "1"
        self._encoders = None if config.offsets is None else self._found(config.offsets)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write (q − e − offset) × scale, or its cosine or sine."""
        assert state.joint_q is not None, "the joints were found"
        self._gather(state.joint_q, self._coordinates, out)
        if self._encoders is not None:
            errors, columns, targets = self._encoders
            inputs = [errors, columns, targets, self._scale, out]
            wp.launch(kernels.subtract_columns, (len(out), len(columns)), inputs, device=out.device)
        if self.config.form != "angle":
            wp.launch(kernels.take_circular, out.shape, [int(self.config.form == "sine"), out], device=out.device)

    def recipe(self) -> dict[str, Any]:
        """Return (q − offset) × scale, or its cosine or sine; the encoders of a robot have the errors in them."""
        rows = {"offset": self._offset.numpy()[0].tolist(), "scale": self._scale.numpy()[0].tolist()}
        return {"kind": "joint-positions", "joints": list(self.labels), **rows, "form": self.config.form}

    def limits(self, where: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the limits of the asset's joints as this quantity counts, lowest and highest, shape [worlds, joints].

        Raises:
            ConfigError: A joint has no limits; `where` is the key that asks for them.
        """
        if self.config.form != "angle":
            raise ConfigError(f"{where}: a {self.config.form} has no limits; leave out `form`")
        offset, scale = self._offset.numpy(), self._scale.numpy()
        lower, upper = self._asset_limits(where)
        return (lower - offset) * scale, (upper - offset) * scale

    def _found(self, label: str) -> tuple[wp.array, wp.array[int], wp.array[int]]:
        task = self.context.simulation.config.task
        events = {} if task is None else {k: each for k, each in task.events.items() if each.type == "joint-offsets"}
        if label not in events:
            hint = did_you_mean(label, events)
            raise ConfigError(f"offsets: there is no event {label!r} of type 'joint-offsets'{hint}; add one")
        name = events[label].config.action
        action = self.context.action(name, "offsets")
        if action.of_group != "position_targets":
            raise ConfigError(f"offsets: {label!r} is of {action.what} of {name!r}, and not of positions; leave it out")
        columns, targets = _shared(action.labels, self.labels, self.context)
        if not len(columns):
            raise ConfigError(f"offsets: {name!r} has none of the joints {', '.join(self.labels)}; choose others")
        return action.errors, columns, targets

    def _asset_limits(self, where: str) -> tuple[np.ndarray, np.ndarray]:
        model, dofs = self.context.simulation.model, on_host(self._dofs)
        lower, upper = on_host(model.joint_limit_lower)[dofs], on_host(model.joint_limit_upper)[dofs]
        is_limited = (lower < upper) & (np.abs(lower) < 1e6) & (np.abs(upper) < 1e6)
        if not is_limited.all():
            missing = self.labels[int(np.argwhere(~is_limited)[0][1])]
            raise ConfigError(f"{where}: joint {missing!r} has no limits; leave it out of `joints`")
        return lower, upper


class JointVelocities(OfJoints):
    """The quantity `joint-velocities`: qd."""

    unit, per = "rad/s, m/s", "/s"
    is_differentiable = True

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write qd."""
        assert state.joint_qd is not None, "the joints were found"
        self._gather(state.joint_qd, self._dofs, out)

    def recipe(self) -> dict[str, Any]:
        """Return the velocities of the joints."""
        return {"kind": "joint-velocities", "joints": list(self.labels)}


class JointAccelerations(Rate, JointVelocities):
    """The quantity `joint-accelerations`: the change of qd over the control step / control_dt."""

    unit, per = "rad/s², m/s²", "/s²"


def unit_of(dofs: wp.array, context: TermContext, per: str = "", linear: str = "m", angular: str = "rad") -> str:
    """Return the unit of some axes: that of sliders, of hinges, or both with a comma between them."""
    model = context.simulation.model
    dimensions: Any = model.joint_dof_dim
    starts, counts = on_host(model.joint_qd_start), on_host(dimensions)
    first = on_host(dofs)[0]
    owners = np.searchsorted(starts, first, side="right") - 1
    is_linear = first - starts[owners] < counts[owners, 0]
    return ", ".join(f"{unit}{per}" for unit, is_used in ((angular, ~is_linear), (linear, is_linear)) if is_used.any())


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
        # The efforts of each group, their columns of these joints, and the columns of these numbers.
        self._groups = [
            (applied, *_shared(context.actuator(group, "actuators").joint_labels, self.labels, context))
            for group, applied in efforts.items()
        ]
        self.unit = unit_of(self._dofs, context, linear="N", angular="N·m")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the efforts."""
        for group in self._groups:
            wp.launch(kernels.copy_columns, (len(out), len(group[1])), [*group, out], device=out.device)


class JointPower(JointEfforts):
    """The quantity `joint-power`: abs(t qd)."""

    unit = "W"

    def __init__(self, config: JointPowerConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.unit = type(self).unit

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the power."""
        super().measure(state, out)
        wp.launch(kernels.take_power, out.shape, [state.joint_qd, self._dofs, out], device=out.device)


def _shared(own: Sequence[str], joints: Sequence[str], context: TermContext) -> tuple[wp.array[int], wp.array[int]]:
    shared = [joint for joint in joints if joint in own]
    return context.ints(map(list(own).index, shared)), context.ints(map(list(joints).index, shared))


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
