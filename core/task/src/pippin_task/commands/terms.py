"""Commands: velocities, poses, and the frames of a motion."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.motions import Clip

from pippin_task import Command, TermContext
from pippin_task.draws import launch_draws

from . import kernels
from .configs import MotionCommandConfig, VelocityConfig


class DrawnCommand(Command):
    """A command whose numbers are drawn from ranges, which a curriculum may change."""

    ranges: ClassVar[tuple[str, ...]]
    """Keys of the ranges, in the order of the kernel."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self.value = wp.zeros((context.world_count, len(self.labels)), dtype=float, device=context.device)
        ranges = [getattr(config, name) for name in self.ranges]
        self._ranges: Any = wp.array(ranges, dtype=float, ndim=2, device=context.device)
        # pyrefly: ignore[bad-assignment]
        self.numbers = {name: self._ranges[row] for row, name in enumerate(self.ranges)}
        self.draws = context.draws()

    def _draw(self, kernel: Any, world_mask: wp.array[wp.bool], *inputs: Any) -> None:
        launch_draws(kernel, self.context.world_count, self.draws, world_mask, self._ranges, *inputs)


class Velocity(DrawnCommand):
    """The command `velocity`."""

    unit = "m/s, m/s, rad/s"
    labels = ("x", "y", "yaw")
    ranges = ("x", "y", "yaw", "heading")

    def __init__(self, config: VelocityConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root(config.body)
        #: Heading of each world [rad], shape [worlds]; NaN if the command has none.
        self.headings = wp.zeros(context.world_count, dtype=float, device=context.device)

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the targets of the masked worlds."""
        config = self.config
        shares = [config.heading_share, config.straight, config.least_straight, config.standing]
        self._draw(kernels.draw_velocities, world_mask, *shares, self.value, self.headings)

    def update(self, state: newton.State) -> None:
        """Turn towards the heading."""
        if (stiffness := self.config.heading_stiffness) is not None:
            inputs = [state.body_q, self._bodies, stiffness, self._ranges, self.headings, self.value]
            wp.launch(kernels.hold_headings, self.context.world_count, inputs, device=self.value.device)


class PoseCommand(DrawnCommand):
    """The command `pose`: a target pose, its position and a quaternion in the order x, y, z, w."""

    unit = "m, m, m, 1, 1, 1, 1"
    labels = ("x", "y", "z", "qx", "qy", "qz", "qw")
    ranges = ("x", "y", "z", "roll", "pitch", "yaw")

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the poses of the masked worlds."""
        self._draw(kernels.draw_poses, world_mask, self.value)


_STARTS = ("first", "uniform", "adaptive")
"""Ways to draw the first frame, by their number in the kernel."""


class MotionCommand(Command):
    """The command `motion`: positions and velocities of the joints in the frame to reach after the next control step.

    A reset draws the frame that an episode starts with. Other terms read the rest of the clip here.
    """

    unit = "its own"

    def __init__(self, config: MotionCommandConfig, context: TermContext) -> None:
        super().__init__(config, context)
        #: The clip.
        self.clip = clip = Clip.read(config.path, "path")
        host, count = context.simulation, context.world_count
        if abs(clip.rate * host.control_dt - 1.0) > 1e-4:
            raise ConfigError(
                f"path: {config.path!r} has {clip.rate:g} frames per second, and there are {1.0 / host.control_dt:g}"
                " control steps; convert it with this file"
            )
        none: Any = wp.zeros((count, 0), dtype=int, device=context.device)
        labels, self.coordinates, self.dofs = (), none, none
        if clip.joint_names:
            labels, self.coordinates, self.dofs = context.joints(_patterns(clip.joint_names), "path")
        names, self.bodies = context.bodies(_patterns(clip.body_names), "path")
        joint_columns = _columns(labels, clip.joint_names, "joints")
        body_columns = _columns(names, clip.body_names, "bodies")
        #: Labels of the joints and of the bodies, in the order of the arrays.
        self.joint_labels, self.body_labels = labels, names
        #: First coordinate and degree of freedom of the free body in each world, shape [worlds, 2]; None without one.
        self.roots: wp.array | None = context.free_joint(re.escape(clip.root), "path")[1] if clip.root else None
        #: Number of the free body, and of that about which bodies are compared, among the bodies.
        self.root = names.index(next(label for label in names if name_of(label) == clip.root)) if clip.root else 0
        self.anchor = self._anchor()
        #: Positions and velocities of the joints, shape [frames, joints].
        self.joint_positions = self._table(clip.joint_positions[:, joint_columns], float)
        self.joint_velocities = self._table(clip.joint_velocities[:, joint_columns], float)
        #: Poses and velocities of the bodies, shape [frames, bodies].
        self.body_poses = self._table(clip.body_poses[:, body_columns], wp.transform)
        self.body_velocities = self._table(clip.body_velocities[:, body_columns], wp.spatial_vector)
        #: Frames of a loop; 0 without one.
        self.period = clip.frame_count - 1 if clip.is_loop else 0
        #: From the place of the first frame of a loop to that of the last one: a shift, and a turn about z.
        self.stride = wp.transform(*clip.stride.tolist())
        #: The frame to reach after the next control step, shape [worlds].
        self.frames = wp.zeros(count, dtype=int, device=context.device)
        #: From the clip to the world: where it began, and the strides of its loops since, shape [worlds].
        self.places = wp.zeros(count, dtype=wp.transform, device=context.device)
        self.labels = [*(f"{name}/position" for name in labels), *(f"{name}/velocity" for name in labels)]
        self.value = wp.zeros((count, len(self.labels)), dtype=float, device=context.device)
        self.draws = context.draws()
        self._shifts = context.shifts()
        # Control steps of the episode that `frames` counts; -1 at a start, so that the first one to reach is the next.
        self._steps = wp.zeros(count, dtype=int, device=context.device)
        self._is_drawn = wp.zeros(count + 1, dtype=wp.bool, device=context.device)
        self._mask = wp.zeros(count + 1, dtype=wp.bool, device=context.device)
        bin_count = max(1, math.ceil((clip.frame_count - 1) / clip.rate / config.bin - 1e-6))
        self._bins = wp.zeros(count, dtype=int, device=context.device)
        self._counted: Any = wp.full(count + 1, -1, dtype=wp.int64, device=context.device)
        #: The failures of each bin, shape [bins].
        self.failures = wp.zeros(bin_count, dtype=float, device=context.device)
        self._fresh = wp.zeros_like(self.failures)
        self._sums = wp.array(np.arange(1, bin_count + 1), dtype=float, device=context.device)
        struct: Any = kernels.ClipArrays
        #: All of this that kernels read.
        self.arrays = struct()
        for name in struct.vars:
            setattr(self.arrays, name, getattr(self, name))

    def draw(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the frame that the masked worlds start from, before they begin an episode; `resample` leaves it then.

        Mask of shape [world_count + 1].
        """
        inputs = [self.arrays, _STARTS.index(self.config.start), self._sums, self._shifts, self._steps, self._is_drawn]
        launch_draws(kernels.draw_frames, self.context.world_count, self.draws, world_mask, *inputs)

    def resample(self, world_mask: wp.array[wp.bool]) -> None:
        """Draw the frame of the masked worlds, unless the start of the episode has."""
        inputs = [world_mask, self._is_drawn, self._mask]
        wp.launch(kernels.find_undrawn, len(world_mask), inputs, device=world_mask.device)
        self.draw(self._mask)
        self._is_drawn.zero_()

    def update(self, state: newton.State) -> None:
        """Advance to the next frame, once in each control step, and count the failures of the last one."""
        context, config, count = self.context, self.config, self.context.world_count
        episodes, device = context.episodes, context.device
        if config.start == "adaptive":
            step = context.simulation.step_counter
            inputs = [step, self._counted, episodes.finished, episodes.terminated, self._bins, self._fresh]
            wp.launch(kernels.note_failures, count, inputs, device=device)
            inputs = [step, self._counted, config.memory, config.uniform, config.reach, config.decay]
            inputs += [self._fresh, self.failures, self._sums]
            wp.launch(kernels.add_failures, 1, inputs, device=device)
        inputs = [self.arrays, episodes.length, self._steps, len(self.failures), self._bins]
        wp.launch(kernels.follow_clip, count, inputs, device=device)
        wp.launch(kernels.read_targets, self.value.shape, [self.arrays, self.value], device=device)

    def _anchor(self) -> int:
        if self.config.anchor is None:
            return self.root
        bodies = on_host(self.context.root(self.config.anchor, "anchor"))
        of_clip = on_host(self.bodies)[0].tolist()
        if int(bodies[0]) not in of_clip:
            raise ConfigError(f"anchor: {self.config.anchor!r} is no body of the clip; choose another one")
        return of_clip.index(int(bodies[0]))

    def _table(self, values: np.ndarray, dtype: Any) -> Any:
        return wp.array(np.ascontiguousarray(values, dtype=np.float32), dtype=dtype, ndim=2, device=self.context.device)


def _patterns(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(re.escape(name) for name in names)


def _columns(labels: Sequence[str], names: Sequence[str], what: str) -> list[int]:
    found = [name_of(label) for label in labels]
    if len(found) != len(names):
        twice = next(name for name in found if found.count(name) > 1)
        raise ConfigError(f"path: each world has two {what} that are called {twice!r}; rename one")
    return [names.index(name) for name in found]
