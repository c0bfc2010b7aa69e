"""What another process costs an engine: `uv run --group dev python tests/benchmarks/engine_process.py [FOLDER]`.

The ant on `mujoco-native` with 1 and 64 worlds. Its engine in this process and the same engine in an environment of its
own, by default that of this Python, take turns; medians of the seconds of a control step are printed, and the ratio of
the speeds. Then workers are killed and stopped, and the time until the host names that is printed. Two idle cores are
needed for a ratio that means something; the load of the machine is printed.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time
from pathlib import Path

import pippin

ANT = Path(__file__).parents[2] / "docs" / "examples" / "ant.toml"
ROUNDS, KILLS = 9, 20


def ant(worlds: int, environment: str | None) -> pippin.Simulation:
    solver = {"type": "mujoco-native", "threads": 1, **({"environment": environment} if environment else {})}
    own = {"scene.worlds": worlds, "solver": solver, "simulation.device": "cpu"}
    return pippin.Simulation(pippin.load(ANT, own))


def seconds(simulation: pippin.Simulation, steps: int) -> float:
    """Return the time of a control step [s], the mean of some."""
    start = time.perf_counter()
    simulation.step(steps)
    return (time.perf_counter() - start) / steps


def ratio(worlds: int, environment: str) -> None:
    steps = max(20, 2000 // worlds)
    with ant(worlds, None) as here, ant(worlds, environment) as there:
        for each in (here, there):
            each.step(steps)
        times = [(seconds(here, steps), seconds(there, steps)) for _ in range(ROUNDS)]
    own, other = (statistics.median(column) for column in zip(*times, strict=True))
    speed = statistics.median(first / second for first, second in times)
    print(f"{worlds:3} worlds  here {own * 1e6:8.1f} us  there {other * 1e6:8.1f} us a control step  speed {speed:.2f}")


def named_after(environment: str, number: int) -> float:
    """Return the time from a signal to a worker until the host's error [s]."""
    with ant(1, environment) as simulation:
        simulation.step(2)
        engine = simulation.solver.remote.engine
        os.kill(engine.pid, number)
        start = time.perf_counter()
        try:
            simulation.step()
        except pippin.SimulationError:
            return time.perf_counter() - start
    raise AssertionError("nobody has seen that the worker ended")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment", nargs="?", default=sys.prefix)
    environment = parser.parse_args().environment
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for worlds in (1, 64):
        ratio(worlds, environment)
    late = [named_after(environment, signal.SIGKILL) for _ in range(KILLS)]
    print(f"a killed worker is named after {statistics.median(late) * 1e3:.1f} ms, at most {max(late) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
