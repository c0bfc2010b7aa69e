"""Compute the tables of `explanation/scale-on-paper.md`: `python docs/compute_gpu_scale.py [--measure]`.

No GPU was at hand. Launches, arrays and iterations of a step are counted here, on a CPU; the published figures of three
GPUs turn them into times. Change a figure below, run the script, and read the page. With `--measure`, it prints the
counts anew.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs

DOCS = Path(__file__).parent
PAGE = DOCS / "explanation" / "scale-on-paper.md"

WORLDS = (4096, 65_536, 1_000_000)

LAUNCH = (0.5e-6, 2e-6)
"""Time that a node of a graph adds on the device [s]: 3.4 - 2.9 µs for each kernel in NVIDIA's own example, a V100
(developer.nvidia.com/blog/cuda-graphs); and what a kernel of one thread takes that waits for the one before."""


@attrs.frozen
class Robot:
    """What a control step of one file needs."""

    name: str
    file: str
    launches: int
    """Kernels, memsets and copies, in every step."""
    beside: int
    """Those of them that are not the solver's."""
    looped: int
    """Those in one pass of the solver's loops, of all its steps together."""
    iterations: float
    """Passes of a loop until the last of 256 worlds is done, on average."""
    fixed: float
    """Memory for any number of worlds [B]."""
    memory: float
    """Memory of a world [B]."""
    bytes_low: float
    """Bytes that a step of a world moves if each operation moves each of its arrays once, and only the rows in use."""
    bytes_high: float
    """Bytes if each kernel reads all its arrays whole, and writes those that it may write."""
    core_seconds: float
    """Time of a core for a control step of a world [s], captured, 256 worlds: measured here."""

    @property
    def nodes(self) -> float:
        """Nodes that run in a step."""
        return self.launches + self.looped * self.iterations

    @property
    def operations(self) -> float:
        """The most floating-point operations of a step of a world: a core at 3 GHz, two scalar units for a·b + c."""
        return self.core_seconds * 3e9 * 4


ROBOTS = (
    Robot(
        name="ant",
        file="docs/examples/ant.toml",
        launches=840,
        beside=62,
        looped=80,
        iterations=1.0,
        fixed=16823,
        memory=64099,
        bytes_low=205447,
        bytes_high=2503796,
        core_seconds=0.0002,
    ),
    Robot(
        name="quadruped",
        file="docs/examples/tasks/quadruped_velocity.toml",
        launches=466,
        beside=108,
        looped=40,
        iterations=1.2,
        fixed=22030,
        memory=79226,
        bytes_low=140621,
        bytes_high=1942194,
        core_seconds=0.00013,
    ),
)


@attrs.frozen
class Gpu:
    """Published figures of a GPU."""

    name: str
    memory: float
    """[B]"""
    bandwidth: float
    """[B/s]"""
    operations: float
    """FP32, without tensor cores [1/s]."""


GPUS = (
    # images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf
    Gpu("RTX 4090", 24e9, 1.008e12, 82.6e12),
    # nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-nvidia-us-2188504-web.pdf
    Gpu("A100 80 GB", 80e9, 2.039e12, 19.5e12),
    # nvidia.com/en-us/data-center/h200
    Gpu("H200", 141e9, 4.8e12, 67e12),
)


@attrs.frozen
class Times:
    """Time of a control step of all worlds on a GPU [s], for the lower and the upper estimate."""

    launches: tuple[float, float]
    memory: tuple[float, float]
    arithmetic: float

    @property
    def low(self) -> float:
        """The largest part alone: all others are hidden behind it."""
        return max(self.launches[0], self.memory[0])

    @property
    def high(self) -> float:
        """All parts one after the other."""
        return self.launches[1] + self.memory[1] + self.arithmetic


def times(robot: Robot, gpu: Gpu, worlds: int) -> Times:
    """Return the times of a control step."""
    return Times(
        launches=(robot.nodes * LAUNCH[0], robot.nodes * LAUNCH[1]),
        memory=(robot.bytes_low * worlds / gpu.bandwidth, robot.bytes_high * worlds / gpu.bandwidth),
        arithmetic=robot.operations * worlds / gpu.operations,
    )


def memory(robot: Robot, worlds: int) -> float:
    """Return the memory of so many worlds [B]."""
    return robot.fixed + robot.memory * worlds


