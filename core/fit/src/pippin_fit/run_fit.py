"""The fit of a file to logs, as a study: its folder, and what it continues."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin import ConfigError, SimulationConfig, load
from pippin.report import Markup
from pippin.studies import Overlay, RunFolder, RunProgress, Study, current_progress, import_newton, run_study

from pippin_fit.config import FitParameterConfig

from .result import FitCheck, FitResult
from .verdicts import is_explained

ITERATIONS = "iterations"
"""The folder of the journal of a fit, in that of its results."""

Overrides = Mapping[str, Any] | Iterable[str] | None
Logs = Sequence[str | os.PathLike[str]]


def fit(
    file: str | os.PathLike[str],
    logs: Logs = (),
    overrides: Overrides = None,
    *,
    validate: Logs = (),
    out: str | os.PathLike[str] | None = None,
    processes: int | Literal["auto"] = 1,
    tries_delay: bool = True,
) -> FitResult:
    """Find the parameters of a file that explain logs of a robot, as its table `[fit]` says.

    The logs are divided into windows. The worlds of one simulation are candidates × windows: each starts from the
    measured state of its window, and gets the commands of the log. The method of Levenberg and Marquardt lowers the
    differences of simulated and measured signals, divided by their noise.

    The folder has a configuration that extends the file and has the identified values (`identified.toml`), every value
    of the fit (`config.toml`), a summary and a page.

    Args:
        file: The configuration file.
        logs: Logs besides those of `fit.logs`.
        overrides: Values on top of the file, as for `pippin.load`.
        validate: Logs that the fit does not see, and that judge it, besides those of `fit.validation_logs`.
        out: The folder, new or empty; by default `runs/NAME-DATE-TIME`. In the folder of a fit that was stopped, the
            same call continues after the last iteration, to the same result.
        processes: Number of processes that share the candidates, with the same bits; "auto" means as many as there are
            cores, and 1 for a solver that uses all cores itself. A script calls this below
            `if __name__ == "__main__":` if there are several.
        tries_delay: Whether a second fit tries a delay of the commands if the model does not explain the logs.

    Raises:
        ConfigError: The file or a log is wrong, or a parameter means nothing that can vary; or the folder has a fit of
            another file, log or version.
        PluginError: A plugin cannot be loaded, or breaks its contract.
        SimulationError: The simulation diverges with the values of the file.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    folder = None if out is None else RunFolder(Path(out), continues=(Path(out) / ITERATIONS).is_dir())
    return run_study(FitStudy(logs, validate, processes, tries_delay=tries_delay), file, overrides, out=folder)


class FitStudy(Study[FitResult]):
    """The fit of a file to logs; the arguments are those of `fit`."""

    kind = "fit"

    def __init__(
        self, logs: Logs, validate: Logs, processes: int | Literal["auto"], *, tries_delay: bool = True
    ) -> None:
        self._logs, self._validate, self._processes, self._tries_delay = logs, validate, processes, tries_delay
        self._course: Any = None

    def prepare(self, config: SimulationConfig, file: Path) -> SimulationConfig:
        """Return the configuration of the fit, judged by some more logs."""
        return _judged_by(config.unobserved(), file, self._validate)

    def build(self, config: SimulationConfig, folder: RunFolder) -> None:
        """Read the logs, and build the worlds of all candidates."""
        self._config = config
        self._course = _course(config, self._logs, folder.path / ITERATIONS, self._processes)

    def run(self, progress: RunProgress, stop_if_asked: Callable[[], None]) -> None:
        """Lower the residuals."""
        with progress.phase("fit"):
            self._course.run(progress, stop_if_asked)
        trial = _with_delay(self._config, self._course) if self._tries_delay else None
        if trial is not None:
            with progress.phase("fit with a delay"), _course(trial, self._logs, None, self._processes) as course:
                course.run(progress, stop_if_asked)
                (delay,) = course.result(Path()).value("signals.delay").values()
                self._course.delay = delay, course.costs[-1]

    def result(self, folder: Path) -> FitResult | None:
        """Return the values so far; None before the first rollout."""
        return self._course.result(folder) if self._course.costs else None

    def overlay(self, result: FitResult) -> Overlay:
        """Return the file with the values that were identified."""
        tables, comments = self._course.identified_tables(result)
        return Overlay(name=result.file.name, tables=tables, comments=comments)

    def page(self, result: FitResult, file: Path) -> Iterator[Markup]:
        """Return a verdict for each value, the signals before and after, and the course."""
        from .report import fit_page

        return fit_page(result, file)

    def close(self) -> None:
        """Close the simulations."""
        if self._course is not None:
            self._course.problem.close()


_LONGEST = 3.0
"""Longest delay that is tried, in periods of a log."""


def _with_delay(config: SimulationConfig, course: Any) -> SimulationConfig | None:
    """Return the fit with a delay of the commands, on straight lines; None if the logs are explained, or it has one."""
    table = config.fit
    if table is None or is_explained(course.costs[-1]) or "signals.delay" in table.parameters:
        return None
    if table.command == "feedforward" or table.method != "least-squares":
        return None
    reach = _LONGEST * course.problem.logs[0].period
    parameters = {**table.parameters, "signals.delay": FitParameterConfig(range=(-reach, reach))}
    return config.with_tables(fit=attrs.evolve(table, parameters=parameters, interpolation="linear"))


def check_fit(
    file: str | os.PathLike[str], logs: Logs = (), overrides: Overrides = None, *, validate: Logs = ()
) -> FitCheck:
    """Return how logs and commands align, and what they can tell of each parameter, after a few rollouts.

    Args:
        file: The configuration file.
        logs: Logs besides those of `fit.logs`.
        overrides: Values on top of the file, as for `pippin.load`.
        validate: Logs that the fit would not see.

    Raises:
        ConfigError, PluginError, SimulationError: As `fit`.
    """
    source, progress = Path(file), current_progress()
    config = _judged_by(load(source, overrides).unobserved(), source, validate)
    import_newton(config, progress)
    with config.tree.placing(), progress.phase("build"):
        course = _course(config, logs, None)
    with course, progress.phase("check"):
        return FitCheck(logs=tuple(course.alignments()), verdicts=course.expect(is_right=False))


def _judged_by(config: SimulationConfig, file: Path, logs: Logs) -> SimulationConfig:
    if config.fit is None:
        raise ConfigError(f"{file}: has no [fit] table; add one, with parameters")
    own = (*config.fit.validation_logs, *(os.path.abspath(log) for log in logs))
    return config.with_tables(fit=attrs.evolve(config.fit, validation_logs=own)) if logs else config


def _course(config: SimulationConfig, logs: Logs, journal: Path | None, processes: int | Literal["auto"] = 1) -> Any:
    from .fit_run import FitRun

    assert config.fit is not None, "`_judged_by` sees to it"
    return FitRun(config, config.fit, [*config.fit.logs, *(os.fspath(log) for log in logs)], journal, processes)
