"""Summary of a run as plain data: its program, buffers, versions, hardware and speed."""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

from pippin.config import SimulationConfig
from pippin.devices import kind_of
from pippin.files import physical_memory
from pippin.simulation import Simulation

_DISTRIBUTIONS = ("pippin", "newton", "warp-lang", "mujoco", "mujoco-warp", "numpy")
_GIB = 2**30

_SHOWN = ("field", "holds", "allocated")
"""What a summary says of a buffer."""


def speed_of(config: SimulationConfig, world_steps: int, steps: int, seconds: float) -> dict[str, float | None]:
    """Return physics steps per second of all worlds together, and the real-time factor of one world.

    Both are None if nothing was measured. `world_steps` are control steps summed over the worlds; `steps` are those
    that all worlds took, in some seconds.
    """
    step = config.simulation
    if not world_steps or not seconds:
        return {"world_steps_per_second": None, "real_time_factor": None}
    return {
        "world_steps_per_second": world_steps * step.decimation / seconds,
        "real_time_factor": steps * (step.dt * step.decimation) / seconds,
    }


def throughput(simulation: Simulation, steps: int, seconds: float) -> dict[str, float | None]:
    """Return the speed of control steps that took a time [s], as `speed_of` does."""
    return speed_of(simulation.config, simulation.world_count * steps, steps, seconds)


def what_ran(simulation: Simulation, start: Sequence[str] = ()) -> dict[str, Any]:
    """Return the program of a step, notes with those on the start, import reports, buffers, what matter did, plugins,
    versions and hardware.

    Args:
        simulation: The simulation, after its steps.
        start: Notes on its start.
    """
    from .matter import matter_facts

    program = simulation.program
    segments = [
        {"captured": segment.graph is not None, "operations": [operation.name for operation in segment.operations]}
        for segment in program.segments
    ]
    return {
        "program": {"captured": program.is_captured, "eager_reasons": program.eager_reasons, "segments": segments},
        "notes": with_limits(component_notes(simulation, start), simulation.iteration_limit_count),
        "imports": {each.file: [*map(str, each.differences), *each.lost] for each in simulation.import_reports},
        "capacities": [{name: row[name] for name in _SHOWN} for row in capacity_rows(simulation)],
        "matter": matter_facts(simulation),
        "plugins": _plugins(simulation),
        "versions": {"python": platform.python_version(), **versions()},
        "hardware": _hardware(simulation),
    }


def component_notes(simulation: Simulation, start: Sequence[str] = ()) -> dict[str, Sequence[str]]:
    """Return the notes of the components and of the start."""
    return {name: texts for name, texts in {**simulation.notes, "start": start}.items() if texts}


def with_limits(notes: Mapping[str, Sequence[str]], count: int) -> dict[str, Sequence[str]]:
    """Return notes by component, with one on how often the solver reached its limit of iterations."""
    if not count:
        return dict(notes)
    limit = "reached its limit of iterations, and continued with the last iterate"
    times = "once" if count == 1 else f"{count:,} times"
    return {**notes, "solver": [*notes.get("solver", ()), f"{limit}, {times} (substeps of all worlds)"]}


def capacity_rows(simulation: Simulation) -> list[dict[str, Any]]:
    """Return the buffers for contacts and those of the solver, with the configuration key that sets their size, and
    whether it is that of one world.
    """
    names = (*_SHOWN, "is_per_world")
    return [{name: getattr(capacity, name) for name in names} for capacity in simulation.capacities]


def _plugins(simulation: Simulation) -> dict[str, Any]:
    found = {}
    for name, (kind, choice) in simulation.selected_plugins.items():
        entry = simulation.catalog.find(kind, choice.type)
        found[name] = {"type": choice.type, "distribution": entry.distribution, "version": entry.version}
    return found


@functools.cache  # metadata of distributions take milliseconds
def versions() -> Mapping[str, str]:
    """Return the versions of the distributions that change results."""
    found = {}
    for name in _DISTRIBUTIONS:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _hardware(simulation: Simulation) -> Mapping[str, Any]:
    device, memory = simulation.device, physical_memory()
    hardware: dict[str, Any] = {
        "system": platform.platform(),
        "cpu": _cpu_name(),
        "cpu_count": os.cpu_count(),
        "memory_gib": None if memory is None else round(memory / _GIB, 1),
        "device": device.alias,
    }
    if kind_of(device) == "cuda":
        hardware |= {"gpu": device.name, "gpu_memory_gib": round(device.total_memory / _GIB, 1)}
    return hardware


def _cpu_name() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def status_line(time: float, speed: Mapping[str, float | None], left: float) -> str:
    """Return the line of a running simulation: its time [s], its speed, and the time that is left [s]."""
    return f"t = {time:.2f} s, {speed_text(speed)}, {timedelta(seconds=round(left))} to go"


def speed_text(speed: Mapping[str, Any]) -> str:
    """Return a speed that was measured, as `throughput` gives it."""
    return f"{speed['world_steps_per_second']:,.0f} world-steps/s, {speed['real_time_factor']:.3g} × real time"
