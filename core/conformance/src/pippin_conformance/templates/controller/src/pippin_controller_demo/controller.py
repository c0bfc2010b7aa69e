"""A controller that follows a goal along an axis, for Pippin."""

import warp as wp
from pippin.controllers import Controller


@wp.kernel
def follow(
    poses: wp.array2d[wp.transform],
    goals: wp.array2d[wp.transform],
    rate: float,
    dt: float,
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
):
    """Position += rate * distance * dt."""
    row, joint = wp.tid()
    distance = wp.transform_get_translation(goals[row, 0])[0] - wp.transform_get_translation(poses[row, 0])[0]
    velocities[row, joint] = rate * distance
    positions[row, joint] += velocities[row, joint] * dt


class ControllerDemo(Controller):
    """The controller `demo`: one goal leads all slides of its world."""

    def build(self, binding):
        """Nothing is to be prepared."""

    def compute(self, state, dt):
        """Write the commanded positions and velocities."""
        inputs = [self.poses(), self.goals, self.config.rate, dt, self.positions, self.velocities]
        wp.launch(follow, self.positions.shape, inputs, device=self.positions.device)
