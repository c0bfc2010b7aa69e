"""`pippin plugins`: list the installed plugins without importing them, or import each in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from pippin.catalog.entries import Catalog
from pippin.catalog.evidence import CheckEvidence
from pippin.console.options import json_list
from pippin.errors import PluginError

if TYPE_CHECKING:
    from pippin.catalog.entry import Entry
    from pippin.diagnosis import Diagnosis

FIELDS = ("kind", "name", "distribution", "version", "state")
DEFAULT_TIMEOUT = 60.0


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--file", type=click.Path(path_type=Path), help="Apply the [catalog] table of this configuration.")
@click.option("--doctor", "is_doctor", is_flag=True, help="Import each plugin in its own process, and ask for GPUs.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.0, min_open=True),
    metavar="SECONDS",
    show_default=f"{DEFAULT_TIMEOUT:g}",
    help="Longest time for one plugin with --doctor [s].",
)
@json_list
def plugins(names: tuple[str, ...], file: Path | None, is_doctor: bool, timeout: float | None, as_json: bool) -> None:
    """List the installed plugins, and the faults of broken ones.

    NAME is a plugin or a distribution; by default all are listed, with the entry points in groups that nothing reads.
    Plugins are imported only with --doctor. It reports failures, the time of each import, and the requirements of each
    distribution with the installed versions. The exit code is 3 if a plugin fails; one that needs an optional library
    is in the state needs-extra, and does not fail. Unless plugins are named, and except with --json, it also says what
    the driver and Warp can do on GPUs.

    Named plugins are listed with what `pippin check-plugin` found, and with which versions; other versions, and files
    of a plugin that have changed since, are not checked.

    PIPPIN_CATALOG_BLOCK contains the names of blocked plugins and distributions, separated by commas. If
    PIPPIN_CATALOG_ALLOW is set, all plugins that it does not name are blocked.
    """
    if timeout is not None and not is_doctor:
        raise click.UsageError("--timeout is for --doctor")
    catalog = Catalog.installed()
    if file is not None:
        from pippin.config.loading import read_tree, structure_catalog

        catalog = structure_catalog(read_tree(file), catalog)
    every = (*catalog.entries, *catalog.unread)
    chosen = dict.fromkeys(entry for name in names for entry in catalog.called(name)) if names else every
    diagnoses = _diagnose(tuple(chosen), timeout or DEFAULT_TIMEOUT, as_json) if is_doctor else ()
    if as_json:
        rows = map(_examined_fields, diagnoses) if is_doctor else map(_fields, chosen)
        click.echo(json.dumps(list(rows), indent=2))
    elif is_doctor:
        _print_examined(diagnoses)
        if not names:
            from pippin.diagnosis import diagnose_gpus

            click.echo("\n".join(diagnose_gpus(timeout or DEFAULT_TIMEOUT)))
    else:
        records = {entry: CheckEvidence.of(entry) for entry in chosen}
        columns = FIELDS if not any(records.values()) else (*FIELDS, "checks")
        verdicts = (found.verdict if found else "" for found in records.values())
        rows = ([*(str(getattr(each, field)) for field in FIELDS), next(verdicts)] for each in records)
        told = [f"{each}: {CheckEvidence.told(each)}" for each in chosen if names and each.provides == "configuration"]
        _print(columns, (row[: len(columns)] for row in rows), [*_problems(chosen), *told])
    for note in (*catalog.notes, *_hidden(chosen)):
        click.echo(f"warning: {note}", err=True)
    failed = [diagnosis for diagnosis in diagnoses if diagnosis.faults]
    if failed:
        raise PluginError(f"{len(failed)} of {len(diagnoses)} plugins fail; repair or block them")


def _hidden(entries: Iterable[Entry]) -> Iterator[str]:
    from . import own_commands

    for entry in entries:
        if entry.provides == "command" and entry.name in own_commands():
            yield f"{entry}: is never called, since Pippin has a command of this name; give it another one"


def _diagnose(entries: Sequence[Entry], timeout: float, is_stdout_reserved: bool) -> tuple[Diagnosis, ...]:
    from pippin.console.progress import ConsoleProgress
    from pippin.diagnosis import diagnose
    from rich.console import Console

    progress = ConsoleProgress(Console(stderr=is_stdout_reserved))
    diagnoses = []
    with progress.phase("import"):
        for entry in entries:
            progress.update(str(entry))
            diagnoses.append(diagnose(entry, timeout))
    return tuple(diagnoses)


def _fields(entry: Entry) -> dict[str, Any]:
    fields = {field: getattr(entry, field) for field in (*FIELDS, "contract", "problem")}
    return fields | {"evidence": str(CheckEvidence.of(entry) or "") or None}


def _examined_fields(diagnosis: Diagnosis) -> dict[str, Any]:
    found = attrs.asdict(diagnosis, filter=lambda attribute, _: attribute.name != "entry")
    return {**_fields(diagnosis.entry), "state": _state(diagnosis), **found}


def _state(diagnosis: Diagnosis) -> str:
    if diagnosis.entry.state not in ("ok", "duplicate"):
        return diagnosis.entry.state
    return "fails" if diagnosis.faults else "needs-extra" if diagnosis.lack else diagnosis.entry.state


def _print_examined(diagnoses: Sequence[Diagnosis]) -> None:
    from pippin.diagnosis import unmet_requirements

    faults = dict.fromkeys(fault for each in diagnoses for fault in (*each.own_faults, *filter(None, [each.lack])))
    others = [diagnosis.entry for diagnosis in diagnoses if not diagnosis.faults]
    wants = {
        f"{each.entry.distribution} {each.entry.version} wants {', '.join(map(str, each.wants))}": None
        for each in diagnoses
        if each.wants
    }
    _print(
        (*FIELDS, "contract", "import"),
        map(_examined_row, diagnoses),
        [*wants, *unmet_requirements(diagnoses), *faults, *_problems(others)],
    )


def _examined_row(diagnosis: Diagnosis) -> list[str]:
    entry, seconds = diagnosis.entry, diagnosis.seconds
    known = [entry.kind, entry.name, entry.distribution, entry.version, _state(diagnosis)]
    contract = "" if entry.contract is None else str(entry.contract)
    return [*known, contract, "" if seconds is None else f"{seconds:.2f} s"]


def _problems(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the faults of each plugin; plugins that are blocked for the same reason share a line."""
    blocked: dict[str, list[str]] = {}
    for entry in entries:
        if entry.state == "blocked":
            blocked.setdefault(str(entry.problem), []).append(entry.name)
        elif entry.problem:
            yield f"{entry}: {entry.problem}"
    yield from (f"{', '.join(names)}: {problem}" for problem, names in blocked.items())


def _print(columns: Sequence[str], rows: Iterable[Sequence[str]], lines: Iterable[str]) -> None:
    from pippin.console import new_table, print_table

    table = new_table(*columns)
    state = columns.index("state")
    for row in rows:
        style = {"ok": None, "blocked": "dim", "needs-extra": "dim"}.get(row[state], "red")
        table.add_row(*row, style=style)
    print_table(table, lines)
