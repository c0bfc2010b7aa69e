"""Tasks of mjlab as tables of Pippin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import mjlab_terms
from .mjlab_scene import MjlabScene
from .mjlab_terms import MjlabTerms, twin
from .written import Left, NoTwinError, WrittenTask

Settings = Mapping[str, Any]

CLIP = "motion.npz"
"""The file of a clip, which the user converts: mjlab's tasks come without one."""


def written_task(name: str, settings: Settings, robots: Mapping[str, Settings]) -> WrittenTask:
    """Return a task of mjlab as tables of Pippin.

    Args:
        name: Its name.
        settings: Its settings, as `mjlab_reader` writes them.
        robots: What it writes of each robot.
    """
    return _Converter(name, settings, robots).task


class _Converter:
    def __init__(self, name: str, settings: Settings, robots: Mapping[str, Settings]) -> None:
        self._settings, self._robots = settings, robots
        self._scene = MjlabScene(settings, robots)
        self._terms = MjlabTerms(self._scene)
        self.task = WrittenTask(f"mjlab's {name}, as `pippin convert-task` has written it.")
        self._write_scene()
        task: dict[str, Any] = {"episode_length": float(settings["episode_length_s"])}
        self.task.tables["task"] = task
        if not settings["scale_rewards_by_dt"]:
            task["reward_rate"] = "step"
        self._write_actions(task)
        self._write_commands(task)
        for group, each in settings["observations"].items():
            for label, term in each["terms"].items():
                self._write_observation(task, group, each, label, term)
        for label, term in settings["rewards"].items():
            self._write_reward(task, label, term)
        for label, term in settings["terminations"].items():
            self._write_termination(task, label, term)
        for label, term in settings["events"].items():
            self._write_event(task, label, term)
        for kind, known in (("curriculum", mjlab_terms.CURRICULA), ("metrics", mjlab_terms.METRICS)):
            table = {"curriculum": "curricula"}.get(kind, kind)
            for label, term in settings[kind].items():
                for end, found in self._twins(f"{kind}.{label}", known, term).items():
                    task.setdefault(table, {})[label + end] = found

    def _write_scene(self) -> None:
        scene, tables = self._scene, self.task.tables
        tables["simulation"], tables["scene"] = scene.simulation(), scene.scene()
        if scene.has_patches:
            self._leave("scene.terrain", "terrain_generator", "patches of ground are not read; write [scene.terrain]")
        tables["solver"] = scene.solver()
        for kind, found in (("actuators", scene.actuators()), ("sensors", scene.sensors())):
            for label, table in found:
                if isinstance(table, NoTwinError):
                    self._leave(f"{kind}.{label}", label, str(table))
                else:
                    tables.setdefault(kind, {})[label] = table

    def _write_actions(self, task: dict[str, Any]) -> None:
        kinds = {"JointPositionActionCfg": "joint-targets", "JointEffortActionCfg": "inputs"}
        for label, action in self._settings["actions"].items():
            kind, group = kinds.get(action["type"]), self._scene.group_of(action["entity_name"])
            of_group = self.task.tables.get("actuators", {}).get(group, {}).get("type")
            needed = {"joint-targets": "pd", "inputs": "control"}.get(kind or "")
            if kind is None or of_group != needed or action["clip"] is not None:
                self._leave(f"actions.{label}", action["type"], "another action, another actuator, or clipped targets")
                continue
            table = {"type": kind, "actuator": group, "scale": action["scale"]}
            if kind == "joint-targets" and not action["use_default_offset"]:
                table["offset"] = "zero"
            if action["offset"]:
                self._leave(f"actions.{label}", "offset", "an offset of its own")
            task.setdefault("actions", {})[label] = table

    def _write_commands(self, task: dict[str, Any]) -> None:
        kinds = {"UniformVelocityCommandCfg": _velocity, "MotionCommandCfg": _motion}
        for label, command in self._settings["commands"].items():
            if command["type"] not in kinds:
                self._leave(f"commands.{label}", command["type"], "Pippin has no such command")
                continue
            table, lacks = kinds[command["type"]](command)
            for key in lacks:
                self._leave(f"commands.{label}", key, "Pippin's command has no such key")
            task.setdefault("commands", {})[label] = table
            self._scene.commands.add(label)
            if command["type"] == "MotionCommandCfg":
                soft = self._scene.soft_limits({})
                task.setdefault("events", {})[f"{label}_start"] = _start(label, command, soft)
                task.setdefault("terminations", {})[f"{label}_end"] = {"type": "motion-end", "command": label}
                self.task.notes.append(
                    f"The clip is {CLIP}, beside this file: `pippin motion convert YOURS.npz {CLIP} --robot FILE` makes"
                    " it. At its end, mjlab continues from another frame within the episode, and here it is truncated."
                )

    def _write_observation(
        self, task: dict[str, Any], group: str, settings: Settings, label: str, term: Settings
    ) -> None:
        place = f"observations.{group}.{label}"
        keys: dict[str, Any] = {}
        if (noise := term["noise"]) and settings["enable_corruption"]:
            keys |= self._noise(place, noise)
        if term["clip"]:
            keys["clip"] = term["clip"]
        if term["scale"] is not None:
            if not isinstance(term["scale"], int | float):
                self._leave(place, "scale", "factors of their own for several numbers")
            else:
                keys["scale"] = term["scale"]
        if term["delay_max_lag"]:
            keys["delay"] = [term["delay_min_lag"], term["delay_max_lag"]]
            if term["delay_min_lag"] != term["delay_max_lag"]:
                self._leave(place, "delay", "a delay that is drawn within an episode; here a reset draws it")
        if length := settings["history_length"] if settings["history_length"] is not None else term["history_length"]:
            keys["history"] = length
        for end, found in self._twins(place, mjlab_terms.OBSERVATIONS, term).items():
            if (factor := found.pop("factor", 1.0)) != 1.0:
                keys["scale"] = factor * keys.get("scale", 1.0)
            rows = task.setdefault("observations", {}).setdefault(group, {})
            rows[f"{label}_{end}" if end else label] = {"of": _short(found), **keys}

    def _noise(self, place: str, noise: Settings) -> dict[str, Any]:
        if noise["type"] == "UniformNoiseCfg" and noise["operation"] == "add" and noise["n_min"] == -noise["n_max"]:
            return {"noise": noise["n_max"]}
        if noise["type"] == "GaussianNoiseCfg" and noise["operation"] == "add" and not noise["mean"]:
            return {"noise_std": noise["std"]}
        self._leave(place, noise["type"], "noise that is neither uniform about zero nor normal")
        return {}

    def _write_reward(self, task: dict[str, Any], label: str, term: Settings) -> None:
        if not term["weight"]:
            self.task.notes.append(f"rewards.{label} has the weight 0, and is not written.")
            return
        for end, found in self._twins(f"rewards.{label}", mjlab_terms.REWARDS, term).items():
            kind, weight = found.pop("type"), term["weight"] * found.pop("factor", 1.0)
            row = {"type": kind, "weight": weight, **found}
            task.setdefault("rewards", {})[f"{label}_{end}" if end else label] = _shortened(row)

    def _write_termination(self, task: dict[str, Any], label: str, term: Settings) -> None:
        name = (term["func"] or {}).get("function", "").partition(":")[2]
        if name in ("time_out", "nan_detection"):
            return  # the length of an episode, and a state that diverged, end it anyway
        for end, found in self._twins(f"terminations.{label}", mjlab_terms.TERMINATIONS, term).items():
            truncates = {"truncates": True} if term["time_out"] and found["type"] != "out-of-bounds" else {}
            task.setdefault("terminations", {})[label + end] = _shortened(found) | truncates

    def _write_event(self, task: dict[str, Any], label: str, term: Settings) -> None:
        for end, found in self._twins(f"events.{label}", mjlab_terms.EVENTS, term).items():
            row = dict(found)
            if term["mode"] == "interval":
                row["period"] = term["interval_range_s"]
            task.setdefault("events", {})[label + end] = row

    def _twins(self, place: str, names: Sequence[str], term: Settings) -> dict[str, dict[str, Any]]:
        function = (term["func"] or {}).get("function", "")
        try:
            return twin(self._terms, names, function, term["params"])
        except NoTwinError as error:
            self._leave(place, function.partition(":")[2], str(error))
            return {}

    def _leave(self, place: str, name: str, reason: str) -> None:
        self.task.left.append(Left(place, name, reason))