def table_of_needs() -> str:
    """Return what a control step needs."""
    rows = ["| | " + " | ".join(robot.name for robot in ROBOTS) + " |", "|---|" + "---|" * len(ROBOTS)]
    needs = {
        "launches in every step": lambda robot: f"{robot.launches}",
        "of them beside the solver's": lambda robot: f"{robot.beside}",
        "launches in one pass of the solver's loops": lambda robot: f"{robot.looped}",
        "passes": lambda robot: f"{robot.iterations:.1f}",
        "memory of a world [kB]": lambda robot: f"{robot.memory / 1e3:.0f}",
        "moved by a world [kB]": lambda robot: f"{robot.bytes_low / 1e3:.0f} to {robot.bytes_high / 1e3:.0f}",
        "operations of a world, at most [10⁶]": lambda robot: f"{robot.operations / 1e6:.1f}",
    }
    rows += [f"| {name} | " + " | ".join(map(text, ROBOTS)) + " |" for name, text in needs.items()]
    return "\n".join(rows)


def table_of_memory() -> str:
    """Return the memory, and the worlds that fit."""
    rows = ["| | " + " | ".join(f"{worlds} worlds [GB]" for worlds in WORLDS) + " | "]
    rows[0] += " | ".join(f"fit into {gpu.memory / 1e9:.0f} GB" for gpu in GPUS) + " |"
    rows.append("|---|" + "---|" * (len(WORLDS) + len(GPUS)))
    for robot in ROBOTS:
        sizes = [f"{memory(robot, worlds) / 1e9:.1f}" for worlds in WORLDS]
        fit = [f"{_rounded((gpu.memory - robot.fixed) / robot.memory)}" for gpu in GPUS]
        rows.append(f"| {robot.name} | " + " | ".join([*sizes, *fit]) + " |")
    return "\n".join(rows)


def table_of_times() -> str:
    """Return the parts of a step and the rates."""
    rows = ["| robot | GPU | worlds | launches [ms] | memory [ms] | arithmetic [ms] | world-steps/s [10⁶] |"]
    rows.append("|---|---|---|---|---|---|---|")
    for robot in ROBOTS:
        for gpu in GPUS:
            for worlds in WORLDS:
                if memory(robot, worlds) > gpu.memory:
                    rows.append(f"| {robot.name} | {gpu.name} | {worlds} | | | | does not fit |")
                    continue
                found = times(robot, gpu, worlds)
                parts = [f"{_short(1e3 * low)} to {_short(1e3 * high)}" for low, high in (found.launches, found.memory)]
                rates = f"{_short(worlds / found.high / 1e6)} to {_short(worlds / found.low / 1e6)}"
                cells = [robot.name, gpu.name, worlds, *parts, f"≤ {_short(1e3 * found.arithmetic)}", rates]
                rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows)


def _short(number: float) -> str:
    """Return two digits of a number."""
    return f"{number:.0f}" if number >= 9.95 else f"{number:.1f}" if number >= 0.995 else f"{number:.2f}"


def _rounded(count: float) -> int:
    """Return two digits of a count."""
    size = 10 ** (len(str(int(count))) - 2)
    return int(count) // size * size


TABLES = {"needs": table_of_needs, "memory": table_of_memory, "times": table_of_times}


def page(text: str) -> str:
    """Return the page with new tables between its marks."""
    for name, table in TABLES.items():
        text, count = re.subn(
            rf"(<!-- table: {name} -->\n\n).*?(\n\n<!-- end -->)", rf"\g<1>{table()}\g<2>", text, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"{PAGE}: {count} tables {name!r}; write its two marks once")
    return text


def measured(robot: Robot, worlds: int = 256, steps: int = 100) -> Robot:
    """Return a robot with the counts of today, except for its memory."""
    import pippin
    from pippin.profiling.profile import count_launches

    overrides = {"scene.worlds": worlds, "simulation.device": "cpu"}
    config = pippin.load(DOCS.parent / robot.file, overrides)
    simulation = pippin.Simulation(config)
    simulation.step()
    data, iterations = simulation.solver.mjw_data, []
    start = time.process_time()
    for _ in range(steps):
        simulation.step()
        iterations.append(int(data.solver_niter.numpy().max()))
    seconds = time.process_time() - start
    with simulation.program.undone():
        launches = count_launches(simulation.program)
        moved = Traffic(simulation, sum(iterations) / steps)
        simulation.program.record_apart([(each,) for each in moved.operations()])
    always = {name: count for (name, is_inside), count in launches.items() if not is_inside}
    return attrs.evolve(
        robot,
        launches=sum(always.values()),
        beside=sum(always.values()) - always["step_solver(solver)"],
        looped=launches["step_solver(solver)", True],
        iterations=round(sum(iterations) / steps, 1),
        bytes_low=round(moved.low / worlds),
        bytes_high=round(moved.high / worlds),
        core_seconds=round(seconds / steps / worlds, 5),
    )


