"""Quantities of joints: positions, velocities and accelerations."""

from __future__ import annotations

from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, did_you_mean
from pippin.arrays import on_host

from pippin_task import Quantity, TermContext

from .configs import JointPositionsConfig, JointsConfig
from .kernels import gather, subtract_columns, take_circular
from .rates import Rate


class OfJoints(Quantity):
    """A quantity with a number for each axis of some joints."""

    per: ClassVar[str] = ""
    """What its unit adds to that of positions."""

    def __init__(self, config: JointsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.labels, self._coordinates, self._dofs = context.joints(config.joints)
        self.unit = unit_of(self._dofs, context, self.per)
        shape = self._dofs.shape
        self._offset, self._scale = self._rows(np.zeros(shape)), self._rows(np.ones(shape))

    def _rows(self, values: np.ndarray) -> wp.array:
        return wp.array(values.astype("float32"), dtype=float, device=self.context.device)

    def _gather(self, values: wp.array, indices: wp.array, out: wp.array) -> None:
        wp.launch(gather, out.shape, [values, indices, self._offset, self._scale, out], device=out.device)


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
            wp.launch(subtract_columns, (len(out), len(columns)), inputs, device=out.device)
        if self.config.form != "angle":
            wp.launch(take_circular, out.shape, [int(self.config.form == "sine"), out], device=out.device)

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
        """Return the errors that an event draws, their columns of these joints, and the columns of these numbers."""
        task = self.context.simulation.config.task
        events = {} if task is None else {k: each for k, each in task.events.items() if each.type == "joint-offsets"}
        if label not in events:
            hint = did_you_mean(label, events)
            raise ConfigError(f"offsets: there is no event {label!r} of type 'joint-offsets'{hint}; add one")
        name = events[label].config.action
        action = self.context.action(name, "offsets")
        if action.of_group != "position_targets":
            raise ConfigError(f"offsets: {label!r} is of {action.what} of {name!r}, and not of positions; leave it out")
        own = {joint: column for column, joint in enumerate(action.labels)}
        pairs = [(own[joint], column) for column, joint in enumerate(self.labels) if joint in own]
        if not pairs:
            raise ConfigError(f"offsets: {name!r} has none of the joints {', '.join(self.labels)}; choose others")
        columns, targets = zip(*pairs, strict=True)
        return action.errors, self.context.ints(columns), self.context.ints(targets)

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


class JointAccelerations(Rate, OfJoints):
    """The quantity `joint-accelerations`: the change of qd over the control step / control_dt."""

    unit, per = "rad/s², m/s²", "/s²"

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write qd."""
        assert state.joint_qd is not None, "the joints were found"
        self._gather(state.joint_qd, self._dofs, out)


def unit_of(dofs: wp.array, context: TermContext, per: str = "", linear: str = "m", angular: str = "rad") -> str:
    """Return the unit of some axes: that of sliders, of hinges, or both with a comma between them."""
    model = context.simulation.model
    dimensions: Any = model.joint_dof_dim
    starts, counts = on_host(model.joint_qd_start), on_host(dimensions)
    first = on_host(dofs)[0]
    owners = np.searchsorted(starts, first, side="right") - 1
    is_linear = first - starts[owners] < counts[owners, 0]
    return ", ".join(f"{unit}{per}" for unit, is_used in ((angular, ~is_linear), (linear, is_linear)) if is_used.any())
