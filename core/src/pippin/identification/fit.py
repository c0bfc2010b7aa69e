"""The fit of a file to logs: its loop, its live line, its folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin.config import SimulationConfig, dump_toml, load
from pippin.config.overrides import apply, parse
from pippin.config.toml_text import toml_text
from pippin.config.tree import Node
from pippin.errors import ConfigError
from pippin.runs.decisions import import_newton
from pippin.runs.folder import RunFolder
from pippin.runs.interrupt import NeverWaiting, stopped_between_steps
from pippin.runs.progress import current_progress

from .result import FitCheck, FitResult

ITERATIONS = "iterations"
"""The folder of the journal of a fit, in that of its results."""

Overrides = Mapping[str, Any] | Iterable[str] | None


def fit(
    file: str | os.PathLike[str],
    logs: Sequence[str | os.PathLike[str]] = (),
    overrides: Overrides = None,
    *,
    validate: Sequence[str | os.PathLike[str]] = (),
    out: str | os.PathLike[str] | None = None,
    processes: int | Literal["auto"] = 1,
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

    Raises:
        ConfigError: The file or a log is wrong, or a parameter means nothing that can vary; or the folder has a fit of
            another file, log or version.
        PluginError: A plugin cannot be loaded, or breaks its contract.
        SimulationError: The simulation diverges with the values of the file.
        KeyboardInterrupt: Ctrl-C ended it; `args[0]` is the result so far, if there is one.
    """
    overrides = list(overrides) if overrides is not None and not isinstance(overrides, Mapping) else overrides or {}
    source, progress = Path(file), current_progress()
    config = _judged_by(load(source, overrides).unobserved(), validate)
    continues = out is not None and (Path(out) / ITERATIONS).is_dir()
    folder = RunFolder.named_after(source) if out is None else RunFolder(Path(out), continues=continues)
    course = _course(source, config, logs, folder.path / ITERATIONS, processes)
    with course, stopped_between_steps(NeverWaiting()) as stop_if_asked:
        try:
            with progress.phase("fit"):
                course.run(progress, stop_if_asked)
        except KeyboardInterrupt as error:
            if not course.costs:
                raise
            result = course.result(folder.path)
            _write(folder, source, overrides, config, result, course.tables(result))
            raise KeyboardInterrupt(result) from error
        result = course.result(folder.path)
        _write(folder, source, overrides, config, result, course.tables(result))
    return result


def check_fit(
    file: str | os.PathLike[str],
    logs: Sequence[str | os.PathLike[str]] = (),
    overrides: Overrides = None,
    *,
    validate: Sequence[str | os.PathLike[str]] = (),
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
    course = _course(source, _judged_by(load(source, overrides).unobserved(), validate), logs, None)
    with course, progress.phase("check"):
        return FitCheck(logs=course.alignments(), verdicts=course.expect(is_right=False))


def _judged_by(config: SimulationConfig, logs: Sequence[str | os.PathLike[str]]) -> SimulationConfig:
    """Return a configuration whose fit is judged by some more logs."""
    if config.fit is None or not logs:
        return config
    own = (*config.fit.validation_logs, *(os.path.abspath(log) for log in logs))
    return config.with_tables(fit=attrs.evolve(config.fit, validation_logs=own))


def _course(
    source: Path,
    config: SimulationConfig,
    logs: Sequence[str | os.PathLike[str]],
    journal: Path | None,
    processes: int | Literal["auto"] = 1,
) -> Any:
    """Return the course of a fit, a `FitRun`."""
    table, progress = config.fit, current_progress()
    if table is None:
        raise ConfigError(f"{source}: has no [fit] table; add one, with parameters")
    import_newton(config, progress)
    from .fit_run import FitRun

    with progress.phase("build"):
        return FitRun(config, table, [*table.logs, *(os.fspath(log) for log in logs)], journal, processes)


def _write(
    folder: RunFolder,
    source: Path,
    overrides: Any,
    config: SimulationConfig,
    result: FitResult,
    identified: tuple[dict[str, Any], Mapping[tuple[Any, ...], str]],
) -> None:
    """Write the files of a fit."""
    from .report import fit_page

    folder.write_config(config)
    folder.write_summary(result.summary())
    base = Path(os.path.relpath(source, folder.path)).as_posix()
    lower = apply(Node.build({"extends": [base]}), parse(overrides)).plain()
    tables, comments = identified
    for kind, own in tables.items():
        lower[kind] = _merged(lower.get(kind, {}), own)
    folder.write_text(result.file.name, toml_text(lower, lambda path: comments.get(path, "")))
    folder.write_text("report.html", fit_page(str(source), result, dump_toml(config)))


def _merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain table merged over another one; `extends = false` stays, for the file below both."""
    found = dict(lower)
    for key, value in upper.items():
        below = found.get(key)
        deeper = isinstance(value, Mapping) and isinstance(below, Mapping) and "extends" not in value
        found[key] = _merged(below, value) if deeper else value
    return found
