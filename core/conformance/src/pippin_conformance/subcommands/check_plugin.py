"""`pippin check-plugin`: check that an installed plugin fulfils the plugin contract."""

from __future__ import annotations

import collections
import contextlib
import importlib.util
import io
import json
import math
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from pippin import ConfigError, PippinError, PluginError, did_you_mean
from pippin.catalog import CONTRACT_VERSIONS, Catalog, CheckEvidence
from pippin.config import overridden
from pippin.console import PATH, json_list, new_table, overrides, print_table, shown_progress
from pippin.workers import start_warm_process

from pippin_conformance.outcomes import Check, CheckResult
from pippin_conformance.saves import results_of_save, saves, start_beside

if TYPE_CHECKING:
    from pippin_conformance import Conformance

BROKEN = 3

FAST = 2.5
"""Time of the process after which `--fast` begins no check, in units of that of the imports."""


@click.command()
@click.argument("name")
@click.option("--kind", metavar="KIND", help="Kind of the plugin, if its name does not tell.")
@overrides("Set a key of the plugin's table.")
@click.option("--table", "tables", multiple=True, metavar="KEY=VALUE", help="Set a key of another table of the tests.")
@click.option("--prototype", metavar="MODULE:FUNCTION", help="Function that adds a suitable scene to a builder.")
@click.option("--file", type=PATH, metavar="FILE", help="File that an importer or a reader of logs reads.")
@click.option("--solver", metavar="NAME", help="Solver for the tests of another plugin.")
@click.option(
    "--worlds", "world_count", type=click.IntRange(min=1), default=3, show_default=True, help="Number of worlds."
)
@click.option("--dt", type=float, default=0.002, metavar="SECONDS", show_default=True, help="Length of a substep [s].")
@click.option(
    "--expect", "expected", multiple=True, metavar="CHECK=REASON", help="A check that is expected to fail, and why."
)
@click.option("--check", "chosen", multiple=True, metavar="NAME", help="A check to run; by default all.")
@click.option(
    "--fast", "is_fast", is_flag=True, help="Run cheap checks alone, for each save: about 2 s after the imports."
)
@click.option(
    "--watch",
    "is_watched",
    is_flag=True,
    help="Run cheap checks after each save of the plugin's files, in 2 to 3 s each, until Ctrl-C.",
)
@click.option("--list", "is_listed", is_flag=True, help="List the checks by the time that they take, and run none.")
@click.option("--fuzz", "count", type=click.IntRange(min=1), metavar="N", help="Also move N random mechanisms.")
@click.option("--markdown", "is_markdown", is_flag=True, help="Print a badge, the versions and a table for a README.")
@json_list
def check_plugin(
    name: str,
    kind: str | None,
    overrides: tuple[str, ...],
    tables: tuple[str, ...],
    prototype: str | None,
    expected: tuple[str, ...],
    chosen: tuple[str, ...],
    is_fast: bool,
    is_watched: bool,
    is_listed: bool,
    count: int | None,
    is_markdown: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Check that plugin NAME fulfils the plugin contract, in small test scenes on the CPU.

    NAME is an installed plugin; or a class that is not installed, file.py:Name or module:Name, with --kind. A clamping
    is tested in an actuator of the kit, a stage in a sensor, and a term in a task. The exit code is 3 if a check fails,
    or if a check that is expected to fail passes.

    With --fast, the checks that take a tenth of a second run, and two drawn trees. With --watch, such checks run at
    once and after each save, for about 2 s on two cores, in processes that find Newton imported. With --fuzz, `pippin
    fuzz` moves mechanisms with a solver after the checks; findings are failures, in a folder below runs.
    """
    _refuse_contradictions(is_watched, is_fast, is_listed, bool(chosen), bool(count), is_markdown, as_json)
    if name.rpartition(":")[0].endswith(".py"):
        name = str(Path(name).expanduser().absolute())
    found: Any = kind or _kind_of(name)
    fuzz = None if count is None else _fuzz_for(found)
    if is_watched:
        start_beside(Catalog.installed().find(found, name))
    elif not (chosen or is_fast or is_listed) or "light_import" in chosen:
        start_warm_process(())  # it imports Newton beside this process
    from pippin_conformance.suite import Conformance, fast

    arguments = settings | {
        "kind": found,
        "name": name,
        "config": overridden({}, overrides),
        "tables": overridden({}, tables),
        "prototype": None if prototype is None else _function(prototype),
        "expected_failures": dict(map(_reason, expected)),
    }
    conformance = Conformance(**arguments)
    if is_watched:
        return _watch(conformance, arguments)
    if is_listed:
        return _list(conformance.checks.values(), fast(conformance.checks.values()), as_json)
    end = FAST * time.process_time() if is_fast else math.inf
    for check in set(chosen) - set(conformance.checks):
        raise ConfigError(f"--check: {check!r} is not a check of a {found}; there are {', '.join(conformance.checks)}")
    with shown_progress(is_stdout_reserved=as_json or is_markdown) as progress, progress.phase("check"):
        chosen = tuple(fast(conformance.checks.values())) if is_fast else chosen
        names, results = list(chosen or conformance.checks), []
        progress.update(names[0])
        for result in conformance.results(chosen or None, end):
            results.append(result)
            progress.update(names[min(len(results), len(names) - 1)])
        if is_fast:
            progress.note(_left_out(conformance.checks, {result.check for result in results}))
        if not chosen and results[-1].check != "entry_point":
            progress.note(f"{conformance.subject.entry}: {_recorded(conformance, results)}")
    if fuzz and count and (results[-1].check, results[-1].outcome) != ("entry_point", "failed"):
        results.append(_fuzzed(fuzz, name, overrides, count))
    if is_markdown:
        click.echo("\n".join(_markdown(found, name, results)))
    else:
        _show(results, as_json)
    if any(result.outcome == "failed" for result in results):
        sys.exit(BROKEN)


def _refuse_contradictions(
    is_watched: bool, is_fast: bool, is_listed: bool, is_chosen: bool, is_fuzzed: bool, is_markdown: bool, as_json: bool
) -> None:
    if is_watched and (is_fast or is_listed or is_chosen or is_fuzzed or is_markdown or as_json):
        raise ConfigError("--watch: it chooses the checks, and prints lines; leave out the options that do so, too")
    if is_listed and (is_fast or is_chosen or is_fuzzed or is_markdown):
        raise ConfigError("--list: it runs no check; leave out --check, --fast, --fuzz and --markdown")
    if is_fast and (is_chosen or is_markdown):
        raise ConfigError("--fast: it chooses the checks, and not all of them; leave out --check and --markdown")
    if is_markdown and as_json:
        raise ConfigError("--markdown: --json prints another form; give one of them")


def _watch(conformance: Conformance, arguments: Mapping[str, Any]) -> None:
    """Run cheap checks after each save, and print a line for each save and each failure."""
    names = list(conformance.checks)
    for _ in saves(conformance.subject.entry):
        start = time.perf_counter()
        try:
            results = results_of_save(arguments, names)
        except PippinError as error:  # such as one that says how the plugin ended the process
            click.echo(f"{datetime.now():%H:%M:%S} failed: {error}")
            continue
        failed = [result for result in results if result.outcome == "failed"]
        seconds = time.perf_counter() - start
        text = f"{len(results)} of {len(names)} checks in {seconds:.1f} s, {len(failed)} failed"
        click.echo(
            "\n".join([f"{datetime.now():%H:%M:%S} {text}", *(f"{each.check}: {each.reason}" for each in failed)])
        )


def _list(checks: Collection[Check], kept: Collection[str], as_json: bool) -> None:
    """Print the checks with their times, the cheapest ones first, and which ones `--fast` runs."""
    rows = [
        {"check": each.name, "seconds": each.seconds, "fast": each.name in kept, "promise": each.promise}
        for each in sorted(checks, key=lambda each: each.seconds)
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = new_table("check", "time [s]", "--fast")
    for row in rows:
        table.add_row(row["check"], f"{row['seconds']:g}", "yes" * row["fast"])
    print_table(table)


def _kind_of(name: str) -> str:
    plain = name.rpartition(":")[2]
    catalog = Catalog.installed()
    every = [kind for kind in catalog.kinds if plain in catalog.names(kind)]
    kinds = [kind for kind in every if catalog.kind(kind).provides == "configuration"]
    if not kinds and _is_class(name):
        raise ConfigError(f"check-plugin: {name!r} is a class that may be of any kind; choose one with --kind")
    if not kinds and every:
        raise PluginError(f"check-plugin: {name!r} is a {every[0]}, which has no checks; try `pippin {plain} --help`")
    if not kinds:
        names = dict.fromkeys(entry.name for entry in catalog.entries)
        hint = did_you_mean(plain, names) or f"; plugins: {', '.join(names) or 'none'}"
        raise PluginError(f"check-plugin: {name!r} is not installed{hint}")
    if len(kinds) > 1:
        raise ConfigError(f"check-plugin: {name!r} is a {' and a '.join(kinds)}; choose one with --kind")
    return kinds[0]


def _is_class(name: str) -> bool:
    """Tell whether a name can mean a class of a file or of a module, which needs no installation."""
    place, _, _ = name.rpartition(":")
    package = place.partition(".")[0]
    return place.endswith(".py") or (package.isidentifier() and importlib.util.find_spec(package) is not None)


def _function(text: str) -> Any:
    module, _, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"--prototype: {text!r} is not found ({error}); write MODULE:FUNCTION") from error


def _reason(text: str) -> tuple[str, str]:
    check, _, reason = text.partition("=")
    if not reason:
        raise ConfigError(f"--expect: {text!r} has no reason; write CHECK=REASON")
    return check, reason


def _fuzz_for(kind: str) -> click.Command:
    """Return the command that moves random mechanisms; refuse plugins that are no solvers, and say what to install."""
    catalog = Catalog.installed()
    if kind != "solver":
        raise ConfigError(f"--fuzz: a solver moves mechanisms, and no {kind}; leave it out")
    if "fuzz" not in catalog.names("subcommand"):
        raise ConfigError("--fuzz: `pippin fuzz` is not installed; run `uv pip install pippin-fuzz`")
    return catalog.find("subcommand", "fuzz").load_command()


def _fuzzed(command: click.Command, name: str, overrides: Sequence[str], count: int) -> CheckResult:
    """Move random mechanisms with a solver, and return the findings as the result of a check."""
    start = time.perf_counter()
    folder = Path("runs", f"fuzz-{name.rpartition(':')[2]}-{datetime.now():%Y%m%d-%H%M%S}")
    keys = [part for each in overrides for part in ("--set", f"solver.{each}")]
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.suppress(SystemExit):
        command.main([name, "--count", str(count), "--out", str(folder), "--json", *keys], standalone_mode=False)
    found = [each["finding"] for each in json.loads(text.getvalue()) if each["finding"]]
    reason = f"{len(found)} of {count} mechanisms move wrongly, see '{folder}': {', '.join(found)}" if found else ""
    seconds, outcome = time.perf_counter() - start, "failed" if found else "passed"
    return CheckResult(check="fuzz", outcome=outcome, reason=reason, seconds=seconds)


def _recorded(conformance: Conformance, results: Sequence[CheckResult]) -> str:
    """Keep what all checks gave, with the versions, for `pippin plugins` and `pippin check`; and return it as text."""
    subject = conformance.subject
    record = CheckEvidence.now(subject.entry, {result.check: result.outcome for result in results}, subject.config)
    try:
        record.save(subject.entry)
    except OSError as error:
        return f"{record}; not kept, as the folder of records cannot be written ({error.strerror})"
    return str(record)


def _left_out(checks: Collection[str], done: Collection[str]) -> str:
    """Return a line about the checks that did not run, those of drawn trees and so on by their number."""
    left = {name: name.partition("_")[0] for name in checks if name not in done}
    counts = collections.Counter(left.values())
    names = dict.fromkeys(f"{counts[each]} {each}_*" if counts[each] > 1 else name for name, each in left.items())
    return f"left out: {len(left)} of {len(checks)} checks, {', '.join(names)}; without --fast all run"


def _markdown(kind: str, name: str, results: Sequence[CheckResult]) -> Iterator[str]:
    """Yield the lines of a README: a badge, the versions that were tested, and the outcome of each check."""
    applied = [result for result in results if result.outcome != "not applicable"]
    good = sum(result.outcome in ("passed", "expected failure") for result in applied)
    color = "brightgreen" if good == len(applied) else "red"
    text = f"contract {max(CONTRACT_VERSIONS)}: {good} of {len(applied)} checks"
    place = quote(f"pippin-{text.replace('-', '--')}-{color}")
    yield f"![pippin {text}](https://img.shields.io/badge/{place})"
    versions = ", ".join(f"{each} {metadata.version(each)}" for each in ("pippin", "newton", "warp-lang"))
    yield f"\n{kind.capitalize()} `{name}`, tested with {versions} on {date.today().isoformat()}.\n"
    yield "| check | outcome | reason |"
    yield "|---|---|---|"
    for result in results:
        reason = " ".join((result.reason or "").split()).replace("|", "\\|")
        yield f"| {result.check} | {result.outcome} | {reason} |"


def _show(results: Sequence[CheckResult], as_json: bool) -> None:
    if as_json:
        fields = ("check", "outcome", "reason", "seconds")
        click.echo(json.dumps([{field: getattr(result, field) for field in fields} for result in results], indent=2))
        return
    table = new_table("check", "outcome", "reason")
    failed = [result for result in results if result.outcome == "failed"]
    for result in results:
        reason = "" if result in failed else result.reason
        table.add_row(result.check, result.outcome, reason, style="red" if result in failed else None)
    print_table(table, [f"{result.check}: {result.reason}" for result in failed])
