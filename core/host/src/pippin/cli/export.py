"""`pippin export`: the captured step as a file that Warp alone replays."""

from __future__ import annotations

import json
from pathlib import Path

import click
from pippin.console import PATH, changes, json_line, shown_progress
from pippin.files import refuse_taken


@click.command()
@click.argument("file", type=PATH)
@click.argument("folder", type=PATH)
@changes()
@json_line()
def export(file: Path, folder: Path, overrides: tuple[str, ...], as_json: bool) -> None:
    """Write the captured step of FILE into FOLDER, for programs without Newton.

    FOLDER, new or empty, then contains Warp's graph file (step.wrp, step_modules), the names, roles and shapes of its
    arrays (step.json), a README and replay.py, which needs Warp and NumPy alone. pippin.Replay(FOLDER) does the same.

    The file starts from the start of the simulation, as after a reset. A replay of it is compared with the simulation,
    bit for bit. What cannot be exported is refused with the reason: operations that run eagerly, and sensors with a
    period. Viewers and recorders are not part of the step.
    """
    with shown_progress(is_stdout_reserved=as_json) as progress:
        refuse_taken(folder, "export")
        with progress.phase("read"):
            from pippin.config import load
            from pippin.studies import import_newton

            config = load(file, overrides).unobserved()
        import_newton(config, progress)
        from pippin.export import export_step
        from pippin.runs.loop import prepared

        with prepared(config, progress) as simulation:
            simulation.reset()
            with progress.phase("export"):
                entries = export_step(simulation, folder, file.name)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        progress.note(f"{len(entries)} arrays, {size / 1e6:.1f} MB: {folder}")
    if as_json:
        click.echo(json.dumps({"folder": str(folder), "bytes": size, "arrays": entries}))
