"""The training of a file, as a study: its iterations, its live line, its folder, its page."""

from __future__ import annotations

import atexit
import csv
import gc
import json
import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, SimulationConfig, load
from pippin.catalog import Catalog
from pippin.config import inline_text
from pippin.report import Chart, Markup, heading, section
from pippin.studies import RunFolder, RunProgress, Study, run_study

from .configs import trainer_config
from .ranks import Ranks, is_lost

DEFAULT_TRAINER = "rsl-rl"
"""Trainer of a file that names none."""

POLICY, STATE, CURVE = "policy.onnx", "training.json", "training.csv"
"""Files of a training: the policy, how far it is, and a row for each iteration."""

_COLUMNS = ("iteration", "steps", "seconds", "mean_return", "mean_length")

_KEPT = (*_COLUMNS, "cpu_seconds")
"""What a resumed training continues with."""


@attrs.define(kw_only=True)
class Training:
    """State of a training."""

    folder: Path
    """The run folder."""

    trainer: str
    """Name of what learns."""

    iterations: int
    """Iterations at the end."""

    iteration: int = 0
    """Iterations so far."""

    steps: int = 0
    """Control steps of all worlds so far."""

    seconds: float = 0.0
    """Wall time of the iterations so far [s]."""

    cpu_seconds: float = 0.0
    """Processor time of all threads in these iterations [s]."""

    mean_return: float | None = None
    """Mean over the last 100 episodes; None before one has ended."""

    mean_length: float | None = None
    """Mean length of these episodes [control steps]."""

    @property
    def checkpoint(self) -> Path:
        """The file of networks and optimiser."""
        return self.folder / f"checkpoint.{self.trainer}"

    @property
    def policy(self) -> Path:
        """The trained policy."""
        return self.folder / POLICY

    def summary(self) -> dict[str, Any]:
        """Return the numbers, for JSON."""
        return {**attrs.asdict(self), "folder": str(self.folder), "policy": str(self.policy)}

    def line(self, rate: float) -> str:
        """Return the live line, with a rate of control steps of all worlds per second."""
        left = (self.iterations - self.iteration) * self.seconds / max(self.iteration, 1)
        mean = "no episode has ended"
        if self.mean_return is not None:
            mean = f"return {self.mean_return:.4g}, length {self.mean_length:.0f}"
        return f"{self.iteration} of {self.iterations}, {rate:,.0f} steps/s, {mean}, {_duration(left)} left"


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
        self._choice, self._ranks, self._report = choice, ranks, report
        self._entry = Catalog.installed().find("trainer", choice.type)
        self._is_resumed = resume is not None
        self._env: Any = None
        self._trainer: Any = None
        training = Training(folder=Path(), trainer=choice.type.rpartition(":")[2], iterations=choice.config.iterations)
        #: How far it is.
        self.training: Training = training if resume is None else _resumed(resume, training)

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration with its viewers and recorders, which the environment leaves out."""
        return config

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Build the environment and the networks."""
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
            _cut_curve(folder, training.iteration)
            folder.write_config(config)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Learn until all iterations are done."""
        training, trainer, env = self.training, self._trainer, self._env
        saved = training.iteration
        with progress.phase("train"):
            try:
                while training.iteration < training.iterations:
                    began, began_cpu, before = time.perf_counter(), time.process_time(), env.taken
                    env.progress = training.iteration / training.iterations
                    with self._entry.attributed("learn"):
                        trainer.learn()
                    elapsed = time.perf_counter() - began
                    training.iteration += 1
                    training.seconds += elapsed
                    own = {"steps": env.taken - before, "cpu_seconds": time.process_time() - began_cpu}
                    steps, is_asked = self._take_in(progress, own, is_asked=_is_asked(stop_if_asked))
                    if not self._ranks.rank:
                        _write_row(training)
                    progress.update(training.line(steps / elapsed))
                    if training.iteration % self._choice.config.save_period == 0:
                        self._save()
                        saved = training.iteration
                    if is_asked:
                        raise KeyboardInterrupt
                    if self._report is not None and self._report(training):
                        break
            except Exception as error:
                if is_lost(error):
                    progress.note(
                        f"another process is lost; --resume {training.folder} continues with what was learned"
                    )
                raise
            finally:
                if saved < training.iteration:
                    self._save()

    def _take_in(self, progress: RunProgress, own: dict[str, Any], *, is_asked: bool) -> tuple[int, bool]:
        """Take in the iteration of all processes; return their steps, and whether one of them is to stop."""
        training, env, ranks = self.training, self._env, self._ranks
        own |= {"episodes": len(env.last_episodes), "means": env.means(), "is_biased": env.is_biased}
        own |= {"is_asked": is_asked or ranks.is_left, "notes": ranks.notes.taken()}
        found = ranks.gathered(own)
        steps = sum(each["steps"] for each in found)
        training.steps += steps
        training.cpu_seconds += sum(each["cpu_seconds"] for each in found)
        ended = [each for each in found if each["episodes"]]
        if ended and not (self._is_resumed and any(each["is_biased"] for each in found)):
            weights = [each["episodes"] for each in ended]
            means = np.average([each["means"] for each in ended], axis=0, weights=weights)
            training.mean_return, training.mean_length = means.tolist()
        for each in found:
            for text, once in each["notes"]:
                progress.note(text, once=once)
        return steps, any(each["is_asked"] for each in found)

    def _save(self) -> None:
        if self._ranks.rank:
            return
        training, trainer = self.training, self._trainer
        folder = RunFolder(training.folder, continues=True)
        for path, write in ((training.checkpoint, trainer.save), (training.policy, trainer.write_policy)):
            with folder.written(path.name) as part, self._entry.attributed(write.__name__):
                write(part)
                if path == training.policy:  # inside, as what is wrong with the file is wrong with the plugin
                    trained = {key: getattr(training, key) for key in ("trainer", "iteration", "steps")}
                    self._env.write_passport(part, **trained)
        folder.write_json(STATE, training.summary())

    def result(self, folder: Path) -> Training | None:
        """Return how far it is; None before the first iteration."""
        return self.training if self._ranks.rank or (folder / CURVE).is_file() else None

    def page(self, result: Training, file: Path) -> Iterator[Markup]:
        """Yield how far it is, and the mean return and length of episodes as charts over time."""
        with (result.folder / CURVE).open(newline="", encoding="utf-8") as opened:
            rows = list(csv.DictReader(opened))
        last = rows[-1]
        tiles = {
            "iterations": last["iteration"],
            "steps of all worlds": f"{int(last['steps']):,}",
            "wall time": f"{float(last['seconds']):.0f} s",
            "mean return": last["mean_return"] or "no episode has ended",
            "mean length": last["mean_length"] or "no episode has ended",
        }
        yield heading(f"Training of {file.name}", play_command(file, (), result), tiles)
        yield section("Episodes", [*_charts(rows)], id="episodes")

    def close(self) -> None:
        """Close the environment."""
        if self._env is not None:
            self._env.close()


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


def _resumed(folder: Path, training: Training) -> Training:
    """Return how far the training of a folder is; it may be that of another trainer, or have ended."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        of, iteration = str(state["trainer"]), int(state["iteration"])
        missing = [key for key in _KEPT if key not in state]
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ConfigError(f"--resume: '{folder}' has no {STATE} of a training; name the folder of one") from error
    if missing:
        raise ConfigError(
            f"--resume: '{folder}' was trained by another version of Pippin, as its {STATE} has no {missing[0]!r};"
            " resume it with that version, or train anew"
        )
    if of != training.trainer:
        raise ConfigError(f"--resume: '{folder}' was trained by {of}, not by {training.trainer}; choose --trainer {of}")
    if iteration >= training.iterations:
        raise ConfigError(f"--resume: '{folder}' has all of its {iteration} iterations; set trainer.iterations to more")
    return attrs.evolve(training, folder=folder, **{key: state[key] for key in _KEPT})


