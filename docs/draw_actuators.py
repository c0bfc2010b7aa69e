"""Draw the plots of the actuators' pages: `python docs/draw_actuators.py`. Each runs the file that its page shows."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pippin import Simulation, structure

DOCS = Path(__file__).parent
PAGES = DOCS / "reference" / "actuators"
IMAGES = DOCS / "images" / "actuators"

Curves = Mapping[str, np.ndarray]
"""Values by the name of their line, each with shape [points]."""


def simulate(page: str, worlds: int, **motor: Any) -> Simulation:
    """Return the configuration in the first TOML block of a page, with other settings of its actuator."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page} has a file"
    tables = tomllib.loads(found[1])
    tables["scene"]["worlds"] = worlds
    tables["actuators"]["motor"] |= motor
    with chdir(DOCS.parent):
        return Simulation(structure(tables))


def respond(simulation: Simulation, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and positions [rad], shape [steps, worlds], after a step of the target to 0.5 rad."""
    simulation.actuators["motor"].position_targets.fill_(0.5)
    positions = [simulation.state.joint_q.numpy().copy()]
    for _ in range(round(duration / simulation.control_dt)):
        simulation.step()
        positions.append(simulation.state.joint_q.numpy().copy())
    return np.arange(len(positions)) * simulation.control_dt, np.array(positions)


def limit(page: str, coordinate: str, values: np.ndarray, commands: Sequence[float], **motor: Any) -> Curves:
    """Return the applied effort [N·m] by requested effort, at some positions or velocities with one world each."""
    curves = {}
    with simulate(page, len(values), **motor) as simulation:
        for command in commands:
            simulation.actuators["motor"].feedforward.fill_(command)
            getattr(simulation.state, coordinate).assign(values)
            simulation.invalidate("joints")
            simulation.step()
            curves[f"{command:g} N·m asked for"] = simulation.actuators["motor"].applied_effort.numpy()[:, 0].copy()
    return curves


def draw_pd(axes: Axes) -> None:
    """Draw positions over time for three gains of damping."""
    damping = (4.0, 10.0, 20.0)
    with simulate("pd", len(damping)) as simulation:
        simulation.actuators["motor"].set("kd", np.array(damping)[:, None])
        time, positions = respond(simulation, 1.5)
    names = [f"kd = {kd:g} N·m·s/rad" for kd in damping]
    draw(axes, time, dict(zip(names, positions.T, strict=True)), "time [s]", "position [rad]")


def draw_pid(axes: Axes) -> None:
    """Draw positions over time without, with and with too little integral."""
    with simulate("pid", 3) as simulation:
        motor = simulation.actuators["motor"]
        motor.set("ki", 0.0, worlds=[0])
        motor.set("integral_max", 0.01, worlds=[1])
        time, positions = respond(simulation, 3.0)
    names = ("no integral", "integral of at most 0.01 rad·s", "integral of at most 0.1 rad·s")
    draw(axes, time, dict(zip(names, positions.T, strict=True)), "time [s]", "position [rad]")


def draw_dc_motor(axes: Axes) -> None:
    """Draw the applied effort over velocity."""
    speeds = np.linspace(-20.0, 20.0, 161, dtype=np.float32)
    curves = limit("dc-motor", "joint_qd", speeds, (1000.0, 30.0, -1000.0), kp=0.0, kd=0.0)
    draw(axes, speeds, curves, "velocity [rad/s]", "applied effort [N·m]")


def draw_solver_pd(axes: Axes) -> None:
    """Draw positions over time of the solver's drive, and of a PD with the same gains until it is off by 1 rad."""
    curves = {}
    for law in ("solver-pd", "pd"):
        with simulate("solver-pd", 1, type=law) as simulation:
            time, positions = respond(simulation, 1.0)
            is_near = np.maximum.accumulate(np.abs(positions[:, 0])) < 1.0
            curves[law] = np.where(is_near, positions[:, 0], np.nan)
    draw(axes, time, curves, "time [s]", "position [rad]")


def draw_control(axes: Axes) -> None:
    """Draw positions over time for inputs within the range of the file and beyond."""
    inputs = (0.5, 1.0, 2.0)
    with simulate("control", len(inputs)) as simulation:
        simulation.actuators["motor"].ctrl.assign(np.array([[value, 0.0] for value in inputs], dtype=np.float32))
        positions = [simulation.state.joint_q.numpy().copy()]
        for _ in range(100):
            simulation.step()
            positions.append(simulation.state.joint_q.numpy().copy())
    time = np.arange(len(positions)) * simulation.control_dt
    names = [f"ctrl = {value:g} rad" for value in inputs]
    draw(axes, time, dict(zip(names, np.array(positions)[:, ::2].T, strict=True)), "time [s]", "position [rad]")


def draw_clampings(axes: Axes) -> None:
    """Draw the applied effort over position."""
    positions = np.linspace(-2.0, 2.0, 161, dtype=np.float32)
    curves = limit("clampings", "joint_q", positions, (1000.0, 15.0, -1000.0))
    draw(axes, positions, curves, "position [rad]", "applied effort [N·m]")


def draw(axes: Axes, points: np.ndarray, curves: Curves, over: str, of: str) -> None:
    """Draw lines over the same points."""
    for name, values in curves.items():
        axes.plot(points, values, label=name, linewidth=1.4)
    axes.set_xlabel(over)
    axes.set_ylabel(of)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.0)
    axes.legend(frameon=False, fontsize=8)


FIGURES: Mapping[str, Callable[[Axes], None]] = {
    "pd": draw_pd,
    "pid": draw_pid,
    "dc-motor": draw_dc_motor,
    "solver-pd": draw_solver_pd,
    "control": draw_control,
    "clampings": draw_clampings,
}
"""Function that draws each plot, by the page that shows the plot."""


def main() -> None:
    """Draw every plot; a second run writes the same bytes."""
    for name, draw_plot in FIGURES.items():
        figure = Figure(figsize=(6.0, 2.8), layout="constrained")
        draw_plot(figure.add_subplot())
        with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
            figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
