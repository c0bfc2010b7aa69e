"""Calls of Pippin's own Python functions on the hot paths, each with a bound: what the host does in every step.

A bound may fall; a change that needs more calls has to straighten something else.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin_task.gym import VectorEnv

from .calls import calls_of

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"

pytestmark = pytest.mark.not_in_lane("copies", reason="where the host shares no memory, each access is a copy")


@pytest.fixture(scope="module", params=["cartpole", "ant"])
def simulation(request: pytest.FixtureRequest) -> Iterator[pippin.Simulation]:
    """A captured simulation of two worlds."""
    overrides = {"scene.worlds": 2, "simulation.device": "cpu"}
    with pippin.Simulation.from_file(EXAMPLES / f"{request.param}.toml", overrides) as simulation:
        simulation.step(2)
        yield simulation


def test_a_control_step_takes_few_calls(simulation):
    calls = calls_of(simulation.step)

    assert simulation.program.is_captured
    assert 0 < len(calls) <= 16, calls


def test_a_setter_of_a_view_takes_few_calls(simulation):
    view = simulation.view.create_articulation_view("*")
    positions = view.get_dof_positions().numpy().copy()

    def write() -> None:
        view.set_dof_positions(positions, indices=[1])

    write()  # the first call prepares arrays

    calls = calls_of(write)
    assert 0 < len(calls) <= 32, calls


def test_a_gain_is_read_and_set_in_few_calls(simulation):
    (group,) = simulation.actuators.values()

    read, written = calls_of(lambda: group.get("kp")), calls_of(lambda: group.set("kp", 30.0))

    assert 0 < len(read) <= 5, read
    assert 0 < len(written) <= 9, written
    np.testing.assert_array_equal(group.get("kp").numpy(), 30.0)


@pytest.mark.parametrize("task", ["swing_up", "ant"])
def test_a_step_of_an_environment_takes_few_calls(task):
    env = VectorEnv(EXAMPLES / "tasks" / f"{task}.toml", num_envs=2, overrides={"simulation.device": "cpu"})
    actions = np.zeros(env.action_space.shape, dtype=np.float32)
    env.reset(seed=0)
    env.step(actions)

    calls = calls_of(lambda: env.step(actions))

    env.close()
    assert 0 < len(calls) <= 39, calls


def test_a_file_is_loaded_in_few_calls():
    """Of the file with an ant, in a process of its own, in which nothing was loaded before."""
    program = (
        "from tests.project.calls import calls_of; import pippin;"
        f"print(len(calls_of(lambda: pippin.load({str(EXAMPLES / 'ant.toml')!r}))))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)

    assert 0 < int(done.stdout) <= 2544
