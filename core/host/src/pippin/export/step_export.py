"""Export of the captured step: Warp's graph file, the names of its arrays, and what replays it without Newton."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.devices import WARP_LOCK
from pippin.errors import ConfigError, SimulationError
from pippin.report import code
from pippin.simulation import Simulation
from pippin.state.world_rows import arrays_of

from .replay import FORMAT, checksum_of, checksums, processor_features

_COMPARED_STEPS = 3
"""Control steps that a replay must give bit for bit before a file is trusted."""

_REPLAYED = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import replay
step = replay.Replay(sys.argv[1])
step.step(int(sys.argv[2]))
np.savez(sys.argv[3], **{name: array.numpy() for name, array in step.items()})
"""
"""Writes what a replay gives, without Pippin."""

_TARGETS = ("position_targets", "velocity_targets", "feedforward", "ctrl")
"""Arrays of an actuator that its user writes."""


def export_step(simulation: Simulation, folder: Path, name: str = "a simulation") -> list[dict[str, Any]]:
    """Write the captured step into a folder, and return the names, roles and shapes of its arrays.

    The exported step starts from the present state; the simulation stays as it is. A replay is compared with the
    simulation, bit for bit, before the folder is complete.

    Args:
        simulation: A simulation that took its first step.
        folder: The folder, new or empty.
        name: What the simulation is, for the README.

    Raises:
        ConfigError: The folder is not empty, or cannot be written.
        SimulationError: The step cannot be exported; names the operations and their reasons.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"export: '{folder}' exists and is not empty; choose another folder")
    _refuse(simulation)
    arrays = dict(_arrays(simulation))
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # who may write native code here may run it
        return _write(simulation, folder, arrays, name)
    except OSError as error:
        raise ConfigError(f"export: '{folder}' cannot be written ({error}); choose another folder") from error


def _write(
    simulation: Simulation, folder: Path, arrays: Mapping[str, tuple[str, wp.array]], name: str
) -> list[dict[str, Any]]:
    try:
        with WARP_LOCK:
            _save(simulation, folder, arrays)
            entries = [_entry(key, role, array) for key, (role, array) in arrays.items()]
            manifest = _manifest(simulation, folder, entries)
            (folder / "step.json").write_text(f"{json.dumps(manifest, indent=1)}\n", encoding="utf-8")
            source = (resources.files("pippin.export") / "replay.py").read_text(encoding="utf-8")
            (folder / "replay.py").write_text(source, encoding="utf-8")
            _compare(simulation, folder, arrays)
        rows = "\n".join(
            f"| {code(each['name'])} | {each['role']} | {each['dtype']} | {each['shape']} |"
            for each in manifest["arrays"]
        )
        template = Path(__file__).with_name("step_readme.txt").read_text(encoding="utf-8")
        readme = template.format(**manifest, name=name, folder=folder.name, rows=rows)
        (folder / "README.md").write_text(readme, encoding="utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return entries


def _refuse(simulation: Simulation) -> None:
    program = simulation.program
    if not program.is_recorded:
        raise SimulationError("export: the simulation has taken no step; take one with `step`, and `reset` it")
    faults = [
        f"export: {name} is spread over its memory; let it be contiguous"
        for name, (_, array) in _arrays(simulation)
        if not array.is_contiguous
    ]
    faults += [f"export: {name} runs eagerly: {reason}" for name, reason in program.eager_reasons.items()]
    faults += [
        f"export: {each} runs every {period} control steps, and a file holds one step for all; leave its period out"
        for each, period in {operation.name: operation.period for operation in program.operations}.items()
        if period > 1
    ]
    if faults:
        raise SimulationError(*faults)


def _arrays(simulation: Simulation) -> Iterator[tuple[str, tuple[str, wp.array]]]:
    """Yield role and array by name: what a user writes between two steps, and what a step leaves."""
    found: list[tuple[str, str, dict[str, Any]]] = [
        ("state", "state", arrays_of(simulation.state)),
        ("control", "input", arrays_of(simulation.control)),
    ]
    for label, actuator in simulation.actuators.items():
        for role, names in {"input": _TARGETS, "output": ("applied_effort",)}.items():
            found.append((f"actuators.{label}", role, {name: getattr(actuator, name, None) for name in names}))
    for label, sensor in simulation.sensors.items():
        outputs = getattr(sensor, "outputs", {})  # those of the base class `Sensor`
        found.append((f"sensors.{label}", "output", {name: sensor[name] for name in outputs}))
    for owner, role, arrays in found:
        for name, array in arrays.items():
            if isinstance(array, wp.array) and array.size:
                yield f"{owner}.{name}".replace(":", "."), (role, array)


def _save(simulation: Simulation, folder: Path, arrays: Mapping[str, tuple[str, wp.array]]) -> None:
    program = simulation.program
    try:
        with program.undone(), wp.ScopedCapture(device=simulation.device, apic=True) as capture:
            for operation in program.operations:
                operation.run()
        inputs = {name: array for name, (role, array) in arrays.items() if role != "output"}
        outputs = {name: array for name, (role, array) in arrays.items() if role == "output"}
        wp.capture_save(present(capture.graph), str(folder / "step"), inputs=inputs, outputs=outputs)
    except RuntimeError as error:
        raise SimulationError(f"export: Warp cannot save the step ({error}); export a simpler scene") from error


def _compare(simulation: Simulation, folder: Path, arrays: Mapping[str, tuple[str, wp.array]]) -> None:
    """Refuse a file whose replay gives other bits than the simulation, in a process that has none of its memory."""
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "arrays.npz"
        command = [sys.executable, "-B", "-c", _REPLAYED, str(folder), str(_COMPARED_STEPS), str(target)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] if done.returncode > 0 else []
            why = said[0] if said else f"it ended by signal {-done.returncode}"
            raise SimulationError(
                f"export: a replay in another process failed ({why}): the file cannot hold all that the step reads,"
                " such as meshes that rays meet; export a simpler scene"
            )
        with np.load(target) as file:
            replayed = {name: file[name].tobytes() for name in file}
    with simulation.program.undone():
        simulation.program.step(_COMPARED_STEPS, done=simulation.step_count)
        differing = [name for name, (_, array) in arrays.items() if array.numpy().tobytes() != replayed[name]]
    if differing:
        raise SimulationError(
            f"export: a replay of the file gives other bits for {', '.join(differing)}; the file cannot hold what the"
            " step reads outside its graph"
        )


def _entry(name: str, role: str, array: wp.array) -> dict[str, Any]:
    dtype = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
    shape = list(array.numpy().shape)
    while len(shape) > 4:  # Warp has no more: the places that rays meet have five with their coordinates
        shape[:2] = [shape[0] * shape[1]]
    return {"name": name, "role": role, "dtype": dtype.__name__, "shape": shape, "offset": _offset(array)}


def _offset(array: wp.array) -> int:
    """Return the place of an array in the memory that it is a part of [bytes]: Warp names whole memories only."""
    whole = array
    while isinstance(part_of := getattr(whole, "_ref", None), wp.array):
        whole = part_of
    return int(present(array.ptr)) - int(present(whole.ptr))


def _manifest(simulation: Simulation, folder: Path, entries: list[dict[str, Any]]) -> dict[str, Any]:
    manifest = {
        "format": FORMAT,
        "pippin": metadata.version("pippin"),
        "newton": metadata.version("newton"),
        "warp": wp.__version__,
        "device": simulation.device.alias,
        "processor": processor_features(),
        "worlds": simulation.world_count,
        "control_dt": simulation.control_dt,
        "bodies": list(simulation.model.body_label),
        "joints": list(simulation.model.joint_label),
        "arrays": entries,
        "checksums": checksums(folder),
    }
    return {**manifest, "checksum": checksum_of(manifest)}
