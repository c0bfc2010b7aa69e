"""Cloth, soft bodies, granular matter and rods of `[[scene.objects]]`: masses, places, pins and errors."""

import numpy as np
import pippin
import pytest

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.2], "density": 0.5}
CLOTH |= {"particle_radius": 0.02, "spring_ke": 1e3}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 1, 1], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02}
SAND = {"type": "granular", "label": "sand", "size": [0.2, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}


def build(*objects, solver="xpbd", worlds=1, **scene):
    accepted = ["triangles", "bending"] if solver == "xpbd" else []
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, "accept_unsupported": accepted},
        "scene": {"objects": list(objects), "worlds": worlds, **scene},
        "solver": {"type": solver, **({"disable_particle_contacts": True} if worlds > 1 else {})},
    }
    return pippin.Simulation(pippin.structure(tables))


def numbers(simulation, name):
    return getattr(simulation.model, name).numpy()


def test_a_cloth_weighs_its_area_and_lies_where_the_table_says():
    turned = {**CLOTH, "position": [0.0, 0.0, 2.0], "rotation": [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]}
    with build(turned, worlds=2) as simulation:
        masses, points = numbers(simulation, "particle_mass"), simulation.state.particle_q.numpy()

    assert len(points) == 2 * 5 * 3
    assert masses.sum() == pytest.approx(2 * 0.5 * 0.4 * 0.4, rel=1e-5)
    np.testing.assert_allclose(points[:15].min(axis=0), [-0.4, 0.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(points[:15].max(axis=0), [0.0, 0.4, 2.0], atol=1e-6)


def test_a_cloth_of_a_file_has_its_triangles(tmp_path):
    corners = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.2, 0.1, 0.0], [0.0, 0.1, 0.0]], dtype=np.float32)
    np.savez(tmp_path / "flag.npz", vertices=corners, indices=np.array([0, 1, 2, 0, 2, 3]))
    cloth = {"type": "cloth-mesh", "label": "flag", "path": str(tmp_path / "flag.npz"), "density": 0.5, "scale": 2.0}
    with build({**cloth, "particle_radius": 0.02, "spring_ke": 1e3}) as simulation:
        triangles, masses = numbers(simulation, "tri_indices"), numbers(simulation, "particle_mass")

        assert triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
        assert masses.sum() == pytest.approx(0.5 * 0.4 * 0.2, rel=1e-5)


def bent(folder, solver, **keys):
    """Return two triangles at a right angle, free of gravity."""
    corners = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, -0.1, 0.0], [0.0, 0.1, 0.0]], dtype=np.float32)
    np.savez(folder / "flap.npz", vertices=corners, indices=np.array([0, 3, 2, 1, 2, 3]))
    flap = {"type": "cloth-mesh", "label": "flap", "path": str(folder / "flap.npz"), "density": 0.5}
    return build({**flap, "particle_radius": 0.01, "edge_ke": 1e-2, **keys}, solver=solver, gravity=[0.0, 0.0, 0.0])


@pytest.mark.parametrize(("rest", "opens"), [("mesh", False), ("flat", True)])
def test_a_bent_mesh_keeps_its_angle_unless_it_rests_flat(rest, opens, tmp_path):
    with bent(tmp_path, "vbd", rest=rest) as simulation:
        simulation.step(30)
        points = simulation.state.particle_q.numpy()

    assert (np.linalg.norm(points[0] - points[1]) > 1.05 * np.sqrt(0.02)) == opens


def test_a_solver_whose_cloth_rests_flat_refuses_a_bent_mesh_and_names_the_key(tmp_path):
    with pytest.raises(pippin.ConfigError, match=r"rest_angles .*used by 1 edges.*rest = 'flat'"):
        bent(tmp_path, "style3d")
    bent(tmp_path, "style3d", rest="flat").close()


