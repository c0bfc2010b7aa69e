"""Draw the pictures of the pages of sensors: `python docs/draw_sensors.py`. The robot is the example quadruped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import warp as wp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pippin import Simulation

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "sensors"

ALONE = {"scene.worlds": 1, "simulation.device": "cpu"}
PERIOD = 0.6  # of a trot [s]
LIFT = 0.6  # bend of the knees in a trot [rad]
FEET = ("LF", "RF", "LH", "RH")


def draw_camera() -> Figure:
    """Draw the images of the camera after a second: colours, depth, normals and segmentation by shape."""
    pictures = ("color", "depth", "normal", "segmentation")
    overrides: dict[str, Any] = {"sensors.eye.outputs": list(pictures), "sensors.eye.no_hit": "infinity"}
    overrides |= {"sensors.eye.width": 320, "sensors.eye.height": 240, "sensors.eye.shadows": True}
    with Simulation.from_file(DOCS / "examples" / "sensors.toml", ALONE | overrides) as simulation:
        ground = simulation.model.shape_label.index("ground_plane")
        simulation.model.shape_color[ground : ground + 1].fill_(wp.vec3(0.75, 0.78, 0.8))
        simulation.step(round(1.0 / simulation.control_dt))
        color, depth, normal, shapes = (simulation.sensors["eye"][name].numpy()[0, 0] for name in pictures)
    figure = Figure(figsize=(9.6, 2.3), layout="constrained")
    for axes, name in zip(figure.subplots(1, 4), pictures, strict=True):
        axes.set_title("depth [m]" if name == "depth" else name, fontsize=9)
        axes.set_axis_off()
        if name == "color":
            axes.imshow(np.where(color[..., 3:] > 0, color[..., :3], 235))
        if name == "depth":
            figure.colorbar(axes.imshow(depth, cmap="viridis_r"), ax=axes, fraction=0.04)
        if name == "normal":
            axes.imshow(np.where(shapes[..., None] < 0, 1.0, 0.5 * (normal + 1.0)))
        if name == "segmentation":
            seen, numbers = np.unique(shapes, return_inverse=True)
            axes.imshow(np.ma.masked_equal(numbers.reshape(shapes.shape), 0 if seen[0] < 0 else -1), cmap="tab10")
    return figure


def draw_contact() -> Figure:
    """Draw the contact times and forces of each foot while the quadruped lands and trots on the spot."""
    with Simulation.from_file(DOCS / "examples" / "quadruped.toml", ALONE) as simulation:
        legs, shanks = simulation.actuators["legs"], simulation.sensors["shanks"]
        labels = [label.rsplit("/", 1)[-1] for label in legs.joint_labels]
        stand, forces = legs.position_targets.numpy().copy(), []
        for step in range(round(3.0 / simulation.control_dt)):
            legs.position_targets.assign(stand + trot(step * simulation.control_dt - 1.0, labels))
            simulation.step()
            forces.append(shanks["net_force"].numpy()[0, :, 2].copy())
        names = [label.rsplit("/", 1)[-1] for label in shanks.outputs["net_force"].labels]
        times = simulation.control_dt * (1 + np.arange(len(forces)))
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    panels = figure.subplots(len(FEET), 1, sharex=True, sharey=True)
    for axes, foot in zip(panels, FEET, strict=True):
        draw_foot(axes, foot, times, np.array(forces)[:, names.index(f"{foot}_SHANK")])
    panels[-1].set_xlabel("time [s]")
    figure.supylabel("upward force [N]", fontsize=9)
    return figure


def trot(time: float, labels: list[str]) -> np.ndarray:
    """Return the offsets of the targets from standing [rad]: two diagonal legs swing at a time."""
    bends = np.zeros(len(labels))
    for index, label in enumerate(labels):
        phase = 0.0 if label[:2] in ("LF", "RH") else 0.5
        swing = LIFT * max(np.sin(2.0 * np.pi * (time / PERIOD + phase)), 0.0) * (time > 0.0)
        side = 1.0 if label.startswith("L") else -1.0  # left and right legs turn in opposite directions
        bends[index] = {"HAA": 0.0, "HFE": 0.5 * side * swing, "KFE": -side * swing}[label[-3:]]
    return bends


def draw_foot(axes: Axes, foot: str, times: np.ndarray, force: np.ndarray) -> None:
    """Draw the force on one foot, over bars for its contact times."""
    axes.fill_between(times, 0.0, 1.0, where=force > 1.0, transform=axes.get_xaxis_transform(), alpha=0.15, step="mid")
    axes.plot(times, force, linewidth=1.2)
    axes.set_title(foot, loc="left", fontsize=8, pad=1.0)
    axes.set_ylim(0.0, 350.0)
    axes.margins(x=0.0)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


FIGURES: Mapping[str, Callable[[], Figure]] = {"camera.png": draw_camera, "contact.svg": draw_contact}
"""Function that draws each picture, by the name of its file."""


def main() -> None:
    """Draw every picture; a second run writes the same bytes."""
    for name, draw in FIGURES.items():
        with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
            metadata = {"Date": None, "Creator": None} if name.endswith("svg") else {"Software": None}
            draw().savefig(IMAGES / name, dpi=110, metadata=metadata)


if __name__ == "__main__":
    main()
