"""The training of a file, as a study: its iterations, its live line, its folder, its page."""

from __future__ import annotations

import atexit
import gc
import json
import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, SimulationConfig, load
from pippin.catalog import Catalog
from pippin.config import inline_text
from pippin.report import Markup, heading
from pippin.studies import RunFolder, RunProgress, Study, run_study

from .configs import trainer_config
from .curve import CURVE, EARLY, Curve, read_rows, sections
from .loggers.logger import Ending, LoggedRun, Loggers
from .ranks import Ranks, is_lost
from .training import COLUMNS, Training, resumed

DEFAULT_TRAINER = "rsl-rl"
"""Trainer of a file that names none."""


def load_training(file: Path, overrides: Sequence[str], trainer: str | None) -> tuple[SimulationConfig, list[str]]:
    """Return the configuration of a training, which must have a task, and all values that it sets on top of a file."""
    chosen = [*([] if trainer is None else [f"trainer.type={json.dumps(trainer)}"]), *overrides]
    try:
        config = load(file, chosen)
    except ConfigError as error:
        if "trainer.type: missing" not in str(error):
            raise
        config = None  # a key of [trainer] alone
    if config is None or config.trainer is None:
        chosen.insert(0, f"trainer.type={json.dumps(DEFAULT_TRAINER)}")
        config = load(file, chosen)
    if config.task is None:
        raise ConfigError(f"{file}: has no [task] table; training needs one, with actions, observations and rewards")
    trainer_config(config.trainer)
    Catalog.installed().find("trainer", config.trainer.type).refuse_missing_libraries("trainer")
    if config.trainer.config.video:
        Catalog.installed().find("viewer", "video").refuse_missing_libraries("trainer.video")
    for label, logger in config.loggers.items():
        Catalog.installed().find("logger", logger.type).refuse_missing_libraries(f"loggers.{label}")
    return config, chosen


def train(
    file: Path,
    config: SimulationConfig,
    overrides: Sequence[str],
    *,
    out: Path | None,
    resume: Path | None,
    ranks: Ranks,
    report: Callable[[Training], Any] | None = None,
) -> Training:
    """Train as `train_policy` does, with what `load_training` returned, in one of the processes that learn together."""
    if ranks.rank:
        return run_study(TrainingFollower(config, resume, ranks), file, overrides)
    study = TrainingStudy(config, resume, ranks, report)
    return run_study(study, file, overrides, out=out if resume is None else RunFolder(resume, continues=True))


