"""Files of numbers and meshes beside the TOML files: what Newton's examples compute by formulas.

`python -m tests.newton_examples.write_files` writes them again.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import newton
import numpy as np
import warp as wp
from pxr import Usd, UsdGeom

FILES = Path(__file__).parent / "files"


def waves() -> np.ndarray:
    """Return the heights of `basic_heightfield` [m], rows along y."""
    places = np.linspace(-5.0, 5.0, 50)
    return 0.5 * np.sin(places)[None, :] * np.cos(places)[:, None]


def dominoes() -> np.ndarray:
    """Return the poses of `domino_spiral`, shape [30, 7]: the first leans on nothing, and begins the chain."""
    growth, angle, poses = 0.32 / (2.0 * math.pi), 0.0, []
    for number in range(30):
        radius = 0.35 + growth * angle
        along = np.array(
            [growth * math.cos(angle) - radius * math.sin(angle), growth * math.sin(angle) + radius * math.cos(angle)]
        )
        yaw, tilt = math.atan2(-along[0], along[1]) / 2.0, (-math.radians(15.0) if number == 0 else 0.0) / 2.0
        turn = [
            math.cos(yaw) * math.sin(tilt),
            math.sin(yaw) * math.sin(tilt),
            math.sin(yaw) * math.cos(tilt),
            math.cos(yaw) * math.cos(tilt),
        ]
        poses.append([radius * math.cos(angle), radius * math.sin(angle), 0.18, *turn])
        angle += 0.12 / math.hypot(radius, growth)
    return np.array(poses)


def wave() -> np.ndarray:
    """Return the ends of the segments of a cable of `cable_pile` [m], shape [41, 3]."""
    along = np.linspace(0.0, 2.0, 41)
    return np.stack([along, 0.05 * np.sin(2.0 * np.pi * along), np.zeros(41)], axis=1)


def helix() -> np.ndarray:
    """Return the ends of the segments of a helix of `cable_initial_rest_pose` [m], shape [61, 3]."""
    share = np.linspace(0.0, 1.0, 61)
    angles = 2.0 * np.pi * 2.5 * share
    return np.stack([2.6 * (share - 0.5), 0.22 * np.cos(angles), 0.22 * np.sin(angles)], axis=1)


def branches() -> tuple[np.ndarray, np.ndarray]:
    """Return points [m] and edges of the three branches of `cable_y_junction`, shapes [61, 3] and [60, 2]."""
    points, edges = [np.zeros(3)], []
    for angle in np.radians((0.0, 120.0, 240.0)):
        for number in range(1, 21):
            edges.append((len(points) - 1 if number > 1 else 0, len(points)))
            points.append(0.03 * number * np.array([np.cos(angle), np.sin(angle), 0.0]))
    return np.array(points), np.array(edges)


def zigzag() -> np.ndarray:
    """Return the ends of the segments of a cable of `cable_twist` with three right angles [m], shape [65, 3]."""
    legs = np.repeat([[0.0, 0.1, 0.0], [0.1, 0.0, 0.0], [0.0, -0.1, 0.0], [0.1, 0.0, 0.0]], 16, axis=0)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(legs, axis=0)])


def arc() -> np.ndarray:
    """Return the ends of the segments of `cable_plectoneme` [m], shape [81, 3]; the middle lies to one side."""
    share = np.linspace(0.0, 1.0, 81)
    points = np.stack([1.2 * (share - 0.5), np.zeros(81), 1.8 - 0.9 * np.sin(np.pi * share)], axis=1)
    points[40, 1] = 1e-3
    return points


def pedestal() -> newton.Mesh:
    """Return the frustum of `balance_bird`, with its base at height zero [m]."""
    mesh = newton.Mesh.create_cylinder(
        0.08, 0.06, up_axis=newton.Axis.Z, segments=32, top_radius=0.006, compute_inertia=False
    )
    return newton.Mesh(mesh.vertices + np.array([0.0, 0.0, 0.06]), mesh.indices, compute_inertia=False)


def block() -> tuple[np.ndarray, np.ndarray]:
    """Return a soft block of `softbody_gift`: points of 2 x 2 x 1 cubes [m], and five tetrahedra in each cube.

    Neighbouring cubes are mirrored, so that the diagonals of their common face agree.
    """
    z, y, x = np.mgrid[0:2, 0:3, 0:3].reshape(3, -1)
    points, tetrahedra = np.stack([x, y, z], axis=1).astype(float), []
    for row, column in np.ndindex(2, 2):
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
        if (row + column) % 2:
            corners[:, 0] = 1 - corners[:, 0]
        number = [int(9 * k + 3 * (row + j) + column + i) for i, j, k in corners]
        for four in ((0, 1, 2, 4), (3, 2, 1, 7), (5, 4, 1, 7), (6, 4, 7, 2), (1, 2, 4, 7)):
            places = [number[corner] for corner in four]
            edges = points[places[1:]] - points[places[0]]
            tetrahedra.append(places if np.linalg.det(edges) > 0.0 else [places[0], places[2], places[1], places[3]])
    return points, np.array(tetrahedra, dtype=np.int32)


def strap(width: float, height: float) -> newton.Mesh:
    """Return a closed strap of `softbody_gift` around a box of a half width and a half height [m]."""
    count, rows = 120, 6
    along = np.arange(count) * (4.0 * (width + height) / count)
    corners = [0.0, 2 * width, 2 * width + 2 * height, 4 * width + 2 * height, 4 * (width + height)]
    x = np.interp(along, corners, [-width, width, width, -width, -width])
    z = np.interp(along, corners, [-height, -height, height, height, -height])
    across = np.linspace(-0.3, 0.3, rows)
    vertices = np.stack([np.repeat(x, rows), np.tile(across, count), np.repeat(z, rows)], axis=1)
    here = (np.arange(count)[:, None] * rows + np.arange(rows - 1)).ravel()
    there = ((np.arange(count)[:, None] + 1) % count * rows + np.arange(rows - 1)).ravel()
    faces = np.stack([here, there, here + 1, there, there + 1, here + 1], axis=1)
    return newton.Mesh(vertices, faces.ravel(), compute_inertia=False)


def ring(inner: float, outer: float, bottom: float, top: float) -> newton.Mesh:
    """Return a ring about z of 96 segments, as `basic_conveyor` has them [m]."""
    angles = np.linspace(0.0, 2.0 * math.pi, 96, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    corners = [(inner, bottom), (outer, bottom), (outer, top), (inner, top)]
    vertices = [np.column_stack([radius * circle, np.full(96, height)]) for radius, height in corners]
    here = np.arange(96)
    there, sides = (here + 1) % 96, [(each * 96, (each + 1) % 4 * 96) for each in range(4)]
    faces = [
        np.stack([near + here, near + there, far + there, near + here, far + there, far + here], axis=1)
        for near, far in sides
    ]
    return newton.Mesh(np.concatenate(vertices), np.concatenate(faces).reshape(-1), compute_inertia=False)


def bags(kind: int, height: float) -> np.ndarray:
    """Return the poses of the bags of one kind in `basic_conveyor`, of which each has a lane, shape [6, 7]."""
    angles = np.linspace(0.0, 2.0 * math.pi, 18, endpoint=False)[kind::3]
    radius, half, zero = 1.8 + (-0.12, 0.0, 0.12)[kind], (angles + math.pi / 2.0) / 2.0, np.zeros(6)
    places = [radius * np.cos(angles), radius * np.sin(angles), np.full(6, 0.59 + height + 0.035)]
    return np.stack([*places, zero, zero, np.sin(half), np.cos(half)], axis=1)


def cards() -> np.ndarray:
    """Return the poses of the 52 cards of `cloth_poker_cards`, by its seed, shape [52, 7]."""
    random, poses = np.random.default_rng(42), []
    for number in range(52):
        x, y, angle = random.uniform(-0.005, 0.005), random.uniform(-0.005, 0.005), random.uniform(-0.1, 0.1)
        place = [x - 0.03175, y - 0.04445, 0.25 + 0.001 * number]
        poses.append([*place, 0.0, 0.0, math.sin(angle / 2.0), math.cos(angle / 2.0)])
    return np.array(poses)


def kink() -> np.ndarray:
    """Return the ends of the segments of the kinked cable of `cable_twist_transfer` [m], shape [33, 3]."""
    corners = np.array([[-1.2, -0.5, 0.0], [0.0, 0.45, 0.0], [1.2, -0.5, 0.0]])
    return np.stack([np.interp(np.linspace(0.0, 2.0, 33), np.arange(3), axis) for axis in corners.T], axis=1)


def semicircle() -> np.ndarray:
    """Return the ends of the segments of the bent cable of `cable_twist_transfer` [m], shape [33, 3]."""
    angles = np.pi * np.linspace(1.0, 0.0, 33)
    return 0.82 * np.stack([np.cos(angles), np.sin(angles), np.zeros(33)], axis=1)


def seed() -> np.ndarray:
    """Return the ends of the segments of `cable_twist_buckling` [m], shape [65, 3]; the middle one lies to one side."""
    points = np.stack([0.075 * np.arange(65), np.zeros(65), np.full(65, 0.75)], axis=1)
    points[32:34, 1] = 5e-4
    return points


def circle(seed: float) -> np.ndarray:
    """Return the ends of the segments of a ring of `cable_michell_threshold` [m], shape [49, 3].

    Three waves of amplitude `seed` [m] lead it out of its plane.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, 49)
    return np.stack([0.55 * np.cos(angles), 0.55 * np.sin(angles), seed * np.sin(3.0 * angles)], axis=1)


