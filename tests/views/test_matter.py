"""Views of cloth, soft bodies, granular matter and cables: positions, velocities, masses and topology of all worlds."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.views import SelectionError, ViewError
from pippin.views.quantities import PARTICLES

from .test_allocation import allocation_count

CLOTH = {"type": "cloth-grid", "label": "flag", "cells": [4, 2], "cell": [0.1, 0.2], "density": 0.5}
CLOTH |= {"particle_radius": 0.02, "spring_ke": 1e3, "pin": [{"edge": "left"}], "position": [0.0, 0.0, 2.0]}
BLOCK = {"type": "soft-grid", "label": "block", "cells": [2, 1, 1], "cell": [0.1, 0.1, 0.1], "density": 1e3}
BLOCK |= {"k_mu": 1e4, "k_lambda": 1e4, "particle_radius": 0.02}
SAND = {"type": "granular", "label": "sand", "size": [0.1, 0.1, 0.1], "spacing": 0.05, "density": 2000.0}
ROPE = {"type": "rod", "label": "rope", "position": [0.0, 0.0, 1.0], "end": [1.0, 0.0, 0.0], "segments": 4}
ROPE |= {"radius": 0.01, "bend_stiffness": 1.0}
WORLDS = 3


def build(*objects, solver="vbd", worlds=WORLDS, **options):
    own = {"implicit-mpm": {"separate_worlds": True, "grid_type": "dense"}}
    own["semi-implicit"] = {"disable_particle_contacts": True}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002, **options},
        "scene": {"objects": list(objects), "worlds": worlds},
        "solver": {"type": solver, **own.get(solver, {})},
    }
    return pippin.Simulation(pippin.structure(tables))


@pytest.fixture(scope="module")
def scene():
    with build(CLOTH, BLOCK) as simulation:
        yield simulation


@pytest.fixture
def flags(scene):
    scene.reset()
    return scene.view.surfaces("flag")


def numbers(array):
    return array.numpy().copy()


def test_a_view_has_a_row_per_object_and_world_with_newtons_numbers(scene, flags):
    expected = newton.selection.DeformableSurfaceView(scene.model, "flag").get_particle_positions(scene.state)

    assert (flags.labels, flags.world_ids.tolist(), flags.max_particles) == (("flag",) * WORLDS, [0, 1, 2], 15)
    np.testing.assert_array_equal(flags.get_particle_positions().numpy(), expected.numpy())
    np.testing.assert_array_equal(flags.get_particle_masses().numpy() == 0.0, [[i % 5 == 0 for i in range(15)]] * 3)
    assert flags.get_attribute("particle_radius").numpy() == pytest.approx(0.02)


def test_objects_of_other_sizes_are_padded(scene):
    view = scene.view.particles("*", worlds=[1])

    assert (view.labels, view.particle_mask.sum(axis=1).tolist()) == (("flag", "block"), [15, 12])
    positions = view.get_particle_positions().numpy()
    np.testing.assert_array_equal(positions[1, 12:], 0.0)
    np.testing.assert_array_equal(positions[1, :12], scene.view.volumes("block").get_particle_positions().numpy()[1])


def test_topology_counts_the_particles_of_the_row(scene):
    """A grid of cells has two triangles in each; corners of a triangle span half a cell."""
    view = scene.view.particles("*")
    flag, block = view.triangles[2], view.tetrahedra[3]
    positions = view.get_particle_positions().numpy()
    sides = positions[2][flag]
    areas = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1) / 2
    used = block[block[:, 0] >= 0]
    corners = positions[3][used]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6

    assert (view.labels[2:4], view.world_ids[2:4].tolist()) == (("flag", "block"), [1, 1])
    used_areas = areas[flag[:, 0] >= 0]
    assert len(used_areas) == 16
    np.testing.assert_allclose(used_areas, 0.01, rtol=1e-5)
    assert len(used) == 10
    assert np.abs(volumes).sum() == pytest.approx(0.2 * 0.1 * 0.1, rel=1e-5)
    assert (view.tetrahedra[2] == -1).all()
    lengths = np.linalg.norm(np.diff(positions[2][view.edges[2]], axis=1), axis=-1)
    assert np.unique(lengths.round(3)) == pytest.approx([0.1, 0.2, 0.224])
    assert (view.springs[2] >= 0).any()


def test_centroids_and_bounds_are_those_of_the_positions(flags):
    positions = numbers(flags.get_particle_positions())

    np.testing.assert_allclose(flags.get_centroids().numpy(), positions.mean(axis=1), atol=1e-6)
    expected = np.concatenate([positions.min(axis=1), positions.max(axis=1)], axis=1)
    np.testing.assert_array_equal(flags.get_bounds().numpy(), expected)


@pytest.mark.parametrize("capture", ["require", "off"])
@pytest.mark.parametrize(
    "choice", [{"indices": [1]}, {"mask": [False, True, False]}, {"indices": wp.array([1], dtype=int, device="cpu")}]
)
def test_a_world_is_set_alone_and_moves_from_there(choice, capture):
    """Grains with 1 m/s move 2 mm in a step; the other worlds keep their bits."""
    with build(SAND, solver="semi-implicit", capture=capture) as simulation:
        view = simulation.view.particles("sand")
        positions, velocities = numbers(view.get_particle_positions()), numbers(view.get_particle_velocities())
        positions[1] += [0.0, 5.0, 0.0]
        velocities[1] = [1.0, 0.0, 0.0]
        view.set_particle_positions(positions, **choice)
        view.set_particle_velocities(velocities, **choice)
        simulation.step(3)
        moved = numbers(view.get_particle_positions())

    np.testing.assert_array_equal(moved[0], moved[2])
    np.testing.assert_allclose(moved[1] - moved[0], np.broadcast_to([0.006, 5.0, 0.0], moved[0].shape), atol=1e-6)


def test_what_is_not_a_number_is_refused_with_its_particle(scene, flags):
    before = numbers(flags.get_particle_positions())
    wrong = before.copy()
    wrong[1, 7, 2] = np.nan
    message = r"set_particle_positions: row 1, 'flag' of world 1, particle 7: expected a finite number.*nothing"
    with pytest.raises(ViewError, match=message):
        flags.set_particle_positions(wrong)
    flags.set_particle_positions(wp.array(wrong, dtype=float, device="cpu"))

    np.testing.assert_array_equal(flags.get_particle_positions().numpy(), before)
    with pytest.raises(ViewError, match="set_particle_positions: 1 values on the device were not allowed, such as in"):
        scene.raise_errors()


@pytest.mark.parametrize(
    ("method", "pattern", "message"),
    [
        ("surfaces", "flg", r"no surface matches 'flg'; did you mean 'flag'\? .*; view\.volumes has block"),
        ("volumes", "flag", r"no volume matches 'flag'; volumes: block; view\.surfaces has flag"),
        ("cables", "*", r"there are no cables; view\.surfaces has flag; view\.volumes has block"),
        ("particles", "robot", r"no object with particles matches 'robot'; object with particles: flag, block$"),
    ],
)
def test_objects_that_are_not_there_are_refused(scene, method, pattern, message):
    with pytest.raises(SelectionError, match=message):
        getattr(scene.view, method)(pattern)


def test_masses_are_read_alone(flags):
    with pytest.raises(ViewError, match=r"set_attribute: particle_inv_mass: .* this one is only read"):
        flags.set_attribute("particle_inv_mass", 1.0)


def test_reading_and_setting_allocates_nothing(flags):
    values = {name: numbers(getattr(flags, f"get_{name}")()) for name in PARTICLES}

    def call():
        for name, quantity in PARTICLES.items():
            getattr(flags, f"get_{name}")(np.zeros_like(values[name]))
            if quantity.is_settable:
                getattr(flags, f"set_{name}")(values[name], indices=[2, 0])

    assert allocation_count(call) == 0


def test_a_capture_records_a_setter(scene, flags):
    velocities = wp.array(np.full((WORLDS, 15, 3), 0.5), dtype=float, device="cpu")
    mask = wp.array([False, True, False], dtype=bool, device="cpu")
    flags.set_particle_velocities(velocities, mask=mask)
    flags.set_particle_velocities(0.0)
    with wp.ScopedCapture(device="cpu") as capture:
        flags.set_particle_velocities(velocities, mask=mask)
    before = numbers(flags.get_particle_velocities())
    wp.capture_launch(capture.graph)

    np.testing.assert_array_equal(before, 0.0)
    np.testing.assert_array_equal(
        flags.get_particle_velocities().numpy()[:, :, 0], [[0.0] * 15, [0.5] * 15, [0.0] * 15]
    )
    scene.reset()


def test_sand_is_seen_by_its_label():
    with build(SAND, solver="implicit-mpm", worlds=2) as simulation:
        view = simulation.view.particles("sand")
        masses = view.get_particle_masses().numpy()

    assert masses.shape == (2, 27)
    np.testing.assert_allclose(masses, 2000.0 * 0.05**3, rtol=1e-5)


@pytest.mark.slow
def test_a_lifted_cable_falls_from_there_in_its_world_alone():
    with build(ROPE, worlds=2) as simulation:
        view = simulation.view.cables("rope")
        poses = numbers(view.get_link_transforms())
        np.testing.assert_allclose(poses[0, :, 0], [0.125, 0.375, 0.625, 0.875], atol=1e-6)
        poses[1, :, 2] += 1.0
        view.set_link_transforms(poses, indices=[1])
        joints = simulation.state.joint_q.numpy().reshape(2, -1)
        view.set_link_velocities(np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], dtype=np.float32), indices=[1])
        simulation.step(5)
        difference = np.diff(view.get_centroids().numpy(), axis=0)[0]
        apart = joints[1, 2] - joints[0, 2]
        with pytest.raises(ViewError, match="segment 0: expected a finite position and a quaternion of length 1"):
            view.set_link_transforms(np.zeros(7, dtype=np.float32))

    assert apart == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_allclose(difference, [0.0, 0.01, 1.0], atol=1e-4)
    np.testing.assert_allclose(view.get_bounds().numpy()[:, [0, 3]], [[0.125, 0.875]] * 2, atol=1e-4)
