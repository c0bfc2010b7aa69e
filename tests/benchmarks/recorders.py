"""Steps with a recorder beside steps without: `uv run python tests/benchmarks/recorders.py [--device cuda:0]`.

Two simulations of the ant in one process take captured control steps in turn; one records every joint of all worlds,
positions, velocities, efforts and targets, after every step. A figure is the median of the ratios of neighbouring runs.

The recorders of demonstrations have a camera of 128 × 128 pixels, which both simulations draw. Here a run takes half a
second, and ends when all images are encoded and written.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import pippin
import robots
from in_turn import in_turn

DEMONSTRATIONS = ("lerobot", "robomimic")
"""Recorders of episodes."""

SERIES = ["joint_q", "joint_qd", "actuators/.*"]


def ants(
    worlds: int, device: str, recorders: dict[str, Any], folder: Path, sensors: dict[str, Any] | None = None
) -> pippin.Simulation:
    """Return ants under PD control with some recorders and sensors."""
    tables = {
        "simulation": {"dt": 0.005, "decimation": 4, "device": device, "capture": "require"},
        "scene": {"worlds": worlds, "ground": True, "assets": [robots.ANT]},
        "solver": {"type": "mujoco"},
        "actuators": {"legs": robots.pd([".*hip.*", ".*ankle.*"], robots.ANT_GAINS)},
        "recorders": recorders,
        "sensors": sensors or {},
    }
    return pippin.Simulation(pippin.structure(tables), folder=folder)


def ratio(kind: str, worlds: int, device: str, folder: Path) -> tuple[float, float]:
    """Return the time without over the time with a recorder, and the size of a row [kB]."""
    options = {"type": kind, "worlds": f"0:{worlds}", "series": SERIES}
    with (
        ants(worlds, device, {}, folder) as plain,
        ants(worlds, device, {"log": options}, folder) as observed,
    ):
        recorder = observed.recorders["log"]
        for simulation in (plain, observed):
            simulation.step(3)
        found = statistics.median(without / with_ for without, with_ in in_turn(plain.step, observed.step, device))
        return found, recorder.header.row_type.itemsize / 1e3


CAMERA = {
    "type": "camera",
    "width": 128,
    "height": 128,
    "vertical_fov": 0.9,
    "position": [2.5, 0.0, 1.5],
    "look_at": [0.0, 0.0, 0.5],
    "outputs": ["color"],
}
TURNS, SPELL = 41, 0.5
"""Runs of demonstrations, and about how long each is [s]."""


def demonstration_ratio(kind: str, worlds: int, device: str, folder: Path) -> tuple[float, float]:
    """Return the same for a recorder of episodes, with a camera that both simulations have."""
    options = {"type": kind, "worlds": f"0:{worlds}"}
    with (
        ants(worlds, device, {}, folder, {"front": CAMERA}) as plain,
        ants(worlds, device, {"log": options}, folder, {"front": CAMERA}) as observed,
    ):
        recorder = observed.recorders["log"]

        def record(count: int) -> None:
            observed.step(count)
            recorder.flush()
            if kind == "lerobot":
                recorder._encoder.call(int).result()

        for run in (plain.step, record):
            run(3)
        turns = islice(in_turn(plain.step, record, device, SPELL), TURNS)
        found = statistics.median(without / with_ for without, with_ in turns)
        return found, recorder.header.row_type.itemsize / 1e3


def main() -> None:
    """Print one row for each recorder and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, nargs="+", default=[1, 64])
    parser.add_argument("--recorders", nargs="+", default=["npz", "hdf5", "mcap", *DEMONSTRATIONS])
    arguments = parser.parse_args()
    print("| recorder | worlds | kB a row | with ÷ without, in steps/s |\n|---|---|---|---|")
    for kind in arguments.recorders:
        for worlds in arguments.worlds:
            with tempfile.TemporaryDirectory() as folder:
                measure = demonstration_ratio if kind in DEMONSTRATIONS else ratio
                found, size = measure(kind, worlds, arguments.device, Path(folder))
            print(f"| `{kind}` | {worlds} | {size:.1f} | {found:.3f} |", flush=True)


if __name__ == "__main__":
    main()
