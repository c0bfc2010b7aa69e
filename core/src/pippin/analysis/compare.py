"""Comparison of solvers on one file: each runs in a fresh process, and all are timed and measured in the same way."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.catalog.entries import Catalog
from pippin.config import load
from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.recording.series import Series
from pippin.runs.decisions import step_count
from pippin.runs.folder import RunFolder
from pippin.runs.progress import current_progress
from pippin.spelling import did_you_mean
from pippin.workers import WorkerProcess

from .comparison import UNITS, Comparison, SolverRun
from .comparison_page import comparison_page
from .solver_choice import accepting_numbers, with_solver


def compare(
    file: str | os.PathLike[str],
    solvers: Sequence[str] = (),
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    steps: int | None = None,
    duration: float | None = None,
    reference: str | None = None,
    limits: Mapping[str, float] | None = None,
    timeout: float = 900.0,
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Run a file with one solver after the other, each in a fresh process, and measure them in the same way.

    The solver of the file ignores only what the file accepts (`simulation.accept_unsupported`). Other solvers may also
    ignore features that only change numbers, such as the armature; they run with their defaults.

    Args:
        file: A configuration file.
        solvers: Names of solvers; by default all installed ones.
        overrides: Values on top of the file, as for `load`.
        steps: Control steps to simulate.
        duration: Time to simulate [s], in place of `steps`; by default 5 s.
        reference: Solver whose positions the others are compared with; by default the first one.
        limits: Largest allowed values of figures, by the names of the attributes of `SolverRun`.
        timeout: Longest time that a solver may take [s].
        out: Folder for all figures, the series and the page, new or empty; by default `runs/NAME-DATE-TIME`.

    Raises:
        ConfigError: The file or an argument is wrong. A solver that cannot run the file is a result, not an error.
        PluginError: A plugin that the file names is broken.
    """
    file, progress, limits = Path(file), current_progress(), limits or {}
    changes = overrides if overrides is None or isinstance(overrides, Mapping) else tuple(overrides)
    config = load(file, changes)
    own = () if config.solver is None else (config.solver.type,)
    names = tuple(solvers) or tuple(dict.fromkeys((*Catalog.installed().names_without_settings("solver"), *own)))
    count = step_count(config, steps, duration)
    reference = _checked(reference, names, limits, timeout)
    folder = RunFolder.named_after(file) if out is None else RunFolder(Path(out))
    results = []
    for solver in names:
        with progress.phase(solver):
            results.append(_run_apart(file, changes, solver, count, timeout, config.simulation.requires_grad))
    related = {result.solver: result for result in _related(results, reference)}
    found = Comparison(
        file=file,
        steps=count,
        reference=reference,
        solvers=related,
        exceeded=tuple(_exceeding(related, limits)),
        folder=folder.path,
    )
    folder.write_json("comparison.json", found.summary())
    folder.write_series({f"{name}/{each}": one for name, run in related.items() for each, one in run.series.items()})
    folder.write_text("comparison.html", comparison_page(found))
    return found


def _exceeding(solvers: Mapping[str, SolverRun], limits: Mapping[str, float]) -> Iterator[str]:
    """Yield a line for each figure that is larger than its limit."""
    for solver, result in solvers.items():
        for name, largest in limits.items():
            value = getattr(result, name)
            if value is not None and not value <= largest:
                yield f"{solver}: {name} is {value:.4g}, and may be {largest:.4g} at most"


def _checked(reference: str | None, solvers: Sequence[str], limits: Mapping[str, float], timeout: float) -> str:
    """Return the reference, if no argument is wrong."""
    twice = [solver for index, solver in enumerate(solvers) if solver in solvers[:index]]
    if twice:
        raise ConfigError(f"solver: {twice[0]!r} is named twice; name each solver once")
    if reference is not None and reference not in solvers:
        raise ConfigError(f"reference: {reference!r} is not compared; name one of {', '.join(solvers)}")
    for name in limits:
        if name not in UNITS:
            raise ConfigError(f"limit: no figure {name!r}{did_you_mean(name, UNITS)}; there are {', '.join(UNITS)}")
    if not timeout > 0.0:
        raise ConfigError(f"timeout: expected a positive time in seconds, got {timeout!r}")
    return reference or solvers[0]


def _run_apart(
    file: Path,
    overrides: Mapping[str, Any] | Sequence[str] | None,
    solver: str,
    steps: int,
    timeout: float,
    requires_grad: bool,
) -> SolverRun:
    with WorkerProcess(
        solver, _run, file, overrides, solver, steps, time.time(), requires_grad=requires_grad
    ) as process:
        try:
            return process.receive(timeout)
        except (ConfigError, PluginError) as error:
            return SolverRun(solver=solver, outcome="unable", reason=str(error))
        except SimulationError as error:
            return SolverRun(solver=solver, outcome="failed", reason=str(error))


def _run(
    connection: Connection,
    file: Path,
    overrides: Mapping[str, Any] | Sequence[str] | None,
    solver: str,
    steps: int,
    started: float,
) -> None:
    """Run the file, and send the result."""
    from .measured_run import MeasuredRun

    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        own, config = load(file, overrides).solver, with_solver(file, overrides, solver)
        is_own = own is not None and own.type == solver
        run = MeasuredRun(config if is_own else accepting_numbers(config), steps, started)
    texts = tuple(dict.fromkeys(" ".join(str(warning.message).split()) for warning in noted))
    connection.send(run.result(solver, texts))


def _related(results: Sequence[SolverRun], reference: str) -> list[SolverRun]:
    """Return the results with the figures that need the reference, and without the positions."""
    by_name = {result.solver: result for result in results}
    theirs = by_name[reference].series
    scale = float(theirs["kinetic_energy"].values.max()) if theirs else 0.0
    related = []
    for result in results:
        series = {name: one for name, one in result.series.items() if name != "positions"}
        apart = _distance(result.series, theirs)
        if apart is not None:
            series["distance"] = Series(values=apart, units=("m",))
            result = attrs.evolve(result, distance=float(apart.max()))
        if scale and result.energy_drift is not None:
            result = attrs.evolve(result, relative_energy_drift=result.energy_drift / scale)
        related.append(attrs.evolve(result, series=series))
    return related


def _distance(ours: Mapping[str, Series], theirs: Mapping[str, Series]) -> np.ndarray | None:
    """Return the distance at the samples that both runs have [m]; None if a run has none, or their bodies differ."""
    if not ours or not theirs or ours["positions"].values.shape[1:] != theirs["positions"].values.shape[1:]:
        return None
    pairs = zip(ours["positions"].values, theirs["positions"].values, strict=False)
    return np.array([np.sqrt(((mine - other) ** 2).sum(axis=1).mean()) for mine, other in pairs])
