"""`pippin recover`: complete a recording whose process was killed."""

from __future__ import annotations

from pathlib import Path

import click
from pippin.console import PATH


@click.command()
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE...")
def recover(files: tuple[Path, ...]) -> None:
    """Complete each FILE of a recorder whose process was killed, so that every reader of its format opens it.

    An npz recording is repaired from the rows beside it, FILE.npz.rows; an hdf5 or mcap recording in place. Everything
    that was written is kept, at most the last row is lost. `pippin.Run` also reads files that were not repaired.
    Recordings of one run may end at different times: each recorder writes when its own buffer is full.
    """
    from pippin.recording.reading import Recording
    from pippin.recording.reading import recover as repaired

    ends = set()
    for file in files:
        target, count = repaired(file)
        with Recording(target) as recording:
            times = recording.time
        ends |= {*times[-1:]}
        span = f", t = {times[0]:.6g} to {times[-1]:.6g} s" if count else ""
        click.echo(f"{target}: {count} rows{span}")
    if len(ends) > 1:
        click.echo("their ends differ: each recorder writes when its buffer is full, or its flush_period is over")
