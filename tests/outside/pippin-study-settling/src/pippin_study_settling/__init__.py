"""`pippin settle`: how long the joints of a scene move until they rest."""

from pathlib import Path

import attrs
import click
import numpy as np
from pippin import Simulation
from pippin.console import PATH, changes, out, shown_progress
from pippin.report import Chart, heading, section
from pippin.studies import Study, run_study


@attrs.frozen
class Settling:
    """Times [s] and the largest speeds of a joint then [rad/s or m/s]."""

    folder: Path
    times: np.ndarray
    speeds: np.ndarray

    def summary(self):
        return {"folder": str(self.folder), "time": self.times[-1], "speed": self.speeds[-1]}


class SettlingStudy(Study):
    """Steps a file until no joint is faster than `limit` [rad/s or m/s]."""

    kind = "settling"

    def __init__(self, limit):
        self.limit, self.speeds, self.simulation = limit, [], None

    def build(self, config, folder):
        self.simulation = Simulation(config)

    def run(self, progress, stop_if_asked):
        with progress.phase("settle"):
            while not self.speeds or self.speeds[-1] > self.limit:
                stop_if_asked()
                self.simulation.step()
                self.speeds.append(float(np.abs(self.simulation.state.joint_qd.numpy()).max()))
                progress.update(f"step {len(self.speeds)}: {self.speeds[-1]:.3g}")

    def result(self, folder):
        times = [self.simulation.control_dt * (1 + step) for step in range(len(self.speeds))]
        return Settling(folder, np.array(times), np.array(self.speeds)) if times else None

    def page(self, result, file):
        yield heading(f"Settling of {file.name}", f"pippin settle {file}", {"time": f"{result.times[-1]:.3g} s"})
        yield section("Speed", [Chart.of("Largest speed", {"speed": result.speeds}, result.times, "rad/s or m/s")])

    def close(self):
        if self.simulation is not None:
            self.simulation.close()


@click.command()
@click.argument("file", type=PATH)
@click.option("--limit", type=float, default=0.01, show_default=True, help="Speed below which a joint rests [rad/s].")
@changes()
@out()
def settle(file, limit, overrides, out):
    """Step FILE until its joints rest, and tell how long that takes."""
    with shown_progress() as progress:
        result = run_study(SettlingStudy(limit), file, overrides, out=out)
        progress.note(f"rests after {result.times[-1]:.3g} s: {result.folder}")