def _cut_curve(folder: RunFolder, last: int) -> None:
    """Leave out the rows after an iteration: a killed training takes those after its checkpoint again."""
    with suppress(FileNotFoundError):
        head, *rows = (folder.path / CURVE).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [row for row in rows if row.endswith("\n") and int(row.partition(",")[0]) <= last]
        folder.write_text(CURVE, "".join([head, *kept]))


def _write_row(training: Training) -> None:
    with (training.folder / CURVE).open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not file.tell():
            writer.writerow(_COLUMNS)
        values: Mapping[str, Any] = attrs.asdict(training)
        writer.writerow([f"{values[key]:.6g}" if isinstance(values[key], float) else values[key] for key in _COLUMNS])


def _duration(seconds: float) -> str:
    minutes = f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
    return f"{seconds:.0f} s" if seconds < 90.0 else minutes


_CURVES = {"mean_return": ("Mean return", ""), "mean_length": ("Mean length of episodes", "control steps")}


def _charts(rows: list[dict[str, Any]]) -> Iterator[Chart]:
    times = np.array([float(row["seconds"]) for row in rows])
    for key, (title, unit) in _CURVES.items():
        values = np.array([float(row[key]) if row[key] else np.nan for row in rows])
        gaps = np.array([[int(np.isnan(values).sum())]])
        yield Chart.of(title, {"of the last 100 episodes": values}, times, unit, gaps=gaps, note="over wall time")
