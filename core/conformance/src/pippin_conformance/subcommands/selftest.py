"""`pippin selftest`: first contact with a device, as a table, JSON, or a fragment of a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attrs
import click
from pippin.console import PATH, solvers

FAULT = 1


@click.command()
@click.argument("group", nargs=-1)
@click.option("--device", default="auto", show_default=True, metavar="NAME", help="The device: cpu, cuda:0 or auto.")
@solvers("test")
@click.option("--quick", "is_quick", is_flag=True, help="Fewer checks and steps, and speed in one world alone.")
@click.option(
    "--timeout", type=float, default=300.0, show_default=True, metavar="SECONDS", help="Time for a check [s]."
)
@click.option("--json", "json_file", type=PATH, metavar="FILE", help="Write all results.")
@click.option("--page", type=PATH, metavar="FILE", help="Write a fragment of a Markdown page.")
def selftest(
    group: tuple[str, ...],
    device: str,
    solvers: tuple[str, ...],
    is_quick: bool,
    timeout: float,
    json_file: Path | None,
    page: Path | None,
) -> None:
    """Test this machine: the device, each solver on it, sensors, a task, a checkpoint, an export, and speed.

    GROUP is a group of checks or a pattern, such as "solver *" or task; by default all. On a CUDA device, results are
    compared with those of the CPU; on the CPU, with those of another number of worlds. Each group runs in a process of
    its own, so that a crash or a fault of the device ends one check alone. Kernels are compiled at the first time.

    The exit code is 1 if a result is wrong or a check failed.
    """
    from pippin.devices import find_device

    from pippin_conformance.selftest.groups import groups, run
    from pippin_conformance.selftest.rows import fragment, machine, speed_text

    for file in (json_file, page):
        if file is not None and not file.parent.is_dir():
            raise click.UsageError(f"{file}: there is no folder {file.parent}; make it")
    found = groups(find_device(device).alias, group, solvers, is_quick=is_quick)
    rows = []
    for each in found:
        for row in run(each, timeout):
            rows.append(row)
            text = speed_text(row.figures) if row.outcome == "measured" else row.detail
            line = f"{row.group:<21} {row.check:<15} {row.outcome:<8} {row.seconds:5.1f} s  {text}"
            click.secho(line.rstrip(), fg="red" if row.is_fault else None)
    about = machine(find_device(device).alias, rows)
    if json_file is not None:
        text = json.dumps({**about, "rows": [attrs.asdict(row) for row in rows]}, indent=2, ensure_ascii=False)
        json_file.write_text(f"{text}\n", encoding="utf-8")
    if page is not None:
        page.write_text(fragment(about, rows), encoding="utf-8")
    faults = sum(row.is_fault for row in rows)
    click.echo(f"checks: {len(rows)}, faults: {faults}")
    sys.exit(FAULT if faults else 0)
