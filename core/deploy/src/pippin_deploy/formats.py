"""Readers of the words of mjlab, Isaac Lab and unitree_rl_lab about their policies, all in those of Isaac Lab.

Each function takes the metadata of the ONNX file and the contents of the file beside it, and returns None for another
program. What is not said is left out, or `...`. All is in the order of the network: `joints`, by name or by number of
the motor; of each joint `start` [rad, m], `kp`, `kd`; `control_dt` and `dt` [s]; `layout`, "terms" or "frames", what
follows each other; `rounding`, a number of `decimals` or `digits`; `commands` by label; `observations` with `label`,
`name` of the function, `joints`, `scale`, `clip`, `history_length`, `delay`; `actions` with `label`, `name` of the
class, `joints`, `scale`, `offset`, and `clip` of targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FUNCTIONS = {"joint_pos": "joint_pos_rel", "actions": "last_action", "command": "generated_commands"}
"""Functions of the terms of mjlab's own tasks that are called otherwise than the term."""


def _mjlab(metadata: Mapping[str, str], document: Any) -> dict[str, Any] | None:
    """Read rows of names, and of numbers with three decimals; since mjlab 1.6, the observations have more of them."""
    if not {"joint_names", "observation_names", "action_scale"} <= metadata.keys():
        return None
    rows = {key: text.split(",") if text else [] for key, text in metadata.items()}
    commands = rows.get("command_names", [])
    own = {"point": ..., "command": commands[0] if len(commands) == 1 else ...}  # a sensor has the point, anywhere
    terms = [{"label": name, "name": _FUNCTIONS.get(name, name), **own} for name in rows["observation_names"]]
    for key in ("scale", "clip", "history_length", "flatten_history_dim"):
        for term, text in zip(terms, rows.get(f"observation_terms_{key}", ()), strict=False):
            term[key] = _numbers(text.split(";"))
    joints = {"default_joint_pos": "start", "joint_stiffness": "kp", "joint_damping": "kd"}
    return {
        "rounding": {"decimals": 3},
        "joints": rows["joint_names"],
        **{own: list(map(float, rows[key])) for key, own in joints.items() if key in rows},
        "observations": terms,
        "actions": [{"label": "joint_pos", "name": "JointPositionAction", "scale": _numbers(rows["action_scale"])}],
        "commands": {name: {} for name in commands},
    }


def _numbers(texts: list[str]) -> Any:
    return float(texts[0]) if len(texts) == 1 else list(map(float, texts))


def _isaac_lab(metadata: Mapping[str, str], document: Any) -> dict[str, Any] | None:
    """Read IO descriptors."""
    if not (isinstance(document, Mapping) and {"actions", "articulations", "observations"} <= document.keys()):
        return None
    driven = {name for each in document["actions"] for name in each["joint_names"]}
    robots = [each for each in document["articulations"].values() if driven <= set(each["joint_names"])]
    if len(robots) != 1 or "policy" not in document["observations"]:
        raise ValueError(f"one robot with the joints {', '.join(sorted(driven))} and a group 'policy' are wanted")
    for each in document["observations"]["policy"]:
        if (each.get("extras") or {}).get("modifiers") or any(each.get("joint_vel_offsets", ())):
            raise ValueError(f"observations.{each['name']}: modifiers and offsets of velocities are unknown here")
    robot, scene = robots[0], document.get("scene", {})
    kp, kd = (robot[f"default_joint_{key}"] for key in ("stiffness", "damping"))
    return {
        "joints": robot["joint_names"],
        "start": robot["default_joint_pos"],
        **({"kp": kp, "kd": kd} if any(kp) or any(kd) else {}),  # an actuator outside of the solver has them
        "control_dt": scene.get("dt", ...),
        "dt": scene.get("physics_dt", ...),
        "observations": [
            {"label": each["name"], "name": each["name"], "delay": [0, 0], "command": "command", **each["overloads"]}
            | {"joints": each.get("joint_names")}
            for each in document["observations"]["policy"]
        ],
        "actions": [
            each | {"label": each["name"], "name": each["full_path"].rpartition(".")[2], "joints": each["joint_names"]}
            for each in document["actions"]
        ],
        "commands": {"command": {}},
    }


def _unitree_rl_lab(metadata: Mapping[str, str], document: Any) -> dict[str, Any] | None:
    """Read `deploy.yaml`: gains are in the order of the motors, and numbers have three digits."""
    if not (isinstance(document, Mapping) and {"joint_ids_map", "step_dt"} <= document.keys()):
        return None
    motors, terms, actions = document["joint_ids_map"], dict(document["observations"]), document["actions"].items()
    is_by_frame, is_scaled_first = (terms.pop(key, False) for key in ("use_gym_history", "scale_first"))
    if is_scaled_first and any(each["clip"] for each in terms.values()):
        raise ValueError("observations.scale_first: here, clip comes before scale; divide the clips by the scales")
    ranges = {"x": "lin_vel_x", "y": "lin_vel_y", "yaw": "ang_vel_z"}
    return {
        "rounding": {"digits": 3},
        "layout": "frames" if is_by_frame else "terms",
        "joints": motors,
        "start": document["default_joint_pos"],
        **{key: [document[own][each] for each in motors] for key, own in (("kp", "stiffness"), ("kd", "damping"))},
        "control_dt": document["step_dt"],
        "observations": [
            {"label": label, "name": label, "delay": [0, 0], "command": own["params"].get("command_name", ...), **own}
            | {"joints": (own["params"].get("asset_cfg") or {}).get("joint_ids")}
            for label, own in terms.items()
        ],
        "actions": [{**own, "label": key, "name": key, "joints": own["joint_ids"]} for key, own in actions],
        "commands": {
            label: {"type": "velocity"} | {key: own["ranges"][name] for key, name in ranges.items()}
            for label, own in document["commands"].items()
        },
    }


FORMATS = {"mjlab": _mjlab, "isaac-lab": _isaac_lab, "unitree-rl-lab": _unitree_rl_lab}
"""What reads the policies of each program."""
