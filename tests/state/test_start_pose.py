"""The start pose: joints outside their limits, and shapes that overlap, as MuJoCo and Newton's pipeline find them."""

import newton
import pippin
import pytest
import warp as wp
from pippin.runs.loop import start_notes
from pippin.state.start_pose import limit_notes

SIZE = 0.1


def hinged(angle, low=-1.0, high=1.0):
    """A link on a hinge at an angle [rad] with limits [rad]."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(label="arm/link", mass=1.0, inertia=wp.mat33(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    joint = builder.add_joint_revolute(
        -1, link, axis=wp.vec3(0.0, 1.0, 0.0), limit_lower=low, limit_upper=high, label="arm/knee"
    )
    builder.add_articulation([joint])
    builder.joint_q[0] = angle
    return builder


def folded(gap):
    """Three links in a row, the last one folded back so that its ball overlaps the first one's by -gap [m]."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    links = [builder.add_link(label=f"arm/{name}", mass=1.0) for name in ("first", "second", "third")]
    places = (0.0, 1.0, -1.0 + 2 * SIZE + gap)
    joints = [
        builder.add_joint_revolute(
            parent, link, parent_xform=wp.transform(wp.vec3(place, 0.0, 0.0)), axis=wp.vec3(0.0, 1.0, 0.0)
        )
        for parent, link, place in zip((-1, *links), links, places, strict=False)
    ]
    builder.add_articulation(joints)
    for link in (links[0], links[2]):
        builder.add_shape_sphere(link, radius=SIZE)
    builder.add_shape_sphere(links[1], radius=0.01)
    return builder


def test_a_joint_outside_its_limits_is_named_with_angle_and_limit():
    model = hinged(0.0, low=-2.7, high=-0.92).finalize(device="cpu")

    assert limit_notes(model) == ["1 joint starts outside its limits: knee 0 > -0.92; set joint_positions of the asset"]


def test_worlds_that_are_alike_give_one_note():
    worlds = newton.ModelBuilder(up_axis=newton.Axis.Z)
    worlds.replicate(hinged(-2.0), 3)

    assert limit_notes(worlds.finalize(device="cpu")) == [
        "1 joint starts outside its limits: knee -2 < -1; set joint_positions of the asset"
    ]


@pytest.mark.parametrize("angle", [-1.0, 0.5, 1.001])
def test_a_joint_within_its_limits_is_not_noted(angle):
    assert limit_notes(hinged(angle).finalize(device="cpu")) == []


@pytest.mark.parametrize("solver", ["mujoco-native", "xpbd"])
def test_an_overlap_of_a_robot_with_itself_is_noted_with_its_depth(solver, configure):
    with pippin.Simulation(configure(solver, scene={"worlds": 2}), prototype=folded(-0.05)) as simulation:
        (note,) = start_notes(simulation)

    assert note.startswith("1 overlap of an asset with itself at the start: first and third 50 mm; ")
    assert "self_collisions = false" in note


@pytest.mark.parametrize("solver", ["mujoco-native", "xpbd"])
def test_shapes_that_do_not_overlap_are_not_noted(solver, configure):
    with pippin.Simulation(configure(solver), prototype=folded(0.005)) as simulation:
        assert start_notes(simulation) == []


@pytest.mark.parametrize("solver", ["mujoco-native", "xpbd"])
def test_the_start_pose_is_that_of_the_model_and_not_that_of_the_file(solver, configure):
    """A link of the file's pose would touch another one, and the ball on a free joint another one."""
    builder = folded(-0.05)
    builder.joint_q[1] = 1.5
    ball = builder.add_link(label="ball", mass=1.0)
    builder.add_articulation([builder.add_joint_free(ball)])
    builder.add_shape_sphere(ball, radius=SIZE)
    builder.joint_q[-7:] = [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0]

    with pippin.Simulation(configure(solver), prototype=builder) as simulation:
        assert start_notes(simulation) == []


def test_the_notes_change_no_step(configure, ball):
    config = configure("xpbd", scene={"ground": True}, collision={"contact_matching": "sticky"})
    ends = []
    for is_noted in (False, True):
        with pippin.Simulation(config, prototype=ball(height=0.09)) as simulation:
            simulation.step(2)
            notes = start_notes(simulation) if is_noted else []
            simulation.step(3)
            ends.append(simulation.state_record())

    assert notes[0].startswith("1 overlap with the ground or another asset at the start: ")
    assert ends[0] == ends[1]


def test_a_scene_of_particles_alone_has_no_overlaps(simulate):
    sheet = newton.ModelBuilder(up_axis=newton.Axis.Z)
    sheet.add_particle(wp.vec3(0.0, 0.0, 1.0), wp.vec3(), 1.0)

    simulation = simulate(sheet, solver="xpbd", ground=True)

    assert start_notes(simulation) == []
