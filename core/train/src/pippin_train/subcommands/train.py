"""`pippin train`: learn a policy in the task of a file."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pippin.console import PATH, changes, json_line, out, shown_progress
from pippin_task import TASK_FILE

if TYPE_CHECKING:
    from pippin_train.training import Training


@click.command()
@click.argument("file", type=TASK_FILE)
@changes()
@click.option("--trainer", metavar="NAME", help="What learns: rsl-rl, sb3-sac or another one; by default the file's.")
@click.option("--logger", "loggers", multiple=True, metavar="NAME", help="Log: tensorboard, wandb, mlflow or other.")
@click.option("--video", is_flag=True, help="Record the policy at the end: policy.mp4, with pippin[video].")
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations, in place of trainer.iterations.")
@click.option("--resume", type=PATH, metavar="DIR", help="Continue the training of a run folder.")
@click.option("--processes", type=click.IntRange(min=1), metavar="N", help="Learn in N processes of this machine.")
@out()
@json_line()
def train(
    file: Path,
    overrides: tuple[str, ...],
    trainer: str | None,
    loggers: tuple[str, ...],
    video: bool,
    iterations: int | None,
    resume: Path | None,
    processes: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Train a policy for the task of FILE, by the table [trainer] or the settings of a trainer's own.

    FILE may be the name of a task that Pippin brings, such as Pippin/Ant-v0; `pippin tasks` lists them.

    The library of the trainer learns: rsl-rl-lib, Stable-Baselines3, sb3-contrib or skrl, each an extra. An iteration
    takes trainer.steps control steps in each of scene.worlds worlds. Returns and lengths are means over the last 100
    episodes, with the noise of the actions. Every trainer.save_period iterations there is a checkpoint: then the policy
    plays an episode without noise in each of trainer.played_worlds worlds. At the end, the best one plays once more.

    The run folder, by default runs/NAME-DATE-TIME, has the configuration (config.toml), the policy that plays best
    (policy.onnx), a row for each iteration (training.csv), a page with the curves (report.html), the last checkpoint,
    and those before it (checkpoints). Ctrl-C ends the training after an iteration, and saves; --resume continues it.

    With --processes, each process steps a part of the worlds, on a GPU of its own or on the CPU, and all learn the same
    policy from the mean of their gradients. torchrun does the same on several machines.
    """
    if resume is not None and out is not None:
        raise click.UsageError("--out: --resume writes into the folder that it continues; leave one of them out")
    chosen = [*overrides, *map(_logger_of, loggers), *(["trainer.video=true"] if video else [])]
    chosen += [] if iterations is None else [f"trainer.iterations={iterations}"]
    from pippin_train.ranks import Ranks, launch

    ranks = Ranks.of_environment()
    if ranks.count == 1 and processes not in (None, 1):
        _check(file, chosen, trainer, resume, processes)
        launch(processes, ["-m", "pippin_start", *sys.argv[1:]])
        return
    if processes not in (None, ranks.count):
        raise click.UsageError(f"--processes: {processes}, but torchrun has started {ranks.count}; leave it out")
    with ranks.telling_once(), ranks.quiet() if ranks.rank else shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin_train.train import load_training
            from pippin_train.train import train as train_file

            config, values = load_training(file, chosen, trainer)
        again = ["pippin", "train", str(file), *_options(trainer, chosen)]
        again += [] if processes is None else ["--processes", str(processes)]
        try:
            training = train_file(file, config, values, out=out, resume=resume, ranks=ranks)
        except KeyboardInterrupt as error:
            if error.args:
                _note(progress.note, error.args[0], file, overrides)
                progress.note(f"resume with: {shlex.join([*again, '--resume', str(error.args[0].folder)])}")
            raise
        _note(progress.note, training, file, overrides)
    ranks.close()
    if as_json and not ranks.rank:
        click.echo(json.dumps(training.summary()))


def _note(note: Callable[[str], None], training: Training, file: Path, overrides: Sequence[str]) -> None:
    from pippin_train.train import play_command

    mean = "no episode has ended"
    if training.mean_return is not None:
        mean = f"mean return {training.mean_return:.4g}, mean length {training.mean_length:.0f} steps"
    note(
        f"{training.iteration} of {training.iterations} iterations, {training.steps:,} steps in"
        f" {training.seconds:.0f} s; {mean}, with noise"
    )
    if (outcome := training.outcome()) is not None:
        note(f"plays without noise: {outcome}")
    own = [each for each in overrides if not each.lstrip().startswith("trainer.")]
    note(f"play it: {play_command(file, _options(None, own), training)}")
    note(f"run folder: {training.folder}")


def _logger_of(name: str) -> str:
    """Return the override that adds a logger; its label is the name of its class without `Config`."""
    label = name.rpartition(":")[2].removesuffix("Config").lower()
    return f"loggers.{json.dumps(label)}.type={json.dumps(name)}"


def _options(trainer: str | None, overrides: Sequence[str]) -> list[str]:
    options = [] if trainer is None else ["--trainer", trainer]
    return [*options, *(word for each in overrides for word in ("--set", each))]


def _check(file: Path, overrides: Sequence[str], trainer: str | None, resume: Path | None, processes: int) -> None:
    """Raise what all processes would raise before they build anything; they give the warnings."""
    from pippin_train.ranks import Ranks
    from pippin_train.train import TrainingStudy, load_training

    ranks = Ranks(count=processes, local_count=processes)
    with ranks.quiet():
        config, _ = load_training(file, overrides, trainer)
        TrainingStudy(config, resume, ranks)
        ranks.part(config.unobserved())
