"""Contacts that an engine tells are those of Newton's buffer: shapes, points and wrenches, of all worlds."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin_engines import EngineContacts


def stacks(worlds=2):
    """Return worlds of two boxes, on a ground of none."""
    box = newton.ModelBuilder(up_axis="Z")
    for _ in range(2):
        box.add_shape_box(box.add_body(mass=1.0), hx=0.1, hy=0.1, hz=0.1)
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_ground_plane()
    builder.replicate(box, worlds)
    return builder.finalize(device="cpu")


def told(**changes):
    """Return one contact of the upper box of the second world on the lower one, which is turned and 0.1 m up."""
    poses = np.tile(np.eye(7)[6], (2, 2, 1))
    poses[1, :, 2] = 0.1, 0.3
    poses[1, 0, 3:] = np.array([0.0, 0.0, 1.0, 1.0]) / np.sqrt(2.0)
    found = {"sides": [0], "worlds": [1], "shapes": [[2, 1]], "points": [1], "anchors": [0], "poses": poses, "dt": 0.5}
    found |= {"places": [[0.05, 0.0, 0.199]], "normals": [[0.0, 0.0, 1.0]], "distances": [-0.002]}
    return {name: np.asarray(values) for name, values in (found | {"impulses": [[0.0, 0.0, 3.0]]} | changes).items()}


def written(model, found):
    contacts = EngineContacts(model)
    forces = wp.full(contacts.buffer.rigid_contact_max, wp.spatial_vector(*6 * [7.0]), wp.spatial_vector, device="cpu")
    contacts.write(found, forces)
    return contacts.buffer, int(contacts.buffer.rigid_contact_count.numpy()[0]), forces.numpy()


def test_shapes_are_those_of_the_world_and_points_those_of_bodies():
    model = stacks()
    buffer, count, forces = written(model, told())
    shapes = [int(getattr(buffer, f"rigid_contact_shape{side}").numpy()[0]) for side in (0, 1)]
    points = [getattr(buffer, f"rigid_contact_point{side}").numpy()[0] for side in (0, 1)]

    assert count == 1
    assert [model.shape_body.numpy()[shape] for shape in shapes] == [3, 2]
    assert points[0] == pytest.approx([0.05, 0.0, -0.102], abs=1e-6)
    assert points[1] == pytest.approx([0.0, -0.05, 0.1], abs=1e-6)
    assert buffer.rigid_contact_normal.numpy()[0].tolist() == [0.0, 0.0, -1.0]
    assert forces[0].tolist() == [0.0, 0.0, 6.0, 0.0, 0.0, 0.0]
    assert not forces[1:].any()


def test_a_shape_of_no_world_is_itself_in_each():
    model = stacks()
    buffer, _, _ = written(model, told(shapes=[[1, 0]]))

    assert model.shape_body.numpy()[buffer.rigid_contact_shape0.numpy()[0]] == 2
    assert buffer.rigid_contact_shape1.numpy()[0] == 0


def test_what_the_other_side_tells_counts_once():
    _, count, _ = written(stacks(), told(sides=[1]))

    assert count == 0


def test_friction_at_anchors_is_shared_by_the_normal_impulses():
    """Force and torque of the pair are those of its points and anchors together, wherever these are."""
    places, impulses = np.array([[0.1, 0.0, 0.2], [-0.1, 0.0, 0.2]]), np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    anchors, pulls = np.array([[0.1, 0.1, 0.2], [0.0, -0.1, 0.2], [0.3, 0.0, 0.1]]), np.diag([0.4, 0.8, 0.2])
    found = told(points=[2], anchors=[3], places=places, normals=np.eye(3)[[2, 2]], distances=[0.0, 0.0])
    found |= {"impulses": impulses, "anchor_places": anchors, "anchor_impulses": pulls}
    _, count, forces = written(stacks(), found)

    torque = (forces[:2, 3:] + np.cross(places, forces[:2, :3])).sum(0)
    expected = np.cross(places, impulses).sum(0) + np.cross(anchors, pulls).sum(0)
    assert count == 2
    assert forces[0, :2] == pytest.approx(3.0 * forces[1, :2])
    assert forces[:2, :3].sum(0) == pytest.approx((impulses.sum(0) + pulls.sum(0)) / 0.5)
    assert torque == pytest.approx(expected / 0.5, abs=1e-5)


def test_nothing_is_told_of_worlds_without_contacts():
    _, count, forces = written(stacks(), {"poses": np.zeros((2, 2, 7)), "dt": 0.5})

    assert count == 0
    assert not forces.any()


def test_more_contacts_than_rows_are_refused():
    model = stacks()
    room = EngineContacts(model).buffer.rigid_contact_max
    many = {name: np.tile(each, (room + 1, *([1] * (each.ndim - 1)))) for name, each in told().items() if each.ndim}
    with pytest.raises(pippin.SimulationError, match=f"{room + 1} contacts, and room for {room} .* 16 for each pair"):
        written(model, many | {"poses": told()["poses"], "dt": 0.5})
