"""Worlds on a terrain, and those of every example with a task, have the bits of the whole run in a part of it."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from pippin_task.gym import VectorEnv

EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"
FILES = {
    str(file.relative_to(EXAMPLES)): file
    for folder in (EXAMPLES, EXAMPLES / "tasks", EXAMPLES / "robots")
    for file in sorted(folder.glob("*.toml"))
    if "[task.actions" in (text := file.read_text()) or ("[task" in text and "extends" in text)
}
"""Files with an environment of their own; those of trainings and policies extend them."""
ROBOTS = ("g1_", "go1_", "yam_")
"""Beginnings of the names of files whose robots are in another package."""
WORLDS, STEPS = 6, 20


def told(file, first, count):
    """Return observations, rewards and ends of some worlds of a run of six, shape [steps, worlds, numbers]."""
    overrides = {"scene.total_worlds": WORLDS, "simulation.device": "cpu"}
    env = VectorEnv(file, num_envs=count, first_world=first, overrides=overrides)
    random, rows = np.random.default_rng(1), []
    env.reset(seed=7)
    for _ in range(STEPS):
        action = random.uniform(-1.0, 1.0, (WORLDS, *env.single_action_space.shape))
        seen, *others, _ = env.step(action.astype(np.float32)[first : first + count])
        groups = seen.values() if isinstance(seen, dict) else [seen]
        parts = [np.reshape(each, (count, -1)) for each in (*groups, *others)]
        rows.append(np.concatenate(parts, axis=1))
    env.close()
    return np.array(rows)


def test_shards_on_a_terrain_have_the_bits_of_the_whole(floating):
    """Also where a speed limit acts, which reckons with inertias of joints, wherever the first world stands."""
    patches = {"one": {"type": "flat"}, "other": {"type": "flat"}}
    terrain = {"levels": 3, "size": [7.3, 5.1], "border": 1.0, "patches": patches}
    found = {}
    for first, count in ((0, 6), (4, 2)):
        scene = {"first_world": first, "total_worlds": 6, "terrain": terrain}
        events = {"start": {"type": "joints", "joints": ["shoulder", "elbow"], "position": [-0.1, 0.1]}}
        arm = {"kp": 200.0, "velocity_limit": 1.0}
        with floating(events, worlds=count, scene=scene, actuator=arm) as simulation:
            simulation.step(30)
            found[first] = simulation.state.joint_qd.numpy().reshape(count, -1).copy()

    np.testing.assert_array_equal(found[4], found[0][4:])
    assert np.abs(found[0][:, 6:]).max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_part_of_the_worlds_has_the_bits_of_the_whole(name):
    if Path(name).name.startswith(ROBOTS) and find_spec("mjlab") is None:
        pytest.skip("no files of robots")
    whole = told(FILES[name], 0, WORLDS)
    for first, count in ((3, 3), (2, 2), (4, 2)):
        np.testing.assert_array_equal(told(FILES[name], first, count), whole[:, first : first + count])
