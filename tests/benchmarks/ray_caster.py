"""Rays per second beside Warp's mesh query called by hand: `uv run python tests/benchmarks/ray_caster.py`.

Both sides cast the same rays from a body that hovers over a terrain of 20 000 triangles, or over 1000 boxes, which are
a mesh for the other side. They are recorded into one graph each, and must find the same places. A figure is the median
of the ratios of neighbouring runs: more than 1 means that Pippin is faster.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from in_turn import in_turn, recorded

SCAN = {"grid": {"size": [1.6, 1.0], "resolution": 0.1}, "align": "yaw"}
LIDAR = {"lidar": {"channels": 16, "vertical_range": [-0.8, 0.0], "horizontal_count": 360}}
CASES: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("height scan", SCAN, 64, "hills"),
    ("height scan", SCAN, 4096, "hills"),
    ("lidar", LIDAR, 64, "hills"),
    ("height scan", SCAN, 64, "boxes"),
    ("lidar", LIDAR, 64, "boxes"),
)


def places() -> np.ndarray:
    """Return the middles of boxes with edges of 40 cm on 20 × 20 m, shape [1000, 3]."""
    return np.random.default_rng(1).uniform((-10.0, -10.0, -0.2), (10.0, 10.0, 0.1), (1000, 3))


def boxes() -> newton.Mesh:
    """Return the surfaces of all boxes."""
    cube = newton.Mesh.create_box(0.2, 0.2, 0.2, compute_inertia=False)
    vertices = (places()[:, None] + cube.vertices).reshape(-1, 3)
    indices = (len(cube.vertices) * np.arange(1000)[:, None] + cube.indices).ravel()
    return newton.Mesh(vertices.astype(np.float32), indices.astype(np.int32), compute_inertia=False)


def hills() -> newton.Mesh:
    """Return hills of half a metre on 20 × 20 m, 20 cm from one vertex to the next."""
    points = np.linspace(-10.0, 10.0, 101)
    x, y = np.meshgrid(points, points, indexing="ij")
    vertices = np.stack([x, y, 0.25 * np.sin(x) * np.cos(1.3 * y)], axis=-1).reshape(-1, 3)
    first = (101 * np.arange(100)[:, None] + np.arange(100)).reshape(-1, 1)
    triangles = np.concatenate([np.add(first, [0, 101, 102]), np.add(first, [0, 102, 1])])
    return newton.Mesh(vertices.astype(np.float32), triangles.ravel().astype(np.int32), compute_inertia=False)


def simulate(pattern: dict[str, Any], worlds: int, ground: str, device: str) -> pippin.Simulation:
    """Return hovering bodies, each with a heading of its own, above the terrain that all worlds share."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="head")
    tables = {
        "simulation": {"device": device},
        "scene": {"worlds": worlds},
        "solver": {"type": "featherstone"},
        "sensors": {"rays": {"type": "ray-caster", "body": "head", **pattern}},
    }
    simulation = pippin.Simulation(pippin.structure(tables), [Terrain(ground)], builder)
    poses = simulation.state.body_q.numpy()
    generator = np.random.default_rng(0)
    heading = generator.uniform(-np.pi, np.pi, worlds)
    poses[:, :2], poses[:, 2] = generator.uniform(-5.0, 5.0, (worlds, 2)), 1.0
    poses[:, 3:] = np.stack([0 * heading, 0 * heading, np.sin(heading / 2), np.cos(heading / 2)], axis=-1)
    simulation.state.body_q.assign(poses)
    return simulation


class Terrain:
    """Adds the terrain once, for all worlds."""

    def __init__(self, ground: str) -> None:
        self.ground = ground

    @pippin.hookimpl
    def complete_builder(self, builder: newton.ModelBuilder) -> None:
        """Add shapes that belong to no world."""
        if self.ground == "hills":
            builder.add_shape_mesh(-1, mesh=hills(), label="terrain")
            return
        for place in places():
            builder.add_shape_box(-1, xform=wp.transform(place, wp.quat_identity()), hx=0.2, hy=0.2, hz=0.2)


