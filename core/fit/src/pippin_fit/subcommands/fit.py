"""`pippin fit`: find the parameters of a file that explain logs of a robot."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import click
from pippin import ConfigError
from pippin.console import PATH, changes, json_line, new_table, out, print_table, shown_progress
from pippin.studies import RunProgress

from pippin_fit.report import expectations


@click.command()
@click.argument("file", type=PATH)
@click.option("--log", "logs", type=PATH, multiple=True, help="A log, or a pattern of logs; besides those of fit.logs.")
@click.option(
    "--validate", type=PATH, multiple=True, help="A log that the fit does not see, or a pattern; it judges the fit."
)
@click.option("--check", is_flag=True, help="Only read the logs, and list what they can tell: a few rollouts.")
@changes(has_worlds=False)
@click.option("--iterations", type=click.IntRange(min=1), help="Iterations, in place of fit.iterations.")
@click.option(
    "--processes",
    metavar="N",
    default="1",
    show_default=True,
    help="Split the candidates over N processes, or auto: as many as there are cores.",
)
@out()
@json_line()
def fit(
    file: Path,
    logs: tuple[Path, ...],
    validate: tuple[Path, ...],
    check: bool,
    overrides: tuple[str, ...],
    iterations: int | None,
    processes: str,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find the parameters of FILE that explain logs of a robot, as its table [fit] says.

    A log has times, measured positions and commands: a CSV or npz file, or a recording of Pippin. It is divided into
    windows, which all candidates simulate side by side from the measured state.

    The folder, by default runs/NAME-DATE-TIME, has a configuration that extends FILE and has the identified values
    (identified.toml), a summary (summary.json), and a page with a verdict for each value and the signals before and
    after (report.html). Ctrl-C ends the fit, and what was found is written. The same command with --out continues
    there after the last iteration, also after a kill, to the same bits.

    --processes gives each process some of the candidates; the result has the bits of one process.

    With --check, the logs are read and aligned, and nothing is fitted or written: the table says how narrow the
    intervals can become, and which values no log tells apart.

    Without --validate, fit.validation or fit.validation_logs, nothing shows that the values hold for other motions.

    The exit code is 4 if a value is not identified, or if the validation fails: the windows that the fit did not see
    are met worse than before, or by more than 5 σ.
    """
    if check:
        _check(file, logs, overrides, validate, as_json)
        return
    chosen = [*overrides, *([] if iterations is None else [f"fit.iterations={iterations}"])]
    with shown_progress(is_stdout_reserved=as_json) as progress:
        with progress.phase("read"):
            from pippin_fit.run_fit import fit as fit_file
        try:
            result = fit_file(file, logs, chosen, validate=validate, out=out, processes=_processes(processes))
        except KeyboardInterrupt as error:
            if error.args:
                _note(progress, error.args[0])
            raise
        _note(progress, result)
    if as_json:
        click.echo(json.dumps(result.summary()))
    if not result.is_identified:
        raise click.exceptions.Exit(4)


def _processes(text: str) -> int | Literal["auto"]:
    if text == "auto":
        return "auto"
    if not re.fullmatch(r"[1-9]\d*", text):
        raise ConfigError(f"--processes: expected a whole number of at least 1, or auto, got {text!r}")
    return int(text)


def _check(
    file: Path, logs: tuple[Path, ...], overrides: tuple[str, ...], validate: tuple[Path, ...], as_json: bool
) -> None:
    with shown_progress(is_stdout_reserved=as_json):
        from pippin_fit.run_fit import check_fit

        found = check_fit(file, logs, overrides, validate=validate)
    if as_json:
        click.echo(json.dumps(found.summary()))
    else:
        aligned = new_table("log", "seconds", "rate", "lag of the motion", "drift")
        for log in found.logs:
            lag = "none found" if log.lag is None else f"{log.lag:.3g} s"
            aligned.add_row(log.name, f"{log.seconds:.4g}", f"{log.rate:.4g} Hz", lag, f"{log.drift:.2g} s")
        print_table(aligned, [f"{log.name}: {note}" for log in found.logs for note in log.notes])
        print_table(expectations(found.verdicts))
    if not all(each.is_determined for each in found.verdicts):
        raise click.exceptions.Exit(4)


def _note(progress: RunProgress, result: Any) -> None:
    from pippin_fit.report import play_command, summary_lines

    for line in summary_lines(result):
        progress.note(line)
    progress.note(
        f"residual {result.costs[-1]:.4g} σ from {result.costs[0]:.4g} σ, {len(result.costs) - 1} iterations,"
        f" {result.rollouts} rollouts in {result.seconds:.1f} s: {result.ended}"
    )
    progress.note(f"run it: {play_command(result)}")
    progress.note(f"run folder: {result.folder}")
