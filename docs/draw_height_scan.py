"""Draw the height scan on the ray caster's page: `python docs/draw_height_scan.py`. A quadruped stands on hills."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import newton
import numpy as np
import pippin
import warp as wp
from matplotlib.figure import Figure
from pippin.rendering.cameras import look_at
from pippin.rendering.renderer import render_image

DOCS = Path(__file__).parent
IMAGE = DOCS / "images" / "sensors" / "height_scan.png"
SIZE = 360  # of the view [pixels]
FOV = 0.8  # of the view, from edge to edge [rad]
EYE, TARGET = (2.6, -2.7, 2.2), (0.0, 0.0, 0.0)  # position of the camera, and the point that it looks at [m]


class Hills:
    """Hills of a third of a metre that all worlds share."""

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Add a heightfield of 8 × 8 m; its middle is level, for the feet."""
        places = np.linspace(-4.0, 4.0, 81)
        x, y = np.meshgrid(places, places)
        level = 1.0 - np.exp(-((np.hypot(x, y) / 0.8) ** 4))
        heights = 0.17 * level * (np.sin(1.9 * x) * np.cos(2.3 * y) + 0.3 * np.sin(4.0 * x + 1.0))
        low, high = float(heights.min()), float(heights.max())
        field = newton.Heightfield(heights, nrow=81, ncol=81, hx=4.0, hy=4.0, min_z=low, max_z=high)
        builder.add_shape_heightfield(heightfield=field, label="hills")


def measure() -> tuple[pippin.Simulation, np.ndarray]:
    """Return the quadruped on the hills after a second, and the hit points of its rays, shape [x, y, 3]."""
    scan = {"type": "ray-caster", "body": "base", "align": "yaw", "targets": ["hills"]}
    scan["grid"] = {"size": [3.2, 2.4], "resolution": 0.16, "start_height": 1.0}
    overrides = {"scene.worlds": 1, "scene.ground": False, "simulation.device": "cpu", "sensors.scan": scan}
    simulation = pippin.Simulation.from_file(DOCS / "examples" / "quadruped.toml", overrides, plugins=[Hills()])
    simulation.step(50)
    simulation.raise_errors()
    return simulation, simulation.sensors["scan"]["position"].numpy()[0, 0]


def draw(simulation: pippin.Simulation, met: np.ndarray) -> Figure:
    """Return the picture: the robot and the hit points of its rays on the left, the heights on the right."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    view, picture = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
    hills = simulation.model.shape_label.index("hills")
    simulation.model.shape_color[hills : hills + 1].fill_(wp.vec3(0.75, 0.78, 0.8))
    image = render_image(simulation.model, simulation.state, EYE, TARGET, (SIZE, SIZE), FOV)
    view.imshow(image, interpolation="lanczos")
    view.scatter(*in_view(met), s=3, color="tab:red", linewidths=0)
    view.set(xlim=(0, SIZE), ylim=(SIZE, 0))
    view.axis("off")
    length, width = simulation.sensors["scan"].config.grid.size
    extent = (-length / 2, length / 2, -width / 2, width / 2)
    heights = picture.imshow(met[..., 2].T, origin="lower", extent=extent)
    picture.set(xlabel="ahead [m]", ylabel="to the left [m]")
    figure.colorbar(heights, ax=picture, label="height [m]", shrink=0.7)
    return figure


def in_view(places: np.ndarray) -> np.ndarray:
    """Return the pixels of some points in the view, shape [2, points]: to the right and down."""
    into_view = wp.transform_inverse(wp.transform(*look_at(np.array(EYE), np.array(TARGET))))
    x, y, z = np.array([wp.transform_point(into_view, wp.vec3(*place)) for place in places.reshape(-1, 3)]).T
    return SIZE / 2 * (1.0 + np.stack([x, -y]) / -z / np.tan(FOV / 2))


def main() -> None:
    """Draw the picture."""
    matplotlib.use("agg")
    simulation, met = measure()
    with simulation:
        figure = draw(simulation, met)
    IMAGE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGE, dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    main()
