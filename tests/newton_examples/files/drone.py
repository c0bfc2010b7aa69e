"""The laws of `diffsim_drone`: four propellers, and what the flight should keep clear of."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import pippin
import warp as wp
from pippin_task import Quantity, TermContext


@attrs.frozen(kw_only=True)
class PropellersConfig:
    """Four propellers on the arms of the body `drone`, each driven by a number from 0 to 1."""

    implementation = "Propellers"

    arm: float = 0.2
    """Distance of the propellers from the middle [m]."""

    thrust: float = 4.17966
    """Largest force of one [N]."""

    torque: float = 0.0555722
    """Largest torque of one about its axis [N·m]."""

    share: float = 0.8
    """Share of the drive that reaches the propellers."""


class Propellers:
    """Pushes and turns the drone. The drives lie in `drives`, four for each world."""

    is_differentiable = True

    def __init__(self, config: PropellersConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Find the drones, and let their propellers turn slowly."""
        labels, device = simulation.model.body_label, simulation.device
        self._bodies = wp.array([i for i, name in enumerate(labels) if name == "drone"], dtype=int, device=device)
        self._com = simulation.model.body_com
        self.drives = wp.full(4 * len(self._bodies), 0.1, dtype=float, device=device, requires_grad=True)

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        """Add the forces."""
        config = self.config
        inputs = [self._bodies, self.drives, config.arm, config.thrust, config.torque, config.share]
        wp.launch(
            fly, (len(self._bodies), 4), [*inputs, state.body_q, self._com, state.body_f], device=state.body_f.device
        )


@wp.kernel(enable_backward=True)
def fly(
    bodies: wp.array[int],
    drives: wp.array[float],
    arm: float,
    thrust: float,
    torque: float,
    share: float,
    body_q: wp.array[wp.transform],
    body_com: wp.array[wp.vec3],
    body_f: wp.array[wp.spatial_vector],
):
    """Add the force of each propeller; those on the arms along x and along y turn in opposite directions."""
    world, propeller = wp.tid()
    body = bodies[world]
    side, turns = float(1 - 2 * (propeller % 2)), wp.float32(-1.0)
    place = wp.vec3(0.0, side * arm, 0.0)
    if propeller >= 2:
        place = wp.vec3(side * arm, 0.0, 0.0)
        turns = 1.0
    if propeller % 2 == 1:
        turns = -turns
    axis = wp.transform_vector(body_q[body], wp.vec3(0.0, 0.0, 1.0))
    drive = share * drives[4 * world + propeller]
    force = thrust * drive * axis
    lever = wp.transform_point(body_q[body], place) - wp.transform_point(body_q[body], body_com[body])
    moment = 0.8 * (torque * turns * drive * axis + wp.cross(lever, force))  # the example damps every torque
    wp.atomic_add(body_f, body, wp.spatial_vector(force, moment))


@attrs.frozen(kw_only=True)
class CorridorConfig:
    """By how much a body is too low or too high [m]."""

    implementation = "Corridor"

    low: float = 0.25
    """Lowest height [m]."""

    high: float = 0.75
    """Highest height [m]."""


class Corridor(Quantity):
    """What is below `low` or above `high`, of the height of the first body of each world."""

    unit = "m"
    labels = ("height",)
    is_differentiable = True

    def __init__(self, config: CorridorConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root("drone")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the excess."""
        inputs: list[Any] = [state.body_q, self._bodies, self.config.low, self.config.high, out]
        wp.launch(exceed, len(out), inputs, device=out.device)


@wp.kernel(enable_backward=True)
def exceed(body_q: wp.array[wp.transform], bodies: wp.array[int], low: float, high: float, out: wp.array2d[float]):
    """Write the distance from a range of heights."""
    world = wp.tid()
    height = wp.transform_get_translation(body_q[bodies[world]])[2]
    out[world, 0] = wp.max(height - high, 0.0) + wp.max(low - height, 0.0)


@attrs.frozen(kw_only=True)
class NearnessConfig:
    """By how much a body is too near to an upright pole [m]."""

    implementation = "Nearness"

    pole: tuple[float, float] = (0.5, 0.5)
    """Place of the pole [m]."""

    radius: float = 0.15
    """Its radius [m]."""

    margin: float = 0.2
    """Distance to keep [m]."""


class Nearness(Quantity):
    """What the distance from the pole lacks to the margin."""

    unit = "m"
    labels = ("distance",)
    is_differentiable = True

    def __init__(self, config: NearnessConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._bodies = context.root("drone")

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write what is lacking."""
        config = self.config
        inputs: list[Any] = [state.body_q, self._bodies, wp.vec2(config.pole), config.radius, config.margin, out]
        wp.launch(lack, len(out), inputs, device=out.device)


@wp.kernel(enable_backward=True)
def lack(
    body_q: wp.array[wp.transform],
    bodies: wp.array[int],
    pole: wp.vec2,
    radius: float,
    margin: float,
    out: wp.array2d[float],
):
    """Write what the distance from the side of a pole lacks to the margin."""
    world = wp.tid()
    place = wp.transform_get_translation(body_q[bodies[world]])
    distance = wp.length(wp.vec2(place[0], place[1]) - pole) - radius
    out[world, 0] = wp.max(margin - wp.max(distance, 0.0), 0.0)
