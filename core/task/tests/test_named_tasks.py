"""Tasks by name, and the run folder of a training in place of a file."""

import json
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_task.gym import TASKS
from pippin_task.named_tasks import TASK_FILE, trained_files


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)])


@pytest.mark.parametrize("name", ["Pippin/Ant-v0", "Ant-v0", "Ant", "ant", "pippin_task.gym:Pippin/Ant-v0"])
def test_a_name_is_the_file_of_its_task(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert TASK_FILE.convert(name, None, None) == TASKS["Pippin/Ant-v0"]


def test_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("Ant").write_text("")

    assert TASK_FILE.convert("Ant", None, None) == Path("Ant")
    assert TASK_FILE.convert("ant.toml", None, None) == Path("ant.toml"), "what is no name is a path"


@pytest.mark.parametrize("command", ["train", "play"])
def test_a_name_that_is_none_is_refused_with_the_nearest_one(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = run(command, "Pippin/Hoper-v0")

    assert result.exit_code == 2
    assert "Pippin/Hoper-v0: no file and no task has this name; did you mean 'Pippin/Hopper-v0'" in result.stderr
    assert "`pippin tasks` lists the tasks" in result.stderr


def test_all_tasks_are_listed_with_their_files():
    result, table = run("tasks", "--json"), run("tasks")

    found = json.loads(result.stdout)
    assert {name: each["file"] for name, each in found.items()} == {name: str(path) for name, path in TASKS.items()}
    assert found["Pippin/Ant-v0"]["title"].startswith("Gymnasium's Ant-v5")
    assert all(name in table.stdout for name in TASKS)


def test_a_run_folder_stands_for_its_file_and_its_policy(tmp_path):
    for name in ("config.toml", "policy.onnx"):
        (tmp_path / name).write_text("")
    policy = tmp_path / "policy.onnx"

    assert trained_files(tmp_path, None) == (tmp_path / "config.toml", policy)
    assert trained_files(Path("other.toml"), tmp_path) == (Path("other.toml"), policy)
    assert trained_files(tmp_path, Path("own.onnx")) == (tmp_path / "config.toml", Path("own.onnx"))
    assert trained_files(Path("other.toml"), None) == (Path("other.toml"), None)
    policy.unlink()
    with pytest.raises(pippin.ConfigError, match=r"is a folder without policy\.onnx; name a file, or the run folder"):
        trained_files(tmp_path, None)


def test_a_named_task_plays_the_policy_of_a_run_folder_with_a_seed(tmp_path):
    """The episodes of one seed are the same, and those of another one differ."""
    from pippin_train import write_policy

    gains = np.array([[0.5, 9.0, 0.8, 1.4]])
    write_policy(tmp_path / "policy.onnx", [(gains, np.zeros(1))], "tanh")
    words = ["--policy", tmp_path, "--solver", "mujoco-native", "--worlds", 2, "--steps", 40, "--device", "cpu"]
    ends = []
    for index, seed in enumerate((3, 3, 4)):
        out = tmp_path / str(index)
        result = run("play", "InvertedPendulum", *words, "--seed", seed, "--out", out)
        assert result.exit_code == 0, result.output
        with np.load(out / "series.npz") as series:
            ends.append(series["joint_q"][:, -1])

    np.testing.assert_array_equal(ends[0], ends[1])
    assert np.abs(ends[0] - ends[2]).max() > 1e-6


def test_an_agent_acts_without_a_policy(tmp_path):
    """Zero leaves the cart at rest; random actions fill the bounds, differ by world, and are those of the seed."""
    words = ["--solver", "mujoco-native", "--worlds", 3, "--steps", 40, "--device", "cpu"]
    recorder = '[recorders.r]\ntype = "npz"\nseries = ["task/action"]\nworlds = [0, 1, 2]\n'
    (tmp_path / "cart.toml").write_text(f'extends = ["{TASKS["Pippin/InvertedPendulum-v0"]}"]\n{recorder}')
    found = {}
    for name, agent, seed in (("zero", "zero", 1), ("one", "random", 1), ("same", "random", 1), ("other", "random", 2)):
        out = tmp_path / name
        result = run("play", tmp_path / "cart.toml", "--agent", agent, "--seed", seed, "--out", out, *words)
        assert result.exit_code == 0, result.output
        with pippin.Run(out) as read:
            found[name] = np.array(read["task/action"])

    assert not found["zero"].any()
    np.testing.assert_array_equal(found["one"], found["same"])
    assert np.abs(found["one"] - found["other"]).max() > 0.1
    assert np.ptp(found["one"], axis=1).max() > 0.1
    assert 2.0 < np.abs(found["one"]).max() <= 3.0


def test_an_agent_and_a_policy_are_not_both_taken(tmp_path):
    result = run("play", "Ant", "--agent", "zero", "--policy", tmp_path / "policy.onnx")

    assert result.exit_code == 2
    assert "--agent: acts in place of a policy; leave --policy out" in result.stderr


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["--num_envs", "8"], "'--num_envs'; write --worlds"),
        (["--num-envs", "8"], "'--num-envs'; write --worlds"),
        (["--headless"], "leave it out"),
        (["--max_iterations", "8"], "write --iterations"),
        (["--task", "Ant"], "without an option"),
    ],
)
def test_options_of_others_lead_to_the_right_one(words, cure):
    result = run("train", "Ant", *words)

    assert result.exit_code == 2
    assert cure in result.stderr


@pytest.mark.parametrize(
    ("key", "cure"),
    [
        ("scene.num_envs", "scene.num_envs: unknown key; did you mean 'worlds'?"),
        ("trainer.num_steps_per_env", "did you mean 'steps'?"),
        ("trainer.clip_param", "did you mean 'clip'?"),
        ("trainer.init_noise_std", "did you mean 'std'?"),
        ("trainer.max_iterations", "did you mean 'iterations'?"),
        ("trainer.seed", "did you mean 'simulation.seed'?"),
        ("seed", "did you mean 'simulation.seed'?"),
        ("task.episode_length_s", "did you mean 'episode_length'?"),
        ("task.curriculum", "did you mean 'curricula'?"),
        ("simulation.sim_dt", "did you mean 'dt'?"),
    ],
)
def test_keys_of_others_lead_to_the_right_one(key, cure):
    with pytest.raises(pippin.ConfigError) as caught:
        pippin.load(TASKS["Pippin/InvertedPendulum-v0"], {"trainer.type": "sb3", key: 1})

    assert cure in str(caught.value)
