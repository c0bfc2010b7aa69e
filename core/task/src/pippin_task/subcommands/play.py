"""`pippin play`: let a trained policy act in the task of a file."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError
from pippin.console import PATH, changes, run_file, run_options

from pippin_task.named_tasks import TASK_FILE, trained_files


@click.command()
@click.argument("file", type=TASK_FILE)
@changes()
@click.option("--policy", type=PATH, metavar="FILE", help="ONNX file, or run folder; by default as the file says.")
@click.option("--agent", type=click.Choice(["zero", "random"]), help="Act without a policy, to compare with one.")
@click.option(
    "--solver",
    metavar="NAME",
    help="Another solver than that of the file; it may ignore what only changes numbers, such as armature.",
)
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    help="Play one whole episode in each of so many worlds, and tell the mean return.",
)
@run_options
def play(
    file: Path,
    overrides: tuple[str, ...],
    policy: Path | None,
    agent: str | None,
    solver: str | None,
    episodes: int | None,
    **options: Any,
) -> None:
    """Simulate FILE with a policy that acts in its task, and write a run folder as `pippin run` does.

    The network reads the observations and chooses the action inside the recorded step. It is an ONNX file with one
    input and one output. Without --policy, the file names it in the table [policy]. FILE may be the run folder of a
    training, whose policy plays then, or the name of a task, such as Pippin/Ant-v0.

    With --episodes, no world is reset, so that each counts once, whether its episode is short or long. The last line is
    the score: the mean return with its 95 % interval, the mean length, and the episodes that ended before their time,
    which are falls in most tasks. With --json, it is under `task`.
    """
    if policy is not None and agent is not None:
        raise ConfigError("--agent: acts in place of a policy; leave --policy out")
    file, policy = trained_files(file, policy)
    policy = policy if agent is None else None
    chosen = [*overrides]
    if agent is not None:
        chosen.append(f'+plugins.agent={{type="pippin_task.agents:AgentConfig", actions="{agent}"}}')
    if policy is not None:
        chosen.append(f"policy.path={json.dumps(str(policy.absolute()))}")
    if solver is not None:
        chosen += _with_solver(file, chosen, solver)
    if episodes is not None:
        chosen += _one_episode(file, chosen, episodes, options)
    run_file(file, chosen, shown=("task",), **options)


def _with_solver(file: Path, overrides: Iterable[str], solver: str) -> Iterator[str]:
    from pippin import load
    from pippin.solving import FEATURES

    with warnings.catch_warnings(action="ignore"):  # the run warns of it
        accepted = load(file, overrides).simulation.accept_unsupported
    numbers = [name for name, feature in FEATURES.items() if not feature.is_structural]
    yield f"solver.type={json.dumps(solver)}"
    yield f"simulation.accept_unsupported={json.dumps([*accepted, *numbers])}"


def _one_episode(file: Path, overrides: Iterable[str], episodes: int, options: dict[str, Any]) -> Iterator[str]:
    """Yield what gives each world one episode, and set the steps in the options; refuse what says otherwise."""
    from pippin import load

    for name in ("steps", "duration"):
        if options[name] is not None:
            raise ConfigError(f"--{name}: --episodes plays whole episodes; give only one of the two")
    given = {text.partition("=")[0].strip() for text in overrides}
    for key in {"scene.worlds", "task.autoreset"} & given:
        raise ConfigError(f"--set: {key} is also set by --episodes; leave it out")
    config = load(file, overrides)
    if config.task is None or config.task.episode_length is None:
        raise ConfigError(f"--episodes: {file} has no task.episode_length; set how long an episode is [s]")
    options["duration"] = config.task.episode_length
    yield f"scene.worlds={episodes}"
    yield 'task.autoreset="disabled"'
