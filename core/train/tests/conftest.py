"""A training without a library: a cart whose pole a law holds up. And one of a policy that must remember."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_task.named_tasks import NAMED_TASKS

FILE = f'''extends = ["{NAMED_TASKS["Pippin/InvertedPendulum-v0"]}"]
[simulation]
device = "cpu"
[scene]
worlds = 8
[solver]
extends = false
type = "mujoco-native"
[task]
episode_length = 4.0
[trainer]
type = "law.py:LawConfig"
iterations = 4
steps = 40
save_period = 1
play_share = 1.0
'''

LAW = '''
import json
import attrs
import numpy as np
from pippin_train import TrainerConfig, write_policy

GAINS = np.array([[0.5, 9.0, 0.8, 1.4]], dtype=np.float32)

@attrs.frozen(kw_only=True)
class LawConfig(TrainerConfig):
    """A law that holds the pole up in some iterations, and does nothing in the others."""
    implementation = "Law"
    good: tuple[int, ...] = (1, 2, 3, 4, 5, 6)

class Law:
    backend = "numpy"
    def __init__(self, config, env, seed):
        self.config, self.env, self.random, self.calls = config, env, np.random.default_rng(seed), 0
    def learn(self):
        self.calls += 1
        for _ in range(self.config.steps):
            self.env.step(self.random.uniform(-3.0, 3.0, (self.env.num_envs, 1)).astype(np.float32))
        return {"std": 1.7, "kl": 0.25, "loss/value": 1.0 / self.calls}
    def save(self, path):
        path.write_text(json.dumps(self.calls))
    def load(self, path):
        self.calls = json.loads(path.read_text())
    def write_policy(self, path):
        write_policy(path, [(GAINS * (self.calls in self.config.good), np.zeros(1))], "tanh")
'''


@pytest.fixture
def law_folder(tmp_path, monkeypatch):
    """A folder with a task in `law.toml` whose training shakes the cart, and whose policy holds the pole up."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law.toml").write_text(FILE)
    (tmp_path / "law.py").write_text(LAW)
    return tmp_path


BLIND = """extends = ["law.toml"]
[scene]
worlds = 32
[task]
episode_length = 8.0
[task.observations]
extends = false
policy = { positions = { of = "joint-positions" } }
[task.observations.full]
positions = { of = "joint-positions" }
velocities = { of = "joint-velocities" }
[task.rewards]
alive = { weight = 0.05 }
[trainer]
extends = false
type = "rsl-rl"
steps = 32
save_period = 10
"""


@pytest.fixture
def blind(law_folder):
    """Trains a policy without velocities, and returns what it plays; in `taught.toml`, a group `full` has them."""
    (law_folder / "taught.toml").write_text(BLIND)
    (law_folder / "blind.toml").write_text(
        BLIND.partition("[task.observations.full]")[0] + BLIND[BLIND.index("[task.rewards]") :]
    )

    def train(file, out, **keys):
        words = [word for key, value in keys.items() for word in ("--set", f"trainer.{key}={json.dumps(value)}")]
        result = CliRunner().invoke(main, ["train", file, "--out", out, *words])
        assert result.exit_code == 0, result.output
        return json.loads(Path(out, "training.json").read_text())["played"]

    return train
