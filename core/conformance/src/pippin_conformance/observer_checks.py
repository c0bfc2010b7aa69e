"""Checks of plugins that only look at a simulation, viewers and recorders, and of a sensor's outputs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError, PippinError, PluginError
from pippin.catalog import Catalog, Entry
from pippin.config import structure_choice
from pippin.recording import Recorder, Recording

from .kinds import LABEL
from .observation import StateSnapshot, advance, differing, given, start
from .plugin_under_test import PluginUnderTest
from .runs import Runs


def check_observation(runs: Runs) -> None:
    """The plugin only looks: the state is bitwise the same as without it."""
    with runs.subject.build(capture="off", is_present=False) as simulation:
        without = advance(simulation)
    shared = [name for name in without.arrays if not name.startswith("outputs[")]  # a stage changes an output
    odd = [name for name in differing(runs.eager, without) if name in shared]
    if odd:
        raise runs.fault(f"changes {', '.join(odd[:3])}; it may only read the state")


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
        raise runs.fault(f"made {names} in the working folder; resolve paths with pippin.files.output_path")
    if is_writer and not is_refused:
        raise runs.fault(
            "writes into a folder, and does not refuse a relative path without one; resolve paths with"
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
        raise runs.fault(faults[0])


def check_rows(runs: Runs) -> None:
    """A run leaves a file, which another run in the same folder replaces, and `close` may be called without a step."""
    with runs.subject.build(capture="off") as simulation:
        folder = simulation.folder
        advance(simulation)
    assert folder is not None, "the subject gives one"
    files = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
    if not files:
        raise runs.fault(
            "a run of several steps left no file in the folder of the simulation; write the rows in `write`, and"
            " complete the file in `finish`"
        )
    with runs.subject.build(capture="off"):
        pass


def check_reading(runs: Runs) -> None:
    """A file that a recorder of the same distribution wrote is read back: the header, and all values as an npz file
    beside it has them, as a whole and by slices.
    """
    subject, suffix = runs.subject, f".{runs.subject.name}"
    others = [each for each in Catalog.installed().entries if (each.kind, each.name) == ("reader", subject.name)]
    if len(others) > 1:
        names = ", ".join(each.distribution for each in others)
        raise runs.fault(f"files that end with {suffix} have several readers, of {names}; use another suffix")
    recorder, config = _recorder_of(subject, suffix)
    npz = Catalog.installed().find("recorder", "npz")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"rows{end}") for end in (suffix, ".npz")]
        ours, theirs = (
            attrs.evolve(each, path=str(path), worlds="1:")
            for each, path in zip((config, _settings_of(npz)), paths, strict=True)
        )
        recorders = {"rows": recorder(ours), "npz": npz.load()(theirs)}
        with subject.build(capture="off", plugins=recorders) as simulation:
            advance(simulation)
        try:
            with Recording(paths[0]) as read, Recording(paths[1]) as written:
                faults = list(_unlike(read, written))
        except PippinError as error:
            raise runs.fault(f"a file of {recorder.__name__} is not read: {error}") from error
    if faults:
        raise runs.fault(f"reads {', '.join(faults[:3])} otherwise than recorded; keep every bit")


def _recorder_of(subject: PluginUnderTest, suffix: str) -> tuple[type[Recorder], Any]:
    for entry in Catalog.installed().entries:
        if (entry.kind, entry.distribution) == ("recorder", subject.entry.distribution):
            recorder: Any = entry.load()
            if recorder.suffix == suffix:
                return recorder, _settings_of(entry)
    raise PluginError(
        f"{subject}: no recorder of {subject.entry.distribution} has the suffix {suffix!r}; name the entry point by the"
        " recorder's suffix"
    )


def _settings_of(recorder: Entry) -> Any:
    return structure_choice("recorder", {"type": recorder.qualified_name}).config


def _unlike(read: Recording, written: Recording) -> Iterator[str]:
    headers = [json.loads(each.header.to_json()) | {"label": None} for each in (read, written)]
    yield from (f"{key} of the header" for key, value in headers[1].items() if headers[0].get(key) != value)
    for name in ("time", *written):
        if name not in ("time", *read):
            continue  # the header says so
        ours, theirs = np.asarray(read[name].values), np.asarray(written[name].values)
        is_same = ours.dtype == theirs.dtype and np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
        if not is_same or not np.array_equal(read[name][-2:], theirs[-2:], equal_nan=ours.dtype.kind == "f"):
            yield repr(name)


def check_outputs(runs: Runs) -> None:
    """`outputs` maps names to arrays with unit and frame. Their first axis is the worlds of the sensor, and they keep
    their memory.
    """
    with runs.subject.build(count=1, capture="off") as simulation:
        sensor = simulation.sensors[LABEL]
        outputs = given(sensor, "outputs", {})
        if not outputs:
            raise runs.fault("has no outputs after bind; map names to pippin.sensing.Output")
        worlds = len(given(sensor, "worlds", range(simulation.world_count)))
        for name, output in outputs.items():
            if not isinstance(output.data, wp.array) or len(output.data) != worlds:
                what = f"shape {getattr(output.data, 'shape', None)}"
                raise runs.fault(f"output {name!r} has {what}; give it a row for each of {worlds} worlds")
            if not output.unit or not output.frame:
                raise runs.fault(f"output {name!r} has no unit or no frame; say which, '1' for a number")
        before = _addresses(sensor)
        simulation.step()
        if _addresses(sensor) != before:
            raise runs.fault("a step replaced the arrays of outputs; write into those made in bind")


def check_readings(runs: Runs) -> None:
    """Readings are finite, and some of them change while bodies are pushed and joints swing."""
    initial, found = _outputs(runs.whole.initial), _outputs(runs.whole.half)
    for name, values in found.items():
        if not np.isfinite(values).all():
            raise runs.fault(f"{name} holds values that are not finite; write each in every step")
    if all(np.array_equal(initial[name], values) for name, values in found.items()):
        raise runs.fault(
            "no reading changes while bodies are pushed and joints swing; measure in update_sensors, or test it in a"
            " scene with something to measure"
        )


def _addresses(sensor: Any) -> dict[str, int]:
    return {name: output.data.ptr for name, output in sensor.outputs.items()}


def _outputs(seen: StateSnapshot) -> dict[str, np.ndarray]:
    return {name: array for name, array in seen.arrays.items() if name.startswith("outputs[")}
