"""`pippin lint`: faults of robot files."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.console import PATH

_FORMATS = ("text", "json", "sarif")


@click.command()
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="ROBOT...")
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="text", help="Form of the findings; text by default."
)
@click.option("--errors", "errors_only", is_flag=True, help="Tell errors alone, and no warnings.")
def lint(files: tuple[Path, ...], form: str, errors_only: bool) -> None:
    """Look for faults in robot files: MJCF, URDF, xacro or USD.

    The rules are about moments of inertia, masses, units, limits, motors without a largest effort, hulls of meshes,
    overlaps in the start pose, missing meshes and names. Each finding has its line, a figure and a cure. The exit code
    is 1 if there is a finding, and 0 if there is none.
    """
    from pippin_lint.findings import as_json, as_sarif, as_text
    from pippin_lint.rules import lint as findings_of

    found = []
    for file in files:
        kept = [each for each in findings_of(file) if each.level == "error" or not errors_only]
        found.append((file, kept))
        if form == "text":
            click.echo(as_text(file, kept), nl=False)
    if form != "text":
        click.echo((as_json if form == "json" else as_sarif)(found), nl=False)
    if any(findings for _, findings in found):
        raise SystemExit(1)
