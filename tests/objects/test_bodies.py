"""Bodies of `[[scene.objects]]`: masses, materials, motion and copies."""

import numpy as np
import pippin
import pytest
import warp as wp

BOX = {"type": "box", "size": [0.2, 0.4, 0.6]}
VOLUME = 0.2 * 0.4 * 0.6


def table(**keys):
    return {"type": "body", "label": "crate", "shapes": [BOX], **keys}


def build(*objects, solver="xpbd", worlds=1, dt=0.01, **scene):
    tables = {
        "simulation": {"device": "cpu", "dt": dt},
        "scene": {"objects": list(objects), "worlds": worlds, **scene},
        "solver": {"type": solver},
    }
    return pippin.Simulation(pippin.structure(tables))


def numbers(simulation, name):
    return getattr(simulation.model, name).numpy()


def test_edges_are_whole_and_the_mass_is_that_of_the_shapes():
    with build(table()) as simulation:
        assert numbers(simulation, "body_mass")[0] == pytest.approx(1000 * VOLUME)
        assert numbers(simulation, "shape_scale")[0] == pytest.approx([0.1, 0.2, 0.3])


def test_a_mass_scales_the_inertia():
    with build(table(), table(label="heavy", mass=480.0)) as simulation:
        inertias, masses = numbers(simulation, "body_inertia"), numbers(simulation, "body_mass")

    assert masses[1] == pytest.approx(480.0)
    np.testing.assert_allclose(inertias[1], inertias[0] * 10.0, rtol=1e-5)
    assert inertias[0][0, 0] == pytest.approx(48.0 / 12 * (0.4**2 + 0.6**2), rel=1e-5)


def test_an_inertia_and_a_point_mass_are_as_the_file_says():
    stated = table(mass=2.0, inertia=[0.1, 0.2, 0.25], com=[0.0, 0.1, 0.0])
    with build(stated, table(label="loaded", extra_mass=2.0)) as simulation:
        masses, centres = numbers(simulation, "body_mass"), numbers(simulation, "body_com")

        np.testing.assert_allclose(np.diag(numbers(simulation, "body_inertia")[0]), [0.1, 0.2, 0.25], rtol=1e-6)
    np.testing.assert_allclose(masses, [2.0, 50.0], rtol=1e-6)
    np.testing.assert_allclose(centres[0], [0.0, 0.1, 0.0], atol=1e-7)


def test_a_shape_has_its_own_keys_then_its_materials_then_those_of_the_scene():
    nose = {"type": "cone", "radius": 0.1, "length": 0.2, "label": "nose"}
    shapes = [BOX, {"type": "sphere", "radius": 0.1}, BOX, nose]
    with build(table(shapes=shapes)) as simulation:
        assert simulation.model.shape_label == ["crate/box_0", "crate/sphere", "crate/box_1", "crate/nose"]


def test_a_thrown_body_flies_on_a_parabola_in_every_world():
    thrown = table(position=[0.0, 0.0, 5.0], velocity=[1.0, 2.0, 3.0], angular_velocity=[0.0, 0.0, 4.0])
    with build(thrown, worlds=3, solver="featherstone", dt=0.001) as simulation:
        simulation.step(200)
        poses, speeds = simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()

    np.testing.assert_allclose(poses[:, :3], [[0.2, 0.4, 5 + 0.6 - 9.81 * 0.2**2 / 2]] * 3, atol=2e-3)
    np.testing.assert_allclose(speeds[:, 3:], [[0.0, 0.0, 4.0]] * 3, atol=1e-4)
    np.testing.assert_allclose(poses[:, 5], np.sin(0.4), atol=2e-3)


def test_a_reset_restores_the_start_of_one_world():
    with build(table(position=[0.0, 0.0, 5.0], velocity=[1.0, 0.0, 0.0]), worlds=2) as simulation:
        start = simulation.state.body_q.numpy().copy(), simulation.state.body_qd.numpy().copy()
        simulation.step(20)
        simulation.reset(worlds=[1])
        poses, speeds = simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()

    np.testing.assert_array_equal(poses[1], start[0][1])
    np.testing.assert_array_equal(speeds[1], start[1][1])
    assert poses[0, 2] < 4.9


def test_static_shapes_hold_and_kinematic_bodies_keep_their_pose():
    floor = table(label="floor", motion="static", shapes=[{"type": "box", "size": [4.0, 4.0, 0.2]}])
    shelf = table(label="shelf", motion="kinematic", position=[0.0, 0.0, 2.0])
    with build(floor, shelf, table(position=[1.0, 1.0, 0.42])) as simulation:
        simulation.step(100)
        poses = simulation.state.body_q.numpy()

    assert simulation.model.body_label == ["shelf", "crate"]
    np.testing.assert_allclose(poses[0, :3], [0.0, 0.0, 2.0], atol=1e-6)
    assert poses[1, 2] == pytest.approx(0.4, abs=5e-3)