def with_memory(robot: Robot) -> Robot:
    """Return a robot with the memory that `pippin inspect FILE --memory` counts."""
    import pippin
    from pippin.measuring.memory import measure

    found = measure(pippin.load(DOCS.parent / robot.file, {"simulation.device": "cpu"}))
    return attrs.evolve(robot, memory=round(found.per_world), fixed=round(found.fixed))


class Traffic:
    """Counts the bytes that the kernels of a step move, while its operations are recorded one by one.

    MuJoCo Warp's rows of constraints and contacts are rooms; in the lower estimate, their use in the present state
    counts.

    Args:
        simulation: The simulation, with a state that is typical.
        passes: Passes of a loop.
    """

    def __init__(self, simulation: Any, passes: float) -> None:
        self._program, self._passes = simulation.program, passes
        self._use = dict(_use_of_rooms(simulation.solver.mjw_data))
        self._once: dict[int, float] = {}
        self._weight = 1.0
        self.low = self.high = 0.0

    def operations(self) -> list[Any]:
        """Return the operations of the step, which count when they are recorded."""
        return [attrs.evolve(each, run=partial(self._counted, each.run)) for each in self._program.operations]

    def _counted(self, run: Any) -> None:
        import warp as wp

        originals = wp.launch, wp.copy, wp.array.zero_, wp.capture_while, wp.capture_if, wp.launch_tiled

        def launch(kernel: Any, dim: Any, inputs: Any = (), outputs: Any = (), *args: Any, **options: Any) -> Any:
            self._note(inputs, 1, 2 - bool(len(outputs)))  # without outputs, any input may be written
            self._note(outputs, 1, 2)
            return originals[0](kernel, dim, inputs, outputs, *args, **options)

        def launch_tiled(*args: Any, inputs: Any = (), outputs: Any = (), **options: Any) -> Any:
            self._note(inputs, 1, 2 - bool(len(outputs)))
            self._note(outputs, 1, 2)
            return originals[5](*args, inputs=inputs, outputs=outputs, **options)

        def copy(target: Any, source: Any, *args: Any, **options: Any) -> None:
            self._note((target, source), 1, 1)
            originals[1](target, source, *args, **options)

        def zero(array: Any) -> None:
            self._note((array,), 1, 1)
            originals[2](array)

        def repeat(condition: Any, while_body: Any, **options: Any) -> None:
            self._weight, before = self._passes, self._weight
            originals[3](condition, while_body, **options)
            self._weight = before

        def skip(*_: Any, **__: Any) -> None:
            """Leave the reset of worlds out."""

        self._once = {}
        wp.launch, wp.copy, wp.array.zero_, wp.capture_while, wp.capture_if = launch, copy, zero, repeat, skip
        wp.launch_tiled = launch_tiled
        try:
            run()
        finally:
            wp.launch, wp.copy, wp.array.zero_, wp.capture_while, wp.capture_if, wp.launch_tiled = originals
        self.low += sum(self._once.values())

    def _note(self, arrays: Any, low: int, high: int) -> None:
        for array in arrays:
            if not getattr(array, "ptr", None) or not hasattr(array, "strides"):
                continue
            size = math.prod(count for count, step in zip(array.shape, array.strides, strict=True) if step)
            size *= array.strides[-1] if array.ndim and array.strides[-1] else 4
            self._once[array.ptr] = low * size * self._use.get(array.ptr, 1.0)
            self.high += high * size * self._weight


def _use_of_rooms(data: Any) -> Iterator[tuple[int, float]]:
    """Yield the addresses of the arrays of constraints and contacts, with the part of them that is in use."""
    rows = float(data.nefc.numpy().mean()) / data.njmax
    contacts = float(data.nacon.numpy()[0]) / data.naconmax
    for group, part in ((data.efc, rows), (data.contact, contacts)):
        for value in vars(group).values():
            if getattr(value, "ptr", None):
                yield value.ptr, part


if __name__ == "__main__":
    if "--measure" in sys.argv:
        for each in ROBOTS:
            print(with_memory(measured(each)))
    else:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
