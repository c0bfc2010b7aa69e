"""The trained policies of the examples do in the recorded step what they were trained for, without PyTorch."""

import csv
import json
import runpy
import shutil
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pippin
import pippin_task.gym
import pytest
from pippin_demo.demo import FILE

DOCS = Path(__file__).parents[2] / "docs"
TRAININGS, POLICIES = DOCS / "examples" / "training", DOCS / "examples" / "policies"
NAMES = sorted(path.stem for path in TRAININGS.glob("*.toml"))
CURVES = json.loads((DOCS / "images" / "training.json").read_text(encoding="utf-8"))

MOTORS = ["ant", "half_cheetah", "humanoid", "humanoid_standup", "pusher", "reacher", "walker2d"]
"""Policies whose efforts stand for several motors of the file."""


def test_each_training_has_a_policy_and_a_curve():
    assert sorted(path.stem for path in POLICIES.glob("*.toml")) == NAMES
    assert sorted(path.stem for path in POLICIES.glob("*.onnx")) == NAMES
    assert list(CURVES) == NAMES
    assert all(str(each["policy"]) in each["seeds"] for each in CURVES.values())


def test_each_policy_has_a_small_film_that_moves():
    image = pytest.importorskip("PIL.Image")
    films = sorted((DOCS / "images" / "policies").iterdir())

    assert [film.name for film in films] == [f"{name}.webp" for name in NAMES]
    assert max(film.stat().st_size for film in films) < 150_000
    for film in films:
        with image.open(film) as frames:
            assert frames.n_frames > 5


def test_policies_curves_and_picture_are_small():
    points = [len(seed["curve"]) for each in CURVES.values() for seed in each["seeds"].values()]

    assert 5 <= min(points) <= max(points) <= 40
    assert sum(path.stat().st_size for path in POLICIES.glob("*.onnx")) < 1_000_000
    assert (DOCS / "images" / "training.svg").stat().st_size < 150_000


def test_the_demo_has_the_policy_of_the_go1():
    """A new training brings another one: copy it there."""
    assert (FILE.parent / "policy.onnx").read_bytes() == (POLICIES / "go1_velocity.onnx").read_bytes()


def play(name, steps, worlds=4):
    """Return the simulation of a policy after some steps, as its file says, but on one solver."""
    overrides = {"scene.worlds": worlds, "simulation.device": "cpu", "task.autoreset": "disabled"}
    with pippin.Simulation.from_file(POLICIES / f"{name}.toml", overrides) as simulation:
        simulation.reset()
        simulation.step(steps)
        simulation.raise_errors()
    return simulation


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_policy_plays_about_as_well_as_the_page_says(name):
    """The mean return of 16 whole episodes is at most by half worse than that of the page: some fall, others not."""
    if name == "go1_velocity" and find_spec("mjlab") is None:
        pytest.skip("its robot is in the group `robots`")
    config = pippin.load(POLICIES / f"{name}.toml")
    steps = round(config.task.episode_length / (config.simulation.dt * config.simulation.decimation))

    episodes = play(name, steps, worlds=16).task.episodes

    row = CURVES[name]["seeds"][str(CURVES[name]["policy"])]
    assert (episodes.finished_length.numpy() > 0).all()
    assert episodes.finished_return.numpy().mean() > row["return"] - 0.5 * abs(row["return"])
    metrics = dict(zip(config.task.metrics, episodes.finished_metrics.numpy().mean(axis=1).tolist(), strict=True))
    assert {label: metrics[label] for label in row.get("metrics", {})} == pytest.approx(row.get("metrics", {}), rel=0.5)


def test_the_policy_of_the_ant_walks_forward():
    """Two metres in three seconds, in most of four worlds; falls are not ruled out."""
    reached = play("ant", 60).state.joint_q.numpy().reshape(4, -1)[:, 0]

    assert np.median(reached) > 2.0


