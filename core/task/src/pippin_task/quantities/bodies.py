"""Quantities of bodies and of other parts of the scene: places, motions, and progress towards a point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import newton
import warp as wp
from pippin import ConfigError
from pippin.arrays import on_host

from pippin_task import Quantity, TermContext

from . import configs, kernels
from .joints import Rate

_FRAMES: dict[str, int] = {"world": 0, "body": 1, "reference": 1, "yaw": 2}


class OfRoot(Quantity):
    """A quantity of one body in each world."""

    unit = "m"
    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    def __init__(self, config: configs.RootConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def _launch(self, kernel: Any, out: wp.array, *inputs: Any) -> None:
        wp.launch(kernel, len(out), [*inputs, out], device=out.device)

    def _label(self) -> str:
        """Return the label of the body in the first world."""
        return str(self.context.simulation.model.body_label[int(on_host(self._bodies)[0])])

    def _others(self, pattern: str | None) -> wp.array[int]:
        """Return the index of another body in each world; -1 without a pattern, which stands for the world."""
        context = self.context
        return context.ints([-1] * context.world_count) if pattern is None else context.root(pattern, "reference")


class RootHeight(OfRoot):
    """The quantity `root-height`: z of the body's origin."""

    labels = ("z",)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the heights."""
        self._launch(kernels.read_height, out, state.body_q, self._bodies)


class RootPosition(OfRoot):
    """The quantity `root-position`: the position of the body's origin, p."""

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        bodies, world = self._bodies.reshape((len(out), 1)), self._others(None)
        wp.launch(kernels.read_positions, bodies.shape, [state.body_q, bodies, world, out], device=out.device)


