"""Draw the patches on the page about rough ground: `python docs/draw_terrain.py`. All kinds, from easy to hard."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pippin
from matplotlib.colors import LightSource
from matplotlib.figure import Figure
from pippin.catalog.entries import Catalog
from pippin.terrains.grid import TerrainGrid

IMAGE = Path(__file__).parent / "images" / "terrain.png"
LEVELS = 4
STEP = 0.05  # between the points that are drawn [m]
RANGE = 1.2  # heights from minus to plus this have colours of their own [m]


def heights() -> tuple[TerrainGrid, np.ndarray]:
    """Return the patches of all installed kinds, and heights in rows along y [m]."""
    patches = {kind: {"type": kind} for kind in Catalog.installed().names("terrain")}
    scene = pippin.structure({"scene": {"terrain": {"levels": LEVELS, "border": 0.0, "patches": patches}}}).scene
    grid = TerrainGrid.of(scene, 0, Catalog.installed())
    assert grid is not None, "the scene has a terrain"
    axes = [np.arange(-length / 2 + STEP / 2, length / 2, STEP) for length in grid.extent]
    x, y = np.meshgrid(*axes)
    return grid, grid.height(x, y)


def draw(grid: TerrainGrid, found: np.ndarray) -> Figure:
    """Return the picture, with a row for each kind and a column for each level."""
    length, width = grid.extent
    figure = Figure(figsize=(5.0, 5.0 * width / length + 0.5), layout="constrained")
    axes = figure.subplots()
    light = LightSource(azdeg=300.0, altdeg=45.0)
    colours = matplotlib.colormaps["cividis"]
    shaded = light.shade(found, colours, vmin=-RANGE, vmax=RANGE, dx=STEP, dy=STEP, vert_exag=2.0, blend_mode="soft")
    axes.imshow(shaded, origin="lower", extent=(0.0, length, 0.0, width), interpolation="antialiased")
    size = grid.config.size
    axes.set_xticks([size[0] * (level + 0.5) for level in range(LEVELS)], [str(level) for level in range(LEVELS)])
    axes.set_yticks([size[1] * (row + 0.5) for row in range(len(grid.labels))], grid.labels)
    axes.set(xlabel="level; each patch has sides of 8 m")
    axes.tick_params(length=0.0)
    return figure


def main() -> None:
    """Draw the picture."""
    matplotlib.use("agg")
    draw(*heights()).savefig(IMAGE, dpi=80, bbox_inches="tight", metadata={"Software": None})


if __name__ == "__main__":
    main()
