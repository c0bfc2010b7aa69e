"""A wind that grows, for Pippin."""

import warp as wp
from pippin_wind.wind import Wind


@wp.kernel
def grow(velocities: wp.array[wp.vec3], change: wp.vec3):
    """Add a change; one thread for each world."""
    velocities[wp.tid()] += change


class WindDemo(Wind):
    """The plugin: a wind with `type = "demo"`."""

    def evaluate(self, dt):
        """Grow."""
        change = wp.vec3(*self.config.velocity) * (self.config.growth * dt)
        wp.launch(grow, len(self.velocities), [self.velocities, change], device=self.velocities.device)

    def state_arrays(self):
        """Return the velocities, which a reset puts back."""
        return {"velocities": self.velocities}
