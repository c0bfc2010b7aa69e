"""Tasks as environments of LeRobot: the keys that it reads, and a policy of the real library."""

import json
import os
import subprocess
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from lerobot_env_pippin import LeRobotVectorEnv
from pippin import ConfigError

SEEN = """
[simulation]
device = "cpu"
dt = 0.02
[scene]
ground = true
[[scene.assets]]
path = "pole.xml"
[solver]
type = "featherstone"
[actuators.pole]
type = "pd"
joints = [".*"]
kp = 400.0
kd = 20.0
[sensors.front]
type = "camera"
position = [0.0, -2.0, 0.5]
look_at = [0.0, 0.0, 0.5]
width = 32
height = 16
vertical_fov = 0.8
outputs = ["color"]
[task]
episode_length = 0.1
[task.actions]
pole = { type = "joint-targets", actuator = "pole", clip = [-1.0, 1.0] }
[task.observations.policy]
angle = { of = "joint-positions" }
[task.observations.truth]
velocity = { of = "joint-velocities" }
[task.rewards]
still = { type = "l2", of = "joint-velocities", weight = -1.0 }
[task.metrics.success]
type = "within"
of = "joint-positions"
target = 0.5
limit = 0.4
"""
POLE = """<mujoco><worldbody><body pos="0 0 0.5"><joint name="hinge" axis="0 1 0"/>
<geom type="capsule" size="0.1" fromto="0 0 0 0 0 0.4"/></body></worldbody></mujoco>"""


@pytest.fixture
def task(tmp_path):
    (tmp_path / "pole.xml").write_text(POLE)
    (tmp_path / "task.toml").write_text(SEEN)
    return str(tmp_path / "task.toml")


@pytest.fixture
def make():
    made = []

    def build(*arguments, **options):
        made.append(LeRobotVectorEnv(*arguments, **options))
        return made[-1]

    yield build
    for env in made:
        env.close()


@pytest.mark.alone
def test_lerobot_finds_the_distribution_by_its_name():
    """LeRobot compares the name as the metadata has it, and imports it as a module."""
    assert metadata.metadata("lerobot_env_pippin")["Name"] == "lerobot_env_pippin"


@pytest.mark.slow
def test_an_environment_has_what_lerobot_reads(task, make):
    env = make(task, 2, environment_state="truth", instruction="lean")
    observed, _ = env.reset(seed=[1, 2], options={"lerobot_new_rollout": True})
    assert env.observation_space.contains(observed)
    assert observed["agent_pos"].shape == observed["environment_state"].shape == (2, 1)
    first = observed["pixels"]["front"]
    assert (first.shape, first.dtype) == ((2, 16, 32, 3), np.uint8)
    assert (first[0] == first[1]).all()

    goals, ends = np.array([[0.5], [-0.5]], dtype=np.float32), []
    for _ in range(5):
        observed, _, terminated, truncated, info = env.step(goals)
        ends.append(terminated | truncated)
        if not ends[-1].any():
            assert (observed["pixels"]["front"][0] != observed["pixels"]["front"][1]).any()

    assert [end.tolist() for end in ends] == [[False, False]] * 4 + [[True, True]]
    assert info["final_info"]["is_success"].tolist() == [True, False]
    assert env.call("_max_episode_steps") == (5, 5)
    assert env.call("task_description") == env.get_attr("task") == ("lean", "lean")
    assert [image.ndim for image in env.call("render")] == [3, 3]
    assert env.unwrapped.metadata["render_fps"] == 50
    with pytest.raises(AttributeError, match="unknown: worlds have _max_episode_steps"):
        env.get_attr("unknown")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"state": "critic"}, "state: there is no group of observations 'critic'; groups: policy, truth"),
        ({"cameras": ["back"]}, "cameras: no sensor 'back' has the output 'color'; cameras: front"),
        ({"overrides": {"task.episode_length": 0}}, "episode_length"),
    ],
)
def test_what_the_task_lacks_is_named(task, make, options, fault):
    with pytest.raises(ConfigError, match=fault):
        make(task, 1, **options)


@pytest.mark.slow
@pytest.mark.skipif("PIPPIN_LEROBOT_ENV_PYTHON" not in os.environ, reason="no interpreter with lerobot 0.6")
def test_a_policy_of_lerobot_plays(task, tmp_path):
    """Discovery, features, a batch of worlds, two rounds of episodes, success and videos, by LeRobot's evaluation."""
    script, out = Path(__file__).parent / "played_by_lerobot.py", tmp_path / "out.json"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    subprocess.run([os.environ["PIPPIN_LEROBOT_ENV_PYTHON"], script, task, out], env=environment, check=True)

    found = json.loads(out.read_text())
    assert found["fps"] == 50
    assert found["features"] == {
        "action": ["ACTION", [1]],
        "observation.state": ["STATE", [1]],
        "observation.images.front": ["VISUAL", [3, 16, 32]],
    }
    assert [episode["seed"] for episode in found["episodes"]] == [1, 2, 3, 4, 5, 6]
    assert all(Path(video).stat().st_size > 0 for video in found["videos"])
    assert len(found["videos"]) == 2