def arcs() -> np.ndarray:
    """Return the poses of the tips of `cable_bend_twist_analytic`: a time [s] and three poses a row, shape [121, 22].

    Each joint of the cable turns by the same share of the angle of its tip, 30, 60 or 90 degrees.
    """
    rows = []
    for frame in range(121):
        row = [frame / 60.0]
        for number, target in enumerate(np.radians((30.0, 60.0, 90.0))):
            angles = np.arange(14) / 13.0 * target * frame / 120.0
            lengths = np.r_[np.full(13, 0.1), 0.05]
            x, z = lengths @ np.cos(angles), -lengths @ np.sin(angles)
            # About y, by a right angle more than at its start, since a segment lies along its own z.
            half = (angles[-1] + np.pi / 2.0) / 2.0
            row += [x, 0.72, 0.84 - 0.42 * number + z, 0.0, np.sin(half), 0.0, np.cos(half)]
        rows.append(row)
    return np.array(rows)


def route() -> np.ndarray:
    """Return the ends of the segments of the cable of `cable_cross_slide_table` [m]: around seven pulleys."""
    inner, outer = 0.015 + 0.0033, 0.025 + 0.0033
    arcs = [  # the middle of a pulley, the radius of the cable around it, and the angles of the ends of its arc
        (-0.045, -0.045, inner, 0.0, 90.0),
        (-0.19, 0.0, outer, -90.0, -270.0),
        (-0.045, 0.045, inner, -90.0, 0.0),
        (0.0, 0.19, outer, 180.0, 0.0),
        (0.045, 0.045, inner, 180.0, 270.0),
        (0.19, 0.0, outer, 90.0, -90.0),
        (0.045, -0.045, inner, 90.0, 180.0),
    ]
    points = [np.array([[-0.028, -0.21]])]
    for x, y, radius, start, end in arcs:
        turn = np.radians(end - start)
        angles = np.radians(start) + turn * np.linspace(0.0, 1.0, 1 + max(3, math.ceil(abs(turn) * radius / 0.015)))
        points.append(np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=1))
    corners = np.concatenate([*points, [[0.028, -0.21]]])
    reached = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))]
    places = np.linspace(0.0, reached[-1], 1 + math.ceil(reached[-1] / 0.015))
    return np.stack([*(np.interp(places, reached, axis) for axis in corners.T), np.full(len(places), 0.046)], axis=1)