class RootOrientation(OfRoot):
    """The quantity `root-orientation`: the body's quaternion, by default with w >= 0."""

    unit = "1"

    def __init__(self, config: configs.RootOrientationConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self.labels = tuple(config.order)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the quaternions."""
        first = 3 if self.config.order == "wxyz" else 0
        self._launch(kernels.read_orientation, out, state.body_q, self._bodies, int(self.config.unique), first)

    def recipe(self) -> dict[str, Any]:
        """Return the body, the order of the components, and whether w is made positive."""
        own = {"order": self.config.order, "unique": self.config.unique}
        return {"kind": "orientation", "body": self._label(), **own}


class RootLinearVelocity(OfRoot):
    """The quantity `root-linear-velocity`: the velocity of the body's centre of mass, v; or of another point of it."""

    unit = "m/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the velocities."""
        inputs = [state.body_q, state.body_qd, self.context.simulation.model.body_com, self._bodies]
        point = wp.vec3(*(getattr(self.config, "offset", None) or (0.0, 0.0, 0.0)))
        self._launch(kernels.read_velocity, out, *inputs, self._kind, point, _FRAMES[self.config.frame])

    @property
    def _kind(self) -> int:
        return 1 if self.config.point == "origin" or self.config.offset is not None else 0


class RootAngularVelocity(RootLinearVelocity):
    """The quantity `root-angular-velocity`: the angular velocity of the body, w."""

    unit = "rad/s"
    _kind = 2

    def recipe(self) -> dict[str, Any]:
        """Return the body, and the frame of the components."""
        return {"kind": "angular-velocity", "body": self._label(), "frame": self.config.frame}


class ProjectedGravity(OfRoot):
    """The quantity `projected-gravity`: Rᵀ g / abs(g), the direction of gravity in the body: (0, 0, −1) upright."""

    unit = "1"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the directions."""
        self._launch(kernels.project_gravity, out, state.body_q, self.context.simulation.model.gravity, self._bodies)

    def recipe(self) -> dict[str, Any]:
        """Return the body, and gravity in the first world [m/s²]."""
        gravity = on_host(self.context.simulation.model.gravity)[0]
        return {"kind": "gravity", "body": self._label(), "gravity": gravity.tolist()}


class BodyPositions(Quantity):
    """The quantity `body-positions`: the positions of the bodies' origins, side by side."""

    unit = "m"
    is_differentiable = True

    def __init__(self, config: configs.BodyPositionsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        names, self._bodies = context.bodies(config.bodies)
        self.labels = [f"{name}/{end}" for name in names for end in self._ends()] if len(names) > 1 else self._ends()
        world = context.ints([-1] * context.world_count)
        self._references = world if config.reference is None else context.root(config.reference, "reference")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        self._read(kernels.read_positions, state, out)

    def _ends(self) -> Sequence[str]:
        """Return names of the numbers of a body."""
        return tuple("xyz")

    def _read(self, kernel: Any, state: newton.State, out: wp.array, *inputs: Any) -> None:
        inputs = (state.body_q, self._bodies, self._references, *inputs, out)
        wp.launch(kernel, self._bodies.shape, list(inputs), device=out.device)


class BodyRotations(BodyPositions):
    """The quantity `body-rotations`: the first two columns of the bodies' rotation matrices, side by side."""

    unit = "1"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the columns."""
        self._read(kernels.read_rotations, state, out, int(self.config.order == "rows"))

    def _ends(self) -> Sequence[str]:
        """Return row and column of each number."""
        return matrix_ends(self.config.order)


def matrix_ends(order: str) -> tuple[str, ...]:
    """Return row and column of the numbers of the first two columns of a matrix, in an order."""
    by_rows = tuple(row + column for row in "xyz" for column in "xy")
    return by_rows if order == "rows" else by_rows[::2] + by_rows[1::2]


class BodyVariants(Quantity):
    """The quantity `body-variants`: 1 for the variant that a body has, and 0 for the others, side by side."""

    def __init__(self, config: configs.BodyVariantsConfig, context: TermContext) -> None:
        super().__init__(config, context)
        model: Any = context.simulation.model
        names, bodies = context.bodies(config.bodies)
        self.labels, places = [], []
        for column, (name, body) in enumerate(zip(names, on_host(bodies)[0].tolist(), strict=True)):
            variants = model.body_variant_labels(body) if on_host(model.body_variant)[body] >= 0 else []
            if not variants:
                raise ConfigError(f"bodies: {name!r} has no variants; give its object 'variants', or choose others")
            self.labels += [f"{name}/{each}" for each in variants]
            places += [(column, number) for number in range(len(variants))]
        self._variants, self._bodies = model.body_variant, bodies
        self._places = wp.array(places, dtype=wp.vec2i, device=context.device)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the numbers."""
        inputs = [self._variants, self._bodies, self._places, out]
        wp.launch(kernels.read_variants, out.shape, inputs, device=out.device)


class RelativePosition(OfRoot):
    """The quantity `relative-position`: p of a point of a body, minus that of a point of another body or the world."""

    def __init__(self, config: configs.RelativePositionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._references = self._others(config.reference)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        config = self.config
        inputs = [self._bodies, wp.vec3(*config.offset), self._references, wp.vec3(*config.reference_offset)]
        self._launch(kernels.read_relative_position, out, state.body_q, *inputs, _FRAMES[config.frame])


class PoseError(OfRoot):
    """The quantity `pose-error`: p − p of a command, or the rotation vector from R of the command to R."""

    unit = "m, rad"
    is_differentiable = False
    advances = True

    def __init__(self, config: configs.PoseErrorConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = context.command(config.command, "command")
        if tuple(command.labels) != ("x", "y", "z", "qx", "qy", "qz", "qw"):
            raise ConfigError(f"command: {config.command!r} is no pose; choose one of type 'pose'")
        self._references = self._others(config.reference)
        self.unit = "m" if config.what == "position" else "rad"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the errors."""
        config = self.config
        inputs = [state.body_q, self._bodies, wp.vec3(*config.offset), self._references, self._command.value]
        self._launch(kernels.read_pose_error, out, *inputs, int(config.what == "rotation"))


class MassCentre(Quantity):
    """The quantity `mass-centre`: the sum of m p over the sum of m, with p of the bodies' centres of mass."""

    unit = "m"
    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    def __init__(self, config: configs.MassCentreConfig, context: TermContext) -> None:
        super().__init__(config, context)
        _, self._bodies = context.bodies(config.bodies)
        mass = on_host(context.simulation.model.body_mass)[on_host(self._bodies)]
        if not (mass.sum(axis=1) > 0.0).all():
            raise ConfigError("bodies: none of them has a mass; choose others")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        model = self.context.simulation.model
        inputs = [state.body_q, model.body_com, model.body_mass, self._bodies, out]
        wp.launch(kernels.read_mass_centre, len(out), inputs, device=out.device)


class AngularMomentum(MassCentre):
    """The quantity `angular-momentum`: the sum of R I Rᵀ w + m (p − P) × v, with P the centre of mass of the bodies."""

    unit = "kg·m²/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the angular momentum."""
        model = self.context.simulation.model
        inputs = [state.body_q, state.body_qd, model.body_com, model.body_mass, model.body_inertia, self._bodies]
        wp.launch(kernels.read_angular_momentum, len(out), [*inputs, out], device=out.device)


class DisplacementRate(Rate, RootPosition):
    """The quantity `displacement-rate`: (p − p before) / control_dt, with p the position of the body's origin."""

    unit = "m/s"


class MassCentreRate(Rate, MassCentre):
    """The quantity `mass-centre-rate`: (p − p before) / control_dt, with p the centre of mass of the bodies."""

    unit = "m/s"


class HeadingTo(OfRoot):
    """The quantity `heading-to`: cosine and sine of the angle from the body's heading to a point, seen from above."""

    unit = "1"
    labels = ("cos", "sin")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write cosine and sine."""
        self._launch(kernels.read_heading_to, out, state.body_q, self._bodies, wp.vec2(*self.config.target))


class ProgressRate(Rate, OfRoot):
    """The quantity `progress`: −(distance to a point − distance before) / control_dt, with the body's origin."""

    unit = "m/s"
    labels = ("progress",)

    def read(self, state: newton.State, out: wp.array) -> None:
        """Write minus the distance."""
        x, y, *z = self.config.target
        self._launch(kernels.read_nearness, out, state.body_q, self._bodies, wp.vec3(x, y, *z or [0.0]), int(not z))


class OfParts(Quantity):
    """A vector of some particles or bodies in each world."""

    is_differentiable = True
    labels: Sequence[str] = ("x", "y", "z")

    sources: ClassVar[Mapping[str, tuple[str, Any]]]
    """Array of the state and kernel of its mean, by what the parts are."""

    def __init__(self, config: configs.PartsPositionConfig, context: TermContext) -> None:
        super().__init__(config, context)
        objects = context.simulation.services.scene_objects
        what, found = objects.particles_or_bodies(config.parts, "parts")
        rows = objects.by_world(what, found)
        empty = (rows[:, :1] < 0).ravel().nonzero()[0]
        if len(empty):
            raise ConfigError(f"parts: world {empty[0]} has none of {config.parts.of!r}; choose what all worlds have")
        self._source, self._kernel = self.sources[what]
        self._rows = wp.array(rows, dtype=int, device=context.device)
        self._shares = wp.array(1.0 / (rows >= 0).sum(axis=1), dtype=float, device=context.device)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the means."""
        inputs = [getattr(state, self._source), self._rows, self._shares, out]
        wp.launch(self._kernel, out.shape, inputs, device=out.device)


class PartsPosition(OfParts):
    """The quantity `parts-position`: the mean of the positions, p; of bodies that of their origins."""

    unit = "m"
    sources: ClassVar = {"particle": ("particle_q", kernels.mean_vector), "body": ("body_q", kernels.mean_place)}


class PartsVelocity(OfParts):
    """The quantity `parts-velocity`: the mean of the velocities, v; of bodies that of their centres of mass."""

    unit = "m/s"
    sources: ClassVar = {"particle": ("particle_qd", kernels.mean_vector), "body": ("body_qd", kernels.mean_speed)}
