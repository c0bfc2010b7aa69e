"""A box with an arm that falls on the ground, with everything that draws random numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest

ROBOT = """
<mujoco>
  <worldbody>
    <body name="box" pos="0 0 0.15">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="shoulder" type="hinge" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" size="0.03" fromto="0 0 0.05 0 0 0.3" mass="0.2"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

SCENE = """
[simulation]
device = "cpu"
dt = 0.005
decimation = 2
seed = 7
accept_unsupported = ["joint_damping", "armature"]

[scene]
worlds = 8
ground = true

[[scene.assets]]
path = "robot.xml"

[solver]
type = "xpbd"

[actuators.arm]
type = "pd"
joints = ["shoulder"]
kp = { uniform = [2.0, 20.0] }
kd = 0.5
delay = { min_steps = 0, max_steps = 6 }

[sensors.joints]
type = "joint-state"
joints = ["shoulder"]
stages = [
    { type = "bias", output = "position", std = 0.1 },
    { type = "noise", output = "velocity", std = 0.1 },
]

[task]
episode_length = 0.15

[task.actions]
arm = { type = "joint-targets", actuator = "arm", scale = 0.5 }

[task.observations.policy]
measured = { of = { type = "sensor", sensor = "joints", output = "position" }, noise = 0.01 }

[task.rewards]
alive = { type = "alive", weight = 1.0 }

[task.terminations]
swung = { type = "outside", of = { type = "joint-positions", joints = ["shoulder"] }, low = -0.5, high = 0.5 }

[task.events]
start = { type = "joints", joints = ["shoulder"], position = [-0.4, 0.4], velocity = [-1.0, 1.0] }
"""


@pytest.fixture(scope="module")
def scene(write_files: Callable[[dict[str, str]], Path]) -> Path:
    """Return the file of the scene: 8 worlds of a box with an arm."""
    return write_files({"robot.xml": ROBOT, "scene.toml": SCENE}) / "scene.toml"