def test_worlds_may_have_different_objects():
    with build(table(), table(label="more", worlds="1::2", position=[1.0, 0.0, 0.0]), worlds=4) as simulation:
        worlds = numbers(simulation, "body_world").tolist()

    assert worlds == [0, 1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"label": "a/b"}, r"objects\.0\.label.*a label names files"),
        ({"shapes": [{"type": "bx", "size": [1, 1, 1]}]}, r"shapes\.0\.type: .*did you mean 'box'"),
        ({"shapes": [{"type": "box", "size": [1, 1, 0]}]}, r"shapes\.0\.size: must be > 0\.0"),
        ({"shapes": [{**BOX, "material": "wod"}], "_materials": {"wood": {}}}, r"shapes\[0\]\.material: no material"),
        ({"shapes": [{"type": "plane"}]}, r"a plane and a heightfield cannot move; set motion = 'static'"),
        ({"shapes": [], "mass": 1.0}, r"\.mass: 1\.0, but no shape has a density"),
        ({"mass": 1.0, "extra_mass": 1.0}, r"mass: is given beside 'extra_mass'"),
        ({"motion": "static", "velocity": [1.0, 0.0, 0.0]}, r"velocity: needs a body that moves without a joint"),
        ({"joint": {"type": "ball"}, "joint_positions": {"crate": 1.0}}, r"joint_positions: needs a joint of type"),
        ({"joint": {"type": "revolute"}, "joint_positions": {"crat": 1.0}}, r"joint_positions.*'crat'"),
        ({"inertia": [1.0, 1.0, 1.0]}, r"inertia: needs 'mass'"),
        ({"mass": 1.0, "inertia": [1.0, 0.1, 0.1]}, r"inertia: has the principal moments 0\.1, 0\.1 and 1 kg·m²"),
        ({"repeat": {"count": [1, 1, 1]}, "poses": [[0, 0, 1]]}, r"poses: is given beside 'repeat'"),
        ({"poses": [[0.0, 0.0]]}, r"poses: must be positions \(x, y, z\), or poses"),
        ({"poses": [[0, 0, 0, 1, 1, 0, 0]]}, r"unit quaternions"),
        ({"repeat": {"count": [100000, 100000, 1]}}, r"count: must make at most 10000000 copies, got 10000000000"),
        ({"repeat": {"count": [2, 1, 3], "pattern": "triangle"}}, r"at most as many layers"),
        ({"shapes": [{"type": "mesh", "path": "none.obj"}]}, r"shapes\[0\]\.path: no file"),
        ({"worlds": [7]}, r"scene\.objects\[0\]\.worlds"),
    ],
)
def test_a_wrong_table_is_refused(keys, reason):
    materials = keys.pop("_materials", {})
    with pytest.raises(pippin.ConfigError, match=reason):
        build(table(**keys), materials=materials)


def test_two_equal_labels_are_refused():
    with pytest.raises(
        pippin.ConfigError, match=r"scene\.objects\[1\]\.label: 'crate' is a label of scene\.objects\[0\]"
    ):
        build(table(), table())


def test_a_field_of_distances_of_a_mesh_needs_cuda():
    bear = {"type": "mesh", "path": "pkg:newton/examples/assets/bear.usd", "prim": "/root/bear/bear"}
    fine = table(shapes=[{**bear, "sdf_max_resolution": 8}])
    if wp.is_cuda_available():
        build(fine).close()
        return

    with pytest.raises(pippin.ConfigError, match=r"shapes\[0\]: its signed distance field: .*CUDA"):
        build(fine)


KEG = {"type": "cylinder", "radius": 0.1, "length": 0.4, "barrel_radius": 0.5}
BULGE = 0.5 - np.sqrt(0.5**2 - 0.2**2)
"""How much farther from the axis the side of the keg is in the middle than at its ends [m]."""


def test_a_keg_lies_on_its_bulge():
    """It starts with one end on the ground; the mass is that of a solid of revolution, 2π ∫ r²/2 dz."""
    tilted = {"position": [0.0, 0.0, 0.16], "rotation": [0.0, np.sin(0.8), 0.0, np.cos(0.8)]}
    keg = table(shapes=[KEG], **tilted)
    with build(keg, dt=0.005, ground=True) as simulation:
        mass = numbers(simulation, "body_mass")[0]
        simulation.step(400)
        height = simulation.state.body_q.numpy()[0, 2]

    z = np.linspace(-0.2, 0.2, 2001)
    radii = 0.1 + np.sqrt(0.5**2 - z**2) - np.sqrt(0.5**2 - 0.2**2)
    assert mass == pytest.approx(1000 * np.pi * np.trapezoid(radii**2, z), rel=1e-3)
    assert height == pytest.approx(0.1 + BULGE, abs=3e-3)
    assert BULGE > 0.04, "a straight cylinder would lie deeper"


def test_an_arc_that_ends_before_the_cylinder_is_refused():
    with pytest.raises(pippin.ConfigError, match="barrel_radius: must be at least half of the length"):
        build(table(shapes=[{**KEG, "barrel_radius": 0.15}]))


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_keg_is_refused_by_engines_that_have_straight_cylinders(solver):
    with pytest.raises(pippin.ConfigError, match="barrel_radius: of crate/cylinder, but solver"):
        build(table(shapes=[KEG]), solver=solver)
    with build(table(shapes=[{**KEG, "has_shape_collision": False}]), solver=solver) as simulation:
        assert simulation.model.shape_count == 1, "what collides with nothing may bulge"
