"""Policies as mjlab, Isaac Lab and unitree_rl_lab export them, for the quadruped of Newton, and what they read.

Each has an order of joints of its own, other than that of the robot's file. What a network reads is built here from the
rules of its program alone, with NumPy and Newton's arrays.
"""

from pathlib import Path

import attrs
import numpy as np
import onnx
import yaml
from onnx import TensorProto, helper, numpy_helper

LEGS, PARTS = ("LF", "RF", "LH", "RH"), ("HAA", "HFE", "KFE")
BY_LEG = [f"{leg}_{part}" for leg in ("RF", "LF", "RH", "LH") for part in PARTS]
BY_TYPE = [f"{leg}_{part}" for part in PARTS for leg in ("LF", "LH", "RF", "RH")]
BY_MOTOR = [f"{leg}_{part}" for leg in ("RH", "RF", "LH", "LF") for part in PARTS]
SIGN = {"L": 1.0, "R": -1.0}


def start(name):
    """Return the default position of a joint [rad]; no two joints of a part share it."""
    bend = {"HAA": 0.05, "HFE": 0.4, "KFE": -0.6}[name[3:]]
    return round(SIGN[name[0]] * bend + 0.02 * LEGS.index(name[:2]), 4)


def gain(name):
    """Return the stiffness of a joint [N·m/rad]."""
    return {"HAA": 80.0, "HFE": 100.0, "KFE": 120.0}[name[3:]]


def scale(name):
    """Return the factor of a joint's action [rad]."""
    return {"HAA": 0.125, "HFE": 0.25, "KFE": 0.2}[name[3:]]


@attrs.frozen(eq=False)
class Export:
    """A policy of another program."""

    program: str
    joints: list[str]
    terms: dict[str, dict]
    by_frame: bool = False
    motors: tuple[str, ...] = ()

    @property
    def width(self):
        return sum(self.size(name) * max(1, term.get("history", 1)) for name, term in self.terms.items())

    def size(self, name):
        return 12 if "joint" in name or "action" in name else 3


MJLAB = Export(
    "mjlab",
    BY_LEG,
    {
        "base_lin_vel": {},
        "base_ang_vel": {"scale": 0.2},
        "projected_gravity": {},
        "joint_pos": {"clip": (-0.25, 0.25)},
        "joint_vel": {"scale": 0.05, "history": 3},
        "actions": {"history": 2},
        "command": {},
    },
)
ISAAC_LAB = Export(
    "isaac-lab",
    BY_TYPE,
    {
        "base_lin_vel": {"scale": 2.0},
        "base_ang_vel": {"clip": (-0.5, 0.5), "scale": 0.25},
        "projected_gravity": {},
        "generated_commands": {"scale": [2.0, 2.0, 0.25]},
        "joint_pos_rel": {"history": 4},
        "joint_vel_rel": {"scale": 0.05},
        "last_action": {"history": 2},
    },
)
UNITREE = Export(
    "unitree-rl-lab",
    BY_LEG,
    {
        "base_ang_vel": {"scale": 0.2, "history": 5},
        "projected_gravity": {"history": 5},
        "velocity_commands": {"history": 5},
        "joint_pos_rel": {"history": 5},
        "joint_vel_rel": {"scale": 0.05, "clip": (-2.0, 2.0), "history": 5},
        "last_action": {"history": 5},
    },
    by_frame=True,
    motors=tuple(BY_MOTOR),
)
EXPORTS = (MJLAB, ISAAC_LAB, UNITREE)


