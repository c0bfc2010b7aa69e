"""Several processes that learn together: the same weights, one folder, one voice, one end."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pippin
import pytest
from pippin_task.gym import TASKS
from pippin_train.configs import RslRlConfig, Sb3Config, SkrlConfig
from pippin_train.ranks import Ranks

from tests.sessions import is_running, wait_for

torch = pytest.importorskip("torch")
pytest.importorskip("rsl_rl")

FILE = f'''extends = ["{TASKS["Pippin/InvertedPendulum-v0"]}"]
[simulation]
device = "cpu"
[scene]
worlds = 8
[solver]
extends = false
type = "mujoco-native"
threads = 1
[task]
episode_length = 0.8
[trainer]
type = "noted.py:NotedConfig"
iterations = 3
steps = 30
'''

NOTED = """
import os
import warnings
from pathlib import Path

import attrs
import torch
from pippin import ConfigError
from pippin_train.configs import RslRlConfig
from pippin_train.rsl_rl import TrainerRslRl

RANK = int(os.environ.get("RANK", "0"))

@attrs.frozen(kw_only=True)
class NotedConfig(RslRlConfig):
    implementation = "Noted"
    fault: str = ""

class Noted(TrainerRslRl):
    '''Notes after each iteration what the process has, and fails on request.'''
    def __init__(self, config, env, seed):
        super().__init__(config, env, seed)
        self.draws, self.first = torch.randn(4), env.observe().clone()
        self.calls = 0
        Path(f"pid-{RANK}").write_text(str(os.getpid()))
        warnings.warn("a warning of both")
        if RANK == 1:
            warnings.warn("a warning of the second")
        if self._config.fault == "build":
            raise ConfigError("trainer.fault: is told once; leave it out")
    def learn(self):
        super().learn()
        self.calls += 1
        alg = self._runner.alg
        parts = {"draws": self.draws, "first": self.first, "rate": alg.learning_rate}
        torch.save(alg.save() | parts, f"rank-{RANK}.pt")
        if self._config.fault == "second" and RANK == 1:
            raise ConfigError("trainer.fault: is of the second; leave it out")
"""

LIMIT = 400.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a task and a trainer that notes what each process has."""
    path = tmp_path_factory.mktemp("ranks")
    (path / "task.toml").write_text(FILE)
    (path / "noted.py").write_text(NOTED)
    return path


def command(*words):
    return [Path(sys.executable).with_name("pippin"), "train", "task.toml", *map(str, words)]


def train(folder, *words):
    return subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, timeout=LIMIT)


