"""`pippin motion`: reference motions that a task follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pippin.console import PATH, changes, shown_progress


@click.group()
def motion() -> None:
    """Reference motions that the command `motion` of a task follows."""


@motion.command()
@click.argument("source", metavar="IN", type=PATH)
@click.argument("target", metavar="OUT.npz", type=PATH)
@click.option("--robot", type=PATH, required=True, metavar="FILE", help="A configuration whose scene has the robot.")
@click.option("--joints", metavar="NAME,NAME…", help="Joints in the order of IN; by default the robot's, or IN tells.")
@click.option("--quaternion", type=click.Choice(["xyzw", "wxyz"]), help="By default xyzw of a csv, else wxyz.")
@click.option("--fps", type=click.FloatRange(min=0.0, min_open=True), help="Frames of IN per second, if it tells none.")
@click.option("--loop", is_flag=True, help="The motion begins again after its last frame.")
@changes(has_worlds=False)
def convert(source: Path, target: Path, joints: str | None, overrides: tuple[str, ...], **options: Any) -> None:
    """Write the recorded motion IN as a clip for a robot: at its control steps, with velocities and all bodies.

    IN is a .csv without a header, a row for each frame: x, y, z and quaternion of the root, if it is free, then the
    joints; or a .npz of mjlab, of Isaac Lab or of Pippin. The last frame of a loop must be the first one elsewhere.
    """
    with shown_progress() as progress, progress.phase("convert"):
        from pippin_task.motion_conversion import convert_motion

        names = joints.split(",") if joints else ()
        clip = convert_motion(source, target, overrides=overrides, joints=names, **options)
    kind = "a loop of " if clip.is_loop else ""
    seconds = (clip.frame_count - 1) / clip.rate
    counts = f"{len(clip.joint_names)} joints, {len(clip.body_names)} bodies"
    click.echo(f"{target}: {kind}{clip.frame_count} frames at {clip.rate:g} Hz, {seconds:g} s; {counts}")
