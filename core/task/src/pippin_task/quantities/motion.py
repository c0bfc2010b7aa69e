"""Quantities of motions: joints, anchor and bodies of a clip, what the robot differs from them, and phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.labels import match

from pippin_task import Quantity, TermContext

from . import kernels
from .configs import MotionAnchorConfig, MotionBodiesConfig, MotionJointsConfig, PhaseConfig
from .joints import unit_of

_WHATS = ("position", "rotation", "linear-velocity", "angular-velocity", "gravity")
_UNITS = ("m", "rad", "m/s", "rad/s", "1")
_MATRIX = ("xx", "yx", "zx", "xy", "yy", "zy")
"""Components of the first two columns of a matrix: row and column."""


class MotionJoints(Quantity):
    """The quantity `motion-joints`: q − q of the motion, or qd; or those of the motion."""

    unit = "rad, m"
    advances = True

    def __init__(self, config: MotionJointsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = _motion(config.command, context)
        self.labels = _ahead(command.joint_labels, config.ahead)
        is_velocity = config.what == "velocity"
        self.unit = unit_of(command.dofs, context, "/s" if is_velocity else "")
        self._table = command.joint_velocities if is_velocity else command.joint_positions
        self._indices = command.dofs if is_velocity else command.coordinates
        self._later = context.ints(config.ahead)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the numbers."""
        command, config = self._command, self.config
        values = state.joint_qd if config.what == "velocity" else state.joint_q
        inputs = [command.frames, command.period, self._later, self._table, values, self._indices]
        wp.launch(kernels.read_motion_joints, out.shape, [*inputs, int(config.form == "error"), out], device=out.device)


class MotionAnchor(Quantity):
    """The quantity `motion-anchor`: p, R, v, w or gravity of the anchor minus that of the motion; or of the motion."""

    unit = "m, rad, m/s, rad/s, 1"
    advances = True

    def __init__(self, config: MotionAnchorConfig | MotionBodiesConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = _motion(config.command, context)
        chosen = self._chosen()
        self._what = _WHATS.index(config.what)
        self.unit = "1" if config.what == "rotation" and config.form == "pose" else _UNITS[self._what]
        self._later, self._columns = context.ints(config.ahead), context.ints(chosen)
        if config.form == "distance":
            self.labels = ("mean" if len(chosen) > 1 else "length",)
            return
        ends = _MATRIX if config.what == "rotation" and config.form == "pose" else tuple("xyz")
        self._width = len(ends)
        names = _ahead([command.body_labels[index] for index in chosen], config.ahead)
        self.labels = [f"{name}/{end}" for name in names for end in ends] if len(names) > 1 else ends

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the errors, or the numbers of the motion in the frame of the robot's anchor."""
        command, config = self._command, self.config
        inputs = [command.frames, command.places, command.body_poses]
        if config.form == "pose":
            inputs += [command.stride, command.period, command.body_velocities, self._later, command.bodies]
            inputs += [self._columns, command.anchor, state.body_q, self._what]
            shape = (len(out), len(self._later) * len(self._columns))
            wp.launch(kernels.read_motion_poses, shape, [*inputs, self._width, out], device=out.device)
            return
        inputs += [command.body_velocities, command.anchor, self._columns, command.bodies, state.body_q, state.body_qd]
        inputs += [self.context.simulation.model.gravity, self._what, int(self._is_moved)]
        inputs += [int(config.form == "distance"), out]
        wp.launch(kernels.read_motion_errors, len(out), inputs, device=out.device)

    @property
    def _is_moved(self) -> bool:
        return False

    def _chosen(self) -> list[int]:
        return [self._command.anchor]


class MotionBodies(MotionAnchor):
    """The quantity `motion-bodies`: p, R, v or w of bodies minus those of the motion; or those of the motion."""

    unit = "m, rad, m/s, rad/s"

    @property
    def _is_moved(self) -> bool:
        return self.config.frame == "anchor"

    def _chosen(self) -> list[int]:
        return match(self.config.bodies, self._command.body_labels, "body of the clip", "bodies")


class Phase(Quantity):
    """The quantity `phase`: cos and sin of 2π frame / frames + offset, or of 2π f t + offset."""

    advances = True

    def __init__(self, config: PhaseConfig, context: TermContext) -> None:
        super().__init__(config, context)
        numbers = range(len(config.offsets))
        self.labels = ("cos", "sin") if len(numbers) == 1 else [f"{i}/{end}" for i in numbers for end in ("cos", "sin")]
        self._offsets = wp.array(np.array(config.offsets), dtype=float, device=context.device)
        self._command: Any = None if config.command is None else _motion(config.command, context)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write cosine and sine."""
        host, command, shape = self.context.simulation, self._command, (len(out), len(self._offsets))
        if command is not None:
            count = command.period or command.clip.frame_count - 1
            inputs = [command.frames, count, self._offsets, out]
            wp.launch(kernels.read_phase_of_motion, shape, inputs, device=out.device)
            return
        inputs = [self.context.episodes.length, self.config.frequency * host.control_dt, self._offsets, out]
        wp.launch(kernels.read_phase_of_time, shape, inputs, device=out.device)


def _motion(label: str, context: TermContext) -> Any:
    command = context.command(label, "command")
    if getattr(command, "clip", None) is None:
        raise ConfigError(f"command: {label!r} follows no motion; choose one of type 'motion'")
    return command


def _ahead(names: Sequence[str], ahead: Sequence[int]) -> list[str]:
    """Return a name for each part in each frame."""

    def each() -> Iterator[str]:
        for later in ahead:
            yield from (f"{name}+{later}" if later else name for name in names)

    return list(each())
