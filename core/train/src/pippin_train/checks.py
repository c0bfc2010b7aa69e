"""Check of a trainer on a small task."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pippin
from pippin_conformance import KindChecks, Runs, check
from pippin_task.gym import TASKS

from .configs import trainer_config
from .episodes import TrainingEnv

_TASK = "Pippin/InvertedPendulum-v0"


def check_training(runs: Runs) -> None:
    """An iteration takes the steps of the settings on a cart with a pole. The policy is a network of the task, and
    another trainer that loads what was saved writes the same one.
    """
    subject = runs.subject
    solver: dict[str, Any] = {} if subject.solver is None else {"solver": {"extends": False, "type": subject.solver}}
    keys = {"scene.worlds": subject.world_count, "simulation.device": "cpu", **solver}
    config = pippin.load(TASKS[_TASK], keys)
    settings, plugin = trainer_config(subject.structured()), subject.plugin
    with tempfile.TemporaryDirectory() as folder, subject.entry.attributed("a check"):
        state, *policies = (Path(folder, name) for name in ("state", "policy.onnx", "again.onnx"))
        with closing(TrainingEnv(config.unobserved(), backend=plugin.backend)) as env:
            env.reset(seed=1)
            trainers = [plugin(settings, env, seed) for seed in (1, 2)]
            trainers[0].learn()
            if env.taken != settings.steps * env.num_envs:
                raise runs.fault(f"learn takes {env.taken / env.num_envs:g} steps; take config.steps, {settings.steps}")
            trainers[0].save(state)
            trainers[1].load(state)
            for trainer, path in zip(trainers, policies, strict=True):
                trainer.write_policy(path)
        with pippin.Simulation.from_file(TASKS[_TASK], {**keys, "policy.path": str(policies[0])}):
            pass  # it refuses a network of another task
        if policies[0].read_bytes() != policies[1].read_bytes():
            raise runs.fault("what it saves and loads gives another policy; save all that write_policy writes")


TRAINER = KindChecks(own=(check(check_training, 5.0),))
