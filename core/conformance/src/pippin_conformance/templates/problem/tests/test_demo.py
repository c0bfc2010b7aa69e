"""Tests of the reference of this problem."""

import numpy as np
from pippin_benchmark import ProblemMotion
from pippin_problem_demo.problem import MASS, START, STIFFNESS, ProblemDemo


def test_the_equation_of_motion_gives_the_reference():
    """m ẍ = -k x, in a thousand steps of the leapfrog method for each sample."""
    place, speed, step, places = START, 0.0, 1e-4, [START]
    for _ in range(10):
        for _ in range(1000):
            speed -= 0.5 * step * STIFFNESS / MASS * place
            place += step * speed
            speed -= 0.5 * step * STIFFNESS / MASS * place
        places.append(place)
    poses = np.zeros((11, 1, 7))
    poses[:, 0, 0] = places
    motion = ProblemMotion(times=0.1 * np.arange(11), poses=poses, velocities=np.zeros((11, 1, 6)))

    assert ProblemDemo().error(motion) < 1e-6
