"""Steps with a page in the browser beside steps without: `uv run python tests/benchmarks/viewers.py [--device cuda:0]`.

Two simulations in one process take captured control steps in turn; one shows its worlds at 30 Hz, first to nobody, then
to a headless Chromium with a small window. The browser draws without a GPU, so it gets cores of its own: what is
measured is the time that the steps wait for the page. A figure is the median of the ratios of neighbouring runs.

`--worlds` shows four of so many ants. `--particles 50000` shows a block of loose particles, which XPBD lets fall
without contacts: no step with so many particles is faster. The last row of the ants is about runs that film one world
at 640×480, in turns with runs that do not, with the time that the rest of the film takes at their end.
"""

from __future__ import annotations

import argparse
import os
import runpy
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import pippin
import robots
from in_turn import in_turn

CHROMIUM = runpy.run_path(str(Path(__file__).parents[1] / "viewing" / "viser" / "chromium.py"))
SPELL = 0.3  # of one side in a turn [s]: many frames


def ants(worlds: int, device: str, viewers: dict[str, Any]) -> pippin.Simulation:
    """Return ants under PD control with some viewers."""
    tables = {
        "simulation": {"dt": 0.005, "decimation": 4, "device": device, "capture": "require"},
        "scene": {"worlds": worlds, "ground": True, "assets": [robots.ANT]},
        "solver": {"type": "mujoco"},
        "actuators": {"legs": robots.pd([".*hip.*", ".*ankle.*"], robots.ANT_GAINS)},
        "viewers": viewers,
    }
    return pippin.Simulation(pippin.structure(tables))


def sand(count: int, device: str, viewers: dict[str, Any]) -> pippin.Simulation:
    """Return a block of about a number of loose particles that falls, with some viewers."""
    side = round(count ** (1.0 / 3.0))
    block = {"type": "granular", "label": "sand", "size": [0.02 * (side - 1)] * 3, "spacing": 0.02, "density": 1500.0}
    tables = {
        "simulation": {"dt": 0.005, "device": device, "capture": "require"},
        "scene": {"objects": [block], "gravity": [0.0, 0.0, -1e-3]},
        "solver": {"type": "xpbd", "disable_particle_contacts": True},
        "viewers": viewers,
    }
    return pippin.Simulation(pippin.structure(tables))


def ratio(plain: pippin.Simulation, shown: pippin.Simulation, device: str) -> float:
    """Return the time without over the time with the page."""
    return statistics.median(without / with_ for without, with_ in in_turn(plain.step, shown.step, device, SPELL))


def filmed(worlds: int, device: str, turns: int = 3, steps: int = 100) -> tuple[float, float]:
    """Return the time without over the time with a film, and the time at the end of a run [s]."""
    ratios, rests = [], []
    with tempfile.TemporaryDirectory() as folder:
        film = {"type": "video", "path": f"{folder}/film.mp4"}
        for _ in range(turns):
            seconds = []
            for viewers in ({}, {"film": film}):
                with ants(worlds, device, viewers) as simulation:
                    simulation.step(5)
                    start = time.perf_counter()
                    simulation.step(steps)
                    seconds.append(time.perf_counter() - start)
                    end = time.perf_counter()
            ratios.append(seconds[0] / seconds[1])
            rests.append(time.perf_counter() - end)
    return statistics.median(ratios), statistics.median(rests)


def shown_in_turn(what: str, plain: pippin.Simulation, shown: pippin.Simulation, device: str, folder: str) -> None:
    """Print the rows of a simulation without a page and one with it, before and after a browser opens it."""
    for simulation in (plain, shown):
        simulation.step(3)
    print(f"| {what} | no browser | {ratio(plain, shown, device):.3f} |", flush=True)
    if not CHROMIUM["Chromium"].is_installed():
        return
    cores = os.sched_getaffinity(0)
    own, *others = sorted(cores)
    os.sched_setaffinity(0, others or cores)
    browser = CHROMIUM["Chromium"](Path(folder), (320, 240))
    os.sched_setaffinity(0, {own})
    try:
        viewer = shown.viewers["page"]
        browser.open(viewer.url)
        CHROMIUM["until"](lambda: viewer.clients.count, "the browser")
        print(f"| {what} | one browser | {ratio(plain, shown, device):.3f} |", flush=True)
    finally:
        browser.close()
        os.sched_setaffinity(0, cores)


def main() -> None:
    """Print one row for each number of worlds, or of particles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, nargs="*", default=[64])
    parser.add_argument("--particles", type=int, nargs="*", default=[])
    arguments = parser.parse_args()
    device = arguments.device
    print("| contents | page open in | with ÷ without, in steps/s |\n|---|---|---|")
    for worlds in arguments.worlds:
        page = {"page": {"type": "viser", "worlds": f"0:{min(worlds, 4)}"}}
        with (
            ants(worlds, device, {}) as plain,
            ants(worlds, device, page) as shown,
            tempfile.TemporaryDirectory() as folder,
        ):
            shown_in_turn(f"{worlds} worlds", plain, shown, device, folder)
        ratio_of_film, rest = filmed(worlds, device)
        print(f"| {worlds} worlds | a film, {rest:.1f} s more at its end | {ratio_of_film:.3f} |", flush=True)
    for count in arguments.particles:
        with (
            sand(count, device, {}) as plain,
            sand(count, device, {"page": {"type": "viser"}}) as shown,
            tempfile.TemporaryDirectory() as folder,
        ):
            drawn = shown.model.particle_count
            shown_in_turn(f"{drawn} particles", plain, shown, device, folder)


if __name__ == "__main__":
    main()