@pytest.mark.parametrize(
    ("solver", "keys", "feature"),
    [
        ("vbd", {"tri_drag": 1.0}, "air_drag"),
        ("style3d", {"tri_lift": 1.0}, "air_drag"),
        ("style3d", {"tri_kd": 1.0}, "triangle_damping"),
        ("style3d", {"edge_ke": 0.1, "edge_kd": 0.1}, "bending_damping"),
    ],
)
def test_a_number_of_cloth_that_a_solver_would_ignore_is_refused(solver, keys, feature):
    with pytest.raises(pippin.ConfigError, match=rf"{solver!r} does not support {feature} .*semi-implicit"):
        build({**CLOTH, **keys}, solver=solver)


def test_damping_of_bending_without_stiffness_is_refused():
    with pytest.raises(pippin.ConfigError, match="edge_kd: needs 'edge_ke'"):
        build({**CLOTH, "edge_kd": 0.1}, solver="vbd")


@pytest.mark.parametrize(
    ("pin", "expected"),
    [
        ({"edge": "left"}, [0, 5, 10]),
        ({"edge": "top"}, [10, 11, 12, 13, 14]),
        ({"corner": "top-left"}, [10]),
        ({"index": [3, 7]}, [3, 7]),
        ({"box": [[0.05, -1.0, -1.0], [0.15, 1.0, 1.0]]}, [1, 6, 11]),
        ({"nearest": [0.42, 0.41, 0.0]}, [14]),
    ],
)
def test_pinned_particles_are_those_of_the_selection(pin, expected):
    with build({**CLOTH, "pin": [pin], "rotation": [0.0, 1.0, 0.0, 0.0]}) as simulation:
        assert np.flatnonzero(numbers(simulation, "particle_mass") == 0.0).tolist() == expected


def test_pinned_particles_hold_and_the_others_fall_in_every_world():
    with build({**CLOTH, "pin": [{"edge": "left"}]}, worlds=2) as simulation:
        start = simulation.state.particle_q.numpy().copy()
        simulation.step(50)
        moved = np.linalg.norm(simulation.state.particle_q.numpy() - start, axis=1).reshape(2, 3, 5)

    assert moved[:, :, 0].max() == 0.0
    assert moved[:, :, -1].min() > 0.01
    np.testing.assert_array_equal(moved[0], moved[1])


def test_a_light_cloth_hangs_from_its_edge():
    """Its free edge swings below the pinned one, and the springs keep its length to a few per cent."""
    flag = {**CLOTH, "cells": [16, 8], "cell": [0.05, 0.05], "density": 0.3, "edge_ke": 1e-3, "spring_ke": 20.0}
    with build({**flag, "pin": [{"edge": "left"}]}) as simulation:
        simulation.step(300)
        rows = simulation.state.particle_q.numpy().reshape(9, 17, 3)

    lengths = np.linalg.norm(np.diff(rows, axis=1), axis=2).sum(axis=1)
    assert rows[:, -1, 2].max() < -0.4
    np.testing.assert_allclose(lengths, 0.8, rtol=0.1)


def test_a_soft_block_has_the_mass_of_its_volume_and_falls_as_it_is_thrown():
    with build({**BLOCK, "velocity": [1.0, 0.0, 0.0]}) as simulation:
        assert numbers(simulation, "particle_mass").sum() == pytest.approx(1e3 * 0.2 * 0.1 * 0.1, rel=1e-4)
        start = simulation.state.particle_q.numpy().mean(axis=0)
        simulation.step(100)
        moved = simulation.state.particle_q.numpy().mean(axis=0) - start

    np.testing.assert_allclose(moved, [0.2, 0.0, -9.81 * 0.2 * 0.202 / 2], atol=2e-3)


