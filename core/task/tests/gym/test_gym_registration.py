"""The tasks that Pippin brings, as files of the package and of the documentation."""

from pathlib import Path

import gymnasium
import pytest
from pippin_task.gym import TASKS, VectorEnv

FOLDER = next(iter(TASKS.values())).parent
EXAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "tasks"


@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_makes_a_task_by_its_name(name):
    spec = gymnasium.spec(name)

    assert spec.kwargs == {"file": str(TASKS[name])}
    assert TASKS[name].is_file()


def test_a_task_is_made_in_any_number_of_worlds():
    overrides = {"solver.type": "mujoco-native", "simulation.device": "cpu"}
    name = "pippin_task.gym:Pippin/InvertedPendulum-v0"

    env = gymnasium.make_vec(name, num_envs=5, overrides=overrides, max_episode_steps=7, autoreset="disabled")
    env.close()

    assert isinstance(env, VectorEnv)
    assert (env.num_envs, env.autoreset, env.task.episode_steps) == (5, "disabled", 7)


def test_the_examples_of_the_documentation_are_the_tasks_of_the_package():
    """A page may show the file; the package carries it."""
    shown = {path.name: path.read_text(encoding="utf-8") for path in EXAMPLES.glob("*.toml")}
    carried = {path.name: path.read_text(encoding="utf-8") for path in TASKS.values()}

    assert shown == carried
    clips = [{path.name: path.read_bytes() for path in folder.glob("*.npz")} for folder in (EXAMPLES, FOLDER)]
    assert clips[0] == clips[1] != {}
