"""Start of a run: its kernels, the notes on the start pose, and the first control step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.errors import ConfigError
from pippin.simulation import Simulation
from pippin.state.start_pose import limit_notes, overlap_notes, overlaps
from pippin.step.cuda_compilation import architectures_named, compile_for
from pippin.studies import RunProgress


def build(
    config: SimulationConfig,
    progress: RunProgress,
    folder: Path | None = None,
    plugins: Mapping[str, Any] | None = None,
    trace: HookTrace | None = None,
) -> Simulation:
    """Return the simulation of a configuration; further arguments are those of `Simulation`."""
    with progress.phase("build"):
        return Simulation(config, plugins=plugins or {}, trace=trace, folder=folder)


def start_notes(simulation: Simulation) -> list[str]:
    """Return one line about joints that start outside their limits, and one about each kind of overlap at the start.

    The start is that of the model; steps do not change the answer, and the answer changes no step.
    """
    model = simulation.model
    found = overlaps(model, simulation.solver, simulation.contact_source)
    return [*limit_notes(model), *overlap_notes(model, found)]


@contextmanager
def prepared(config: SimulationConfig, progress: RunProgress) -> Iterator[Simulation]:
    """Build a simulation, take its first step, and close it at the end of the block."""
    with build(config, progress) as simulation:
        prepare(simulation, progress)
        yield simulation


def prepare(simulation: Simulation, progress: RunProgress, notes: list[str] | None = None) -> None:
    """Compile the kernels of a step, add the notes on the start to `notes`, if given, take the first step, and capture.

    Raises:
        SimulationError: The step cannot be captured although it must, or it failed.
    """
    with progress.phase("compile"):
        compile_kernels(simulation, progress, notes)
    with progress.phase("capture"):
        take_first_step(simulation)


def compile_kernels(simulation: Simulation, progress: RunProgress, notes: list[str] | None = None) -> None:
    """Compile the kernels of a step, and add the notes on the start to `notes` unless it is None."""
    simulation.program.compile(progress.update)
    if notes is not None:
        notes += start_notes(simulation)


def compile_for_gpus(config: SimulationConfig, architectures: str, progress: RunProgress) -> None:
    """Compile the kernels of a build and a step for the GPUs of architectures, "sm_90,sm_80", without a GPU.

    Raises:
        ConfigError: The architectures are unknown, or the configuration chooses the CPU.
    """
    numbers = architectures_named(architectures)
    if config.simulation.device == "cpu":
        raise ConfigError(
            "simulation.device: 'cpu', but --arch compiles for GPUs; set it to 'auto', or leave out --arch"
        )
    config = attrs.evolve(config, simulation=attrs.evolve(config.simulation, device="cpu"))
    with progress.phase("compile"):
        count, fault = compile_for(numbers, partial(Simulation, config), progress.update)
    progress.note(f"{count} modules are compiled for {', '.join(f'sm_{number}' for number in numbers)}")
    if fault is not None:
        progress.note(f"the first step on a GPU may compile more: its kernels depend on results ({fault})")


def take_first_step(simulation: Simulation) -> None:
    """Take the first step, and capture it."""
    simulation.step()
    simulation.raise_errors()
