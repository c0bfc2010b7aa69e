"""The tilt of a body, and a reward for small numbers, as terms of Pippin's tasks."""

import warp as wp
from pippin_task import Quantity, QuantityReward


@wp.kernel
def measure_tilt(body_q: wp.array[wp.transform], bodies: wp.array[int], out: wp.array2d[float]):
    """Angle between the z axis of a body and that of the world."""
    world = wp.tid()
    axis = wp.quat_rotate(wp.transform_get_rotation(body_q[bodies[world]]), wp.vec3(0.0, 0.0, 1.0))
    out[world, 0] = wp.acos(wp.clamp(axis[2], -1.0, 1.0))


@wp.kernel
def prefer_small(
    values: wp.array2d[float],
    columns: wp.array[int],
    targets: wp.array2d[float],
    target_columns: wp.array[int],
    width: float,
    out: wp.array[float],
):
    """1 / (1 + sum of (x / width)²); `targets` has one row for all worlds, or one for each."""
    world = wp.tid()
    total = wp.float32(0.0)
    for i in range(columns.shape[0]):
        x = values[world, columns[i]] - targets[world % targets.shape[0], target_columns[i]]
        total += x * x
    out[world] = 1.0 / (1.0 + total / (width * width))


class QuantityDemo(Quantity):
    """The quantity `demo`: the tilt of a body, 0 upright and π upside down."""

    unit = "rad"
    labels = ("tilt",)

    def __init__(self, config, context):
        super().__init__(config, context)
        self._bodies = context.root(config.body)

    def measure(self, state, out):
        """Write the angle of each world."""
        wp.launch(measure_tilt, len(out), [state.body_q, self._bodies], [out], device=out.device)


class RewardDemo(QuantityReward):
    """The reward `demo`: 1 / (1 + sum of (x / width)²), x the numbers of a quantity minus a target."""

    def evaluate(self, out):
        """Write the law of each world; the task multiplies it by the weight."""
        inputs = [self.values, self.columns, self.targets, self.target_columns, self.config.width]
        wp.launch(prefer_small, len(out), inputs, [out], device=out.device)
