"""Draw the output of the example's network: `python docs/draw_knee_network.py`, after `docs/write_knee_network.py`.

Each world asks for another position error at another velocity, and its knee's effort is read after one step.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
from pippin import Simulation

DOCS = Path(__file__).parent
ERRORS = np.linspace(-2.0, 2.0, 81)  # [rad]
VELOCITIES = (-15.0, 0.0, 15.0)  # [rad/s]


def efforts() -> np.ndarray:
    """Return the effort of the first knee [N·m], shape [velocities, errors]."""
    count = len(VELOCITIES) * len(ERRORS)
    overrides = {"scene.worlds": count, "simulation.device": "cpu", "simulation.decimation": 1}
    with Simulation.from_file(DOCS / "examples" / "quadruped_neural.toml", overrides) as simulation:
        knees = simulation.actuators["knees"]
        velocities = simulation.state.joint_qd.numpy()
        velocities[knees.actuated_dofs.numpy().reshape(count, -1)[:, 0]] = np.repeat(VELOCITIES, len(ERRORS))
        simulation.state.joint_qd.assign(velocities)
        simulation.invalidate("joints")
        knees.position_targets.assign(knees.position_targets.numpy() + np.tile(ERRORS, len(VELOCITIES))[:, None])
        simulation.step()
        return knees.computed_effort.numpy()[:, 0].reshape(len(VELOCITIES), -1)


def main() -> None:
    """Draw one curve per velocity, together with the formula that the network is fitted to."""
    import matplotlib
    from matplotlib.figure import Figure

    formula = runpy.run_path(str(DOCS / "write_knee_network.py"))["motor_effort"]
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for velocity, effort in zip(VELOCITIES, efforts(), strict=True):
        line = axes.plot(ERRORS, effort, label=f"{velocity:+.0f} rad/s")[0]
        axes.plot(ERRORS, formula(ERRORS, np.full_like(ERRORS, velocity)), ":", color=line.get_color())
    axes.set(xlabel="position error [rad]", ylabel="effort [N·m]")
    axes.grid(alpha=0.3)
    axes.legend(title="knee velocity")
    with matplotlib.rc_context({"svg.hashsalt": "knee", "svg.fonttype": "none"}):
        figure.savefig(DOCS / "images" / "knee_network.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