def test_granular_matter_has_particles_at_the_spacing_and_its_attributes():
    with build({**SAND, "mpm": {"friction": 0.7}}, solver="implicit-mpm") as simulation:
        points, masses = simulation.state.particle_q.numpy(), numbers(simulation, "particle_mass")
        frictions = simulation.model.mpm.friction.numpy()

    assert len(points) == 5 * 3 * 3
    np.testing.assert_allclose(masses, 2000.0 * 0.05**3, rtol=1e-5)
    np.testing.assert_allclose(points.max(axis=0), [0.2, 0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(frictions, 0.7, rtol=1e-6)


def test_granular_matter_lies_at_listed_points():
    points = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, 0.3]]
    listed = {"type": "granular", "label": "sand", "points": points, "spacing": 0.05, "density": 2000.0}
    turned = {**listed, "position": [0.0, 0.0, 1.0], "rotation": [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]}
    with build({**turned, "mpm": {"friction": 0.7}}, solver="implicit-mpm") as simulation:
        places, masses = simulation.state.particle_q.numpy(), numbers(simulation, "particle_mass")
        radii, frictions = numbers(simulation, "particle_radius"), simulation.model.mpm.friction.numpy()

    np.testing.assert_allclose(places, [[0.0, 0.0, 1.0], [0.0, 0.1, 1.0], [0.0, 0.0, 1.3]], atol=1e-6)
    np.testing.assert_allclose(masses, 2000.0 * 0.05**3, rtol=1e-5)
    np.testing.assert_allclose(radii, 0.025, rtol=1e-6)
    np.testing.assert_allclose(frictions, 0.7, rtol=1e-6)


