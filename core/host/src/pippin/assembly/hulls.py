"""Convex hulls in the place of meshes, for Newton's collision."""

from __future__ import annotations

from collections.abc import Iterable

import newton


def take_hulls(builder: newton.ModelBuilder, shapes: Iterable[int]) -> None:
    """Let meshes among some shapes collide as their convex hulls, which is what they mean in MuJoCo.

    What is drawn stays: the mesh is a shape of its own then. Newton's collision of triangles takes 10⁴ times as long on
    the CPU, and its deepest overlaps point anywhere. Meshes with a signed distance field keep it.
    """
    solid, hydroelastic = int(newton.ShapeFlags.COLLIDE_SHAPES), int(newton.ShapeFlags.HYDROELASTIC)
    fields = (builder.shape_sdf_max_resolution, builder.shape_sdf_target_voxel_size, builder.shape_sdf_padding)
    chosen = [
        shape
        for shape in shapes
        if builder.shape_type[shape] == newton.GeoType.MESH
        and builder.shape_flags[shape] & (solid | hydroelastic) == solid
        and all(field[shape] is None for field in fields)
    ]
    builder.approximate_meshes("convex_hull", chosen, raise_on_failure=True, keep_visual_shapes=True)
