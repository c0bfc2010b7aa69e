"""`pippin train`: its loop with a trainer of a file, and the three libraries where they are installed."""

import csv
import importlib.util
import json
import os
import signal
import threading
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import pippin
import pytest
from click.testing import CliRunner
from onnx.reference import ReferenceEvaluator
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin_conformance import Conformance
from pippin_task.gym import TASKS
from pippin_train import train_policy, write_policy
from pippin_train.configs import (
    RslRlConfig,
    Sb3Config,
    Sb3RecurrentConfig,
    Sb3SacConfig,
    Sb3Td3Config,
    SkrlConfig,
    SkrlSacConfig,
    SkrlTd3Config,
)
from pippin_train.episodes import TrainingEnv

LIBRARIES = {"rsl-rl": "rsl_rl", "sb3": "stable_baselines3", "skrl": "skrl"}

REPLAY = {"learning_starts": 0, "batch_size": 64, "gradient_steps": 4}
TRAINERS = {
    "rsl-rl": ("rsl-rl", "rsl_rl", RslRlConfig, {}),
    "rsl-rl with an LSTM": ("rsl-rl", "rsl_rl", RslRlConfig, {"rnn_type": "lstm", "rnn_hidden_dim": 8}),
    "rsl-rl with two GRUs": (
        "rsl-rl",
        "rsl_rl",
        RslRlConfig,
        {"rnn_type": "gru", "rnn_hidden_dim": 8, "rnn_num_layers": 2},
    ),
    "sb3": ("sb3", "stable_baselines3", Sb3Config, {}),
    "sb3-recurrent": ("sb3-recurrent", "sb3_contrib", Sb3RecurrentConfig, {"lstm_hidden_size": 8, "n_lstm_layers": 2}),
    "sb3-sac": ("sb3-sac", "stable_baselines3", Sb3SacConfig, REPLAY),
    "sb3-td3": ("sb3-td3", "stable_baselines3", Sb3Td3Config, REPLAY),
    "skrl": ("skrl", "skrl", SkrlConfig, {}),
    "skrl-sac": ("skrl-sac", "skrl", SkrlSacConfig, REPLAY),
    "skrl-td3": ("skrl-td3", "skrl", SkrlTd3Config, REPLAY),
}
"""By what is trained: trainer, module, settings, and some of them."""

FILE = f'''extends = ["{TASKS["Pippin/InvertedPendulum-v0"]}"]
[simulation]
device = "cpu"
[scene]
worlds = 8
[solver]
extends = false
type = "mujoco-native"
[task]
episode_length = 0.8
'''