def train_policy(
    file: str | os.PathLike[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    trainer: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: str | os.PathLike[str] | None = None,
    report: Callable[[Training], bool | None] | None = None,
) -> Training:
    """Train a policy for the task of a file, as `pippin train` does, in this process.

    Args:
        file: A configuration file with a `[task]` table.
        overrides: Values on top of the file, as for `load`.
        trainer: What learns, by default as the file says.
        out: The run folder, new or empty; by default `runs/NAME-DATE-TIME`.
        resume: The folder of a training to continue, in place of `out`.
        report: Called after each iteration with how far the training is. If it returns True, the training ends, and
            what was learned is saved, also if it raises: so libraries that search settings end bad trainings early.

    Raises:
        ConfigError: The file or an argument is wrong.
        PluginError: The library of the trainer is not installed, or the trainer is broken.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the training, which can be continued.
    """
    if resume is not None and out is not None:
        raise ConfigError(f"out: '{out}'; `resume` writes into the folder that it continues: leave one of them out")
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={inline_text(value)}" for key, value in overrides.items()]
    config, values = load_training(Path(file), [*(overrides or ())], trainer)
    paths = {"out": None if out is None else Path(out), "resume": None if resume is None else Path(resume)}
    return train(Path(file), config, values, ranks=Ranks(), report=report, **paths)


class TrainingStudy(Study[Training]):
    """The training of a policy for a file; the arguments are those of `train`."""

    kind = "training"

    def __init__(
        self,
        config: SimulationConfig,
        resume: Path | None,
        ranks: Ranks,
        report: Callable[[Training], Any] | None = None,
    ) -> None:
        choice = config.trainer
        assert choice is not None, "load_training sees to it"
        self._config, self._choice, self._ranks, self._report = config, choice, ranks, report
        self._entry = Catalog.installed().find("trainer", choice.type)
        self._is_resumed = resume is not None
        self._env: Any = None
        self._trainer: Any = None
        self._curve: Any = None
        self._checkpoints: Any = None
        self._loggers: Loggers | None = None
        self._ending: Ending = "failed"
        training = Training(folder=Path(), trainer=choice.type.rpartition(":")[2], iterations=choice.config.iterations)
        #: How far it is.
        self.training: Training = training if resume is None else resumed(resume, training)

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration with its viewers and recorders, which the environment leaves out."""
        return config

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build the environment and the networks."""
        from .checkpoints import Checkpoints
        from .episodes import KEPT, TrainingEnv

        atexit.unregister(gc.freeze)  # PyTorch complains at the end about what was not collected
        plugin: Any = self._entry.load()
        settings, training, ranks = self._choice.config, self.training, self._ranks
        with self._entry.attributed("backend"):
            backend = plugin.backend
        part = ranks.part(config.unobserved())
        ranks.join(part.simulation.device)
        with ranks.in_turn():
            own: dict[str, Any] = {"reward_scale": settings.reward_scale, "kept": -(-KEPT // ranks.count)}
            env = self._env = TrainingEnv(part, backend=backend, **own)
            env.reset(seed=config.simulation.seed + training.iteration)
        with self._entry.attributed("__init__"):
            self._trainer = plugin(settings, env, ranks.seed(config.simulation.seed))
        env.begin_passport(config, settings.observations)
        if not ranks.rank:
            training.folder = folder.path
        if self._is_resumed:
            with self._entry.attributed("load"):
                self._trainer.load(training.checkpoint)
        if not ranks.rank:
            self._curve = Curve(folder, training.iteration)
            folder.write_config(config)
            task = attrs.evolve(config, simulation=part.simulation)
            self._checkpoints = Checkpoints(training, self._entry, self._trainer, env, task)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Learn until all iterations are done."""
        training, trainer, env = self.training, self._trainer, self._env
        saved, is_asked = training.iteration, False
        if self._checkpoints is not None and self._checkpoints.is_endless:
            progress.note("no policy plays, as the task has no episode_length; set it, so that the training can tell")
        if self._curve is not None and self._config.loggers:
            run = LoggedRun(folder=training.folder, settings=self._config.tree.plain())
            self._loggers = Loggers(self._config.loggers, run, training.loggers, progress.note)
            training.loggers = self._loggers.keys
        with progress.phase("train"):
            try:
                while training.iteration < training.iterations:
                    began, began_cpu, before = time.perf_counter(), time.process_time(), env.taken
                    env.progress = training.iteration / training.iterations
                    with self._entry.attributed("learn"):
                        numbers = trainer.learn() or {}
                    elapsed = time.perf_counter() - began
                    training.iteration += 1
                    training.seconds += elapsed
                    own = {"steps": env.taken - before, "cpu_seconds": time.process_time() - began_cpu}
                    own["numbers"] = numbers
                    steps, is_asked = self._take_in(progress, own, is_asked=_is_asked(stop_if_asked))
                    score, is_last = None, is_asked or training.iteration == training.iterations
                    if is_last or training.iteration % self._choice.config.save_period == 0:
                        score, saved = self._save(is_last=is_last), training.iteration
                    if self._curve is not None:
                        self._add_row(_row_of(training, score))
                    progress.update(training.line(steps / elapsed))
                    if is_last or (self._report is not None and self._report(training)):
                        break
                if saved < training.iteration:
                    self._save(is_last=True)
                    saved = training.iteration
                if self._checkpoints is not None:
                    self._checkpoints.finish()
                self._ending = "stopped" if is_asked else "finished"
                if is_asked:
                    raise KeyboardInterrupt
            except Exception as error:
                if is_lost(error):
                    progress.note(
                        f"another process is lost; --resume {training.folder} continues with what was learned"
                    )
                raise
            finally:
                if saved < training.iteration:
                    self._save(plays=False)

    def _take_in(self, progress: RunProgress, own: dict[str, Any], *, is_asked: bool) -> tuple[int, bool]:
        """Take in the iteration of all processes; return their steps, and whether one of them is to stop."""
        training, env, ranks = self.training, self._env, self._ranks
        own |= {"episodes": len(env.last_episodes), "means": env.means(), "is_biased": env.is_biased}
        own |= {"is_asked": is_asked or ranks.is_left, "notes": ranks.notes.taken()}
        own["score"], own["curricula"] = env.take_statistics()
        found = ranks.gathered(own)
        steps = sum(each["steps"] for each in found)
        training.steps += steps
        training.cpu_seconds += sum(each["cpu_seconds"] for each in found)
        ended = [each for each in found if each["episodes"]]
        if ended and not (self._is_resumed and any(each["is_biased"] for each in found)):
            weights = [each["episodes"] for each in ended]
            means = np.average([each["means"] for each in ended], axis=0, weights=weights)
            training.mean_return, training.mean_length = means.tolist()
        training.numbers = _numbers_of(found)
        for each in found:
            for text, once in each["notes"]:
                progress.note(text, once=once)
        return steps, any(each["is_asked"] for each in found)

    def _add_row(self, row: Mapping[str, Any]) -> None:
        self._curve.add(row)
        if self._loggers is not None:
            self._loggers.add(row, self.training.iteration)

    def _save(self, **how: bool) -> dict[str, Any] | None:
        return None if self._checkpoints is None else self._checkpoints.save(**how)

    def result(self, folder: Path) -> Training | None:
        """Return how far it is; None before the first iteration."""
        return self.training if self._ranks.rank or (folder / CURVE).is_file() else None

    def page(self, result: Training, file: Path) -> Iterator[Markup]:
        """Yield how far it is, and the curve as charts over time."""
        rows = read_rows(result.folder / CURVE)
        last = rows[-1]
        tiles = {
            "iterations": last["iteration"],
            "steps of all worlds": f"{int(last['steps']):,}",
            "wall time": f"{float(last['seconds']):.0f} s",
            "mean return with noise": last["mean_return"] or "no episode has ended",
            "mean length with noise": last["mean_length"] or "no episode has ended",
        }
        if (played := result.played) is not None and played["episodes"]:
            tiles["mean return without noise"] = f"{played['mean_return']:.4g}"
            tiles["episodes without noise that end early"] = f"{played['terminated']} of {played['episodes']}"
        yield heading(f"Training of {file.name}", play_command(file, (), result), tiles)
        yield from sections(rows)

    def close(self) -> None:
        """Close the loggers, which get the files first, and the environments."""
        if self._loggers is not None:
            self._loggers.close(self.training.folder, self.training.iteration, self._ending)
        for each in (self._checkpoints, self._env):
            if each is not None:
                each.close()


class TrainingFollower(TrainingStudy):
    """The training of a process that is not the first one: it learns the same, and has no folder."""

    has_folder = False


def play_command(file: Path, options: Sequence[str], training: Training) -> str:
    """Return the command that plays the policy of a training."""
    return shlex.join(["pippin", "play", str(file), *options, "--policy", str(training.policy)])


def _is_asked(stop_if_asked: Callable[[], None]) -> bool:
    try:
        stop_if_asked()
    except KeyboardInterrupt:
        return True
    return False


def _row_of(training: Training, score: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the row of an iteration, with what its policy played."""
    row = {key: getattr(training, key) for key in COLUMNS}
    if score is not None and score["episodes"]:
        row |= {"played_return": score["mean_return"], "played_length": score["mean_length"]}
        row[EARLY] = score["terminated"]
    return {**row, **training.numbers}


def _numbers_of(found: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the numbers of an iteration by name: those of the learner, of the episodes that ended, and of curricula.

    Args:
        found: What each process has.
    """
    scores = [each["score"] for each in found]
    score = sum(scores[1:], scores[0]).plain()
    numbers = {key: float(value) for key, value in found[0]["numbers"].items()}
    if count := score["episodes"]:
        ends = {"time": score["timed_out"], **score["terminations"], "diverged": score["diverged"]}
        numbers |= {f"reward/{label}": mean for label, mean in score["rewards"].items()}
        numbers |= {f"ended/{label}": each / count for label, each in ends.items()}
        numbers |= {f"metric/{label}": each["mean"] for label, each in score["metrics"].items()}
    curricula = [each["curricula"] for each in found]
    return numbers | {f"curriculum/{key}": float(np.mean([each[key] for each in curricula])) for key in curricula[0]}