def started(folder, *words):
    """Return a training that runs until somebody ends it, when its first iterations are done."""
    out = folder / words[words.index("--out") + 1]
    process = subprocess.Popen(
        command(*words, "--iterations", 100_000),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    end = time.monotonic() + LIMIT
    while not (out / "training.csv").exists() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    return process


def states_of(folder):
    return [torch.load(folder / f"rank-{rank}.pt", weights_only=False) for rank in range(2)]


def same(one, other):
    """Tell whether two trees of numbers are the same, bit for bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(torch.equal(one, other)) if isinstance(one, torch.Tensor) else one == other


@pytest.fixture(scope="module")
def trained(folder):
    """What two processes print after three iterations, and what each one has."""
    result = train(folder, "--processes", 2, "--out", "out", "--json")
    assert result.returncode == 0, result.stdout + result.stderr
    return result, states_of(folder)


@pytest.mark.slow
class TestTwoProcesses:
    def test_both_have_the_same_networks_statistics_and_rates(self, trained):
        one, other = trained[1]

        for key in one.keys() - {"draws", "first"}:
            assert same(one[key], other[key]), key
        assert one["rate"] != 1e-3, "it was adapted"

    def test_their_worlds_and_draws_differ(self, trained, folder):
        one, other = trained[1]

        assert not torch.equal(one["draws"], other["draws"])
        seen = torch.cat([one["first"], other["first"]])
        assert len(torch.unique(seen, dim=0)) == 8, "the first observations of all worlds"

    def test_their_worlds_are_those_of_one_process(self, trained, folder):
        """The observations before the first step."""
        from pippin_task.gym import VectorEnv

        env = VectorEnv(folder / "task.toml", backend="torch")
        whole, _ = env.reset(seed=env.simulation.config.simulation.seed)
        parts = torch.cat([each["first"] for each in trained[1]])
        env.close()

        assert torch.equal(whole, parts)

    def test_the_statistics_are_those_of_all_observations(self, trained):
        """The normaliser counts the rows of both processes."""
        count = trained[1][0]["actor_state_dict"]["obs_normalizer.count"]

        assert int(count) == 3 * 30 * 8

    def test_one_folder_counts_the_steps_of_both(self, trained, folder):
        state = json.loads(trained[0].stdout.splitlines()[-1])
        with open(folder / "out/training.csv", newline="") as file:
            steps = [int(row["steps"]) for row in csv.DictReader(file)]

        assert steps == [240, 480, 720]
        assert state["steps"] == 720
        assert state["played"]["episodes"] == 8, "the first process plays"
        assert state["numbers"]["ended/time"] + state["numbers"]["ended/fallen"] >= 1.0, "of the episodes of both"
        assert trained[0].stdout.count("\n") == 1, "one line of JSON, of one process"
        assert pippin.load(folder / "out/config.toml").scene.worlds == 8
        assert {path.name for path in folder.iterdir() if path.is_dir()} <= {"out", "__pycache__"}

    def test_what_both_have_to_say_is_said_once(self, trained):
        text = trained[0].stderr

        assert text.count("a warning of both") == 1
        assert text.count("a warning of the second") == 1
        assert text.count("play it: pippin play") == 1

    def test_a_resumed_training_continues_on_both(self, trained, folder):
        result = train(folder, "--processes", 2, "--resume", "out", "--iterations", 5)

        one, other = states_of(folder)
        assert result.returncode == 0, result.stdout + result.stderr
        assert same(one["optimizer_state_dict"], other["optimizer_state_dict"])
        assert same(one["actor_state_dict"], other["actor_state_dict"])
        assert int(one["actor_state_dict"]["obs_normalizer.count"]) == 5 * 30 * 8
        assert json.loads((folder / "out/training.json").read_text())["steps"] == 5 * 240


@pytest.mark.slow
def test_ctrl_c_ends_both_after_the_same_iteration(folder):
    process = started(folder, "--processes", 2, "--out", "interrupted")

    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=LIMIT)

    state = json.loads((folder / "interrupted/training.json").read_text())
    rows = (folder / "interrupted/training.csv").read_text().splitlines()[1:]
    assert process.returncode == 130, text
    assert "resume with: pippin train task.toml --set trainer.iterations=100000 --processes 2 --resume" in text
    assert text.count("stopped\n") == 1
    assert "Traceback" not in text
    assert state["iteration"] == len(rows) >= 1
    one, other = states_of(folder)
    assert same(one["actor_state_dict"], other["actor_state_dict"])
    assert all(not is_running(int((folder / f"pid-{rank}").read_text())) for rank in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 0])
def test_a_killed_process_is_named_and_ends_the_others(folder, rank):
    process = started(folder, "--processes", 2, "--out", f"killed-{rank}")
    pid, other = (int((folder / f"pid-{each}").read_text()) for each in (rank, 1 - rank))

    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_running(other), 20.0)  # after 30 s, PyTorch's agent would kill it
    text, _ = process.communicate(timeout=LIMIT)

    assert process.returncode == 4, text
    assert text.count("error:") == 1, text
    assert f"error: rank {rank} of 2: its process {pid} was killed by SIGKILL" in text
    assert "Traceback" not in text
    if rank:  # the first one writes what was learned
        assert json.loads((folder / "killed-1/training.json").read_text())["iteration"] >= 1
        assert "another process is lost; --resume killed-1 continues with what was learned" in text


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "told"), [("build", "is told once"), ("second", "rank 1 of 2: .*is of the second")])
def test_an_error_ends_both_and_is_told_once(folder, fault, told):
    result = train(folder, "--processes", 2, "--out", fault, "--set", f"trainer.fault={fault}")

    text = result.stdout + result.stderr
    assert result.returncode == 2, text
    assert text.count("error:") == 1, text
    assert re.search(told, text)
    assert "Traceback" not in text


@pytest.mark.slow
def test_torchrun_starts_the_same_training(folder):
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]

    result = subprocess.run(
        [*run, *command("--out", "torchrun")], cwd=folder, capture_output=True, text=True, timeout=LIMIT
    )

    one, other = states_of(folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert same(one["actor_state_dict"], other["actor_state_dict"])
    assert json.loads((folder / "torchrun/training.json").read_text())["steps"] == 720


@pytest.mark.slow
def test_processes_whose_command_was_killed_end(folder):
    process = started(folder, "--processes", 2, "--out", "orphans")
    pids = [int((folder / f"pid-{rank}").read_text()) for rank in range(2)]

    process.kill()
    process.communicate(timeout=LIMIT)

    wait_for(lambda: not any(map(is_running, pids)), LIMIT)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--processes", "3"], "scene.worlds: 8 worlds do not split evenly over 3 processes; take 9"),
        (
            ["--processes", "2", "--trainer", "sb3"],
            "trainer.type: 'sb3' learns in one process, not in 2; take 'rsl-rl'",
        ),
        (["--processes", "2", "--trainer", "skrl"], "'skrl' learns in one process"),
    ],
)
def test_what_cannot_be_split_is_refused_before_a_process_starts(folder, words, message):
    pytest.importorskip({"sb3": "stable_baselines3"}.get(words[-1], "skrl" if words[-1] == "skrl" else "torch"))

    result = train(folder, *words, "--out", "refused")

    assert result.returncode == 2
    assert message in result.stderr
    assert not (folder / "refused").exists()


def ranks(**changes):
    return Ranks(**{"count": 2, "local_count": 2} | changes)


def config(**overrides):
    own = {"simulation.device": "auto", "trainer.type": "rsl-rl"} | overrides
    return pippin.load(TASKS["Pippin/InvertedPendulum-v0"], {"scene.worlds": 8, **own}).unobserved()


def test_each_process_has_neighbouring_worlds_and_its_gpu(monkeypatch):
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    parts = [ranks(rank=rank, local_rank=rank).part(config()) for rank in range(2)]

    scenes = [each.scene for each in parts]
    assert [each.simulation.device for each in parts] == ["cuda:0", "cuda:1"]
    assert [(each.worlds, each.first_world, each.total_worlds) for each in scenes] == [(4, 0, 8), (4, 4, 8)]


@pytest.mark.parametrize(
    ("device", "gpus", "message"),
    [
        ("auto", 1, "2 processes of this machine would share 1 GPU"),
        ("cuda:1", 2, "'cuda:1' is one GPU for 2 processes; take 'auto' or 'cpu'"),
    ],
)
def test_a_gpu_that_processes_would_share_is_refused(monkeypatch, device, gpus, message):
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)

    with pytest.raises(pippin.ConfigError, match=message):
        ranks().part(config(**{"simulation.device": device}))


def test_processes_draw_by_seeds_of_their_own():
    """Those of neighbouring seeds, too: the second process of seed 0 is not the first one of seed 1."""
    seeds = [ranks(rank=rank).seed(seed) for seed in range(3) for rank in range(3)]

    assert len(set(seeds)) == 9
    assert seeds[::3] == [0, 1, 2], "the first process has the seed of a training without others"


def test_half_an_environment_of_torchrun_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.delenv("RANK", raising=False)

    with pytest.raises(pippin.ConfigError, match=r"WORLD_SIZE: is '2', .*'RANK' is missing.*; start them by torchrun"):
        Ranks.of_environment()


def test_only_rsl_rl_learns_in_several_processes():
    assert [each.is_data_parallel for each in (RslRlConfig, Sb3Config, SkrlConfig)] == [True, False, False]
