"""Tests of the contract of every scene, and of the reference of this one."""

import numpy as np
import pippin_conformance as conformance
from pippin_benchmark import SceneMotion
from pippin_scene_demo.scene import MASS, START, STIFFNESS, SceneDemo


@conformance.parametrize(conformance.Conformance("scene", "demo", solver="featherstone"))
def test_it_keeps_the_contract(check):
    check()


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
    motion = SceneMotion(times=0.1 * np.arange(11), poses=poses, velocities=np.zeros((11, 1, 6)))

    assert SceneDemo().error(motion) < 1e-6