def _short(choice: Any) -> Any:
    """Return a choice of a quantity by its name, if its table has nothing else."""
    return choice["type"] if isinstance(choice, Mapping) and set(choice) == {"type"} else choice


def _shortened(row: Settings) -> dict[str, Any]:
    found = dict(row)
    if "of" in found:
        found["of"] = _short(found["of"])
    if "times" in found:
        found["times"] = _shortened(found["times"])
    return found


def _velocity(command: Settings) -> tuple[dict[str, Any], list[str]]:
    """Return the table of a velocity command, and the keys that it lacks."""
    ranges = command["ranges"]
    table = {"type": "velocity", "x": ranges["lin_vel_x"], "y": ranges["lin_vel_y"], "yaw": ranges["ang_vel_z"]}
    if command["heading_command"]:
        table |= {
            "heading": [max(ranges["heading"][0], -math.pi), min(ranges["heading"][1], math.pi)],
            "heading_stiffness": command["heading_control_stiffness"],
            "heading_share": command["rel_heading_envs"],
        }
    if command["rel_forward_envs"]:
        table |= {"straight": command["rel_forward_envs"], "least_straight": 0.3}
    table |= {"standing": command["rel_standing_envs"], "period": command["resampling_time_range"]}
    return table, [key for key in ("rel_world_envs", "init_velocity_prob") if command[key]]


def _motion(command: Settings) -> tuple[dict[str, Any], list[str]]:
    starts = {"start": "first"}
    table = {
        "type": "motion",
        "path": CLIP,
        "anchor": command["anchor_body_name"],
        "start": starts.get(command["sampling_mode"], command["sampling_mode"]),
        "memory": command["adaptive_alpha"],
        "uniform": command["adaptive_uniform_ratio"],
        "reach": command["adaptive_kernel_size"],
        "decay": command["adaptive_lambda"],
    }
    return table, []


def _start(label: str, command: Settings, soft_limits: float) -> dict[str, Any]:
    ranges = {"joint_positions": command["joint_position_range"], "soft_limits": soft_limits}
    return {
        "type": "motion",
        "command": label,
        **command["pose_range"],
        "velocity": command["velocity_range"],
        **ranges,
    }
