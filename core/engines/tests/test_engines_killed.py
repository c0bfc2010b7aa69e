"""A hundred workers that are killed or stopped while they step: no hang, nothing left, each named in time.

Twenty in `run`, forty in vector environments, twenty in trainings, twenty in sweeps; half of each by either signal.
"""

import os
import random
import signal
import struct
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_engines import shim
from pippin_task.gym import VectorEnv

from .leftovers import Leftovers, engines

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")]

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PENDULUM = str(EXAMPLES / "tasks" / "inverted_pendulum.toml")
TIMEOUT = 2.0
ELSEWHERE = {"solver.type": "mujoco-native", "solver.environment": sys.prefix, "solver.timeout": TIMEOUT}
SETS = [word for key, value in ELSEWHERE.items() for word in ("--set", f"{key}={value}")]
LATE = 1.0  # 0.05 s on an idle machine: tests/benchmarks/engine_process.py
SIGNALS = {signal.SIGKILL: "ended with signal SIGKILL in ", signal.SIGSTOP: "gave no answer to "}

TRAINER = '''
import attrs
import numpy as np
from pippin_train import Trainer, TrainerConfig
from pippin_train.networks import write_policy


@attrs.frozen(kw_only=True)
class IdleConfig(TrainerConfig):
    """A trainer that only steps."""

    implementation = "Idle"


class Idle(Trainer):
    """Steps without an action."""

    backend = "numpy"

    def __init__(self, config, env, seed):
        self.env = env

    def learn(self):
        for _ in range(20):
            self.env.step(np.zeros(self.env.action_space.shape, dtype=np.float32))

    def save(self, path):
        path.write_bytes(b"")

    def load(self, path):
        pass

    def write_policy(self, path):
        numbers = self.env.single_observation_space.shape[-1]
        write_policy(path, [(np.zeros((1, numbers)), np.zeros(1))], "elu")
'''


@contextmanager
def strikes(number):
    """Send a signal once to each worker, after some steps that it has taken, until the end of the block.

    The workers, each with the time of its strike, are the value.
    """
    struck, over = {}, threading.Event()

    def strike():
        while not over.wait(0.05):
            for pid in set(engines()) - struck.keys():
                count = random.randint(50, 500)  # the trial steps of a build are fewer
                while steps_of(pid) < count and pid in engines() and not over.wait(0.005):
                    pass
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
                    struck[pid] = time.monotonic()

    thread = threading.Thread(target=strike)
    thread.start()
    try:
        yield struck
    finally:
        over.set()
        thread.join()


def steps_of(pid):
    """Return the number of steps that an engine has done, from the memory that it shares with its host."""
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            if os.readlink(link).startswith("/memfd:pippin"):
                head = link.read_bytes()[: shim.HEAD]  # none before the host has made room
                return struct.unpack("=4q", head[:32])[3] if head else 0
    except OSError:  # a file that it has just closed, or it has ended
        pass
    return 0


def played(env):
    while True:
        env.step(env.action_space.sample())


def called(*arguments):
    return CliRunner().invoke(main, [*arguments, *SETS])


@pytest.fixture(scope="module", autouse=True)
def servers():
    """Start the servers of processes, which stay."""
    VectorEnv(PENDULUM, num_envs=2, shards=2).close()


@pytest.fixture(autouse=True)
def nothing_is_left(servers, monkeypatch, tmp_path_factory):
    """Let nothing of an engine stay after a test."""
    leftovers = Leftovers(monkeypatch, tmp_path_factory.mktemp("own"))
    yield
    assert leftovers.after() == []


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("turn", range(10))
def test_a_run_names_it(turn, number, tmp_path):
    with strikes(number) as struck:
        result = called("run", PENDULUM, "--duration", "100000", "--out", str(tmp_path / "run"))

    assert result.exit_code == 4, result.output
    assert SIGNALS[number] in result.output
    assert struck  # one, or also that of a rehearsal of a cold build


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("turn", range(20))
def test_an_environment_names_it(turn, number):
    env = VectorEnv(PENDULUM, num_envs=4, overrides=ELSEWHERE, shards=2 if turn % 2 else None)
    with strikes(number) as struck:
        env.reset(seed=0)
        with pytest.raises(pippin.SimulationError, match=SIGNALS[number]):
            played(env)
        named = time.monotonic()
    env.close()
    assert struck
    assert named - min(struck.values()) < LATE + (TIMEOUT if number == signal.SIGSTOP else 0.0)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("turn", range(10))
def test_a_training_names_it(turn, number, tmp_path):
    (tmp_path / "idle.py").write_text(TRAINER)
    with strikes(number):
        trainer = f"{tmp_path / 'idle.py'}:IdleConfig"
        result = called("train", PENDULUM, "--trainer", trainer, "--iterations", "100000", "--out", str(tmp_path / "t"))

    assert result.exit_code == 4, result.output
    assert SIGNALS[number] in result.output


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_sweep_names_each(number, tmp_path):
    out = tmp_path / "sweep"
    with strikes(number) as struck:
        seeds = ["--over", "simulation.seed=0..9", "--processes", "1"]
        result = called("sweep", PENDULUM, *seeds, "--duration", "100000", "--out", str(out))

    assert result.exit_code == 4, result.output
    rows = (out / "results.csv").read_text().splitlines()
    assert sum("failed" in row for row in rows) == 10
    assert len(struck) == 10
