"""`pippin play`: let a trained policy act in the task of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ._options import PATH, changes, simulation_options, viewer_options
from ._run import run_file


@click.command()
@click.argument("file", type=PATH)
@changes()
@click.option("--policy", type=PATH, metavar="FILE", help="ONNX file of the policy; by default that of the file.")
@viewer_options
@simulation_options
def play(file: Path, overrides: tuple[str, ...], policy: Path | None, **options: Any) -> None:
    """Simulate FILE with a policy that acts in its task, and write a run folder as `pippin run` does.

    The network reads the observations and chooses the action inside the recorded step. It is an ONNX file with one
    input and one output. Without --policy, the file names it in the table [policy].
    """
    chosen = () if policy is None else (f"policy.path={json.dumps(str(policy.absolute()))}",)
    run_file(file, [*overrides, *chosen], **options)