@pytest.mark.slow
@pytest.mark.parametrize("name", MOTORS)
def test_the_efforts_of_a_policy_are_those_of_the_motors_of_its_task(name, tmp_path):
    """Random actions, five steps: observations and rewards are those of the task's own actions, in their order."""
    text = (POLICIES / f"{name}.toml").read_text().partition("\n[policy]")[0]
    (tmp_path / "efforts.toml").write_text(text.replace('"../tasks/', f'"{DOCS}/examples/tasks/'))
    (base,) = tomllib.loads(text)["extends"]
    found = []
    for file in (tmp_path / "efforts.toml", POLICIES / base):
        overrides = {"simulation.device": "cpu", "solver.type": "mujoco-native", "solver.integrator": "euler"}
        env = pippin_task.gym.VectorEnv(file, num_envs=4, overrides=overrides)
        env.reset(seed=1)
        random = np.random.default_rng(0)
        for _ in range(5):
            actions = random.uniform(-0.5, 0.5, (4, *env.single_action_space.shape)).astype(np.float32)
            observations, rewards, *_ = env.step(actions)
        env.close()
        found.append(np.column_stack([observations, rewards]))

    np.testing.assert_allclose(found[0], found[1], atol=1e-4)


def test_a_curve_has_first_and_last_episode_of_a_training(tmp_path):
    """Of 100 iterations, the first ones without an episode, 40 points remain."""
    script = runpy.run_path(str(DOCS / "train_tasks.py"))
    with (tmp_path / "training.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["steps", "mean_return"])
        writer.writerows([[10 * count, "" if count < 4 else 0.5 * count] for count in range(1, 101)])
    (tmp_path / "training.json").write_text(json.dumps({"steps": 1000, "seconds": 12.3456, "cpu_seconds": 23.456}))
    score = {"mean_return": 51.2345, "mean_return_half_width": 1.234, "mean_length": 99.99, "terminated": 3}
    score["metrics"] = {"error": {"mean": 0.123456, "std": 0.1}}

    row = script["row"](tmp_path, score)

    assert len(row["curve"]) == 40
    assert row["curve"][0] == [40, 2.0]
    assert row["curve"][-1] == [1000, 50.0]
    assert row["metrics"] == {"error": 0.123}
    assert (row["steps"], row["wall"], row["cpu"], row["return"], row["ended"]) == (1000, 12.3, 23.5, 51.23, 3)


@pytest.mark.slow
@pytest.mark.parametrize("is_added", [True, False], ids=["added", "alone"])
def test_further_seeds_stand_beside_others_or_alone(tmp_path, monkeypatch, is_added):
    """A whole training of seed 7 is not repeated; its policy is the shipped one, so that it plays as well."""
    script = runpy.run_path(str(DOCS / "train_tasks.py"))
    folder, policies, curves = (tmp_path / name for name in ("cartpole-7", "policies", "training.json"))
    folder.mkdir()
    policies.mkdir()
    shutil.copyfile(DOCS / "images" / "training.json", curves)
    shutil.copyfile(POLICIES / "cartpole.onnx", folder / "policy.onnx")
    times = {"iteration": 5, "iterations": 5, "steps": 1000, "seconds": 1.0, "cpu_seconds": 2.0}
    (folder / "training.json").write_text(json.dumps(times))
    (folder / "training.csv").write_text("steps,mean_return\n500,10.0\n1000,20.0\n")
    (policies / "cartpole.toml").write_text(
        f'extends = ["{POLICIES / "cartpole.toml"}"]\npolicy.path = "{POLICIES / "cartpole.onnx"}"\n'
    )
    script["main"].__globals__.update(POLICIES=policies, CURVES=curves)
    words = ["cartpole", "--seeds", "7", "--runs", str(tmp_path), *["--add"][: int(is_added)]]
    monkeypatch.setattr("sys.argv", ["train_tasks.py", *words])

    script["main"]()

    found = json.loads(curves.read_text(encoding="utf-8"))
    seeds = list(CURVES["cartpole"]["seeds"]) if is_added else []
    assert list(found["cartpole"]["seeds"]) == sorted([*seeds, "7"])
    assert all(found["cartpole"]["seeds"][seed] == CURVES["cartpole"]["seeds"][seed] for seed in seeds)
    assert found["cartpole"]["seeds"]["7"]["curve"] == [[500, 10.0], [1000, 20.0]]
    assert {name: each for name, each in found.items() if name != "cartpole"} == {
        name: each for name, each in CURVES.items() if name != "cartpole"
    }


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            "error: a.toml:3: solver: 'vbd' does not support armature (numbers), used by leg; do without",
            "no `armature`",
        ),
        ("error: solver.type: 'kamino' has no joint of two axes; choose another", "'kamino' has no joint of two axes"),
        ("error: step 4 (t = 0.16 s): joint 'a' of world 0 moves at 2 rad/s; set less", "step 4"),
    ],
)
def test_the_reason_of_a_refusal_is_short(error, reason):
    assert runpy.run_path(str(DOCS / "play_policies.py"))["shortened"](error) == reason
