"""Film the gallery of matter: `python docs/draw_matter.py [NAME ...]`. It writes docs/images/matter, and the meshes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import av
import numpy as np
import pippin
from PIL import Image

DOCS = Path(__file__).parent
FILES = DOCS / "examples" / "matter"
FILMS = DOCS / "images" / "matter"
SIZE = (320, 240)  # of a film [pixels]
RATE = 15.0  # frames per second
QUALITY = 55  # of WebP, from 0 to 100

CAMERAS = {  # seconds, and keys of the viewer
    "cloth_grid": (3.0, {"eye": (2.9, -2.1, 1.5), "target": (0.3, 0.5, 1.0)}),
    "cloth_mesh": (2.0, {"eye": (1.3, -1.7, 1.3), "target": (0.0, 0.0, 0.4)}),
    "soft_grid": (3.0, {"eye": (2.0, -1.9, 1.3), "target": (0.45, 0.35, 0.75)}),
    "soft_mesh": (2.5, {"eye": (1.3, -1.6, 0.9), "target": (0.0, 0.0, 0.42)}),
    "granular": (2.0, {"eye": (1.3, -1.6, 1.0), "target": (0.05, 0.0, 0.2)}),
    "rod": (3.0, {"eye": (1.9, -1.5, 1.2), "target": (0.5, 0.35, 0.75)}),
    "tendon": (2.6, {"eye": (0.9, -3.6, 1.5), "target": (0.0, 0.0, 1.05)}),
    "attachments": (3.5, {"eye": (1.6, -1.7, 1.4), "target": (0.0, 0.0, 1.1)}),
    "motions": (3.5, {"eye": (0.6, -1.5, 1.1), "target": (0.0, 0.0, 0.6)}),
    "coupled": (1.7, {"eye": (1.2, -1.5, 0.9), "target": (0.0, 0.0, 0.22)}),
}


def write_meshes() -> None:
    """Write the meshes and the points that the files name."""
    vertices, indices = disc(0.62, 12)
    np.savez_compressed(FILES / "disc.npz", vertices=vertices, indices=indices)
    vertices, indices = ring(0.3, 0.09, 24, 4)
    np.savez_compressed(FILES / "ring.npz", vertices=vertices, tet_indices=indices)
    x = np.linspace(0.0, 1.0, 33)
    rows = np.stack([x, 0.12 * np.sin(2.0 * np.pi * x), np.zeros(33)], axis=1)
    np.savetxt(FILES / "rope.csv", rows, fmt="%.4f", delimiter=",")


def disc(radius: float, ring_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a disc of triangles: six more points on each ring around the middle."""
    rings = [np.zeros((1, 2))]
    for ring in range(1, ring_count + 1):
        angles = 2.0 * np.pi * np.arange(6 * ring) / (6 * ring)
        rings.append(radius * ring / ring_count * np.stack([np.cos(angles), np.sin(angles)], axis=1))
    starts = np.cumsum([0, *map(len, rings)])
    triangles = []
    for ring in range(1, ring_count + 1):
        outer, inner = starts[ring], starts[ring - 1]
        for side in range(6):
            for step in range(ring):
                a = outer + (side * ring + step) % (6 * ring)
                b = outer + (side * ring + step + 1) % (6 * ring)
                c = inner + (side * (ring - 1) + step) % max(6 * (ring - 1), 1)
                triangles.append((a, b, c))
                if step:
                    triangles.append((a, c, inner + (side * (ring - 1) + step - 1) % max(6 * (ring - 1), 1)))
    flat = np.concatenate(rings)
    points = np.column_stack([flat, np.zeros(len(flat))])
    return points.astype(np.float32), np.array(triangles, dtype=np.int32)


def ring(radius: float, thickness: float, around: int, across: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a ring of tetrahedra: cells of a square section, which is rounded."""
    side = np.linspace(-1.0, 1.0, across + 1)
    u, v = np.meshgrid(side, side, indexing="ij")
    section = thickness * np.stack([u * np.sqrt(1.0 - v**2 / 2.0), v * np.sqrt(1.0 - u**2 / 2.0)], axis=-1)
    angle = 2.0 * np.pi * np.arange(around)[:, None, None] / around
    distance = radius + section[..., 0]
    height = np.broadcast_to(section[..., 1], (around, across + 1, across + 1))
    points = np.stack([distance * np.cos(angle), distance * np.sin(angle), height], axis=-1)
    number = np.arange(points[..., 0].size).reshape(points.shape[:3])
    cells = []
    for i in range(around):
        for j, k in np.ndindex(across, across):
            a, b = number[i, j : j + 2, k : k + 2], number[(i + 1) % around, j : j + 2, k : k + 2]
            corners = (a[0, 0], b[0, 0], b[1, 0], a[1, 0], a[0, 1], b[0, 1], b[1, 1], a[1, 1])
            for way in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1)):  # six around the diagonal from 0 to 6
                cells.append((corners[0], corners[way[0]], corners[way[1]], corners[6]))
    return points.reshape(-1, 3).astype(np.float32), _upright(points, np.array(cells))


def _upright(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return tetrahedra whose volumes are positive."""
    corners = points.reshape(-1, 3)[cells]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1])
    cells[volumes < 0.0, 2:] = cells[volumes < 0.0, :1:-1]
    return cells.astype(np.int32)


def film(name: str) -> None:
    """Run a file, and write its film."""
    seconds, camera = CAMERAS[name]
    viewer = {"type": "video", "path": "film.mp4", "size": SIZE, "rate": RATE, "quality": "high", **camera}
    with tempfile.TemporaryDirectory() as folder:
        overrides = {"simulation.device": "cpu", "viewers.film": viewer}
        pippin.run(FILES / f"{name}.toml", overrides, duration=seconds, out=Path(folder) / "run")
        with av.open(str(Path(folder) / "run" / "film.mp4")) as container:
            frames = [frame.to_image() for frame in container.decode(video=0)]
    first, *rest = frames
    options = {"duration": round(1000.0 / RATE), "loop": 0, "quality": QUALITY, "method": 6}
    first.save(FILMS / f"{name}.webp", save_all=True, append_images=rest, **options)
    picked = [frames[round(part * (len(frames) - 1))] for part in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    sheet = Image.new("RGB", (3 * SIZE[0], 2 * SIZE[1]))
    for index, image in enumerate(picked):
        sheet.paste(image, (index % 3 * SIZE[0], index // 3 * SIZE[1]))
    sheet.save(Path(tempfile.gettempdir()) / f"{name}.png")
    print(f"{name}: {(FILMS / f'{name}.webp').stat().st_size / 1e3:.0f} kB", flush=True)


def main(names: list[str]) -> None:
    """Film some files, by default all."""
    FILMS.mkdir(parents=True, exist_ok=True)
    write_meshes()
    for name in names or CAMERAS:
        film(name)


if __name__ == "__main__":
    main(sys.argv[1:])
