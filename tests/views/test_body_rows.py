"""Single bodies as rows: put anywhere, thrown and pushed, in every world and with every kind of solver."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.views import RIGID_BODY, RowError, ViewError

WORLDS = 4
KINDS = ("mujoco", "xpbd", "mujoco-native")
"""A solver that writes joints and bodies, one that writes bodies alone, and one that writes joints alone."""
IDENTITY = [0.0, 0.0, 0.0, 1.0]


def spheres(*joints):
    """Return a world of spheres of 1 kg and radius 0.2 m, free where `joints` has the frames of a free joint."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for index, frames in enumerate(joints):
        sphere = builder.add_link(label=f"sphere_{index}", mass=1.0, inertia=wp.diag(wp.vec3(0.016)))
        builder.add_articulation([builder.add_joint_free(sphere, label=f"free_{index}", **frames)])
    return builder


@pytest.fixture(scope="module", params=KINDS)
def balls(request, build):
    """Four worlds without gravity, with two spheres each."""
    with build(request.param, spheres({}, {}), WORLDS) as simulation:
        simulation.view.gravity = (0.0, 0.0, 0.0)
        simulation.step()
        yield simulation


@pytest.fixture
def view(balls):
    balls.reset()
    return balls.view.rigid_bodies("sphere_0")


def read(view, name):
    return getattr(view, f"get_{name}")().numpy().copy()


def test_bodies_go_where_they_are_put_and_stay_there(balls, view):
    poses = read(view, "transforms")
    poses[:, :3] = np.arange(12).reshape(WORLDS, 3)
    poses[:, 3:] = [0.0, 0.6, 0.0, 0.8]
    others = read(balls.view.rigid_bodies("sphere_1"), "transforms")
    view.set_transforms(poses)
    balls.step(3)

    np.testing.assert_allclose(read(view, "transforms"), poses, atol=1e-5)
    np.testing.assert_array_equal(read(balls.view.rigid_bodies("sphere_1"), "transforms"), others)


def test_velocities_are_kept_where_nothing_pulls(balls, view):
    view.set_transforms([0.0, 0.0, 0.0, *IDENTITY])
    view.set_velocities([2.0, 0.0, 0.0, 0.0, 0.0, 1.5], indices=[1, 3])
    balls.step(50)

    velocities, poses = read(view, "velocities"), read(view, "transforms")
    np.testing.assert_allclose(velocities[[1, 3]], [[2.0, 0.0, 0.0, 0.0, 0.0, 1.5]] * 2, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(velocities[[0, 2]], 0.0, atol=1e-6)
    np.testing.assert_allclose(poses[1], [0.2, 0.0, 0.0, 0.0, 0.0, np.sin(0.075), np.cos(0.075)], atol=1e-3)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_force_off_the_centre_turns_and_pushes(balls, view, frame):
    """v = F t / m and ω = r × F t / I, the force held for two control steps by one call each."""
    view.set_transforms([1.0, 2.0, 3.0, 0.0, 0.0, np.sin(np.pi / 4), np.cos(np.pi / 4)])
    force, arm = np.array([0.0, 0.0, 0.4], dtype=np.float32), np.array([0.1, 0.0, 0.0], dtype=np.float32)
    position = arm if frame == "body" else arm + np.array([1.0, 2.0, 3.0])
    for _ in range(2):
        view.apply_forces([0.0, 0.0, 0.1], positions=position.tolist(), frame=frame, mask=[True] * WORLDS)
        view.apply_forces((force - np.array([0.0, 0.0, 0.1])).tolist(), positions=position.tolist(), frame=frame)
        balls.step()

    time = 2 * balls.control_dt
    torque = np.cross(arm, force)
    spin = torque if frame == "world" else [-torque[1], torque[0], torque[2]]
    expected = np.concatenate([force * time, np.multiply(spin, time / 0.016)])
    np.testing.assert_allclose(read(view, "velocities"), np.tile(expected, (WORLDS, 1)), rtol=5e-3, atol=1e-5)


def test_a_force_acts_for_one_control_step_on_chosen_rows(balls, view):
    others = balls.view.rigid_bodies("sphere_1")
    forces = np.zeros((WORLDS, 3), dtype=np.float32)
    forces[2] = [3.0, 0.0, 0.0]
    view.apply_forces(forces, indices=[2])
    balls.step()
    after = read(view, "velocities")
    balls.step()

    np.testing.assert_allclose(after[2, 0], 3.0 * balls.control_dt, rtol=1e-4)
    np.testing.assert_allclose(after[[0, 1, 3]], 0.0, atol=1e-7)
    np.testing.assert_allclose(read(view, "velocities"), after, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(read(others, "velocities"), 0.0, atol=1e-7)


def test_wrong_forces_are_refused(balls, view):
    for message, options in {
        "frame: expected 'world' or 'body', got 'env'": {"forces": 0.0, "frame": "env"},
        "got positions, but no forces": {"positions": 0.0},
        "apply_forces: torques: expected float32 of shape": {"torques": np.zeros((2, 2), dtype=np.float32)},
    }.items():
        with pytest.raises(ViewError, match=message):
            view.apply_forces(**options)
    with pytest.raises(RowError, match="4 is not a row"):
        view.apply_forces(1.0, indices=[WORLDS])
    view.apply_forces(1.0, indices=wp.array([9], dtype=int, device=balls.device))
    with pytest.raises(RowError, match="1 indices on the device"):
        view.raise_errors()
    assert (balls.state.body_f.numpy() == 0.0).all()


def test_masses_take_effect_in_the_rows_that_are_set(balls, view):
    """Isaac tells the solver nothing, and MuJoCo goes on with the old mass."""
    before = read(view, "masses")
    view.set_masses(4.0, indices=[0])
    view.apply_forces([2.0, 0.0, 0.0])
    balls.step()

    expected = 2.0 * balls.control_dt / np.array([4.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(read(view, "velocities")[:, 0], expected, rtol=1e-3)
    view.set_masses(before)


def test_gravity_takes_effect_in_the_worlds_that_are_set(balls, view):
    gravity = np.zeros((WORLDS, 3), dtype=np.float32)
    gravity[1] = [0.0, 5.0, 0.0]
    balls.view.set_gravity(gravity, worlds=[1])
    balls.step()
    fallen = read(view, "velocities")
    balls.view.gravity = (0.0, 0.0, 0.0)

    np.testing.assert_allclose(fallen[:, 1], [0.0, 5.0 * balls.control_dt, 0.0, 0.0], rtol=1e-3)
    assert (balls.view.gravity == 0.0).all()


@pytest.mark.parametrize("solver", ["mujoco", "xpbd"])
def test_a_pose_is_in_the_world_whatever_the_frames_of_the_free_joint(build, solver):
    turned = wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), 1.0))
    shifted = wp.transform(wp.vec3(0.1, 0.0, 0.2), wp.quat_from_axis_angle(wp.vec3(1.0, 0.0, 0.0), 0.5))
    frames = {"parent_xform": turned, "child_xform": shifted}
    with build(solver, spheres(frames), 2) as simulation:
        view = simulation.view.rigid_bodies("sphere_0")
        pose = np.tile(np.array([-1.0, 0.5, 4.0, 0.0, 0.6, 0.0, 0.8], dtype=np.float32), (2, 1))
        twist = np.tile(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], dtype=np.float32), (2, 1))
        view.set_transforms(pose)
        view.set_velocities(twist)

        np.testing.assert_allclose(read(view, "transforms"), pose, atol=2e-6)
        np.testing.assert_allclose(read(view, "velocities"), twist, atol=2e-6)


