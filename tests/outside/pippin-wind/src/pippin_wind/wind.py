"""Winds and the air: the base class of the kind, its two plugins, and the component of the table `[air]`."""

import pippin
import warp as wp
from pippin import labels


@wp.kernel
def push(
    bodies: wp.array2d[int],
    body_qd: wp.array[wp.spatial_vector],
    velocities: wp.array[wp.vec3],
    densities: wp.array[float],
    area: float,
    body_f: wp.array[wp.spatial_vector],
):
    """Half the density times A |u − v| (u − v) on each body in the wind; one thread for each."""
    row, i = wp.tid()
    body = bodies[row, i]
    u = velocities[row] - wp.spatial_top(body_qd[body])
    body_f[body] += wp.spatial_vector(0.5 * densities[row] * area * wp.length(u) * u, wp.vec3())


@wp.kernel
def swell(clock: wp.array[float], mean: wp.vec3, strength: float, rate: float, dt: float, out: wp.array[wp.vec3]):
    """The velocity at the time of each world, which then goes on by `dt`."""
    row = wp.tid()
    out[row] = mean * (1.0 + strength * wp.sin(rate * clock[row]))
    clock[row] += dt


class Air:
    """The air of all worlds: `simulation.air`."""

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def bind(self, simulation):
        """Fill each world with air."""
        #: Density in each world [kg/m³]; may be written between steps.
        self.density = wp.full(simulation.world_count, self.config.density, dtype=float, device=simulation.device)


class Wind:
    """The base class of all winds."""

    def __init__(self, config):
        self.config = config
        self._bodies = {}

    @pippin.hookimpl
    def extend_prototype(self, builder, prototype):
        """Find the bodies, in one prototype of each kind of world."""
        self._bodies[prototype] = labels.match(self.config.bodies, builder.body_label, what="body", where="bodies")

    @pippin.hookimpl
    def bind(self, simulation, binding):
        """Find these bodies in all worlds, and the air."""
        self._air = simulation.component("air")
        if self._air is None:
            raise pippin.ConfigError("type: there is no [air], in which a wind blows; add one")
        indices = binding.indices("body", self._bodies)
        self._worlds = binding.worlds.tolist()
        self._indices = wp.array(indices, dtype=int, device=simulation.device)
        #: Velocity of the wind in each of its worlds [m/s].
        self.velocities = wp.full(len(indices), wp.vec3(*self.config.velocity), wp.vec3, device=simulation.device)

    @pippin.hookimpl
    def before_substep(self, state, dt):
        """Blow."""
        self.evaluate(dt)
        inputs = [self._indices, state.body_qd, self.velocities, self._air.density, self.config.area]
        wp.launch(push, self._indices.shape, inputs, [state.body_f], device=self._indices.device)

    def evaluate(self, dt):
        """Write `velocities` for a substep of `dt` [s], if they change. May be recorded."""


class Steady(Wind):
    """The wind `steady`."""


class Gusty(Wind):
    """The wind `gusty`."""

    @pippin.hookimpl
    def bind(self, simulation, binding):
        """Start a clock in each world."""
        super().bind(simulation, binding)
        self._clock = wp.zeros(len(self.velocities), dtype=float, device=simulation.device)

    def evaluate(self, dt):
        """Swell or drop."""
        rate = 2.0 * wp.pi * self.config.frequency
        inputs = [self._clock, wp.vec3(*self.config.velocity), self.config.strength, rate, dt]
        wp.launch(swell, len(self._clock), inputs, [self.velocities], device=self._clock.device)

    def state_arrays(self):
        """Return the clocks, which a reset puts back."""
        return {"clock": self._clock}
