"""Steps with a page in the browser beside steps without: `uv run python tests/benchmarks/viewers.py [--device cuda:0]`.

Two simulations of the ant in one process take captured control steps in turn; one shows four worlds at 30 Hz, first to
nobody, then to a headless Chromium with a small window, which takes time of the same cores. A figure is the median of
the ratios of neighbouring runs. The last row is about runs that film one world at 640×480, in turns with runs that do
not, with the time that the rest of the film takes at their end.
"""

from __future__ import annotations

import argparse
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


def main() -> None:
    """Print one row for each number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worlds", type=int, nargs="+", default=[64])
    arguments = parser.parse_args()
    print("| worlds | page open in | with ÷ without, in steps/s |\n|---|---|---|")
    for worlds in arguments.worlds:
        page = {"type": "viser", "worlds": f"0:{min(worlds, 4)}"}
        with (
            ants(worlds, arguments.device, {}) as plain,
            ants(worlds, arguments.device, {"page": page}) as shown,
            tempfile.TemporaryDirectory() as folder,
        ):
            for simulation in (plain, shown):
                simulation.step(3)
            print(f"| {worlds} | no browser | {ratio(plain, shown, arguments.device):.3f} |", flush=True)
            if not CHROMIUM["Chromium"].is_installed():
                continue
            browser = CHROMIUM["Chromium"](Path(folder), (320, 240))
            try:
                viewer = shown.viewers["page"]
                browser.open(viewer.url)
                CHROMIUM["until"](lambda viewer=viewer: viewer.clients.count, "the browser")
                print(f"| {worlds} | one browser | {ratio(plain, shown, arguments.device):.3f} |", flush=True)
            finally:
                browser.close()
        ratio_of_film, rest = filmed(worlds, arguments.device)
        print(f"| {worlds} | a film, {rest:.1f} s more at its end | {ratio_of_film:.3f} |", flush=True)


if __name__ == "__main__":
    main()
