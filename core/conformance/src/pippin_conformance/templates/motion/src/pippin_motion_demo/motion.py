"""A swing that grows, as a motion of Pippin."""

import warp as wp
from pippin.motions import Motion


@wp.kernel
def swing(
    times: wp.array[wp.float64],
    growth: float,
    frequency: wp.float64,
    values: wp.array2d[float],
    rates: wp.array2d[float],
):
    """Growth t sin(2 π frequency t), and its derivative; the phase is reduced before it is rounded to float32."""
    world = wp.tid()
    turns = frequency * times[world]
    t, omega, phase = float(times[world]), 2.0 * wp.pi * float(frequency), 2.0 * wp.pi * float(turns - wp.floor(turns))
    values[world, 0] = growth * t * wp.sin(phase)
    rates[world, 0] = growth * (wp.sin(phase) + omega * t * wp.cos(phase))


class MotionDemo(Motion):
    """The motion `demo`: one number for each world."""

    def build(self, binding, element_count):
        """A value has one component."""
        return 1

    def evaluate(self):
        """Write values and rates at `times`."""
        inputs = [self.times, self.config.growth, self.config.frequency, self.values, self.rates]
        wp.launch(swing, len(self.times), inputs, device=self.times.device)
