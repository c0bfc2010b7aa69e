"""Shapes as viewers draw them: their kind, place, colour and surface."""

import math

import newton
import numpy as np
import pytest
from pippin.inspection.model_rows import shape_rows
from pippin.matter import render_shapes
from pippin.quaternions import rotated
from pippin_tune.stances import Stance

SIZES = {
    "sphere": (0.3, 0.0, 0.0),
    "ellipsoid": (0.3, 0.2, 0.1),
    "box": (0.3, 0.2, 0.1),
    "capsule": (0.1, 0.4, 0.0),
    "cylinder": (0.1, 0.4, 0.0),
    "cone": (0.1, 0.4, 0.0),
}
VOLUMES = {
    "sphere": 4.0 / 3.0 * math.pi * 0.3**3,
    "ellipsoid": 4.0 / 3.0 * math.pi * 0.3 * 0.2 * 0.1,
    "box": 8.0 * 0.3 * 0.2 * 0.1,
    "capsule": math.pi * 0.1**2 * (0.8 + 4.0 / 3.0 * 0.1),
    "cylinder": math.pi * 0.1**2 * 0.8,
    "cone": math.pi * 0.1**2 * 0.8 / 3.0,
}


@pytest.fixture(scope="module")
def model():
    """Two worlds of a body with a shape of each kind, a hidden one, and a ground and a field that both share."""
    part = newton.ModelBuilder(up_axis="Z")
    body = part.add_body(label="body", mass=1.0, inertia=np.eye(3))
    pose = ((1.0, 2.0, 3.0), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    hidden = newton.ModelBuilder.ShapeConfig(is_visible=False)
    for kind, (x, y, z) in SIZES.items():
        names = {"sphere": ["radius"], "ellipsoid": ["rx", "ry", "rz"], "box": ["hx", "hy", "hz"]}
        sizes = dict(zip(names.get(kind, ["radius", "half_height"]), (x, y, z), strict=False))
        getattr(part, f"add_shape_{kind}")(body, xform=pose, **sizes, label=kind, color=(0.2, 0.4, 0.6))
    part.add_shape_box(body, label="hidden", cfg=hidden)
    mesh = newton.Mesh.create_box(1.0, 1.0, 1.0, compute_inertia=False)
    part.add_shape_mesh(body, mesh=mesh, scale=(0.5, 1.0, 2.0), label="mesh")
    part.add_shape_mesh(body, mesh=mesh, label="again")
    builder = newton.ModelBuilder(up_axis="Z")
    for _ in range(2):
        builder.add_world(part)
    builder.add_ground_plane(label="ground")
    heights = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]])  # 2 rows along y, 3 columns along x
    builder.add_shape_heightfield(
        heightfield=newton.Heightfield(heights, nrow=2, ncol=3, hx=4.0, hy=1.0), label="field"
    )
    return builder.finalize(device="cpu")


def volume(points, faces):
    """Return the volume inside of a closed surface [m³], by the divergence theorem."""
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    return float((a * np.cross(b, c)).sum() / 6.0)


def test_each_kind_has_its_place_its_sizes_and_its_colour(model):
    shapes = {shape.label: shape for shape in render_shapes(model, [1])}

    assert set(shapes) == {*SIZES, "mesh", "again", "ground", "field"}
    for kind, sizes in SIZES.items():
        shape = shapes[kind]
        assert (shape.kind, shape.world, shape.body, shape.mesh) == (kind, 1, 1, None)
        np.testing.assert_allclose(shape.sizes, sizes, rtol=1e-6)
        np.testing.assert_allclose(shape.pose, [1.0, 2.0, 3.0, 0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)], rtol=1e-6)
        np.testing.assert_allclose(shape.color, [0.2, 0.4, 0.6], rtol=1e-6)
        assert model.shape_label[shape.index] == kind