def rectangle() -> np.ndarray:
    """Return the angles of the two driven pulleys of `cable_cross_slide_table`: a time [s] and two angles a row.

    They lead the table around a rectangle of 0.1 x 0.12 m in 16 s, from its middle within the first 1.2 s.
    """
    times = np.r_[np.arange(73) / 60.0, 4.0, 8.0, 12.0, 16.0]
    begun = np.clip(times / 1.2, 0.0, 1.0) ** 2 * (3.0 - 2.0 * np.clip(times / 1.2, 0.0, 1.0))
    corners = np.arange(0.0, 17.0, 4.0)
    x = begun * np.interp(times, corners, [-0.05, 0.05, 0.05, -0.05, -0.05])
    y = begun * np.interp(times, corners, [-0.06, -0.06, 0.06, 0.06, -0.06])
    return np.stack([times, (x - y) / 0.0283, (x + y) / 0.0283], axis=1)


def bag(size: tuple[float, float, float], cells: int) -> newton.Mesh:
    """Return a box of cloth without a lid [m], its floor at height zero, with as many cells along every edge."""
    quads = []
    for axis, side in ((2, 0.0), (1, 0.0), (1, 1.0), (0, 0.0), (0, 1.0)):
        first, second = (each for each in range(3) if each != axis)
        for row, column in np.ndindex(cells, cells):
            corners = np.full((4, 3), side)
            corners[:, first] = (column + np.array([0, 1, 0, 1])) / cells
            corners[:, second] = (row + np.array([0, 0, 1, 1])) / cells
            # Seen from outside, the triangles of every side turn alike.
            quads.append(corners if (side == 1.0) != (axis == 1) else corners[[1, 0, 3, 2]])
    corners = np.concatenate(quads)
    _, first, indices = np.unique((corners * cells).round().astype(int), axis=0, return_index=True, return_inverse=True)
    vertices = corners[first] * size - np.array([size[0] / 2, size[1] / 2, 0.0])
    faces = indices.reshape(-1, 4)[:, [0, 1, 2, 1, 3, 2]]
    return newton.Mesh(vertices, faces.ravel(), compute_inertia=False)


