"""A task where nothing but the host is installed beside this package."""

import newton
import numpy as np
import pippin
import pytest


class Symplectic:
    """A solver that nobody installs: Newton's symplectic Euler."""

    coordinates = "maximal"

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverSemiImplicit(model)


def ball():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="ball", mass=1.0, inertia=np.eye(3), xform=((0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0)))
    return builder


@pytest.mark.alone
def test_a_reward_and_an_end_follow_a_falling_ball():
    task = {
        "episode_length": 1.0,
        "autoreset": "disabled",
        "rewards": {"height": {"type": "value", "of": "root-height", "weight": 1.0}},
        "terminations": {"low": {"type": "outside", "of": "root-height", "low": 0.9}},
    }
    tables = {"simulation": {"dt": 0.01, "device": "cpu"}, "scene": {"worlds": 2}, "task": task}
    heights = 1.0 - 9.81 * 0.01**2 * np.cumsum(np.arange(1, 21))
    with pippin.Simulation(pippin.structure(tables), {"solver": Symplectic()}, ball()) as simulation:
        for height in heights:
            simulation.step()
            episodes = simulation.task.episodes
            np.testing.assert_allclose(episodes.reward_terms.numpy(), [[height] * 2], rtol=1e-4)
            assert episodes.terminated.numpy().tolist() == [height < 0.9] * 2

    assert heights[0] > 0.9 > heights[-1]