def test_a_rod_is_a_chain_of_capsules_along_its_points():
    rod = {"type": "rod", "label": "cable", "position": [0.0, 0.0, 1.0], "end": [1.0, 0.0, 0.0], "segments": 4}
    rod |= {"radius": 0.01, "bend_stiffness": 1.0}
    with build(rod, solver="vbd") as simulation:
        centres, masses = simulation.state.body_q.numpy()[:, :3], numbers(simulation, "body_mass")
        labels = simulation.model.body_label

    np.testing.assert_allclose(centres, [[x, 0.0, 1.0] for x in (0.125, 0.375, 0.625, 0.875)], atol=1e-6)
    assert all(label.startswith("cable") for label in labels)
    assert masses.sum() == pytest.approx(1000.0 * np.pi * 0.01**2 * (1.0 + 4 * 4 / 3 * 0.01), rel=1e-3)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({**CLOTH, "particle_radius": 0.5}, r"particle_radius: 0\.5 m is more than 2 cells of 0\.1 m"),
        ({**CLOTH, "particle_mass": 0.1}, r"density: must say what the cloth weighs"),
        ({**CLOTH, "pin": [{"edge": "left", "index": [1]}]}, r"index: stands beside .edge.; a selection has one"),
        ({**CLOTH, "pin": [{}]}, r"pin\.0: expected one of edge, corner"),
        ({**CLOTH, "pin": [{"index": [99]}]}, r"pin\[0\]\.index: 99, but the object has 15;"),
        ({**CLOTH, "pin": [{"box": [[9, 9, 9], [10, 10, 10]]}]}, r"pin\[0\]\.box: nothing is there; .* from \[0"),
        ({**SAND, "mpm": {"frction": 0.5}}, r"mpm\.frction: the solver has no such attribute"),
        ({**SAND, "points": [[0, 0, 0]]}, r"size: must say how large the block is, or 'points'"),
        ({"type": "rod", "label": "cable", "radius": 0.1}, r"'points', or 'end' and 'segments'"),
        ({"type": "rod", "label": "cable", "radius": 0.1, "points": [[0, 0, 0]]}, r"at least 2 points, got 1"),
        ({**BLOCK, "type": "soft-mesh", "path": "none.npz"}, r"path: no file 'none\.npz'|cells"),
    ],
)
def test_a_wrong_table_is_refused(table, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build(table)


def test_a_shape_that_cannot_be_a_collider_of_grains_is_refused():
    egg = {"type": "body", "label": "egg", "motion": "static", "position": [5.0, 0.0, 0.0]}
    shape = {"type": "ellipsoid", "radii": [0.1, 0.2, 0.3]}
    build(SAND, {**egg, "shapes": [{**shape, "has_particle_collision": False}]}, solver="implicit-mpm").close()

    with pytest.raises(pippin.ConfigError, match="no collider of type ELLIPSOID, as 'egg/ellipsoid' is"):
        build(SAND, {**egg, "shapes": [shape]}, solver="implicit-mpm")


def test_a_solver_without_particles_is_refused():
    with pytest.raises(pippin.ConfigError, match=r"does not support (particles|tetrahedra)"):
        build(BLOCK, solver="mujoco")


POINTS = {"type": "particles", "label": "web", "points": [[0.0, 0.0, 0.0], [0.3, 0.0, 0.4]], "particle_mass": 0.2}
POINTS |= {"particle_radius": 0.01}


@pytest.mark.slow
def test_a_particle_on_a_spring_sags_by_its_weight():
    """At rest k (l − l_0) = m g, and l_0 is the distance at the start."""
    hanging = {**POINTS, "points": [[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]], "pin": [{"index": [0]}]}
    with build({**hanging, "springs": [[0, 1]], "spring_ke": 50.0, "spring_kd": 2.0}, solver="semi-implicit") as found:
        found.step(2000)
        bottom = found.state.particle_q.numpy()[1]

    np.testing.assert_allclose(bottom, [0.0, 0.0, 0.5 - 0.2 * 9.81 / 50.0], atol=1e-4)


def test_particles_have_their_places_and_their_springs_in_every_copy(tmp_path):
    np.savetxt(tmp_path / "web.csv", POINTS["points"], delimiter=",")
    copies = {**POINTS, "points": str(tmp_path / "web.csv"), "springs": [[1, 0]], "spring_ke": 5.0}
    turned = {**copies, "rotation": [0.0, 0.0, 1.0, 0.0], "poses": [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]}
    with build(turned, solver="semi-implicit", worlds=2) as simulation:
        points, web = simulation.state.particle_q.numpy(), simulation.view.particles("web_1")

        assert web.springs.tolist() == [[[1, 0]], [[1, 0]]]
        np.testing.assert_allclose(numbers(simulation, "spring_rest_length"), 0.5, rtol=1e-6)
        np.testing.assert_allclose(web.get_particle_positions().numpy()[:, 0], [[-2.0, 0.0, 0.0]] * 2, atol=1e-6)
    assert len(points) == 8


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        ({"springs": [[0, 2]]}, "springs: 2, but there are 2 particles; count from 0 to 1"),
        ({"springs": [[1, 1]]}, "must be pairs of two particles"),
        ({"spring_ke": 5.0}, "spring_ke"),
        ({"points": []}, "must hold at least one point"),
    ],
)
def test_springs_between_no_two_particles_are_refused(keys, fault):
    with pytest.raises(pippin.ConfigError, match=fault):
        build({**POINTS, **keys}, solver="semi-implicit")


def test_a_stage_may_state_tetrahedra_on_a_mesh(tmp_path):
    from pxr import Sdf, Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "block.usda"))
    mesh = UsdGeom.Mesh.Define(stage, "/block")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
    attribute = mesh.GetPrim().CreateAttribute("tetraIndices", Sdf.ValueTypeNames.IntArray)
    attribute.Set([0, 1, 2, 3, 1, 2, 3, 4])
    stage.Save()
    block = {"type": "soft-mesh", "path": str(tmp_path / "block.usda"), "density": 1e3, "k_mu": 1e4, "k_lambda": 1e4}
    tables = {"simulation": {"device": "cpu"}, "scene": {"objects": [{"label": "block", **block}]}}
    tables["scene"]["objects"][0]["particle_radius"] = 0.02

    with pippin.Simulation({**tables, "solver": {"type": "vbd"}}) as simulation:
        assert simulation.model.tet_indices.numpy().reshape(-1, 4).tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