@pytest.mark.parametrize("kind", VOLUMES)
def test_the_triangles_of_a_kind_enclose_its_volume(model, kind):
    """To 3 %: a circle of 32 corners lacks 0.6 % of its area, and a sphere of as many lines 2 % of its volume."""
    [shape] = [each for each in render_shapes(model, [0]) if each.label == kind]
    points, faces = shape.triangles()

    assert volume(points, faces) == pytest.approx(VOLUMES[kind], rel=0.03)
    round_along_z = kind in ("capsule", "cylinder", "cone")
    height = shape.sizes[1] + (shape.sizes[0] if kind == "capsule" else 0.0) if round_along_z else None
    assert height is None or points[:, 2].max() == pytest.approx(height)


def test_a_mesh_is_shared_and_scaled(model):
    meshes = [shape for shape in render_shapes(model, [0, 1]) if shape.kind == "mesh" and shape.body >= 0]
    points, faces = meshes[0].triangles()

    assert len({id(shape.mesh) for shape in meshes}) == 1
    np.testing.assert_allclose(np.abs(points).max(axis=0), [0.5, 1.0, 2.0])
    assert volume(points, faces) == pytest.approx(8.0 * 0.5 * 1.0 * 2.0)


def test_what_all_worlds_share_is_there_once(model):
    shared = [shape for shape in render_shapes(model, [0, 1]) if shape.world == -1]
    ground, field = shared
    points, _ = field.triangles()

    assert [shape.label for shape in shared] == ["ground", "field"]
    assert (ground.kind, ground.body, ground.sizes[:2]) == ("plane", -1, (0.0, 0.0))
    assert np.ptp(ground.triangles()[0], axis=0).tolist() == [100.0, 100.0, 0.0]
    assert field.kind == "mesh"
    corner = points[np.isclose(points[:, :2], [4.0, 1.0]).all(axis=1)]
    assert corner[:, 2].max() == pytest.approx(2.0)  # the last row and column


def test_the_pose_places_a_surface_on_its_body(model):
    [box] = [shape for shape in render_shapes(model, [0]) if shape.label == "box"]
    points = rotated(box.pose[3:], box.triangles()[0]) + box.pose[:3]

    np.testing.assert_allclose(points.max(axis=0), [1.2, 2.3, 3.1], rtol=1e-6)  # a quarter turn swaps x and y


def test_a_model_without_shapes_shows_none():
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="body", mass=1.0, inertia=np.eye(3))

    assert render_shapes(builder.finalize(device="cpu"), [0]) == []


def test_a_barrel_is_seen_as_wide_as_it_is_in_its_middle():
    builder = newton.ModelBuilder()
    for label in ("keg", "other"):
        builder.add_shape_cylinder(-1, radius=0.1, half_height=0.2, barrel_radius=0.5, label=label)
    keg, other = render_shapes(builder.finalize(device="cpu"), [])

    points, faces = keg.triangles()

    assert keg.kind == "mesh"
    assert keg.mesh is other.mesh
    assert np.linalg.norm(points[:, :2], axis=1).max() == pytest.approx(0.6 - math.sqrt(0.5**2 - 0.2**2), rel=1e-3)
    assert faces.max() < len(points)


def test_a_barrel_is_as_wide_for_a_stance_and_in_a_list_as_it_is_drawn():
    """It lies along x: its lowest point is below its middle, where a straight cylinder would be 0.04 m higher."""
    builder = newton.ModelBuilder()
    lying = ((0.0, 0.0, 0.0), (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)))
    builder.add_shape_cylinder(
        builder.add_body(mass=1.0), xform=lying, radius=0.1, half_height=0.2, barrel_radius=0.5, label="keg"
    )
    (row,) = shape_rows(builder, [0])
    model = builder.finalize(device="cpu")

    assert row.size == pytest.approx((0.1, 0.2, 0.5))
    assert Stance(model, []).lowest(np.zeros(0)) == pytest.approx(math.sqrt(0.5**2 - 0.2**2) - 0.6, abs=1e-3)
