"""A small robot with a free base, whose policy reads every kind of terms that a runner knows."""

import json
from pathlib import Path

import attrs
import numpy as np
import pippin
from onnx import TensorProto, helper, numpy_helper
from pippin_task.passport import passport_of, read_passport, write_passport

ROBOT = """<mujoco model="walker"><worldbody>
  <geom type="plane" size="9 9 0.1"/>
  <body name="trunk" pos="0 0 0.25"><freejoint/>
    <geom type="box" size="0.2 0.1 0.05" mass="4"/>
    <body name="left" pos="0 0.2 0.1"><joint name="hip" axis="0 1 0" range="-60 60"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 -0.1" size="0.03" mass="0.5"/>
      <body name="shin" pos="0.1 0 -0.1"><joint name="knee" axis="0.6 0.8 0" range="-80 90"/>
        <geom type="capsule" fromto="0 0 0 -0.1 0 -0.05" size="0.02" mass="0.2"/></body></body>
    <body name="right" pos="0 -0.2 0.1"><joint name="arm" axis="1 0 0" range="-100 100"/>
      <geom type="sphere" size="0.04" mass="0.3"/></body>
  </body>
</worldbody></mujoco>"""

FILE = """
[simulation]
dt = 0.005
substeps = 2
device = "cpu"
[scene]
assets = [{ path = "robot.xml", joint_positions = { ".*knee" = 0.3 } }]
[solver]
type = "mujoco-native"
[actuators.legs]
type = "pd"
joints = [".*/knee", ".*/hip"]
kp = 30.0
kd = 1.0
armature = 0.05
[actuators.arm]
type = "pd"
joints = [".*/arm"]
kp = 5.0
kd = 0.3
armature = 0.02
[task]
episode_length = 20.0
[task.actions.legs]
type = "joint-targets"
actuator = "legs"
scale = { ".*hip" = 0.4, ".*knee" = 0.2 }
clip = [-0.8, 0.7]
smoothing = 0.3
[task.actions.arm]
type = "joint-velocity-targets"
actuator = "arm"
scale = 0.5
[task.commands.way]
type = "velocity"
period = [3.0, 4.0]
x = [-1.0, 1.0]
yaw = [0.5, 0.7]
[task.observations.policy]
height = { of = "root-height" }
gravity = { of = "projected-gravity" }
turning = { of = "root-angular-velocity", scale = 0.25, history = 3 }
ahead = { of = { type = "root-angular-velocity", frame = "yaw" }, axes = "zx" }
outside = { of = { type = "root-angular-velocity", frame = "world" }, axes = "y" }
pose = { of = { type = "root-orientation", order = "wxyz" } }
bend = { of = { type = "joint-positions", relative = true }, clip = [-0.05, 0.04], scale = 3.0, noise = 0.1 }
share = { of = { type = "joint-positions", joints = [".*knee", ".*hip"], normalised = true }, history = 2 }
cosine = { of = { type = "joint-positions", joints = [".*arm"], form = "cosine" } }
sine = { of = { type = "joint-positions", joints = [".*hip"], form = "sine" }, delay = [2, 2] }
speeds = { of = "joint-velocities", scale = 0.05, delay = [0, 1] }
way = { of = { type = "command", command = "way" } }
last = { of = "last-action", history = 2 }
rate = { of = "action-rate" }
jerk = { of = "action-acceleration" }
left = { of = { type = "remaining-time", share = true } }
"""


def write(folder: Path) -> tuple[Path, Path]:
    """Write file, robot and a policy with a passport into a folder, and return the file and the policy."""
    (folder / "robot.xml").write_text(ROBOT)
    (folder / "walker.toml").write_text(FILE)
    passport = passport_of(pippin.load(folder / "walker.toml"), "policy", iterations=7)
    width = len(passport["record"]["observations"][0])
    weights = np.random.default_rng(1).normal(0.0, 0.2, (3, width)).astype(np.float32)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", n]) for name, n in (("o", width), ("a", 3))]
    node = helper.make_node("Gemm", ["o", "w"], ["a"], transB=1)
    graph = helper.make_graph([node], "policy", ends[:1], ends[1:], [numpy_helper.from_array(weights, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    write_passport(folder / "policy.onnx", passport)
    return folder / "walker.toml", folder / "policy.onnx"


def exact(file: Path) -> pippin.SimulationConfig:
    """Return the configuration of the file without noise and random delays, as the robot itself has them."""
    config = pippin.load(file)
    terms = config.task.observations["policy"]
    own = {
        k: attrs.evolve(v, noise=0.0, delay=v.delay if v.delay[0] == v.delay[1] else (0, 0)) for k, v in terms.items()
    }
    return config.with_tables(task=attrs.evolve(config.task, observations={"policy": own}))


def rewritten(policy: Path, change) -> Path:
    """Return a copy of a policy whose passport was changed by a function, and signed anew by its program."""
    import onnx
    from pippin_task.passport import KEY, digest_of

    model = onnx.load(policy)
    passport = json.loads(next(each.value for each in model.metadata_props if each.key == KEY))
    change(passport)
    onnx.helper.set_model_props(model, {KEY: json.dumps(passport | {"digest": digest_of(passport)})})
    (other := policy.with_name("changed.onnx")).write_bytes(model.SerializeToString())
    return other


def recurrent(policy: Path) -> Path:
    """Return a policy with the passport of another one, whose network is a layer with a memory."""
    passport = read_passport(policy)
    assert passport is not None
    draws, width = np.random.default_rng(1), len(passport["record"]["observations"][0])
    arrays = {"w": draws.normal(0.0, 0.2, (1, 9, width)), "r": draws.normal(0.0, 0.5, (1, 9, 3))}
    initial = [numpy_helper.from_array(each.astype(np.float32), name) for name, each in arrays.items()]
    initial.append(numpy_helper.from_array(np.array([0]), "axes"))
    nodes = [
        helper.make_node("Unsqueeze", ["o", "axes"], ["sequence"]),
        helper.make_node(
            "GRU", ["sequence", "w", "r", "", "", "h"], ["", "h_out"], hidden_size=3, linear_before_reset=1
        ),
        helper.make_node("Squeeze", ["h_out", "axes"], ["a"]),
    ]
    shapes = {"o": ["rows", width], "h": [1, "rows", 3], "a": ["rows", 3], "h_out": [1, "rows", 3]}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "policy", ends[:2], ends[2:], initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    (other := policy.with_name("recurrent.onnx")).write_bytes(model.SerializeToString())
    write_passport(other, passport)
    return other
