"""`pippin deploy`: write a folder that runs a policy without Pippin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from pippin import ConfigError
from pippin.console import PATH, json_line


@click.command()
@click.argument("policy", type=PATH)
@click.option("--out", type=PATH, metavar="FOLDER", help="The folder, new or empty.")
@click.option("--file", type=PATH, help="The file of its task, for a policy that has no passport.")
@click.option("--observations", metavar="GROUP", help="The group that it reads, in that file; by default the only one.")
@click.option("--from", "beside", type=PATH, metavar="FILE", help="What another program wrote beside it, in YAML.")
@click.option("--motors", default="", metavar="NAMES", help="Its joints by motor, between commas.")
@click.option("--robot", metavar="FILE", help="In place of --out: print a file of its task, with this robot.")
@json_line()
def deploy(policy: Path, out: Any, robot: str | None, as_json: bool, **options: Any) -> None:
    """Write a folder that runs POLICY on a robot, without Pippin.

    POLICY is an ONNX file. Its passport says what it reads and what its actions mean: names and order of joints,
    frames, units, scales, histories, gains, rates. `pippin train` writes it. The folder has the policy, a runner of one
    file that needs NumPy and onnxruntime alone (runner.py), and a page of what both need (README.md).

    mjlab, Isaac Lab and unitree_rl_lab say a part of this. --robot prints it as a file, with "?" for the rest. --file
    then compares the finished file, and the network of the folder gets its order, so that `pippin play` takes it, too.
    """
    import pippin_deploy

    options["motors"] = [name for name in options["motors"].split(",") if name]
    if (out is None) == (robot is None) or (robot is not None and (options["file"] or as_json)):
        raise ConfigError("--out: name a folder; or leave out --out, --file and --json, and name a robot by --robot")
    if robot is not None:
        if (said := pippin_deploy.foreign_passport(policy, options["beside"], options["motors"])) is None:
            raise ConfigError(f"policy: '{policy}' is of no known program; name the file that it wrote by --from")
        click.echo(pippin_deploy.task_text(said, robot), nl=False)
        return
    passport = pippin_deploy.deploy(policy, out, **options)
    if as_json:
        click.echo(json.dumps({"folder": str(out), "passport": passport}, ensure_ascii=False))
        return
    given = [each["label"] for each in passport["observations"] if not each["recipe"]]
    click.echo(f"folder: {out}\ncheck it: python {out / 'runner.py'} {out / 'policy.onnx'}")
    if given:
        click.echo(f"your program gives the numbers of: {', '.join(given)}")
    if alone := passport["trained"].get("said_by_the_file_alone"):
        click.echo(f"only the file says: {', '.join(alone)}")
