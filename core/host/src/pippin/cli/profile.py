"""`pippin profile`: time of every operation of a control step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click
from pippin.config import load
from pippin.console import PATH, changes, json_line, new_table, out, print_table, shown_progress
from pippin.studies import import_newton

if TYPE_CHECKING:
    from pippin.profiling.profile import OperationTime, Profile
    from rich.table import Table


@click.command()
@click.argument("file", type=PATH)
@click.option("--steps", type=click.IntRange(min=1), default=100, show_default=True, help="Control steps to measure.")
@changes()
@out()
@json_line()
def profile(file: Path, steps: int, overrides: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Time every operation of a control step of FILE, and the whole step.

    The measured steps are steps in which every operation runs. Each operation runs as in the step: captured, if
    possible. On the CPU each captured operation is a graph of its own; on a CUDA device, events between the operations
    measure the times. Times are medians. The table also counts the kernels, memsets and copies of each operation; those
    after a plus run only if a condition holds.

    The run folder, by default runs/NAME-DATE-TIME, contains the numbers (profile.json) and every measured step for the
    trace viewer of a browser (trace.json): open it at ui.perfetto.dev or chrome://tracing.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            config = load(file, overrides).unobserved()
        import_newton(config, progress)
        from pippin.profiling.profile import profile as measure
        from pippin.runs.loop import prepared
        from pippin.studies import RunFolder

        folder = RunFolder.chosen(out, file)
        with prepared(config, progress) as simulation, progress.phase("measure"):
            found = measure(simulation, steps)
        numbers = attrs.asdict(found, filter=lambda field, _: field.name != "timeline")
        numbers["sum_seconds"] = found.sum_seconds
        folder.write_json("profile.json", numbers)
        folder.write_json("trace.json", found.trace_events())
        if not as_json:
            print_table(_table(found))
        progress.note(f"run folder: {folder.path}")
    if as_json:
        click.echo(json.dumps({**numbers, "run_folder": str(folder.path)}, ensure_ascii=False))


def _table(found: Profile) -> Table:
    """Return the operations, the slowest first, and the difference of their sum from the whole step."""
    table = new_table("operation", "runs")
    for column in ("calls", "launches", "time", "share"):
        table.add_column(column, justify="right")
    for operation in sorted(found.operations, key=lambda operation: operation.seconds, reverse=True):
        share = operation.seconds / found.sum_seconds
        inside = f" + {operation.conditional_launches}" if operation.conditional_launches else ""
        numbers = (str(operation.count), f"{operation.launches}{inside}", _time(operation.seconds), f"{share:.1%}")
        table.add_row(operation.name, _manner(operation), *numbers)
    table.add_section()
    launches = {each.name: each.launches for each in found.operations}
    others = sum(launches.values()) - launches.get("step_solver(solver)", 0)
    table.add_row("sum of the operations", "", "", str(sum(launches.values())), _time(found.sum_seconds), "100.0%")
    table.add_row("  beside the solver's", "", "", str(others), "", "")
    table.add_row("  of it the clock's", "", "", "", _time(found.clock_seconds), "")
    table.add_row("the whole step", "", "", "", _time(found.whole_seconds), "")
    rest = found.whole_seconds - found.sum_seconds + found.clock_seconds
    table.add_row("  not explained", "", "", "", _time(rest), "")
    return table


def _manner(operation: OperationTime) -> str:
    manner = "from a graph" if operation.is_captured else "eagerly"
    return manner if operation.period == 1 else f"{manner}, every {operation.period} steps"


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f} µs"
