"""A mass on a spring, as a problem of Pippin's benchmarks."""

import math

import newton
import numpy as np
import warp as wp
from pippin_benchmark import BenchmarkProblem

MASS, STIFFNESS, START = 2.0, 50.0, 0.2
"""Mass [kg], stiffness of the spring [N/m], and place along x at the start [m]."""


class ProblemDemo(BenchmarkProblem):
    """The problem `demo`: a mass on a spring, which swings along x without weight."""

    title = "mass on a spring: distance to x₀ cos ω t"
    unit, limit, duration = "m", 0.02, 1.0

    def tables(self):
        """Return the gravity of the problem."""
        return {"gravity": (0.0, 0.0, 0.0)}

    def build(self, builder):
        """Add the mass on its slider, whose drive is the spring."""
        body = builder.add_link(label="mass", mass=MASS, inertia=wp.mat33(0.1, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1))
        slider = builder.add_joint_prismatic(
            -1, body, axis=newton.Axis.X, armature=0.0, target_ke=STIFFNESS, target_kd=0.0, target_q=0.0
        )
        builder.add_articulation([slider], label="mass")
        builder.joint_q[-1] = START

    def error(self, motion):
        """Return the largest distance of the mass to the formula [m]."""
        truth = START * np.cos(math.sqrt(STIFFNESS / MASS) * motion.times)
        return float(np.abs(motion.poses[:, 0, 0] - truth).max())
