"""`pippin compare`: results of several solvers on one file, in one table and on one page."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pippin.catalog.entries import Catalog
from pippin.config import load
from pippin.devices import leave_out_backward_kernels
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean
from rich.console import Console
from rich.markup import escape

from ._options import PATH, changes, json_line, out, solvers
from ._progress import ConsoleProgress
from ._table import new_table, print_table

if TYPE_CHECKING:
    from pippin.analysis.compare import SolverRun
    from pippin.runs.folder import RunFolder

UNABLE, FAILED = 2, 4

COLUMNS = {
    "world_steps_per_second": "world-steps/s",
    "time_to_first_step": "first step [s]",
    "energy_drift": "energy drift [J]",
    "relative_energy_drift": "relative",
    "angle_limit_violation": "limits [rad]",
    "length_limit_violation": "limits [m]",
    "joint_gap": "joint gap [m]",
    "penetration": "penetration [m]",
    "distance": "distance [m]",
    "first_diverged_step": "diverged [step]",
}


@click.command()
@click.argument("file", type=PATH)
@solvers("compare")
@click.option("--steps", type=click.IntRange(min=1), help="Control steps to simulate.")
@click.option("--duration", type=float, metavar="SECONDS", help="Time to simulate, by default 5 s.")
@changes()
@click.option("--reference", metavar="NAME", help="The solver that distances refer to; by default the first.")
@click.option("--limit", "limits", multiple=True, metavar="FIGURE=VALUE", help="Fail if a figure is larger.")
@click.option(
    "--timeout", type=float, default=900.0, metavar="SECONDS", help="Longest time for a solver, by default 900 s."
)
@out("The folder of results")
@json_line("Print")
def compare(
    file: Path,
    solvers: tuple[str, ...],
    steps: int | None,
    duration: float | None,
    overrides: tuple[str, ...],
    reference: str | None,
    limits: tuple[str, ...],
    timeout: float,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run FILE with one solver after the other, each in a fresh process, and measure them in the same way.

    \b
    world-steps/s   physics steps of all worlds per second, after the first control step
    first step      from the start of the process to the end of its first control step
    energy drift    largest change of kinetic energy and energy of gravity since the start, in any
                    world; relative: in units of the largest kinetic energy of the reference
    limits          largest violation of the limits of a joint coordinate
    joint gap       distance between the two anchors of the worst joint
    penetration     of the deepest contact that Newton's collision pipeline finds
    distance        to the reference, root mean square over bodies and particles, at worst
    diverged        first control step whose result was not finite or beyond the bounds
    ignores         features of the scene that the solver ignores

    The solver of FILE ignores only what the file accepts (simulation.accept_unsupported). Other solvers may also ignore
    features that only change numbers, such as armature.

    The exit code is 4 if a solver failed or exceeds a limit, else 2 if a solver given by --solver cannot run FILE. A
    limit uses the name of a figure in the JSON output: --limit distance=0.01. The folder, by default
    runs/NAME-DATE-TIME, contains all figures (comparison.json), the measurements over time (series.npz) and a page
    with the table and charts, for any browser (comparison.html).
    """  # noqa: D301  (click's own mark for a paragraph that is not wrapped)
    progress = ConsoleProgress(Console(stderr=as_json))
    with progress.phase("read"):
        config = load(file, overrides)
    with progress.phase("import"):
        leave_out_backward_kernels()
        from pippin.analysis.compare import UNITS
        from pippin.analysis.compare import compare as run_each
        from pippin.runs.decisions import step_count
        from pippin.runs.folder import RunFolder

    own = () if config.solver is None else (config.solver.type,)
    names = solvers or tuple(dict.fromkeys((*Catalog.installed().names("solver"), *own)))
    count, thresholds = step_count(config, steps, duration), _thresholds(limits, UNITS)
    reference = _reference(reference, names)
    _refuse_no_time(timeout)
    folder = RunFolder.named_after(file) if out is None else RunFolder(out)
    results = run_each(file, overrides, names, count, reference=reference, timeout=timeout, phase=progress.phase)
    faults = _faults(results, thresholds)
    summary = {
        "file": str(file),
        "steps": count,
        "reference": reference,
        "units": UNITS,
        "exceeded": faults,
        "solvers": [result.figures() for result in results],
    }
    _write(folder, results, summary)
    if as_json:
        click.echo(json.dumps({**summary, "folder": str(folder.path)}, ensure_ascii=False))
    else:
        _print(results, faults)
        progress.note(f"folder: {folder.path}")
    _leave(results, faults, is_named=bool(solvers))


def _thresholds(limits: Sequence[str], known: Mapping[str, str]) -> dict[str, float]:
    """Return the largest allowed values by figure."""
    thresholds = {}
    for text in limits:
        name, _, value = text.partition("=")
        if name not in known:
            raise ConfigError(f"--limit: no figure {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}")
        try:
            thresholds[name] = float(value)
        except ValueError as error:
            raise ConfigError(f"--limit: {name}: expected a number, got {value!r}") from error
    return thresholds


def _reference(name: str | None, solvers: Sequence[str]) -> str:
    twice = [solver for index, solver in enumerate(solvers) if solver in solvers[:index]]
    if twice:
        raise ConfigError(f"--solver: {twice[0]!r} is named twice; name each solver once")
    if name is not None and name not in solvers:
        raise ConfigError(f"--reference: {name!r} is not compared; name one of {', '.join(solvers)}")
    return name or solvers[0]


def _refuse_no_time(timeout: float) -> None:
    if not timeout > 0.0:
        raise ConfigError(f"--timeout: expected a positive time in seconds, got {timeout!r}")


def _faults(results: Sequence[SolverRun], thresholds: Mapping[str, float]) -> list[str]:
    """Return a line for every figure that exceeds its limit."""
    faults = []
    for result in results:
        for name, largest in thresholds.items():
            value = getattr(result, name)
            if value is not None and not value <= largest:
                faults.append(f"{result.solver}: {name} is {value:.4g}, and may be {largest:.4g} at most")
    return faults


def _write(folder: RunFolder, results: Sequence[SolverRun], summary: Mapping[str, Any]) -> None:
    folder.write_json("comparison.json", summary)
    folder.write_series({f"{result.solver}/{name}": one for result in results for name, one in result.series.items()})
    from pippin.analysis.comparison_page import comparison_page

    folder.write_text("comparison.html", comparison_page(results, summary, COLUMNS, _cell))


def _print(results: Sequence[SolverRun], faults: Sequence[str]) -> None:
    shown = [name for name in COLUMNS if any(getattr(result, name) is not None for result in results)]
    is_lossy = any(result.ignored for result in results)
    table = new_table("solver", "outcome", *(escape(COLUMNS[name]) for name in shown), *(["ignores"] * is_lossy))
    for result in results:
        cells = [_cell(name, getattr(result, name)) for name in shown] + [", ".join(result.ignored)] * is_lossy
        table.add_row(result.solver, result.outcome, *cells, style=None if result.outcome == "finished" else "red")
    notes = [
        f"{result.solver}: {line}"
        for result in results
        for line in (*result.warnings, *(result.reason or "").splitlines())
    ]
    print_table(table, [*notes, *faults])


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if name == "world_steps_per_second" else f"{value:.3g}"


def _leave(results: Sequence[SolverRun], faults: Sequence[str], *, is_named: bool) -> None:
    """Exit with the code of the worst outcome."""
    outcomes = {result.outcome for result in results}
    if faults or "failed" in outcomes:
        sys.exit(FAILED)
    if is_named and "unable" in outcomes:
        sys.exit(UNABLE)
