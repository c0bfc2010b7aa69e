"""A swing that grows, as a motion of Pippin."""

import warp as wp
from pippin.motions import Motion


@wp.kernel
def swing(
    times: wp.array[wp.float64],
    growth: wp.float64,
    frequency: wp.float64,
    values: wp.array2d[float],
    rates: wp.array2d[float],
):
    """Growth t sin(2 π frequency t), and its derivative: in float64, so that the phase is right at late times."""
    world = wp.tid()
    t, omega = times[world], wp.float64(2.0 * wp.pi) * frequency
    values[world, 0] = float(growth * t * wp.sin(omega * t))
    rates[world, 0] = float(growth * (wp.sin(omega * t) + omega * t * wp.cos(omega * t)))


class MotionDemo(Motion):
    """The motion `demo`: one number for each world."""

    def build(self, binding, element_count):
        """A value has one component."""
        return 1

    def evaluate(self):
        """Write values and rates at `times`."""
        inputs = [self.times, self.config.growth, self.config.frequency, self.values, self.rates]
        wp.launch(swing, len(self.times), inputs, device=self.times.device)