@wp.kernel
def query(
    mesh: wp.uint64,
    is_level: bool,
    body_q: wp.array[wp.transform],
    starts: wp.array[wp.vec3],
    directions: wp.array[wp.vec3],
    distances: wp.array2d[float],
    positions: wp.array2d[wp.vec3],
    normals: wp.array2d[wp.vec3],
    faces: wp.array2d[int],
):
    body, ray = wp.tid()
    turn = wp.transform_get_rotation(body_q[body])
    if is_level:
        heading = wp.quat_rotate(turn, wp.vec3(1.0, 0.0, 0.0))
        turn = wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), wp.atan2(heading[1], heading[0]))
    origin = wp.transform_get_translation(body_q[body]) + wp.quat_rotate(turn, starts[ray])
    direction = wp.quat_rotate(turn, directions[ray])
    hit = wp.mesh_query_ray(mesh, origin, direction, 1.0e6)
    if hit.result:
        distances[body, ray] = hit.t
        positions[body, ray] = origin + hit.t * direction
        normals[body, ray] = hit.normal
        faces[body, ray] = hit.face
    else:
        distances[body, ray] = wp.inf
        positions[body, ray] = wp.vec3(wp.inf)
        normals[body, ray] = wp.vec3(0.0)
        faces[body, ray] = -1


class ByHand:
    """One launch of a kernel around `wp.mesh_query_ray`."""

    def __init__(self, simulation: pippin.Simulation, pattern: dict[str, Any], ground: str) -> None:
        model, sensor = simulation.model, simulation.sensors["rays"]
        config = sensor.config.grid or sensor.config.lidar
        rays = [wp.array(each.reshape(-1, 3), dtype=wp.vec3, device=model.device) for each in config.rays()]
        self.mesh = {"hills": hills, "boxes": boxes}[ground]()
        mesh = int(self.mesh.finalize(device=model.device))
        self.shape = (simulation.world_count, len(rays[0]))
        self.outputs = [
            wp.zeros(self.shape, dtype=kind, device=model.device) for kind in (float, wp.vec3, wp.vec3, int)
        ]
        is_level = pattern.get("align") == "yaw"
        self.inputs = [wp.uint64(mesh), is_level, simulation.state.body_q, *rays, *self.outputs]
        self.device = model.device

    def run(self) -> None:
        """Cast all rays."""
        wp.launch(query, self.shape, self.inputs, device=self.device)


def runs(pattern: dict[str, Any], worlds: int, ground: str, device: str) -> Iterator[tuple[float, float]]:
    """Yield their time over ours and our rays per second, run by run, and see that both find the same."""
    simulation = simulate(pattern, worlds, ground, device)
    theirs = ByHand(simulation, pattern, ground)
    (operation,) = (each for each in simulation.program.operations if each.name == "update_sensors(sensors:rays)")
    replays = recorded(operation.run, device), recorded(theirs.run, device)
    rays = theirs.shape[0] * theirs.shape[1]
    yield from ((other / one, rays / one) for one, other in in_turn(*replays, device))
    found = simulation.sensors["rays"]["distance"].numpy().reshape(theirs.shape)
    np.testing.assert_allclose(found, theirs.outputs[0].numpy(), rtol=1e-4)


def main() -> None:
    """Print one row for each pattern and number of worlds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    print("| rays | over | worlds | ÷ by hand | rays/s |\n|---|---|---|---|---|")
    for name, pattern, worlds, ground in CASES:
        ratios, speeds = zip(*runs(pattern, worlds, ground, arguments.device), strict=True)
        print(f"| {name} | {ground} | {worlds} | {statistics.median(ratios):.3f} | {statistics.median(speeds):,.0f} |")


if __name__ == "__main__":
    main()
