"""Quantities: numbers of each world, measured from joints, bodies, actions and commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from pippin.errors import ConfigError

from .terms import Quantity

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .place import TaskPlace

__all__ = ["JointPositions", "JointVelocities", "LastAction", "RootHeight"]


@attrs.frozen(kw_only=True)
class JointPositionsConfig:
    """Positions of joints [rad, m]."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""

    relative: bool = False
    """Whether the positions count from the initial ones."""

    normalised: bool = False
    """Whether the range of each joint's limits is mapped to [-1, 1]; all joints must have limits."""

    def __attrs_post_init__(self) -> None:
        if self.relative and self.normalised:
            raise ValueError("'relative' and 'normalised' exclude each other; choose one")


class JointPositions(Quantity):
    """The quantity `joint-positions`: q, or q − q_0, or 2 (q − lower) / (upper − lower) − 1."""

    Config: ClassVar[type] = JointPositionsConfig

    def __init__(self, config: JointPositionsConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import numpy as np
        import warp as wp
        from pippin.arrays import on_host

        self._joints = joints = place.joints(config.joints)
        model, shape = place.simulation.model, joints.coordinates.shape
        coordinates, dofs = on_host(joints.coordinates), on_host(joints.dofs)
        offset, scale = np.zeros(shape, dtype=np.float32), np.ones(shape, dtype=np.float32)
        if config.relative:
            offset = on_host(place.simulation.state.joint_q)[coordinates]
        if config.normalised:
            lower, upper = on_host(model.joint_limit_lower)[dofs], on_host(model.joint_limit_upper)[dofs]
            is_limited = (lower < upper) & (np.abs(lower) < 1e6) & (np.abs(upper) < 1e6)
            if not is_limited.all():
                missing = joints.labels[int(np.argwhere(~is_limited)[0][1])]
                raise ConfigError(f"normalised: joint {missing!r} has no limits; leave it out of `joints`")
            offset, scale = 0.5 * (lower + upper), 2.0 / (upper - lower)
        self.unit = "1" if config.normalised else "rad"
        self._offset: Any = wp.array(offset, dtype=float, device=place.device)
        self._scale: Any = wp.array(scale, dtype=float, device=place.device)

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the joints."""
        return self._joints.labels

    def measure(self, state: newton.State, out: wp.array2d[float]) -> None:
        """Write (q − offset) × scale."""
        import warp as wp

        from .quantity_kernels import gather

        inputs = [state.joint_q, self._joints.coordinates, self._offset, self._scale, out]
        wp.launch(gather, out.shape, inputs, device=out.device)


@attrs.frozen(kw_only=True)
class JointsConfig:
    """A quantity of joints."""

    joints: tuple[str, ...] = (".*",)
    """Patterns of names of joints or axes; by default all that have one coordinate for each axis."""


class JointVelocities(Quantity):
    """The quantity `joint-velocities` [rad/s, m/s]."""

    Config: ClassVar[type] = JointsConfig
    unit = "rad/s"

    def __init__(self, config: JointsConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        import warp as wp

        self._joints = place.joints(config.joints)
        shape = self._joints.dofs.shape
        self._zeros: Any = wp.zeros(shape, dtype=float, device=place.device)
        self._ones: Any = wp.full(shape, 1.0, dtype=float, device=place.device)

    @property
    def labels(self) -> Sequence[str]:
        """The labels of the joints."""
        return self._joints.labels

    def measure(self, state: newton.State, out: wp.array2d[float]) -> None:
        """Write qd."""
        import warp as wp

        from .quantity_kernels import gather

        inputs = [state.joint_qd, self._joints.dofs, self._zeros, self._ones, out]
        wp.launch(gather, out.shape, inputs, device=out.device)


@attrs.frozen(kw_only=True)
class RootConfig:
    """A quantity of one body."""

    body: str | None = None
    """Pattern of the body's name, which must match one body; by default the first body of a world."""


class RootHeight(Quantity):
    """The quantity `root-height`: z of the body's origin [m]."""

    Config: ClassVar[type] = RootConfig
    unit = "m"
    labels = ("z",)

    def __init__(self, config: RootConfig, place: TaskPlace) -> None:
        super().__init__(config, place)
        self._bodies = place.root(config.body)

    def measure(self, state: newton.State, out: wp.array2d[float]) -> None:
        """Write the heights."""
        import warp as wp

        from .quantity_kernels import read_height

        wp.launch(read_height, len(out), [state.body_q, self._bodies, out], device=out.device)


@attrs.frozen(kw_only=True)
class NoConfig:
    """A quantity without settings."""


class LastAction(Quantity):
    """The quantity `last-action`: the action of the control step that has just ended; zero after a reset."""

    Config: ClassVar[type] = NoConfig

    @property
    def labels(self) -> Sequence[str]:
        """The numbers of the action."""
        return tuple(str(index) for index in range(self.place.worlds.action.shape[1]))

    def measure(self, state: newton.State, out: wp.array2d[float]) -> None:
        """Copy the action."""
        import warp as wp

        wp.copy(out, self.place.worlds.action)
