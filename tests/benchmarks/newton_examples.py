"""A step of Newton's examples as files, compared with Newton's own loop of each, captured by hand.

`python tests/benchmarks/newton_examples.py [NAME ...] [--device cuda:0]` prints a row for each case. Both sides have
the same scene, solver and contacts. They advance in turn, frame by frame, so both see the scene at the same time. The
figure is the median of the ratios of neighbouring frames; more than 1 means that Pippin is faster.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import newton.examples
import numpy as np
import pippin
import warp as wp
from in_turn import in_turn, recorded

FILES = Path(__file__).parents[1] / "newton_examples" / "files"


@attrs.frozen(kw_only=True)
class Case:
    """An example of Newton, and the frames that are timed."""

    module: str
    """Below `newton.examples`, such as `cable.example_cable_pile`; the file has the last part of the name."""

    frames: int
    """Number of frames on each side."""

    options: Mapping[str, Any] = attrs.field(factory=dict)
    """Further arguments of the example's constructor."""

    attribute: str = "body_q"
    """Array of the state in which both sides must agree on how high everything lies."""

    @property
    def name(self) -> str:
        """The name of the example, and of its file."""
        return self.module.rpartition(".example_")[2]


CASES = (
    Case(module="cable.example_cable_pile", frames=30),
    Case(module="multiphysics.example_mujoco_xpbd_coupled_solver", frames=100),
    Case(module="multiphysics.example_admm_contact_solver", frames=100, attribute="particle_q"),
)


def example_of(case: Case) -> Any:
    """Return Newton's example on the current device, without a window."""
    module = importlib.import_module(f"newton.examples.{case.module}")
    parser = getattr(module.Example, "create_parser", newton.examples.create_parser)()
    return module.Example(newton.viewer.ViewerNull(), parser.parse_args([]), **case.options)


def compare(case: Case, device: str) -> str:
    """Return the row of a case: the ratio, the time of a frame, and the difference of the mean heights."""
    with (
        wp.ScopedDevice(device),
        pippin.Simulation.from_file(FILES / f"{case.name}.toml", {"simulation.device": device}) as simulation,
    ):
        example = example_of(case)
        if example.sim_substeps % 2:
            raise SystemExit(f"{case.name}: {example.sim_substeps} substeps end in the other state; no replay advances")
        simulation.step()  # as often as the example: recording runs it once
        replay = recorded(example.simulate, device)
        turns = itertools.islice(in_turn(simulation.step, replay, device, spell=0.0), case.frames)
        pairs = list(turns)
        states = (simulation.state, example.state_0)
        heights = [float(np.mean(getattr(state, case.attribute).numpy()[:, 2])) for state in states]
    difference = abs(heights[0] - heights[1])
    assert difference < 0.01, f"{case.name}: the mean heights differ by {difference:.3g} m, so the scenes do"
    ratio = statistics.median(newtons / ours for ours, newtons in pairs)
    frame = statistics.median(ours for ours, _ in pairs)
    return f"| `{case.name}` | {ratio:.3f} | {frame * 1e3:.1f} ms | {difference * 1e3:.2f} mm |"


def main() -> None:
    """Print one row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="examples; by default all")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    print("| example | ÷ captured by hand | frame | difference |\n|---|---|---|---|")
    for case in CASES:
        if not arguments.names or case.name in arguments.names:
            print(compare(case, arguments.device), flush=True)


if __name__ == "__main__":
    main()
