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


def record(simulation: Simulation, duration: float, read: Callable[[], np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and what `read` gives at each of them, along the first axis."""
    values = [read().copy()]
    for _ in range(round(duration / simulation.control_dt)):
        simulation.step()
        values.append(read().copy())
    return np.arange(len(values)) * simulation.control_dt, np.array(values)


def respond(simulation: Simulation, duration: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and positions [rad], shape [steps, worlds], after a step of the target to 0.5 rad."""
    simulation.actuators["motor"].position_targets.fill_(0.5)
    return record(simulation, duration, lambda: simulation.state.joint_q.numpy())


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


def draw_servo(axes: Axes) -> None:
    """Draw positions over time for three gains of the firmware."""
    gains = (4.0, 8.0, 32.0)
    with simulate("servo", len(gains)) as simulation:
        simulation.actuators["motor"].set("kp", np.array(gains)[:, None])
        time, positions = respond(simulation, 4.0)
    names = [f"kp = {kp:g}" for kp in gains]
    draw(axes, time, dict(zip(names, positions.T, strict=True)), "time [s]", "position [rad]")


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
        duration = 100 * simulation.control_dt
        time, positions = record(simulation, duration, lambda: simulation.state.joint_q.numpy()[::2])
    names = [f"ctrl = {value:g} rad" for value in inputs]
    draw(axes, time, dict(zip(names, positions.T, strict=True)), "time [s]", "position [rad]")


def draw_joint_impedance(axes: Axes) -> None:
    """Draw positions of the shoulder over time for three gains, each with critical damping."""
    rates = np.array([5.0, 10.0, 20.0])
    with simulate("impedance", len(rates)) as simulation:
        motor = simulation.actuators["motor"]
        everywhere = np.ones(len(motor.joint_labels))
        motor.set("kp", np.outer(rates**2, everywhere))
        motor.set("kd", np.outer(2.0 * rates, everywhere))
        motor.position_targets.assign(motor.position_targets.numpy() + 0.5)
        shoulder = motor.joint_labels.index(next(label for label in motor.joint_labels if label.endswith("lift")))
        time, angles = record(simulation, 1.2, lambda: simulation.state.joint_q.numpy().reshape(len(rates), -1))
    names = [f"kp = {kp:g} 1/s²" for kp in rates**2]
    draw(axes, time, dict(zip(names, angles[..., shoulder].T, strict=True)), "time [s]", "position [rad]")


def draw_operational_space(axes: Axes) -> None:
    """Draw heights of the tool over time for three gains, each with critical damping."""
    curves = {}
    for rate in (5.0, 10.0, 20.0):
        tool = {"type": "operational-space", "site": "grip"}
        with simulate("impedance", 1, **tool, kp=rate**2, kd=2.0 * rate) as simulation:
            motor = simulation.actuators["motor"]
            goals = motor.goals.numpy().copy()
            goals[..., 2] += 0.1
            motor.goals.assign(goals)
            tools = motor.tools
            time, places = record(simulation, 1.2, lambda: tools.poses(simulation.state).numpy()[0, 0])  # noqa: B023
            curves[f"kp = {rate**2:g} 1/s²"] = places[:, 2]
    draw(axes, time, curves, "time [s]", "height of the tool [m]")


def draw_surface_gripper(axes: Axes) -> None:
    """Draw heights of the box over time for three frequencies of the seal."""
    curves = {}
    for frequency in (3.0, 5.0, 10.0):
        with simulate("surface-gripper", 1, frequency=frequency) as simulation:
            time, poses = record(simulation, 1.5, lambda: simulation.state.body_q.numpy()[1])
            curves[f"frequency = {frequency:g} Hz"] = 1e3 * (poses[:, 2] - poses[0, 2])
    draw(axes, time, curves, "time [s]", "height [mm]")


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
    "servo": draw_servo,
    "solver-pd": draw_solver_pd,
    "joint-impedance": draw_joint_impedance,
    "operational-space": draw_operational_space,
    "control": draw_control,
    "surface-gripper": draw_surface_gripper,
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
