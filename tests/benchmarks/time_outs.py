"""What follows a time-out, and what is learned: `uv run --group dev --group rl python tests/benchmarks/time_outs.py`.

Three tasks are trained by rsl-rl-lib with short episodes, so that time-outs are frequent, and the last policy plays
whole episodes of the task. A time-out adds the discounted value of the state that came, as `pippin train` does; that of
the state before the last step, as the library does on its own; or nothing, as if the episode had ended there. A row of
the table is printed as soon as its seeds are trained.
"""

from __future__ import annotations

import argparse
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pippin
import torch
from pippin_task import Player
from pippin_train import train_policy
from pippin_train.configs import RslRlConfig
from pippin_train.rsl_rl import TrainerRslRl

TRAININGS = Path(__file__).parents[2] / "docs" / "examples" / "training"
TASKS = {"cartpole": (1.0, 40), "swing_up": (1.0, 40), "inverted_double_pendulum": (1.0, 50)}
"""By training: length of its episodes here [s], and iterations."""

VARIANTS = {"came": "the state that came", "before": "the state before", "nothing": "nothing"}


@attrs.frozen(kw_only=True)
class StudiedConfig(RslRlConfig):
    """PPO of rsl-rl-lib, with a choice of what a time-out adds."""

    implementation = "Studied"

    adds: str = "came"


class Studied(TrainerRslRl):
    """Trains with that choice."""

    def __init__(self, config: StudiedConfig, env: Any, seed: int) -> None:
        super().__init__(config, env, seed)
        wrapper = self._runner.env
        if config.adds == "before":
            wrapper.value = None
        elif config.adds == "nothing":
            wrapper.value = lambda seen: torch.zeros(seen.batch_size, device=seen.device)


def return_of(name: str, adds: str, seed: int, worlds: int) -> float:
    """Train with a seed, and return the mean return of whole episodes."""
    length, iterations = TASKS[name]
    keys = tomllib.loads((TRAININGS / f"{name}.toml").read_text())["trainer"]
    keys |= {"type": f"{Path(__file__).resolve()}:StudiedConfig", "adds": adds, "iterations": iterations}
    keys |= {"extends": False, "played_worlds": 0}
    file = TRAININGS / f"{name}.toml"
    with tempfile.TemporaryDirectory() as folder:
        own = {"trainer": keys, "task.episode_length": length, "simulation.seed": seed, "simulation.device": "cpu"}
        training = train_policy(file, own, out=Path(folder, "run"))
        player = Player(pippin.load(file, {"simulation.device": "cpu"}), worlds)
        try:
            return player.play(training.policy, seed=1)["mean_return"]
        finally:
            player.close()


def main() -> None:
    """Train, play, and print a row for each variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(TASKS), help="trainings, of " + ", ".join(TASKS))
    parser.add_argument("--adds", default="came,nothing", help="variants, of came, before, nothing")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each")
    parser.add_argument("--worlds", type=int, default=16, help="episodes that a policy plays")
    options = parser.parse_args()
    print("| task | a time-out adds the value of | return of each seed | mean |\n|---|---|---|---|")
    for name in options.names:
        for adds in options.adds.split(","):
            found = [return_of(name, adds, seed, options.worlds) for seed in range(options.seeds)]
            each = ", ".join(f"{value:.4g}" for value in found)
            print(f"| {name} | {VARIANTS[adds]} | {each} | {np.mean(found):.4g} |", flush=True)


if __name__ == "__main__":
    main()
