"""An environment whose worlds have several solvers: each world moves as in an environment of that solver alone."""

import sys

import numpy as np
import pippin
import pytest
from pippin_task.gym import VectorEnv

ARM = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0 0 1" euler="10 20 30">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      <body name="fore" pos="0 0 -0.5">
        <joint name="elbow" axis="1 1 0"/>
        <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.4"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

TASK = """
[simulation]
device = "cpu"
dt = 0.005

[scene]
worlds = 6
[[scene.assets]]
path = "arm.xml"

[solver]
type = "featherstone"

[actuators.motor]
type = "pd"
joints = ["shoulder"]
kp = 20.0
kd = 1.0

[task.actions]
turn = { type = "joint-targets", actuator = "motor" }

[task.observations.policy]
positions = { of = "joint-positions" }
velocities = { of = "joint-velocities" }

[task.rewards]
alive = { type = "alive", weight = 1.0 }

[task.events]
start = { type = "joints", position = [-0.5, 0.5], velocity = [-1.0, 1.0] }
"""


@pytest.fixture(scope="module")
def file(write_files):
    other = TASK.replace("featherstone", "mujoco-native")
    return write_files({"arm.xml": ARM, "arm.toml": TASK, "other.toml": other}) / "arm.toml"


def played(file, **overrides):
    """Return the observations of 40 steps, shape [steps, worlds, numbers]."""
    env = VectorEnv(file, overrides={key.replace("__", "."): value for key, value in overrides.items()})
    try:
        env.reset(seed=3)
        action = np.linspace(-0.4, 0.4, 6, dtype=np.float32)[:, None]
        return np.array([env.step(action)[0] for _ in range(40)])
    finally:
        env.close()


@pytest.mark.slow
def test_each_world_moves_as_with_its_solver_alone(file):
    names = ["featherstone", "mujoco-native", f"mujoco-native@{sys.prefix}"]
    mixed = played(file, task__solvers=names)
    alone = [played(file), played(file.with_name("other.toml"))]

    assert (mixed[:, :2] == alone[0][:, :2]).all()
    assert (mixed[:, 2:] == alone[1][:, 2:]).all()
    assert (alone[0] != alone[1]).any(axis=(0, 2)).all()


@pytest.mark.parametrize(
    ("solvers", "worlds", "told"),
    [
        (["featherstone", "xpbd"], 3, "task.solvers: 3 worlds in 2 shards cannot be divided among 2 solvers"),
        (["featherstone@envs/none", "xpbd"], 4, "task.solvers: 'featherstone' has no key 'environment'"),
        (["featherstones", "xpbd"], 4, "featherstone"),
    ],
)
def test_what_cannot_be_divided_is_refused(file, solvers, worlds, told):
    with pytest.raises(pippin.PippinError, match=told):
        VectorEnv(file, num_envs=worlds, overrides={"task.solvers": solvers})