def funnel() -> newton.Mesh:
    """Return the funnel of `mpm_viscous`, a closed shell 5 mm thick, with its opening at height zero [m]."""
    angles = np.linspace(0.0, 2.0 * math.pi, 64, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    corners = [(0.01, 0.0), (0.05, 0.2), (0.055, 0.2), (0.015, 0.0)]
    vertices = [np.column_stack([radius * circle, np.full(64, height)]) for radius, height in corners]
    here = np.arange(64)
    there, sides = (here + 1) % 64, [(each * 64, (each + 1) % 4 * 64) for each in range(4)]
    faces = [
        np.stack([near + here, far + here, near + there, near + there, far + here, far + there], axis=1)
        for near, far in sides
    ]
    return newton.Mesh(np.concatenate(vertices), np.concatenate(faces).reshape(-1), compute_inertia=False)


def honey() -> np.ndarray:
    """Return the particles that fill the funnel of `mpm_viscous` [m], by its seed, shape [particles, 3]."""
    x, y, z = np.meshgrid(np.arange(31) / 300 - 0.05, np.arange(31) / 300 - 0.05, np.arange(61) / 300)
    points = np.stack([x, y, z]).reshape(3, -1).T
    points += (np.random.default_rng(422).random(points.shape) - 0.5) * (2.0 / 300)
    radius = 0.01 + np.clip(points[:, 2] / 0.2, 0.0, 1.0) * 0.04 - 0.01
    inside = (np.hypot(points[:, 0], points[:, 1]) < radius) & (points[:, 2] > 0.01) & (points[:, 2] < 0.19)
    return points[inside]


def slope(y: np.ndarray) -> np.ndarray:
    """Return the heights of the ground of `mpm_snow_ball` at some places along y [m]."""
    return -20.0 / np.pi * np.sin(np.pi * y / 20.0) * (1.0 + 0.1 * np.sin(np.pi * y / 5.0))


def hill() -> newton.Mesh:
    """Return the ground of `mpm_snow_ball` [m]: a bar along y, whose upper side is the slope."""
    y = np.linspace(-10.0, 10.0, 150)
    top, low = slope(y), np.full(150, slope(y).min() - 2.0)
    vertices = np.concatenate([np.column_stack([np.full(150, x), y, z]) for x in (-2.5, 2.5) for z in (low, top)])
    corners, near, far = np.array([0, 300, 450, 150]), np.arange(149), np.arange(149) + 1  # around the bar
    faces = [
        np.stack([one + near, one + far, other + near, other + near, one + far, other + far], axis=1)
        for one, other in zip(corners, np.roll(corners, -1), strict=True)
    ]
    caps = np.array([[0, 300, 150], [300, 450, 150], [149, 299, 449], [449, 299, 599]])
    return newton.Mesh(vertices, np.concatenate([*(each.reshape(-1, 3) for each in faces), caps]).reshape(-1))


def rollers(count: int, distance: float, about: int, tilt: float) -> np.ndarray:
    """Return the poses of the rollers of a wheel of `robot_omniwheel` about its middle, shape [count, 7].

    Args:
        count: Number of rollers.
        distance: From the axle to the axes of the rollers [m].
        about: The axle: 1 for y, 2 for z.
        tilt: Lean of the axes of the rollers along the axle: 1 or -1 for 45 degrees, 0 for none.
    """
    angles = 2.0 * math.pi * np.arange(count) / count
    radial, along, axle = np.zeros((count, 3)), np.zeros((count, 3)), np.eye(3)[about]
    radial[:, 0], radial[:, 3 - about] = np.cos(angles), np.sin(angles)
    along[:, 0], along[:, 3 - about] = -np.sin(angles), np.cos(angles)
    axes = (along + tilt * axle) / math.hypot(1.0, tilt)
    turns = [list(newton.math.quat_between_vectors_robust(wp.vec3(0.0, 0.0, 1.0), wp.vec3(axis))) for axis in axes]
    return np.concatenate([distance * radial, turns], axis=1)


def wheels() -> np.ndarray:
    """Return the times [s] and the speeds of the four wheels of `robot_omniwheel` [rad/s], shape [500, 5]."""
    time = np.arange(500) / 60.0
    later = time - 4.5
    phases = [time < 1.5, time < 3.0, time < 4.5]
    x = np.select(phases, [-1.4 * np.minimum(time / 0.5, 1.0), 0.0, 0.0], np.cos(0.8 * later))
    y = np.select(phases, [0.0, 1.2, 0.0], np.sin(1.1 * later))
    turn = 0.72 * np.select(phases, [0.0, 0.0, 3.0], 2.0 * np.sin(0.6 * later))
    sides = np.stack([x - y - turn, x + y + turn, x + y - turn, x - y + turn], axis=1)
    return np.column_stack([time, -sides / 0.207122])


def snow() -> np.ndarray:
    """Return the lowest layer of snow of `mpm_snow_ball` [m], shape [particles, 3]."""
    x, y = np.meshgrid(np.arange(-2.4, 2.4, 0.1), np.arange(-9.9, 9.9, 0.1))
    places = np.linspace(-10.0, 10.0, 150)
    return np.stack([x.ravel(), y.ravel(), np.interp(y.ravel(), places, slope(places)) + 0.05], axis=1)


def ball() -> np.ndarray:
    """Return the particles of the snow ball of `mpm_snow_ball` about its centre [m], shape [particles, 3]."""
    points = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, 21)] * 3)).reshape(3, -1).T
    return points[np.linalg.norm(points, axis=1) <= 1.0]


