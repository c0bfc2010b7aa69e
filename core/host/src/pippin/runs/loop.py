"""A run from its build on: its kernels, the notes on the start pose, and control steps up to a goal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import warp as wp
from pippin.components.tracing import HookTrace
from pippin.config import SimulationConfig
from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.simulation import Simulation
from pippin.state.start_pose import limit_notes, overlap_notes, overlaps
from pippin.step.cuda_compilation import architectures_named, compile_for
from pippin.step.host_schedule import next_stride
from pippin.studies import RunProgress, stopped_between_steps
from pippin.studies.summary import status_line, throughput

from .result import End


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
    with progress.phase("step 1"):  # it also compiles what no rehearsal reaches
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


LOOK_PERIOD = 0.25
"""Time between two checks of the simulation [s]: each waits for the device, and redraws the line."""


class RunLoop:
    """Takes the control steps of a run, and measures the time of all but the first one. Ctrl-C stops between steps.

    Args:
        simulation: The simulation.
        progress: The progress to show.
        notes: Notes on the start, before its own.
    """

    def __init__(self, simulation: Simulation, progress: RunProgress, notes: Sequence[str] = ()) -> None:
        self.simulation, self.progress = simulation, progress
        #: Control steps before the run.
        self.first_step: int = simulation.step_count
        #: The notes on the start.
        self.notes: list[str] = list(notes)
        #: What ended the run early, if anything.
        self.end: End | None = None
        #: Measured control steps.
        self.steps: int = 0
        #: Time that they took, without pauses for viewers [s].
        self.seconds: float = 0.0
        #: Whether the results are checked after each stride, or about four times a second if strides are shorter.
        self.checks_each_stride: bool = True
        self._stride, self._checked = 1, 0.0
        task = simulation.component("task")
        self._scored = None if task is None else task.sums

    @property
    def score(self) -> Any:
        """The episodes of the run; None without a task."""
        task = self.simulation.component("task")
        return None if task is None or self._scored is None else task.sums.since(self._scored)

    def run(self, take: Callable[[RunLoop], None]) -> None:
        """Call a function that takes the steps, and keep in `end` what ends it early.

        Args:
            take: Takes the steps of this loop.
        """
        try:
            take(self)
        except (SimulationError, PluginError, KeyboardInterrupt) as end:
            self.end = end

    def begin(self) -> None:
        """Compile, and take the first step, unless a checkpoint brought its graphs."""
        if not self.simulation.program.is_recorded:
            prepare(self.simulation, self.progress, self.notes)

    def step_to(self, goal: int) -> None:
        """Step to a control step, and check the results: after one step, then about four times a second.

        Args:
            goal: Number of the control step, as `Simulation.step_count` counts.
        """
        simulation = self.simulation
        with stopped_between_steps(simulation) as stop_if_asked:
            while simulation.step_count < goal:
                self.stride_to(goal)
                stop_if_asked()
                left = self.seconds / self.steps * (goal - simulation.step_count)
                speed = throughput(simulation, self.steps, self.seconds)
                self.progress.update(status_line(simulation.time, speed, left))

    def stride_to(self, goal: int) -> None:
        """Take the steps of one stride, or those to a goal if they are fewer, and check the results."""
        stride = min(self._stride, goal - self.simulation.step_count)
        self._stride = next_stride(stride, self._step(stride), LOOK_PERIOD)

    def _step(self, stride: int) -> float:
        """Take some control steps, check the results, and return the time of both [s]."""
        simulation = self.simulation
        start, first, waited = time.perf_counter(), simulation.step_count, simulation.seconds_waited
        try:
            simulation.step(stride)
            if self.checks_each_stride or start - self._checked > LOOK_PERIOD:
                simulation.raise_errors()
                self._checked = start
            else:
                wp.synchronize_device(simulation.device)
        finally:
            elapsed = time.perf_counter() - start
            self.steps += simulation.step_count - first
            self.seconds += elapsed - (simulation.seconds_waited - waited)
        return elapsed
