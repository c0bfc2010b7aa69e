"""Draw the picture of the README: `python docs/draw_robots.py`. One robot of each example, after two seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pippin import Simulation

DOCS = Path(__file__).parent
SIZE = 360  # of each view [pixels]
FOV = 0.8  # of a view, from edge to edge [rad]
VIEWS = {  # position of the camera, and the point that it looks at [m]
    "ant": ((2.4, -0.9, 1.5), (0.0, 0.0, 0.3)),
    "quadruped": ((1.1, -1.3, 0.9), (0.0, 0.0, 0.3)),
    "humanoid": ((1.7, -2.3, 1.5), (0.7, 0.0, 0.1)),
    "half_cheetah": ((0.4, -2.2, 0.9), (0.0, 0.0, 0.35)),
}


def draw(example: str) -> np.ndarray:
    """Return a view of the example's first world, shape [height, width, 3], from 0 to 255."""
    overrides = {"scene.worlds": 1, "simulation.device": "cpu"}
    with Simulation.from_file(DOCS / "examples" / f"{example}.toml", overrides) as simulation:
        simulation.step(round(2.0 / simulation.control_dt))
        simulation.check()
        return render(simulation, *VIEWS[example])


def render(
    simulation: Simulation, eye: tuple[float, ...], target: tuple[float, ...], ground: str = "ground_plane"
) -> np.ndarray:
    """Return the image of a camera at `eye` that looks at `target` [m]; `ground` is the label of a shape."""
    from pippin.analysis import picture

    picture.paint_ground(simulation.model, simulation.model.shape_label.index(ground))
    return picture.render(simulation.model, simulation.state, eye, target, (SIZE, SIZE), FOV)


def main() -> None:
    """Draw every view side by side."""
    from pippin.analysis.picture import png

    views = np.concatenate([draw(example) for example in VIEWS], axis=1)
    (DOCS / "images" / "robots.png").write_bytes(png(views))


if __name__ == "__main__":
    main()
