"""Contents of worlds that tests of several folders share."""

import newton
import warp as wp


def cloth(builder: newton.ModelBuilder) -> None:
    """Add a small flat cloth, moving along x."""
    newton.solvers.style3d.add_cloth_grid(
        builder,
        pos=wp.vec3(0.0, 0.0, 0.5),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.3, 0.0, 0.0),
        dim_x=3,
        dim_y=3,
        cell_x=0.05,
        cell_y=0.05,
        mass=0.01,
        tri_aniso_ke=wp.vec3(400.0, 400.0, 100.0),
        edge_aniso_ke=wp.vec3(1e-4),
        particle_radius=0.01,
    )