def network(export, rows="rows", width=None):
    """Return an ONNX model with two layers of random weights, whose actions are within ±1."""
    draws, width = np.random.default_rng(3), width or export.width
    shapes = {"w0": (width, 24), "b0": (24,), "w1": (24, 12), "b1": (12,)}
    tensors = [
        numpy_helper.from_array(draws.normal(0.0, 0.4, shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gemm", ["obs", "w0", "b0"], ["h0"]),
        helper.make_node("Tanh", ["h0"], ["h1"]),
        helper.make_node("Gemm", ["h1", "w1", "b1"], ["h2"]),
        helper.make_node("Tanh", ["h2"], ["actions"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, count])
        for name, count in (("obs", width), ("actions", 12))
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def csv(row):
    """Write a row as mjlab does: numbers with three decimals, and `;` within an item."""
    texts = (item if isinstance(item, list | tuple) else [item] for item in row)
    return ",".join(";".join(each if isinstance(each, str) else f"{each:.3f}" for each in item) for item in texts)


def metadata(export, *, is_new=True):
    """Return the metadata of mjlab, those of version 1.6 or those before."""
    names, terms = export.joints, export.terms
    known = {
        "run_path": "someone/some-run",
        "joint_names": csv(names),
        "joint_stiffness": csv(map(gain, names)),
        "joint_damping": csv([2.0] * 12),
        "default_joint_pos": csv(map(start, names)),
        "command_names": "twist",
        "observation_names": csv(terms),
        "action_scale": csv(map(scale, names)),
    }
    every = (-np.inf, np.inf)
    rows = {
        "scale": [term.get("scale", 1.0) for term in terms.values()],
        "flatten_history_dim": [True] * len(terms),
        "history_length": [term.get("history", 0) for term in terms.values()],
        "clip": [term.get("clip", every) for term in terms.values()],
    }
    return known | ({f"observation_terms_{key}": csv(row) for key, row in rows.items()} if is_new else {})


def descriptors(export):
    """Return the IO descriptors of Isaac Lab."""
    names = export.joints
    row = {
        "default_joint_pos": [float(np.float32(start(name))) for name in names],
        "default_joint_vel": [0.0] * 12,
        "default_joint_pos_limits": [[-3.0, 3.0]] * 12,
        "default_joint_stiffness": [gain(name) for name in names],
        "default_joint_damping": [2.0] * 12,
        "default_joint_friction": [0.0] * 12,
        "default_joint_armature": [0.02] * 12,
    }
    of_joints = {"joint_names": names}
    observations = []
    for name, term in export.terms.items():
        own = {"clip": term.get("clip"), "history_length": term.get("history", 0), "scale": term.get("scale")}
        described = {
            "dtype": "torch.float32",
            "extras": {"description": "Some words.", "modifiers": None},
            "full_path": f"isaaclab.envs.mdp.observations.{name}",
            "mdp_type": "Observation",
            "name": name,
            "observation_type": "JointState",
            "overloads": own | {"flatten_history_dim": True, "clip": own["clip"] and list(own["clip"])},
            "shape": [export.size(name)],
        }
        if name == "joint_pos_rel":
            described |= of_joints | {"joint_pos_offsets": row["default_joint_pos"]}
        if name == "joint_vel_rel":
            described |= of_joints | {"joint_vel_offsets": [0.0] * 12}
        observations.append(described)
    action = {
        "action_type": "JointAction",
        "clip": None,
        "dtype": "torch.float32",
        "extras": {"description": "Some words."},
        "full_path": "isaaclab.envs.mdp.actions.joint_actions.JointPositionAction",
        **of_joints,
        "mdp_type": "Action",
        "name": "joint_position_action",
        "offset": row["default_joint_pos"],
        "scale": [scale(name) for name in names],
        "shape": [12],
    }
    return {
        "actions": [action],
        "articulations": {"robot": row | of_joints},
        "observations": {"policy": observations},
        "scene": {"decimation": 4, "dt": 0.02, "physics_dt": 0.005},
    }


def deploy_yaml(export):
    """Return `deploy.yaml` of unitree_rl_lab: gains by motor, and three digits."""
    names, motors = export.joints, export.motors

    def short(row):
        return [float(f"{number:.3g}") for number in row]

    observations = {"use_gym_history": True} if export.by_frame else {}
    for name, term in export.terms.items():
        numbers = term.get("scale", 1.0)
        observations[name] = {
            "params": {"command_name": "base_velocity"} if name == "velocity_commands" else {},
            "clip": list(term["clip"]) if "clip" in term else None,
            "scale": short([numbers] * export.size(name)),
            "history_length": term.get("history", 1),
        }
    return {
        "joint_ids_map": [motors.index(name) for name in names],
        "step_dt": 0.02,
        "stiffness": short(map(gain, motors)),
        "damping": [2.0] * 12,
        "default_joint_pos": short(map(start, names)),
        "commands": {
            "base_velocity": {
                "ranges": {
                    "lin_vel_x": [-0.5, 1.0],
                    "lin_vel_y": [-0.3, 0.3],
                    "ang_vel_z": [-0.2, 0.2],
                    "heading": None,
                }
            }
        },
        "actions": {
            "JointPositionAction": {
                "clip": None,
                "joint_names": [".*"],
                "scale": short(map(scale, names)),
                "offset": short(map(start, names)),
                "joint_ids": slice(None, None, None),
            }
        },
        "observations": observations,
    }


def write(export, folder, change=None, model=None, **options):
    """Write a policy, and what its program writes beside it; return the ONNX file and the other file or None.

    `change` changes the metadata or the document before they are written.
    """
    model = model or network(export, rows=1 if export is UNITREE else "rows")
    policy, beside = Path(folder) / "policy.onnx", None
    said = {"mjlab": metadata, "isaac-lab": descriptors, "unitree-rl-lab": deploy_yaml}[export.program](
        export, **options
    )
    if change is not None:
        change(said)
    if export.program == "mjlab":
        helper.set_model_props(model, said)
    else:
        beside = Path(folder) / ("IO_descriptors.yaml" if export is ISAAC_LAB else "deploy.yaml")
        beside.write_text(yaml.dump(said, default_flow_style=None, sort_keys=export is ISAAC_LAB))
    onnx.save(model, policy)
    return policy, beside


class Reader:
    """What the network of an export reads in a simulation, by the rules of its program."""

    def __init__(self, export):
        self.export, self.readings = export, {}
        self.last = np.zeros(12)

    def measured(self, simulation):
        """Return the numbers of each term before clip and scale."""
        model, state = simulation.model, simulation.state
        labels = [label.rpartition("/")[2] for label in model.joint_label]
        rows = [labels.index(name) for name in self.export.joints]
        q = state.joint_q.numpy()[model.joint_q_start.numpy()[rows]].astype(float)
        qd = state.joint_qd.numpy()[model.joint_qd_start.numpy()[rows]].astype(float)
        pose, speed = (array.numpy()[0].astype(float) for array in (state.body_q, state.body_qd))
        x, y, z, w = pose[3:]
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        (command,) = simulation.task.commands.values()
        bend = q - [start(name) for name in self.export.joints]
        return {
            "base_lin_vel": turn.T @ speed[:3],
            "base_ang_vel": turn.T @ speed[3:],
            "projected_gravity": turn.T @ [0.0, 0.0, -1.0],
            **dict.fromkeys(("joint_pos", "joint_pos_rel"), bend),
            **dict.fromkeys(("joint_vel", "joint_vel_rel"), qd),
            **dict.fromkeys(("actions", "last_action"), self.last),
            **dict.fromkeys(("command", "generated_commands", "velocity_commands"), command.value.numpy()[0]),
        }

    def read(self, simulation):
        """Return what the network reads now, shape [width]; the readings are kept."""
        seen = self.measured(simulation)
        for name, term in self.export.terms.items():
            numbers = np.clip(seen[name], *term.get("clip", (-np.inf, np.inf))) * np.array(term.get("scale", 1.0))
            count = term.get("history", 1)
            kept = self.readings.get(name, [numbers] * count)
            self.readings[name] = [*kept, numbers][-count:]
        if self.export.by_frame:
            frames = zip(*self.readings.values(), strict=True)
            return np.concatenate([part for frame in frames for part in frame])
        return np.concatenate([part for readings in self.readings.values() for part in readings])
