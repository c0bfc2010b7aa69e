"""Checks of plugins that only look at a simulation: sensors, viewers and recorders."""

from __future__ import annotations

from pathlib import Path

from pippin.errors import ConfigError, PluginError

from .kinds import LABEL
from .observation import advance, differing, start
from .runs import Runs


def check_observation(runs: Runs) -> None:
    """The plugin only looks: the state is bitwise the same as without it."""
    with runs.subject.build(capture="off", is_present=False) as simulation:
        without = advance(simulation)
    shared = [name for name in without.arrays if not name.startswith("outputs[")]  # a stage changes an output
    odd = [name for name in differing(runs.eager, without) if name in shared]
    if odd:
        raise PluginError(f"{runs.subject}: changes {', '.join(odd[:3])}; it may only read the state")


def check_folder(runs: Runs) -> None:
    """Files go into the folder of the simulation. Without a folder, a relative path is refused, and nothing is made."""
    before = set(Path.cwd().iterdir())
    with runs.subject.build(capture="off") as simulation:
        folder = simulation.folder
        simulation.step()
    assert folder is not None, "the subject gives one"
    is_writer = any(folder.rglob("*"))
    try:
        with runs.subject.build(capture="off", has_folder=False) as simulation:
            simulation.step()
    except ConfigError:
        is_refused = True
    else:
        is_refused = False
    if made := set(Path.cwd().iterdir()) - before:
        names = ", ".join(sorted(path.name for path in made))
        raise PluginError(
            f"{runs.subject}: made {names} in the working folder; resolve paths with pippin.files.output_path"
        )
    if is_writer and not is_refused:
        raise PluginError(
            f"{runs.subject}: writes into a folder, and does not refuse a relative path without one; resolve paths with"
            " pippin.files.output_path"
        )


def check_frames(runs: Runs) -> None:
    """Frames are shown from the start on, after steps and after resets, and the viewer is never switched off."""
    with runs.subject.build(capture="off") as simulation:
        start(simulation)
        advance(simulation)
        simulation.reset()
        advance(simulation)
        notes = simulation.notes.get(f"viewers:{LABEL}", ())
    faults = [note for note in notes if note.startswith("switched off")]
    if faults:
        raise PluginError(f"{runs.subject}: {faults[0]}")


def check_rows(runs: Runs) -> None:
    """A run leaves a file, which another run in the same folder replaces, and `close` may be called without a step."""
    with runs.subject.build(capture="off") as simulation:
        folder = simulation.folder
        advance(simulation)
    assert folder is not None, "the subject gives one"
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    if not files:
        raise PluginError(
            f"{runs.subject}: a run of several steps left no file in the folder of the simulation;"
            " write the rows in `write`, and complete the file in `finish`"
        )
    with runs.subject.build(capture="off"):
        pass
