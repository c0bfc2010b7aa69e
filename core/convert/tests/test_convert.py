"""What `pippin convert-task` writes has the numbers of the original on the same states."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin import quaternions
from pippin.assembly import build_poses
from pippin.cli import main
from pippin_convert.convert import convert_mjlab
from pippin_task.motion_conversion import convert_motion

ENVIRONMENT = Path(os.environ.get("PIPPIN_MJLAB", Path(__file__).parents[3] / "envs" / "mjlab"))
HERE = Path(__file__).parent
WORLDS, STEPS, RATE = 8, 240, 200.0  # control steps of one physics step

needs_mjlab = pytest.mark.skipif(
    not ENVIRONMENT.exists(),
    reason="`uv venv envs/mjlab`, `uv pip install --python envs/mjlab mjlab` make it, 7 GB; or PIPPIN_MJLAB names it",
)


WHOLE = (
    "Mjlab-Cartpole-Balance",
    "Mjlab-Cartpole-Swingup",
    "Mjlab-Tracking-Flat-Unitree-G1",
    "Mjlab-Tracking-Flat-Unitree-G1-No-State-Estimation",
    "Mjlab-Velocity-Flat-Unitree-G1",
    "Mjlab-Velocity-Flat-Unitree-Go1",
)
"""Tasks of which every term is written."""


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
    for command in tables["task"].get("commands", {}).values():
        if "path" in command:
            command["path"] = str(file.parent / command["path"])
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


def touches_of_itself(told):
    """Return the most contacts of a robot with itself in the readings of a history, for each step and world."""
    frames = np.repeat(np.arange(len(told["contact_count"])), told["contact_count"])
    own = ~(told["geoms"][told["contacts/geoms"]] == "terrain").any(axis=1)
    counts = np.zeros((len(told["contact_count"]), WORLDS), dtype=int)
    np.add.at(counts, (frames[own], told["contacts/world"][own]), 1)
    return np.max([counts[4 - late : len(counts) - late] for late in range(4)], axis=0)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return a function that converts a task, and returns its numbers here, there, and the most that they differ."""

    def judge(task):
        folder = tmp_path_factory.mktemp("task")
        written = convert_mjlab(task, folder, ENVIRONMENT)
        assert not written.left
        motion = clip_for(folder) if "Tracking" in task else None
        states = recorded(task, folder, motion)
        told = np.load(states)
        with replay(folder / "task.toml", states, told) as simulation:
            found = ours(simulation, told)
        return found, told, differences(found, told)

    return judge


@needs_mjlab
@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [
        "Mjlab-Velocity-Flat-Unitree-Go1",
        "Mjlab-Velocity-Flat-Unitree-G1",
        "Mjlab-Tracking-Flat-Unitree-G1",
        "Mjlab-Cartpole-Swingup",
    ],
)
def test_every_term_has_the_number_of_mjlab_on_the_same_states(judged, task):
    """The robots walk, jump and fall; both count from the same history."""
    found, told, apart = judged(task)
    touching = apart.pop("rewards/self_collisions", None)

    assert len(apart) >= 8
    assert {name: value for name, value in apart.items() if value > 1e-5} == {}
    for name in apart:
        if name.startswith("rewards") and found.get(name) is not None:
            assert np.ptp(told[name]) > 0.0, name  # it is no constant
    if touching is not None:
        # mjlab reads the first contact alone of a robot with itself; here all count.
        here, there = found["rewards/self_collisions"][3:], told["rewards/self_collisions"][3:]
        is_one = touches_of_itself(told) <= 1
        assert (there[is_one] < 0.0).any()
        np.testing.assert_allclose(here[is_one], there[is_one], atol=1e-5)
        assert (here <= there + 1e-5).all()


@needs_mjlab
@pytest.mark.slow
@pytest.mark.parametrize("task", WHOLE)
def test_a_task_is_written_whole_and_builds(task, tmp_path):
    done = CliRunner().invoke(main, ["convert-task", f"mjlab:{task}", "--out", str(tmp_path), *environment()])
    assert done.exit_code == 0, done.output
    assert "left out" not in done.output
    changes = {"scene.worlds": 2, "simulation.device": "cpu"}
    if "Tracking" in task:
        clip_for(tmp_path)
        changes["simulation.decimation"] = 1  # as for the clip
    text = (tmp_path / "task.toml").read_text(encoding="utf-8")
    assert "Not written" not in text
    with pippin.Simulation.from_file(tmp_path / "task.toml", changes) as made:
        made.step(3)
        made.raise_errors()
        assert np.isfinite(made.task.episodes.reward.numpy()).all()


@needs_mjlab
@pytest.mark.slow
def test_what_has_no_twin_is_named_with_its_place(tmp_path):
    arguments = ["convert-task", "mjlab:Mjlab-Velocity-Rough-Unitree-Go1", "--out", str(tmp_path), *environment()]
    done = CliRunner().invoke(main, arguments)

    assert done.exit_code == 0, done.output
    named = "scene.terrain: terrain_generator: patches of ground are not read; write [scene.terrain]"
    assert f"left out: {named}" in done.output
    assert f"# - {named}" in (tmp_path / "task.toml").read_text(encoding="utf-8")


@needs_mjlab
@pytest.mark.slow
def test_a_task_that_mjlab_lacks_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(pippin.ConfigError, match="mjlab has no such task; did you mean 'Mjlab-Cartpole-Balance'"):
        convert_mjlab("Mjlab-Cartpole-Balanced", tmp_path, ENVIRONMENT)


def environment():
    return ["--environment", str(ENVIRONMENT)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Mjlab-Cartpole-Balance", "expected mjlab:NAME, such as mjlab:Mjlab-Cartpole-Balance"),
        ("isaac:Ant", "expected mjlab:NAME"),
        ("mjlab:", "expected mjlab:NAME"),
        ("mjlab:Ant", "--environment: no Python in .*none'; `uv venv"),
    ],
)
def test_a_wrong_source_or_environment_is_refused_with_a_cure(source, text, tmp_path):
    arguments = ["convert-task", source, "--out", str(tmp_path / "out"), "--environment", str(tmp_path / "none")]
    done = CliRunner().invoke(main, arguments)

    assert done.exit_code == 2
    assert re.search(text, done.output.replace("\n", " "))
    assert not (tmp_path / "out").exists()


def test_a_task_is_not_written_over_another_one(tmp_path):
    (tmp_path / "task.toml").write_text("", encoding="utf-8")
    with pytest.raises(pippin.ConfigError, match=r"task\.toml exists; name another folder"):
        convert_mjlab("Mjlab-Cartpole-Balance", tmp_path, ENVIRONMENT)
