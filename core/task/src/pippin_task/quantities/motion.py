"""Quantities of motions: joints, anchor and bodies of a clip, what the robot differs from them, and phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.labels import match

from pippin_task import Quantity, TermContext

from . import kernels
from .bodies import matrix_ends
from .configs import MotionAnchorConfig, MotionBodiesConfig, MotionJointsConfig, PhaseConfig
from .joints import unit_of

_WHATS = ("position", "rotation", "linear-velocity", "angular-velocity", "gravity")
_UNITS = ("m", "rad", "m/s", "rad/s", "1")


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
        inputs = [command.arrays, self._later, self._table, values, self._indices, int(config.form == "error"), out]
        wp.launch(kernels.read_motion_joints, out.shape, inputs, device=out.device)


class MotionAnchor(Quantity):
    """The quantity `motion-anchor`: p, R, v, w or gravity of the anchor minus that of the motion; or of the motion."""

    unit = "m, rad, m/s, rad/s, 1"
    advances = True

    def __init__(self, config: MotionAnchorConfig | MotionBodiesConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = _motion(config.command, context)
        chosen = [command.anchor]
        if isinstance(config, MotionBodiesConfig):
            chosen = match(config.bodies, command.body_labels, "body of the clip", "bodies")
        self._what = _WHATS.index(config.what)
        self.unit = "1" if config.what == "rotation" and config.form == "pose" else _UNITS[self._what]
        self._later, self._columns = context.ints(config.ahead), context.ints(chosen)
        if config.form == "distance":
            self.labels = ("mean" if len(chosen) > 1 else "length",)
            return
        is_matrix = config.what == "rotation" and config.form == "pose"
        ends = matrix_ends(config.order) if is_matrix else tuple("xyz")
        self._width = len(ends)
        names = _ahead([command.body_labels[index] for index in chosen], config.ahead)
        self.labels = [f"{name}/{end}" for name in names for end in ends] if len(names) > 1 else ends

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the errors, or the numbers of the motion in the frame of the robot's anchor."""
        command, config, model = self._command, self.config, self.context.simulation.model
        is_origin = int(config.point == "origin")
        if config.form == "pose":
            inputs = [command.arrays, self._later, self._columns, state.body_q, model.body_com, self._what, is_origin]
            inputs += [int(config.order == "rows"), self._width, out]
            shape = (len(out), len(self._later) * len(self._columns))
            wp.launch(kernels.read_motion_poses, shape, inputs, device=out.device)
            return
        inputs = [command.arrays, self._columns, state.body_q, state.body_qd, model.body_com, model.gravity]
        is_moved = getattr(config, "frame", "world") == "anchor"
        inputs += [self._what, is_origin, int(is_moved), int(config.form == "distance")]
        wp.launch(kernels.read_motion_errors, len(out), [*inputs, out], device=out.device)


class MotionBodies(MotionAnchor):
    """The quantity `motion-bodies`: p, R, v or w of bodies minus those of the motion; or those of the motion."""

    unit = "m, rad, m/s, rad/s"


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
    return [f"{name}+{later}" if later else name for later in ahead for name in names]
