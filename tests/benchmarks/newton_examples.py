"""A step of Newton's examples as files, compared with Newton's own loop of each, captured by hand.

`python tests/benchmarks/newton_examples.py [NAME ...] [--device cuda:0]` prints a row for each case. Both sides have
the same scene, solver and contacts. They advance in turn, frame by frame, so both see the scene at the same time. Each
side stands there twice, built first and last on one side and in between on the other: on a CPU, whichever of two equal
loops is built first takes up to 2 % longer. The figure is the median of the ratios of neighbouring frames; more than 1
means that Pippin is faster. Neither side is captured where the solver cannot be. On a CPU, the time is that of the
processor, so that other work counts less.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton.examples
import numpy as np
import pippin
import warp as wp
from in_turn import Repeat, in_turn, recorded

FILES = Path(__file__).parents[1] / "newton_examples" / "files"


@attrs.frozen(kw_only=True)
class Case:
    """An example of Newton, and the frames that are timed."""

    module: str
    """Below `newton.examples`, such as `cable.example_cable_pile`; the file has the last part of the name."""

    frames: int
    """Number of frames on each side."""

    arguments: Sequence[str] = ()
    """Arguments of the example's command line."""

    overrides: Mapping[str, Any] = attrs.field(factory=dict)
    """Keys that say the same to Pippin."""

    attribute: str = "body_q"
    """Array of the state in which both sides must agree on how high everything lies."""

    @property
    def name(self) -> str:
        """The name of the example, and of its file."""
        return self.module.rpartition(".example_")[2]


CASES = (
    Case(module="cable.example_cable_pile", frames=30),
    Case(
        module="cloth.example_cloth_hanging",
        frames=100,
        arguments=("--width", "32", "--height", "16"),
        attribute="particle_q",
    ),
    Case(
        module="mpm.example_mpm_granular",
        frames=60,
        arguments=("--voxel-size", "0.2", "--substeps", "2"),
        overrides={"simulation.substeps": 2, "solver.voxel_size": 0.2, "scene.objects.0.spacing": 0.2 / 3.0},
        attribute="particle_q",
    ),
    Case(module="multiphysics.example_mujoco_xpbd_coupled_solver", frames=100),
)
"""Cases whose loop may be captured on a CPU. Three loops of Newton's `mujoco_vbd_admm_solver` in one process, each
captured by hand, read garbage for their number of contacts and crash; three simulations of Pippin do not.
"""


def example_of(case: Case) -> Any:
    """Return Newton's example on the current device, without a window."""
    module = importlib.import_module(f"newton.examples.{case.module}")
    parser = getattr(module.Example, "create_parser", newton.examples.create_parser)()
    return module.Example(newton.viewer.ViewerNull(), parser.parse_args(case.arguments))


def each_of(repeats: Sequence[Repeat]) -> Repeat:
    """Return what lets each of some loops run some times."""

    def repeat(count: int) -> None:
        for each in repeats:
            each(count)

    return repeat


def repeated(run: Callable[[], None]) -> Repeat:
    """Run once, as recording does, and return what does something some times."""
    run()

    def repeat(count: int) -> None:
        for _ in range(count):
            run()

    return repeat


def compare(case: Case, device: str) -> str:
    """Return the row of a case: the ratio, the time of a frame, and the difference of the mean heights."""
    path, overrides = FILES / f"{case.name}.toml", {**case.overrides, "simulation.device": device}
    with (
        wp.ScopedDevice(device),
        pippin.Simulation.from_file(path, overrides) as first,
    ):
        examples = [example_of(case) for _ in range(2)]
        if examples[0].sim_substeps % 2:
            raise SystemExit(f"{case.name}: an odd number of substeps ends in the other state; no replay advances")
        with pippin.Simulation.from_file(path, overrides) as last:
            for simulation in (first, last):
                simulation.step()
            is_captured = first.program.is_captured
            loops = [recorded(each.simulate, device) if is_captured else repeated(each.simulate) for each in examples]
            clock = time.process_time if wp.get_device(device).is_cpu else time.perf_counter
            turns = in_turn(each_of((first.step, last.step)), each_of(loops), device, 0.0, clock)
            pairs = list(itertools.islice(turns, case.frames))
            states = [each.state for each in (first, last)] + [each.state_0 for each in examples]
            heights = [float(np.mean(getattr(state, case.attribute).numpy()[:, 2])) for state in states]
    difference = max(heights) - min(heights)
    assert difference < 0.01, f"{case.name}: the mean heights differ by {difference:.3g} m, so the scenes do"
    ratio = statistics.median(theirs / ours for ours, theirs in pairs)
    frame = statistics.median(ours for ours, _ in pairs) / 2.0
    how = "captured" if is_captured else "eager"
    return f"| `{case.name}` | {how} | {ratio:.3f} | {frame * 1e3:.1f} ms | {difference * 1e3:.2f} mm |"


def main() -> None:
    """Print one row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="examples; by default all")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    print("| example | both | ÷ Newton's loop | frame | difference |\n|---|---|---|---|---|")
    for case in CASES:
        if not arguments.names or case.name in arguments.names:
            print(compare(case, arguments.device), flush=True)


if __name__ == "__main__":
    main()
