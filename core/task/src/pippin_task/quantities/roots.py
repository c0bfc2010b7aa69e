"""Quantities of bodies: height, position, orientation, velocities, and the direction of gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host

from pippin_task import Quantity, TermContext

from .configs import (
    BodyPositionsConfig,
    MassCentreConfig,
    PoseErrorConfig,
    RelativePositionConfig,
    RootConfig,
    RootOrientationConfig,
)
from .kernels import (
    project_gravity,
    read_angular_momentum,
    read_height,
    read_mass_centre,
    read_orientation,
    read_pose_error,
    read_positions,
    read_relative_position,
    read_velocity,
)

_FRAMES: dict[str, int] = {"world": 0, "body": 1, "reference": 1, "yaw": 2}


class OfRoot(Quantity):
    """A quantity of one body in each world."""

    unit = "m"
    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    def __init__(self, config: RootConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def _launch(self, kernel: Any, out: wp.array, *inputs: Any) -> None:
        wp.launch(kernel, len(out), [*inputs, out], device=out.device)


class RootHeight(OfRoot):
    """The quantity `root-height`: z of the body's origin."""

    labels = ("z",)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the heights."""
        self._launch(read_height, out, state.body_q, self._bodies)


class RootPosition(OfRoot):
    """The quantity `root-position`: the position of the body's origin, p."""

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        bodies = self._bodies.reshape((len(out), 1))
        wp.launch(read_positions, bodies.shape, [state.body_q, bodies, out], device=out.device)


class RootOrientation(OfRoot):
    """The quantity `root-orientation`: the body's quaternion, by default with w >= 0."""

    unit = "1"

    def __init__(self, config: RootOrientationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.labels = tuple(config.order)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the quaternions."""
        first = 3 if self.config.order == "wxyz" else 0
        self._launch(read_orientation, out, state.body_q, self._bodies, int(self.config.unique), first)


class RootLinearVelocity(OfRoot):
    """The quantity `root-linear-velocity`: the velocity of the body's centre of mass, v; or of its origin."""

    unit = "m/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the velocities."""
        self._read(state, out, 1 if self.config.point == "origin" else 0)

    def _read(self, state: newton.State, out: wp.array, kind: int) -> None:
        inputs = [state.body_q, state.body_qd, self.context.simulation.model.body_com, self._bodies]
        self._launch(read_velocity, out, *inputs, kind, _FRAMES[self.config.frame])


class RootAngularVelocity(RootLinearVelocity):
    """The quantity `root-angular-velocity`: the angular velocity of the body, w."""

    unit = "rad/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the angular velocities."""
        self._read(state, out, 2)


class ProjectedGravity(OfRoot):
    """The quantity `projected-gravity`: Rᵀ g / abs(g), the direction of gravity in the body: (0, 0, −1) upright."""

    unit = "1"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the directions."""
        self._launch(project_gravity, out, state.body_q, self.context.simulation.model.gravity, self._bodies)


class BodyPositions(Quantity):
    """The quantity `body-positions`: the positions of the bodies' origins, side by side."""

    unit = "m"
    is_differentiable = True

    def __init__(self, config: BodyPositionsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        names, self._bodies = context.bodies(config.bodies)
        self.labels = [f"{name}/{axis}" for name in names for axis in "xyz"] if len(names) > 1 else tuple("xyz")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        wp.launch(read_positions, self._bodies.shape, [state.body_q, self._bodies, out], device=out.device)


class RelativePosition(OfRoot):
    """The quantity `relative-position`: p of a point of a body, minus that of a point of another body or the world."""

    def __init__(self, config: RelativePositionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        of_world = context.ints([-1] * context.world_count)
        self._references = of_world if config.reference is None else context.root(config.reference, "reference")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        config = self.config
        inputs = [self._bodies, wp.vec3(*config.offset), self._references, wp.vec3(*config.reference_offset)]
        self._launch(read_relative_position, out, state.body_q, *inputs, _FRAMES[config.frame])


class PoseError(OfRoot):
    """The quantity `pose-error`: p − p of a command, or the rotation vector from R of the command to R."""

    unit = "m, rad"
    is_differentiable = False
    advances = True

    def __init__(self, config: PoseErrorConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = context.command(config.command, "command")
        if tuple(command.labels) != ("x", "y", "z", "qx", "qy", "qz", "qw"):
            raise ConfigError(f"command: {config.command!r} is no pose; choose one of type 'pose'")
        of_world = context.ints([-1] * context.world_count)
        self._references = of_world if config.reference is None else context.root(config.reference, "reference")
        self.unit = "m" if config.what == "position" else "rad"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the errors."""
        config = self.config
        inputs = [state.body_q, self._bodies, wp.vec3(*config.offset), self._references, self._command.value]
        self._launch(read_pose_error, out, *inputs, int(config.what == "rotation"))


class MassCentre(Quantity):
    """The quantity `mass-centre`: the sum of m p over the sum of m, with p of the bodies' centres of mass."""

    unit = "m"
    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    def __init__(self, config: MassCentreConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._bodies = context.bodies(config.bodies)
        mass = on_host(context.simulation.model.body_mass)[on_host(self._bodies)]
        if not (mass.sum(axis=1) > 0.0).all():
            raise ConfigError("bodies: none of them has a mass; choose others")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        self._read(state, out)

    def _read(self, state: newton.State, out: wp.array) -> None:
        model = self.context.simulation.model
        inputs = [state.body_q, model.body_com, model.body_mass, self._bodies, out]
        wp.launch(read_mass_centre, len(out), inputs, device=out.device)


class AngularMomentum(MassCentre):
    """The quantity `angular-momentum`: the sum of R I Rᵀ w + m (p − P) × v, with P the centre of mass of the bodies."""

    unit = "kg·m²/s"

    def _read(self, state: newton.State, out: wp.array) -> None:
        model = self.context.simulation.model
        inputs = [state.body_q, state.body_qd, model.body_com, model.body_mass, model.body_inertia, self._bodies]
        wp.launch(read_angular_momentum, len(out), [*inputs, out], device=out.device)
