"""`pippin share`: one HTML file that plays a run back, for others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from pippin.catalog import untrusted
from pippin.console import PATH, shown_progress, trust
from pippin.files import refuse_unwritable


@click.command()
@click.argument("folder", type=PATH, metavar="RUN")
@click.option("--out", type=PATH, metavar="FILE", help="The file, by default RUN/share.html.")
@click.option("--worlds", metavar="WORLDS", help="Worlds to show, a slice such as 0:4; by default the first 16.")
@click.option("--rate", type=click.FloatRange(1.0, 240.0), default=30.0, help="Frames per second, by default 30.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.0, min_open=True),
    default=1.0,
    help="Simulated time per time of the page, by default 1: 0.25 is slow motion.",
)
@click.option("--dark", is_flag=True, help="Make the page dark.")
@trust
def share(folder: Path, out: Path | None, trust: bool, **options: Any) -> None:
    """Write a page that plays RUN back in three dimensions.

    It is one HTML file of at most 10 MB, which any browser opens without a server and without a network. RUN is the
    folder of a run that recorded poses, by --record-worlds or a recorder; it runs no code that it names, such as
    plugins of files, without --trust.
    """
    with shown_progress() as progress, untrusted(is_trusted=trust, is_kept=True):
        path = folder / "share.html" if out is None else out
        refuse_unwritable(path, "--out")
        with progress.phase("read"):
            from pippin import Run

            run = Run(folder)
        from pippin.studies import import_newton

        if run.config is not None:
            import_newton(run.config, progress)
        with progress.phase("share"):
            from pippin_view import share as shared

            page = shared(run, **options)
            page.write(path)
        progress.note(f"page: {path}, {page.frame_count} frames, {path.stat().st_size / 1e6:.1f} MB")