def roll() -> newton.Mesh:
    """Return the cloth of `cloth_rollers` about the axis z of its roller [cm]: a spiral, and the end that leads away.

    The example turns the mesh so that its end lies above the other roller; `pull` says where its last row is held.
    """
    along = np.linspace(0.0, 80.0, 300)  # the angle [rad]
    spiral = (10.0 + 0.4 / (2.0 * np.pi) * along)[:, None] * np.stack([np.cos(along), np.sin(along)], axis=1)
    end = np.array([51.5, -7.4])
    rows = np.concatenate([spiral, spiral[-1] + np.linspace(0.05, 1.0, 20)[:, None] * (end - spiral[-1])])
    across = np.linspace(-50.0, 50.0, 15)
    vertices = np.column_stack([np.repeat(rows, 15, axis=0), np.tile(across, 320)])
    here = (np.arange(319)[:, None] * 15 + np.arange(14)).ravel()
    faces = np.stack([here, here + 15, here + 1, here + 15, here + 16, here + 1], axis=1)
    return newton.Mesh(vertices, faces.ravel(), compute_inertia=False)


def pull() -> np.ndarray:
    """Return a turn of the last row of `roll`, which the other roller holds: times [s], and displacements [cm]."""
    angles = np.linspace(0.0, 2.0 * np.pi, 301)
    across, up = 15.7 - 15.38 * np.cos(angles), 15.38 * np.sin(angles) - 14.8
    return np.column_stack([angles / (2.0 * np.pi * 9.9 / 14.9), across, np.zeros(301), up])


