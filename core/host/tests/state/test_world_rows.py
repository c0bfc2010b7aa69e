"""Which rows of a state array belong to which world, whatever Newton counts them by."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.world_rows import WorldReset

KINDS = newton.Model.AttributeFrequency
OF_NO_WORLD = {KINDS.ONCE, KINDS.CONTACT, KINDS.CONTACT_RIGID, KINDS.CONTACT_SOFT}
PER_WORLD = {
    KINDS.BODY: 4,
    KINDS.SHAPE: 2,
    KINDS.ARTICULATION: 2,
    KINDS.JOINT: 4,
    KINDS.JOINT_COORD: 16,
    KINDS.JOINT_DOF: 14,
    KINDS.JOINT_CONSTRAINT: 10,
    KINDS.PARTICLE: 13,
    KINDS.TRIANGLE: 14,
    KINDS.EDGE: 23,
    KINDS.SPRING: 1,
    KINDS.TETRAHEDRON: 6,
    KINDS.WORLD: 1,
    KINDS.CONSTRAINT_MIMIC: 1,
    KINDS.ATTACHMENT_PARTICLE_BODY: 1,
    KINDS.TENDON: 2,
    KINDS.TENDON_GUIDE: 5,
    KINDS.TENDON_SEGMENT: 3,
    KINDS.CURVE: 1,
    KINDS.SURFACE: 1,
    KINDS.VOLUME: 1,
}
BEFORE = {
    KINDS.BODY: 1,
    KINDS.ARTICULATION: 1,
    KINDS.JOINT: 1,
    KINDS.JOINT_COORD: 1,
    KINDS.JOINT_DOF: 1,
    KINDS.JOINT_CONSTRAINT: 5,
}
"""Rows of the body that belongs to no world."""

WORLDS = 3


def world(frequency):
    """Return a robot of a floating body and two hinged ones, two tendons, a cloth with a tip, a soft cube and a rod."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_custom_attribute(
        newton.ModelBuilder.CustomAttribute(
            name="counts",
            frequency=frequency,
            assignment=newton.Model.AttributeAssignment.STATE,
            dtype=wp.int32,
            default=0,
        )
    )
    base, arm, leg = (builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3))
    builder.add_shape_sphere(arm, radius=0.1)
    joints = [builder.add_joint_free(base), *(builder.add_joint_revolute(base, each) for each in (arm, leg))]
    builder.add_articulation(joints)
    with pytest.deprecated_call():  # a joint that follows another one has replaced it, but for files in MJCF
        builder.add_constraint_mimic(joints[1], joints[2])
    for route in ([base, arm], [arm, base, leg]):
        builder.add_tendon([newton.TendonGuide(body=each) for each in route])
    builder.add_cloth_grid(
        pos=wp.vec3(),
        rot=wp.quat_identity(),
        vel=wp.vec3(),
        dim_x=1,
        dim_y=1,
        cell_x=0.1,
        cell_y=0.1,
        mass=0.1,
        label="cloth",
    )
    builder.add_soft_grid(
        pos=wp.vec3(),
        rot=wp.quat_identity(),
        vel=wp.vec3(),
        dim_x=1,
        dim_y=1,
        dim_z=1,
        cell_x=0.1,
        cell_y=0.1,
        cell_z=0.1,
        density=1.0,
        k_mu=1.0,
        k_lambda=1.0,
        k_damp=0.0,
        label="cube",
    )
    builder.add_attachment_particle_body(0, base)
    builder.add_rod(rod=newton.Rod([wp.vec3(), wp.vec3(0.1, 0.0, 0.0)], radius=0.01), label="rod")
    tip = builder.add_particle(wp.vec3(0.0, 0.0, 0.1), wp.vec3(), 0.1)
    builder.add_tetrahedron(0, 1, 2, tip)
    builder.add_spring(0, tip, 1.0, 0.0, 0.0)
    return builder


@pytest.mark.first_cases(7)
@pytest.mark.parametrize("frequency", PER_WORLD, ids=lambda frequency: frequency.name)
def test_rows_are_reset_with_their_world(frequency):
    """A body that belongs to no world comes before them, and a ground after them."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_custom_attribute(world(frequency).custom_attributes["counts"])
    first = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_revolute(-1, first)])
    builder.replicate(world(frequency), WORLDS)
    builder.add_ground_plane()
    model = builder.finalize(device="cpu")
    state = model.state()
    reset = WorldReset(model, (state,))
    state.counts.fill_(7)

    reset.restore(reset.mask_of([1], "worlds"))

    rows = np.flatnonzero(state.counts.numpy() == 0)
    count = PER_WORLD[frequency]
    np.testing.assert_array_equal(rows, BEFORE.get(frequency, 0) + count + np.arange(count))


def test_every_frequency_of_newton_is_known():
    """A new frequency of Newton needs a way to the worlds of its rows, or a place among those of no world."""
    assert set(KINDS) == set(PER_WORLD) | OF_NO_WORLD


def test_rows_that_no_world_can_be_told_of_are_refused():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    prototype = world(KINDS.ONCE)
    builder.add_custom_attribute(prototype.custom_attributes["counts"])
    builder.replicate(prototype, WORLDS)
    model = builder.finalize(device="cpu")

    with pytest.raises(pippin.PluginError, match=r"^solver: state array 'counts' \(1 rows, frequency .*ONCE"):
        WorldReset(model, (model.state(),))
