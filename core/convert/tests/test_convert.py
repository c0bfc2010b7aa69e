"""What `pippin convert-task` writes has the numbers of the original on the same states."""

import os
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pippin
import pytest
from pippin import quaternions
from pippin.assembly import build_poses
from pippin_task.motion_conversion import convert_motion

ENVIRONMENT = Path(os.environ.get("PIPPIN_MJLAB", Path(__file__).parents[3] / "envs" / "mjlab"))
HERE = Path(__file__).parent
WORLDS, STEPS, RATE = 8, 240, 200.0  # control steps of one physics step

needs_mjlab = pytest.mark.skipif(
    not ENVIRONMENT.exists(),
    reason="`uv venv envs/mjlab`, `uv pip install --python envs/mjlab mjlab` make it, 7 GB; or PIPPIN_MJLAB names it",
)


def recorded(task, folder, motion=None):
    """Let mjlab step a task, and return the file with its states and terms."""
    out = folder / "states.npz"
    if not out.exists():
        python = ENVIRONMENT / "bin" / "python"
        command = [python, HERE / "mjlab_states.py", task, out, str(WORLDS), str(STEPS), *([motion] if motion else [])]
        own = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        subprocess.run(command, check=True, timeout=1200, capture_output=True, text=True, env=own)
    return out


def clip_for(folder):
    """Write a clip of a swaying robot beside a written task, and the same one for mjlab; return the latter."""
    changes = {"scene.worlds": 1, "simulation.device": "cpu", "simulation.decimation": 1}
    poses = build_poses(pippin.load(folder / "task.toml", changes), 1)
    start, times = poses.model.joint_q.numpy(), np.arange(501) / RATE
    generator = np.random.default_rng(2)
    rate, phase = generator.uniform(1.0, 6.0, len(start) - 7), generator.uniform(0.0, 6.0, len(start) - 7)
    rows = np.tile(start, (len(times), 1))
    rows[:, 7:] += 0.15 * np.sin(rate * times[:, None] + phase)
    rows[:, 0], rows[:, 2] = 0.2 * times, start[2] + 0.03 * np.sin(5.0 * times)
    turns = [0.1 * np.sin(times), 0.05 * np.sin(2.0 * times), np.sin(0.3 * times), np.ones_like(times)]
    rows[:, 3:7] = np.stack(turns, axis=1)
    rows[:, 3:7] /= np.linalg.norm(rows[:, 3:7], axis=1, keepdims=True)
    np.savetxt(folder / "sway.csv", rows, delimiter=",")
    clip = convert_motion(folder / "sway.csv", folder / "motion.npz", folder / "task.toml", changes, fps=RATE)
    turns, speeds = clip.body_poses[..., 3:], clip.body_velocities
    arms = quaternions.rotated(turns, np.broadcast_to(poses.model.body_com.numpy(), (*turns.shape[:2], 3)))
    np.savez(
        folder / "of_mjlab.npz",
        fps=RATE,
        joint_pos=clip.joint_positions,
        joint_vel=clip.joint_velocities,
        body_pos_w=clip.body_poses[..., :3],
        body_quat_w=np.roll(turns, 1, axis=-1),
        body_lin_vel_w=speeds[..., :3] - np.cross(speeds[..., 3:], arms),
        body_ang_vel_w=speeds[..., 3:],
    )
    return folder / "of_mjlab.npz"


def replay(file, states, told):
    """Return a simulation of a written task that repeats the states."""
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    tables["simulation"] |= {"device": "cpu", "decimation": 1}
    tables["scene"]["worlds"] = WORLDS
    tables["solver"] = {"type": f"{HERE / 'replayed.py'}:ReplayedConfig", "path": str(states)}
    for asset in tables["scene"]["assets"]:
        asset["path"] = str(file.parent / asset["path"])
    tables["task"]["autoreset"] = "disabled"
    events = tables["task"]["events"]
    tables["task"]["events"] = {label: each for label, each in events.items() if each["type"] == "joint-offsets"}
    for group in tables["task"]["observations"].values():
        for term in group.values():
            term.pop("noise", None)
    simulation = pippin.Simulation(pippin.structure(tables))
    worlds = simulation.component("solver").worlds
    worlds.show(simulation.state)
    simulation.invalidate("joints")
    for label, action in simulation.task.actions.items():
        if told["bias"].size and tables["task"]["actions"][label]["type"] == "joint-targets":
            action.errors.assign(-told["bias"])
    for label, command in simulation.task.commands.items():
        if hasattr(command, "headings"):
            command.value.assign(told[f"commands/{label}"][0])
            has_one = told[f"commands/{label}/is_heading_env"][0] & ~told[f"commands/{label}/is_standing_env"][0]
            headings = np.where(has_one, told[f"commands/{label}/heading_target"][0], np.nan)
            command.headings.assign(headings.astype(np.float32))
        else:
            command.frames.assign(told[f"commands/{label}/time_steps"][0].astype(np.int32))
    return simulation


def ours(simulation, told):
    """Return the numbers of our terms, by kind and label of the original, at each step."""
    task, found = simulation.task, {}
    weights = task.episodes.weights.numpy() / simulation.control_dt
    for step in range(STEPS):
        task.episodes.action.assign(told["action"][step])
        simulation.step()
        rewards = task.episodes.reward_terms.numpy() * weights[:, None]
        for row, label in enumerate(task.rewards):
            found.setdefault(f"rewards/{label}", []).append(rewards[row])
        ends = task.episodes.termination_terms.numpy()
        for row, label in enumerate(task.terminations):
            found.setdefault(f"terminations/{label}", []).append(ends[row].copy())
        for name, group in task.observations.items():
            values, first = group.values.numpy(), 0
            for label, _, columns, count in group.parts:
                width = len(columns) * count
                found.setdefault(f"observations/{name}/{label}", []).append(values[:, first : first + width].copy())
                first += width
        for label, command in task.commands.items():
            found.setdefault(f"commands/{label}", []).append(command.value.numpy().copy())
    return {name: np.array(rows) for name, rows in found.items()}


def differences(found, told):
    """Return the largest difference of each term of the original, in parts of its largest number, or of 1."""
    kinds = {"rewards": 1, "terminations": 1, "commands": 1, "observations": 2}
    names = [name for name in told.files if kinds.get(name.partition("/")[0]) == name.count("/")]
    parts = {name: [] for name in names}
    for label, rows in found.items():  # `pose_walking` is a part of `pose`
        owners = [name for name in names if label == name or label.startswith(f"{name}_")]
        if owners:
            parts[max(owners, key=len)].append(rows)
    result = {}
    for name in names:
        expected = told[name].astype(float)
        expected = expected[1:] if name.startswith(("observations", "commands")) else expected
        if not parts[name]:
            actual = np.zeros_like(expected)  # a weight of zero, or an end that the length of an episode makes
        elif name.startswith("observations"):
            actual = np.concatenate(parts[name], axis=-1)
        else:
            actual = sum(each.astype(float) for each in parts[name])
        result[name] = float(np.abs(actual - expected).max() / max(1.0, np.abs(expected).max()))
    return result
