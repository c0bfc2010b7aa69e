"""Write the meshes of `pippin demo`, coarser than those of mjlab's Go1, which is in the group `robots`.

`uv run --group robots --with fast-simplification --with networkx python docs/write_demo_meshes.py`. The bounds of each
connected part stay within 2 mm.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

OUT = Path(__file__).parents[1] / "core" / "demo" / "src" / "pippin_demo" / "go1" / "meshes"
TRIANGLES = {"trunk": 4000, "hip": 1200, "thigh": 1200, "thigh_mirror": 1200, "calf": 1000}
"""Triangles that each mesh would have if no bounds stopped it."""


def main() -> None:
    """Write each mesh."""
    spec = find_spec("mjlab")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("write_demo_meshes: mjlab is not installed; run it with --group robots")
    source = Path(spec.submodule_search_locations[0]) / "asset_zoo/robots/unitree_go1/xmls/assets"
    for name, count in TRIANGLES.items():
        mesh: Any = trimesh.load(source / f"{name}.stl")
        parts = mesh.split(only_watertight=False, repair=False)
        area = sum(part.area for part in parts)
        coarse = [coarser(part, max(int(count * part.area / area), 40)) for part in parts]
        trimesh.util.concatenate(coarse).export(OUT / f"{name}.stl")


def coarser(part: Any, count: int) -> Any:
    """Return a part with about half the triangles, again and again, as long as its bounds hold."""
    found = part
    while len(found.faces) > count:
        tried = found.simplify_quadric_decimation(face_count=max(count, len(found.faces) // 2), aggression=2)
        if np.abs(tried.bounds - part.bounds).max() > 0.002 or len(tried.faces) >= len(found.faces):
            break
        found = tried
    return found


if __name__ == "__main__":
    main()
