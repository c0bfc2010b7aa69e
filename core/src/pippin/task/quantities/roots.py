"""Quantities of bodies: height, position, orientation, velocities, and the direction of gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import attrs
from pippin.task.terms import Quantity

if TYPE_CHECKING:
    import newton
    import warp as wp
    from pippin.task.context import TermContext

__all__ = [
    "BodyPositions",
    "ProjectedGravity",
    "RootAngularVelocity",
    "RootHeight",
    "RootLinearVelocity",
    "RootOrientation",
    "RootPosition",
]

Frame = Literal["world", "body", "yaw"]
_FRAMES: dict[str, int] = {"world": 0, "body": 1, "yaw": 2}


@attrs.frozen(kw_only=True)
class RootConfig:
    """A quantity of one body."""

    body: str | None = None
    """Pattern of the body's name, which must match one body; by default the first body of a world."""


@attrs.frozen(kw_only=True)
class RootOrientationConfig(RootConfig):
    """The orientation of one body, as a quaternion."""

    order: Literal["xyzw", "wxyz"] = "xyzw"
    """Order of the components: Newton's, or that of MuJoCo and Isaac Lab."""

    unique: bool = True
    """Whether w is made positive: a quaternion and its negative are the same orientation. MuJoCo does not do this."""


@attrs.frozen(kw_only=True)
class RootVelocityConfig(RootConfig):
    """A velocity of one body."""

    frame: Frame = "world"
    """Frame of the components: of the world; of the body; or of the world, turned about z by the body's heading."""


@attrs.frozen(kw_only=True)
class RootLinearVelocityConfig(RootVelocityConfig):
    """The velocity of one body."""

    point: Literal["centre-of-mass", "origin"] = "centre-of-mass"
    """Point of the body that has the velocity; MuJoCo's free joints have that of the origin."""


class OfRoot(Quantity):
    """A quantity of one body in each world."""

    Config: ClassVar[type] = RootConfig
    unit = "m"
    columns: Sequence[str] = ("x", "y", "z")
    """A name for each number."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    @property
    def labels(self) -> Sequence[str]:
        """The axes."""
        return self.columns

    def _launch(self, kernel: Any, out: wp.array, *inputs: Any) -> None:
        import warp as wp

        wp.launch(kernel, len(out), [*inputs, out], device=out.device)


class RootHeight(OfRoot):
    """The quantity `root-height`: z of the body's origin."""

    columns = ("z",)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the heights."""
        from .kernels import read_height

        self._launch(read_height, out, state.body_q, self._bodies)


class RootPosition(OfRoot):
    """The quantity `root-position`: the position of the body's origin, p."""

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        import warp as wp

        from .kernels import read_positions

        bodies = self._bodies.reshape((len(out), 1))
        wp.launch(read_positions, bodies.shape, [state.body_q, bodies, out], device=out.device)


class RootOrientation(OfRoot):
    """The quantity `root-orientation`: the body's quaternion, by default with w >= 0."""

    Config: ClassVar[type] = RootOrientationConfig
    unit = "1"

    @property
    def labels(self) -> Sequence[str]:
        """The components in their order."""
        return tuple(self.config.order)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the quaternions."""
        from .kernels import read_orientation

        first = 3 if self.config.order == "wxyz" else 0
        self._launch(read_orientation, out, state.body_q, self._bodies, int(self.config.unique), first)


class RootLinearVelocity(OfRoot):
    """The quantity `root-linear-velocity`: the velocity of the body's centre of mass, v; or of its origin."""

    Config: ClassVar[type] = RootLinearVelocityConfig
    unit = "m/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the velocities."""
        from .kernels import read_linear_velocity

        is_of_origin = int(self.config.point == "origin")
        inputs = [state.body_q, state.body_qd, self.context.simulation.model.body_com, self._bodies]
        self._launch(read_linear_velocity, out, *inputs, is_of_origin, _FRAMES[self.config.frame])


class RootAngularVelocity(OfRoot):
    """The quantity `root-angular-velocity`: the angular velocity of the body, w."""

    Config: ClassVar[type] = RootVelocityConfig
    unit = "rad/s"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the angular velocities."""
        from .kernels import read_angular_velocity

        inputs = [state.body_q, state.body_qd, self._bodies]
        self._launch(read_angular_velocity, out, *inputs, _FRAMES[self.config.frame])


class ProjectedGravity(OfRoot):
    """The quantity `projected-gravity`: Rᵀ g / abs(g), the direction of gravity in the body: (0, 0, −1) upright."""

    unit = "1"

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the directions."""
        from .kernels import project_gravity

        self._launch(project_gravity, out, state.body_q, self.context.simulation.model.gravity, self._bodies)


@attrs.frozen(kw_only=True)
class BodiesConfig:
    """A quantity of several bodies."""

    bodies: tuple[str, ...]
    """Patterns of the names of bodies."""


class BodyPositions(Quantity):
    """The quantity `body-positions`: the positions of the bodies' origins, side by side."""

    Config: ClassVar[type] = BodiesConfig
    unit = "m"

    def __init__(self, config: BodiesConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._labels, self._bodies = context.bodies(config.bodies)

    @property
    def labels(self) -> Sequence[str]:
        """The axes of each body: x, y, z for one body, else with the body's label in front."""
        if len(self._labels) == 1:
            return ("x", "y", "z")
        return tuple(f"{label}/{axis}" for label in self._labels for axis in "xyz")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the positions."""
        import warp as wp

        from .kernels import read_positions

        wp.launch(read_positions, self._bodies.shape, [state.body_q, self._bodies, out], device=out.device)
