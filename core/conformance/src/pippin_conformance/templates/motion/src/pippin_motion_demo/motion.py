"""A swing that grows, as a motion of Pippin."""

import warp as wp
from pippin.motions import Motion


@wp.kernel
def swing(times: wp.array[float], growth: float, frequency: float, values: wp.array2d[float], rates: wp.array2d[float]):
    """Growth t sin(2 π frequency t), and its derivative."""
    world = wp.tid()
    t, omega = times[world], 2.0 * wp.pi * frequency
    values[world, 0] = growth * t * wp.sin(omega * t)
    rates[world, 0] = growth * (wp.sin(omega * t) + omega * t * wp.cos(omega * t))


class MotionDemo(Motion):
    """The motion `demo`: one number for each world."""

    def build(self, binding, element_count):
        """A value has one component."""
        return 1

    def evaluate(self):
        """Write values and rates at `times`."""
        inputs = [self.times, self.config.growth, self.config.frequency, self.values, self.rates]
        wp.launch(swing, len(self.times), inputs, device=self.times.device)