SHAKER = '''
import json
import attrs
import numpy as np
from pippin_train import TrainerConfig, write_policy

@attrs.frozen(kw_only=True)
class ShakerConfig(TrainerConfig):
    """Random linear policies."""
    implementation = "Shaker"

class Shaker:
    backend = "numpy"
    def __init__(self, config, env, seed):
        self.config, self.env, self.random = config, env, np.random.default_rng(seed)
        self.weights = np.zeros((1, 4), dtype=np.float32)
        self.calls, self.progress = 0, []
    def learn(self):
        self.calls += 1
        self.progress.append(self.env.progress)
        for _ in range(self.config.steps):
            self.env.step(self.random.uniform(-1.0, 1.0, (self.env.num_envs, 1)).astype(np.float32))
        self.weights += 1.0
    def save(self, path):
        path.write_text(json.dumps([self.calls, self.weights.tolist(), self.progress]))
    def load(self, path):
        self.calls, weights, self.progress = json.loads(path.read_text())
        self.weights = np.array(weights, dtype=np.float32)
    def write_policy(self, path):
        write_policy(path, [(self.weights, np.zeros(1))], "tanh")
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a task of eight cartpoles in `task.toml`, and a trainer in `shaker.py`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.toml").write_text(FILE)
    (tmp_path / "shaker.py").write_text(SHAKER)
    (tmp_path / "shaken.toml").write_text(
        'extends = ["task.toml"]\n[trainer]\ntype = "shaker.py:ShakerConfig"\niterations = 3\nsteps = 30\n'
    )
    return tmp_path


def train(*arguments):
    return CliRunner().invoke(main, ["train", *map(str, arguments)])


def action_of(policy, observations):
    """Return the actions, each at the start of an episode."""
    given = {"observations": observations.astype(np.float32)}
    for each in onnx.load(policy).graph.input[1:]:
        given[each.name] = np.zeros(
            [dim.dim_value or len(observations) for dim in each.type.tensor_type.shape.dim], "f"
        )
    return ReferenceEvaluator(str(policy)).run(None, given)[0]


def test_a_training_leaves_policy_curve_checkpoint_and_the_command_that_plays_it(folder):
    result = train("shaken.toml", "--out", "out", "--set", "scene.worlds=4")

    with open("out/training.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert result.exit_code == 0, result.output
    assert "play it: pippin play shaken.toml --set scene.worlds=4 --policy out/policy.onnx" in result.output
    assert [row["iteration"] for row in rows] == ["1", "2", "3"]
    assert [row["steps"] for row in rows] == ["120", "240", "360"]
    value, length = (float(rows[-1][key]) for key in ("mean_return", "mean_length"))
    assert length - 1.0 <= value <= length <= 20.0, "a reward of 1 for each of 20 steps at most, but not for a fall"
    assert pippin.load("out/config.toml").scene.worlds == 4
    assert "Mean length of episodes" in (folder / "out" / "report.html").read_text()
    np.testing.assert_allclose(action_of("out/policy.onnx", np.ones((2, 4))), 12.0)


def test_a_report_of_each_iteration_ends_a_training_early_and_it_can_be_continued(folder):
    """As Ray Tune and Optuna stop bad trials: the first one by its answer, the second one by an exception."""
    seen = []

    def report(training):
        seen.append((training.iteration, training.steps))
        return training.iteration == 2

    def prune(training):
        raise LookupError(f"pruned after {training.iteration}")

    overrides = {"scene.worlds": 4, "trainer.iterations": 100}
    found = train_policy("shaken.toml", overrides, out="out", report=report)
    with pytest.raises(LookupError, match="pruned after 3"):
        train_policy("shaken.toml", overrides, resume="out", report=prune)

    assert seen == [(1, 120), (2, 240)]
    assert (found.iteration, found.iterations, found.folder) == (2, 100, Path("out"))
    assert json.loads((folder / "out" / "training.json").read_text())["iteration"] == 3
    assert json.loads((folder / "out" / "checkpoint.ShakerConfig").read_text())[0] == 3


def test_a_folder_and_one_to_continue_are_not_both_taken(folder):
    with pytest.raises(pippin.ConfigError, match="out: 'new'; `resume` writes into the folder that it continues"):
        train_policy("shaken.toml", out="new", resume="out")


@pytest.mark.slow
def test_the_networks_learn_from_scaled_rewards_and_returns_keep_their_unit(folder):
    """The same training twice, and the rewards that the trainer saw."""
    (folder / "shaker.py").write_text(
        SHAKER.replace("self.env.step(", "self.seen = self.env.step(").replace(
            "json.dumps([self.calls,", "json.dumps([float(self.seen[1].max()),"
        )
    )
    largest, returns = [], []
    for out, *words in (("one",), ("tenth", "--set", "trainer.reward_scale=0.1")):
        assert train("shaken.toml", "--out", out, *words).exit_code == 0
        largest.append(json.loads((folder / out / "checkpoint.ShakerConfig").read_text())[0])
        returns.append(json.loads((folder / out / "training.json").read_text())["mean_return"])

    np.testing.assert_allclose(largest, [1.0, 0.1], rtol=1e-6)
    assert returns[0] == returns[1] > 1.0


def test_the_printed_command_plays_the_policy(folder):
    train("shaken.toml", "--out", "out")

    played = CliRunner().invoke(
        main, ["play", "shaken.toml", "--policy", "out/policy.onnx", "--steps", "3", "--out", "played"]
    )

    assert played.exit_code == 0, played.output


@pytest.mark.slow
def test_a_training_is_resumed_in_its_folder(folder):
    train("shaken.toml", "--out", "out", "--iterations", "2")

    result = train("shaken.toml", "--resume", "out", "--json")

    state = json.loads(result.stdout)
    assert result.exit_code == 0, result.output
    assert (state["iteration"], state["steps"]) == (3, 720)
    calls, _, progress = json.loads((folder / "out" / "checkpoint.ShakerConfig").read_text())
    assert calls == 3
    np.testing.assert_allclose(progress, [0.0, 0.5, 2.0 / 3.0], err_msg="of two iterations, then of three")
    np.testing.assert_allclose(action_of("out/policy.onnx", np.ones((1, 4))), 12.0)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shaken.toml", "--resume", "nothing"], "--resume: 'nothing' has no training.json"),
        (["shaken.toml", "--resume", "out"], "--resume: 'out' has all of its 3 iterations"),
        (["shaken.toml", "--out", "out"], "'out' is not empty"),
        (["shaken.toml", "--set", "trainer.gamma=2"], "trainer.gamma: must be <= 1.0: 2"),
        (["task.toml", "--set", "trainer.gamma=2"], "trainer.gamma: must be <= 1.0: 2"),
        (
            ["task.toml", "--set", "trainer={type='rsl-rl', anneal=true}"],
            "set desired_kl = 0, or leave anneal out: 0.01",
        ),
    ],
)
def test_a_wrong_argument_is_said_before_anything_is_built(folder, arguments, message):
    if "out" in arguments:
        train("shaken.toml", "--out", "out")

    result = train(*arguments)

    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "build" not in result.output


@pytest.mark.parametrize("text", ["", "[" * 100_000, "[]", "{}", '{"trainer": "shaker", "iteration": "x"}'])
def test_a_damaged_state_is_refused(folder, text):
    (folder / "out").mkdir()
    (folder / "out" / "training.json").write_text(text)

    result = train("shaken.toml", "--resume", "out")

    assert result.exit_code == 2, result.output
    assert "--resume: 'out' has no training.json of a training" in result.output


def test_a_folder_of_another_version_is_refused_with_what_it_lacks(folder):
    train("shaken.toml", "--out", "out", "--iterations", "2")
    state = json.loads((folder / "out" / "training.json").read_text())
    del state["cpu_seconds"]
    (folder / "out" / "training.json").write_text(json.dumps(state))

    result = train("shaken.toml", "--resume", "out")

    assert result.exit_code == 2, result.output
    assert "was trained by another version of Pippin, as its training.json has no 'cpu_seconds'" in result.output


def test_a_file_without_a_task_is_refused(folder):
    (folder / "bare.toml").write_text('[solver]\ntype = "mujoco-native"\n')

    result = train("bare.toml")

    assert result.exit_code == 2
    assert "bare.toml: has no [task] table" in result.output


def test_ctrl_c_saves_after_the_iteration_and_says_how_to_continue(folder):
    """The signal comes when the first row of the curve is there."""

    def interrupt():
        while not (folder / "out" / "training.csv").exists():
            threading.Event().wait(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    result = train("shaken.toml", "--out", "out", "--iterations", "100000")

    state = json.loads((folder / "out" / "training.json").read_text())
    assert result.exit_code == 130, result.output
    assert "resume with: pippin train shaken.toml --set trainer.iterations=100000 --resume out" in result.output
    assert 1 <= state["iteration"] < 100000
    assert json.loads((folder / "out" / "checkpoint.ShakerConfig").read_text())[0] == state["iteration"]


def test_a_resumed_training_has_each_iteration_once_in_its_curve(folder):
    """One that was killed has rows behind its checkpoint, and perhaps a part of one."""
    assert train("shaken.toml", "--out", "out", "--iterations", "4").exit_code == 0
    curve = folder / "out" / "training.csv"
    with curve.open("a") as file:
        file.write("5,1,1,,\n6,1,1,,\n7,1")

    result = train("shaken.toml", "--resume", "out", "--iterations", "7")

    assert result.exit_code == 0, result.output
    assert [row.partition(",")[0] for row in curve.read_text().splitlines()[1:]] == list("1234567")


def test_the_curve_after_a_resume_waits_for_every_world(folder, monkeypatch):
    """Episodes that end first are short: a mean of them alone would look like a collapse."""
    assert train("shaken.toml", "--out", "out", "--iterations", "2").exit_code == 0
    monkeypatch.setattr("pippin_train.episodes.TrainingEnv.is_biased", True)
    monkeypatch.setattr("pippin_train.episodes.TrainingEnv.means", lambda _: (-100.0, 1.0))
    state = json.loads((folder / "out" / "training.json").read_text())

    assert train("shaken.toml", "--resume", "out", "--iterations", "4").exit_code == 0

    after = json.loads((folder / "out" / "training.json").read_text())
    assert after["mean_return"] == state["mean_return"]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_missing_library_is_said_before_anything_is_imported(folder, name):
    if importlib.util.find_spec(LIBRARIES[name]):
        pytest.skip("is installed")

    result = train("task.toml", "--trainer", name)

    assert result.exit_code == 2, result.output
    assert f"uv sync --inexact --group {name}" in result.output or f"'pippin[{name}]'" in result.output
    assert "import" not in result.output
    assert not (folder / "runs").exists()


@pytest.mark.parametrize("limit", [None, 1.5])
def test_a_policy_file_is_the_formula(tmp_path, limit):
    """Two layers, with normalised observations that are clipped or not, against NumPy."""
    random = np.random.default_rng(1)
    layers = [(random.normal(size=(5, 3)), random.normal(size=5)), (random.normal(size=(2, 5)), random.normal(size=2))]
    mean, std, seen = random.normal(size=3), random.uniform(0.5, 2.0, 3), random.normal(size=(6, 3)) * 3.0

    write_policy(tmp_path / "policy.onnx", layers, "elu", mean=mean, std=std, limit=limit)

    normal = (seen - mean) / std
    normal = normal if limit is None else np.clip(normal, -limit, limit)
    hidden = normal @ layers[0][0].T + layers[0][1]
    wanted = np.where(hidden > 0.0, hidden, np.expm1(hidden)) @ layers[1][0].T + layers[1][1]
    onnx.checker.check_model(onnx.load(tmp_path / "policy.onnx"))
    np.testing.assert_allclose(action_of(tmp_path / "policy.onnx", seen), wanted, rtol=1e-4, atol=1e-5)


@pytest.fixture(params=TRAINERS)
def library(request, folder):
    """Name, settings and class of a trainer whose library is installed."""
    name, module, config, settings = TRAINERS[request.param]
    pytest.importorskip(module)
    return name, partial(config, **settings), Catalog.installed().find("trainer", name).load()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_learns_to_balance(name, folder):
    """Episodes last ten times as long as at first, after 80 thousand steps."""
    pytest.importorskip(LIBRARIES[name])
    settings = ("scene.worlds=64", "trainer.steps=32", "task.rewards.alive.weight=0.05", "task.episode_length=20.0")

    options = [word for setting in settings for word in ("--set", setting)]
    result = train("task.toml", "--trainer", name, "--iterations", 40, "--out", "out", *options)

    with open("out/training.csv", newline="") as file:
        lengths = [float(row["mean_length"]) for row in csv.DictReader(file) if row["mean_length"]]
    assert result.exit_code == 0, result.output
    assert lengths[-1] > 10.0 * lengths[0]
    told = json.loads(Path("out/training.json").read_text())
    words = ["--policy", "out/policy.onnx", "--episodes", "8", "--json", "--out", "played"]
    played = CliRunner().invoke(main, ["play", "task.toml", *words, *options[4:]])
    scores = (told["played"], json.loads(played.stdout)["task"])
    widths = [each["mean_return_half_width"] for each in scores]
    assert abs(scores[0]["mean_return"] - scores[1]["mean_return"]) <= sum(widths) + 1e-6
    assert {"std", "kl", "learning_rate"} <= told["numbers"].keys()
    assert told["numbers"]["kl"] > 0.0
    assert len(told["numbers"]) >= 8, "losses, rewards and ends, too"


def test_a_checkpoint_with_a_flipped_bit_is_refused(tmp_path):
    """PyTorch reads it, with other numbers."""
    torch = pytest.importorskip("torch")
    from pippin_train.torch_layers import read_parts

    path, random = tmp_path / "checkpoint.rsl-rl", np.random.default_rng(0)
    torch.save({"weights": torch.full((50, 50), 0.5), "step": 3}, path)
    data, refused = path.read_bytes(), 0
    for bit in random.integers(0, 8 * len(data), 200).tolist():
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            parts = read_parts(path)
        except pippin.ConfigError as error:
            refused += "checkpoint.rsl-rl' is not a checkpoint of a training: " in str(error)
        else:
            assert parts["step"] == 3
            assert (parts["weights"] == 0.5).all()

    assert refused > 150


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_checkpoint_that_would_run_code_is_refused(library, folder):
    _, _, plugin = library
    file = folder / "saved"
    importlib.import_module("torch").save({"model": Evil()}, file)

    with pytest.raises(pippin.ConfigError, match="is not a checkpoint of a training"):
        plugin.load(plugin.__new__(plugin), file)  # it is refused before the trainer is touched

    assert not (folder / "evil").exists()


class Evil:
    """An object whose file makes another file when it is read."""

    def __reduce__(self):
        return Path.touch, (Path("evil"),)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_library_saves_what_it_learned(library, folder):
    """A second trainer with other networks gives the policy of the first one after `load`."""
    _, config, plugin = library
    settings = config(steps=8, hidden=(8, 8))
    actions = []
    with_env = TrainingEnv(folder / "task.toml", backend=plugin.backend)
    with_env.reset(seed=1)
    first = plugin(settings, with_env, 1)
    first.learn()
    first.learn()
    first.save(folder / "saved")
    second = plugin(settings, with_env, 2)
    for trainer in (first, second):
        trainer.write_policy(folder / "policy.onnx")
        actions.append(action_of(folder / "policy.onnx", np.random.default_rng(0).normal(size=(5, 4))))
    second.load(folder / "saved")
    second.write_policy(folder / "policy.onnx")
    actions.append(action_of(folder / "policy.onnx", np.random.default_rng(0).normal(size=(5, 4))))
    with_env.close()

    assert np.abs(actions[0] - actions[1]).max() > 1e-3
    np.testing.assert_allclose(actions[2], actions[0], atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("anneal", [False, True])
def test_an_annealed_policy_changes_less_and_at_the_end_not_at_all(library, folder, anneal):
    """The largest change of an action in an iteration at the start, and in one with a rate of 0."""
    name, config, plugin = library
    schedule = {"desired_kl": 0.0} if name == "rsl-rl" else {}
    settings = config(steps=8, hidden=(8, 8), normalise=False, anneal=anneal, **schedule)
    seen, changes = np.random.default_rng(0).normal(size=(5, 4)), []
    env = TrainingEnv(folder / "task.toml", backend=plugin.backend)
    env.reset(seed=1)
    trainer = plugin(settings, env, 1)
    trainer.write_policy(folder / "policy.onnx")
    for env.progress in (0.0, 1.0):
        before = action_of(folder / "policy.onnx", seen)
        trainer.learn()
        trainer.write_policy(folder / "policy.onnx")
        changes.append(np.abs(action_of(folder / "policy.onnx", seen) - before).max())
    env.close()

    assert changes[0] > 1e-3
    assert changes[1] == 0.0 if anneal else changes[1] > 1e-3


def test_the_rate_of_an_annealed_training_falls_in_a_line():
    rates = [Sb3Config(learning_rate=4e-4, anneal=anneal).rate(0.25) for anneal in (False, True)]

    np.testing.assert_allclose(rates, [4e-4, 3e-4])


WRONG = {
    "not a TrainerConfig": ("ShakerConfig(TrainerConfig)", "ShakerConfig", "is not a pippin_train.TrainerConfig"),
    "no backend": ('    backend = "numpy"\n', "", "backend raised AttributeError"),
    "no constructor": ("def __init__(self, config, env, seed)", "def __init__(self)", "__init__ raised TypeError"),
    "a broken iteration": ("self.calls += 1", "self.calls += None", "learn raised TypeError"),
    "a broken policy": ("write_policy(path, [", "write_policy(None, [", "write_policy raised TypeError"),
}
LATER = {
    "too few steps": ("range(self.config.steps)", "range(7)", "learn takes 7 steps; take config.steps, 24"),
    "a policy that is not saved": ("self.weights.tolist()", "[[0.0] * 4]", "gives another policy"),
    "a policy of another task": ("np.zeros((1, 4)", "np.zeros((1, 3)", "takes 3 numbers, and there are 4 observations"),
}


def write_wrong(folder, right, wrong):
    assert right in SHAKER
    (folder / "shaker.py").write_text(SHAKER.replace(right, wrong))


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_of_a_trainer_names_the_plugin(folder, fault):
    right, wrong, told = WRONG[fault]
    write_wrong(folder, right, wrong)

    text = (folder / "shaken.toml").read_text()
    if fault == "not a TrainerConfig":  # it has no keys
        (folder / "shaken.toml").write_text(text.replace("iterations = 3\nsteps = 30\n", ""))
    result = train("shaken.toml", "--out", "out")

    assert result.exit_code == 3, result.output
    assert "error: trainer 'ShakerConfig' of " in result.output
    assert told in result.output


def checked(folder):
    kit = Conformance("trainer", f"{folder / 'shaker.py'}:ShakerConfig", solver="mujoco-native")
    return kit.run("training")


def test_the_kit_passes_a_right_trainer(folder):
    assert checked(folder).outcome == "passed"


@pytest.mark.parametrize("fault", [*WRONG, *LATER])
def test_the_kit_finds_a_wrong_trainer(folder, fault):
    right, wrong, told = {**WRONG, **LATER}[fault]
    write_wrong(folder, right, wrong)

    result = checked(folder)

    assert result.outcome == "failed"
    assert told.split("raised ")[-1] in result.reason