def test_a_link_that_a_joint_holds_cannot_be_put(walker, build):
    """Isaac leaves such bodies out without a word."""
    with build("featherstone", walker(), 1) as simulation:
        links = simulation.view.rigid_bodies(["base", "left_shin"])
        for call in (links.set_transforms, links.set_velocities):
            with pytest.raises(ViewError, match="'left_shin' is held by a joint"):
                call(0.0)


def test_a_body_without_a_joint_is_put_itself(build):
    builder = spheres({})
    builder.add_link(label="loose", mass=1.0, inertia=wp.diag(wp.vec3(0.016)))
    with build("xpbd", builder, 2) as simulation:
        simulation.view.gravity = (0.0, 0.0, 0.0)
        view = simulation.view.rigid_bodies("loose")
        view.set_transforms([1.0, 2.0, 3.0, *IDENTITY], indices=[1])
        view.set_velocities([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], indices=[1])
        simulation.step(10)

        np.testing.assert_allclose(read(view, "transforms")[:, 2], [0.0, 3.0 + 10 * simulation.control_dt], atol=1e-4)


def test_a_link_of_a_robot_reads_as_in_the_view_of_the_robot(walker, build):
    with build("mujoco", walker(), 2, observables=["body_qdd"]) as simulation:
        simulation.step(2)
        bodies = simulation.view.rigid_bodies("left_shin")
        robots = simulation.view.articulations("walker")
        row = robots.link_names.index("left_shin")

        for name in RIGID_BODY:
            of_robots = {"transforms", "velocities", "accelerations"} & {name}
            other = read(robots, f"link_{name}" if of_robots else name)
            np.testing.assert_array_equal(read(bodies, name), other[:, row])


def test_gravity_is_off_for_marked_bodies_alone(build):
    with build("mujoco", spheres({}, {}), 2, observables=["body_qdd"]) as simulation:
        simulation.step()
        view = simulation.view.rigid_bodies("sphere_*")
        view.set_disable_gravities([1, 0, 0, 1])
        simulation.step()

        np.testing.assert_array_equal(read(view, "disable_gravities"), [1, 0, 0, 1])
        np.testing.assert_allclose(read(view, "accelerations")[:, 2], [0.0, -9.81, -9.81, 0.0], rtol=1e-3, atol=1e-4)


def test_a_solver_without_such_marks_says_so(build):
    builder = newton.ModelBuilder()
    builder.add_body(label="box", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with build("featherstone", builder, 1) as simulation:
        view = simulation.view.rigid_bodies("box")
        with pytest.raises(ViewError, match=r"^set_disable_gravities: .*; solvers that do: 'mujoco', 'mujoco-nat"):
            view.set_disable_gravities(1)
        with pytest.raises(ViewError, match=r"no attribute mujoco.gravcomp; only solver mujoco has it"):
            view.get_disable_gravities()


def test_an_empty_view_is_allowed_where_it_is_asked_for(balls):
    view = balls.view.rigid_bodies("nothing", allow_empty=True)

    assert view.count == 0
    assert view.get_transforms().shape == (0, 7)
    view.set_velocities(np.zeros((0, 6), dtype=np.float32))
    view.apply_forces(np.zeros((0, 3), dtype=np.float32))
    with pytest.raises(pippin.ConfigError, match="no body matches 'nothing'; bodies: "):
        balls.view.rigid_bodies("nothing")