def roller(radius: float) -> newton.Mesh:
    """Return the side of a roller of `cloth_rollers` about y [cm], of 128 rectangles with corners of their own."""
    angles = 2.0 * np.pi * (np.arange(128)[:, None] + np.array([0, 1, 1, 0])) / 128
    ends = np.tile([-60.0, -60.0, 60.0, 60.0], (128, 1))
    vertices = np.stack([radius * np.cos(angles), ends, radius * np.sin(angles)], axis=2).reshape(-1, 3)
    faces = np.arange(0, 512, 4)[:, None] + np.array([0, 1, 2, 0, 2, 3])
    return newton.Mesh(vertices, faces.ravel(), compute_inertia=False)


def cord() -> np.ndarray:
    """Return the ends of the segments of the cable of `contacts_rj45_plug`, from the stage of its plug [m]."""
    stage = Usd.Stage.Open(str(Path(newton.__file__).parent / "examples" / "assets" / "rj45_plug.usd"))
    curve: Any = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/CableCurve"))
    return np.array(curve.GetPointsAttr().Get())


def tank() -> newton.Mesh:
    """Return the open tank of `mpm_water_dam_break` [m], 4 x 1 x 4 inside, with walls of 15 cm."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    inner, outer = corners * (2.0, 0.5), corners * (2.15, 0.65)
    rings = ((inner, 0.0), (inner, 4.0), (outer, 4.0), (outer, -0.15))
    vertices = np.concatenate([np.column_stack([ring, np.full(4, height)]) for ring, height in rings])
    sides = [
        (4 * ring + side, 4 * ring + (side + 1) % 4, 4 * ring + 4 + side, 4 * ring + 4 + (side + 1) % 4)
        for ring in range(3)
        for side in range(4)
    ]
    faces = [face for a, b, c, d in sides for face in ((a, c, b), (b, c, d))]
    faces += [(0, 1, 2), (0, 2, 3), (12, 14, 13), (12, 15, 14)]
    return newton.Mesh(vertices, np.array(faces).ravel(), compute_inertia=False)


def main() -> None:
    sets = {"left": (12, 0.1750606, 1, -1.0), "right": (12, 0.1750606, 1, 1.0), "ballbot": (6, 0.1012427, 2, 0.0)}
    for name, wheel in sets.items():
        np.savetxt(FILES / f"rollers_{name}.csv", rollers(*wheel), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "wheels.csv", wheels(), fmt="%.7g", delimiter=",")
    np.savetxt(FILES / "waves.csv", waves(), fmt="%.7g", delimiter=",")
    np.savetxt(FILES / "pull.csv", pull(), fmt="%.7g", delimiter=",")
    np.savetxt(FILES / "dominoes.csv", dominoes(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "wave.csv", wave(), fmt="%.7g", delimiter=",")
    np.savetxt(FILES / "helix.csv", helix(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "zigzag.csv", zigzag(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "arc.csv", arc(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "cord.csv", cord(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "kink.csv", kink(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "semicircle.csv", semicircle(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "seed.csv", seed(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "ring.csv", circle(1e-3), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "ring_rest.csv", circle(0.0), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "arcs.csv", arcs(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "route.csv", route(), fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "rectangle.csv", rectangle(), fmt="%.9g", delimiter=",")
    points, edges = branches()
    np.savetxt(FILES / "branches.csv", points, fmt="%.9g", delimiter=",")
    np.savetxt(FILES / "branch_edges.csv", edges, fmt="%d", delimiter=",")
    mesh = pedestal()
    np.savez_compressed(FILES / "pedestal.npz", vertices=mesh.vertices, indices=mesh.indices)
    points, tetrahedra = block()
    np.savez_compressed(FILES / "block.npz", vertices=points.astype(np.float32), tet_indices=tetrahedra.ravel())
    for name, each in (("strap", strap(1.01, 2.02)), ("strap_across", strap(1.015, 2.025))):
        np.savez_compressed(FILES / f"{name}.npz", vertices=each.vertices, indices=each.indices)
    np.savetxt(FILES / "cards.csv", cards(), fmt="%.9g", delimiter=",")
    corners = np.array([[-0.18, 0.0, 0.11], [0.18, 0.0, 0.11], [0.07, 0.0, 0.47]], dtype=np.float32)
    np.savez_compressed(FILES / "triangle.npz", vertices=corners, indices=np.arange(3))
    rings = {"belt": (1.56, 2.04, -0.04, 0.04), "rail_inner": (1.525, 1.56, 0.03, 0.19)}
    for name, sizes in {**rings, "rail_outer": (2.04, 2.075, 0.03, 0.19)}.items():
        mesh = ring(*sizes)
        np.savez_compressed(FILES / f"{name}.npz", vertices=mesh.vertices, indices=mesh.indices)
    for name, points in (("honey", honey()), ("snow", snow()), ("ball", ball())):
        np.save(FILES / f"{name}.npy", points.astype(np.float32))
    meshes = {"funnel": funnel(), "hill": hill(), "roll": roll(), "tank": tank()}
    meshes |= {"roller_small": roller(9.9), "roller_large": roller(14.9)}
    for name, mesh in meshes.items():
        np.savez_compressed(FILES / f"{name}.npz", vertices=mesh.vertices, indices=mesh.indices)
    for name, size, cells in (("bag", (0.06, 0.06, 0.1), 10), ("bag_deep", (0.12, 0.07, 0.24), 20)):
        mesh = bag(size, cells)
        np.savez_compressed(FILES / f"{name}.npz", vertices=mesh.vertices, indices=mesh.indices)
    for kind, (name, height) in enumerate({"boxes": 0.08, "capsules": 0.08, "spheres": 0.11}.items()):
        np.savetxt(FILES / f"bags_{name}.csv", bags(kind, height), fmt="%.9g", delimiter=",")


if __name__ == "__main__":
    main()
