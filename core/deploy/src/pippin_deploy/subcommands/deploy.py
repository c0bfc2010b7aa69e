"""`pippin deploy`: write a folder that runs a policy without Pippin."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pippin.console import PATH, json_line


@click.command()
@click.argument("policy", type=PATH)
@click.option("--out", type=PATH, required=True, metavar="FOLDER", help="The folder, new or empty.")
@click.option("--file", type=PATH, help="The file of its task, for a policy that has no passport.")
@click.option("--observations", metavar="GROUP", help="The group that it reads, in that file; by default the only one.")
@json_line()
def deploy(policy: Path, out: Path, file: Path | None, observations: str | None, as_json: bool) -> None:
    """Write a folder that runs POLICY on a robot, without Pippin.

    POLICY is an ONNX file. Its passport says what it reads and what its actions mean: names and order of joints,
    frames, units, scales, histories, gains, rates. `pippin train` writes it. The folder has the policy, a runner of one
    file that needs NumPy and onnxruntime alone (runner.py), and a page of what both need (README.md).
    """
    from pippin_deploy import deploy as write

    passport = write(policy, out, file, observations)
    if as_json:
        click.echo(json.dumps({"folder": str(out), "passport": passport}, ensure_ascii=False))
        return
    given = [each["label"] for each in passport["observations"] if not each["recipe"]]
    click.echo(f"folder: {out}")
    click.echo(f"check it: python {out / 'runner.py'} {out / 'policy.onnx'}")
    if given:
        click.echo(f"your program gives the numbers of: {', '.join(given)}")
