"""What Newton's XPBD does not hold: bent hinges about any axis but x, light palms, and thin links that tumble."""

import mujoco
import newton
import numpy as np
import pippin
import pytest
import warp as wp

pytestmark = pytest.mark.simulation(dt=0.005, solver="xpbd")

THIN = wp.mat33(6e-3, 0.0, 0.0, 0.0, 6e-3, 0.0, 0.0, 0.0, 3e-5)
"""Inertia of a shin of 0.24 kg, along z [kg·m²]."""


def knee(axis):
    """Two thin links on hinges about the world's x axis, whose frames are turned so that it is `axis` in them.

    The second folds up against a limit of 2.7 rad.
    """
    turn = wp.quat_between_vectors(wp.normalize(wp.vec3(*axis)), wp.vec3(1.0, 0.0, 0.0))
    builder = newton.ModelBuilder()
    parent, joints, end = -1, [], 0.0
    for limits in ((-3.0, 3.0), (-2.7, 2.7)):
        link = builder.add_link(mass=0.24, inertia=THIN, com=wp.vec3(0.0, 0.0, -0.12), lock_inertia=True)
        joints.append(
            builder.add_joint_revolute(
                parent,
                link,
                axis=wp.normalize(wp.vec3(*axis)),
                parent_xform=wp.transform((0.0, 0.0, end), turn),
                child_xform=wp.transform((0.0, 0.0, 0.0), turn),
                limit_lower=limits[0],
                limit_upper=limits[1],
            )
        )
        parent, end = link, -0.25
    builder.add_articulation(joints, label="leg")
    builder.joint_q[:] = [0.5, 0.5]
    builder.joint_qd[:] = [0.0, 12.0]
    return builder


@pytest.mark.parametrize("axis", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0), (1.0, 1.0, 1.0)])
def test_a_hinge_moves_alike_about_every_axis(simulate, axis):
    angles = []
    for each in ((1.0, 0.0, 0.0), axis):
        with simulate(knee(each)) as simulation:
            angles.append([])
            for _ in range(80):
                simulation.step()
                angles[-1].append(simulation.state.joint_q.numpy().copy())

    assert np.ptp(angles[0]) > 2.0
    assert np.array(angles[1]) == pytest.approx(np.array(angles[0]), abs=0.02)


def test_a_hinge_whose_range_goes_beyond_half_a_turn_stops_at_its_end(simulate):
    """Newton's angle jumps from pi to -pi there, and the limit at the other end throws the link out of the world."""
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=1.0, com=wp.vec3(0.1, 0.0, 0.0), inertia=wp.mat33(np.eye(3) * 0.01), lock_inertia=True)
    hinge = builder.add_joint_revolute(-1, link, axis=newton.Axis.Z, limit_lower=0.5, limit_upper=5.5)
    builder.add_articulation([hinge], label="arm")
    builder.joint_q[:], builder.joint_qd[:] = [1.0], [8.0]
    angles = []
    with simulate(builder) as simulation:
        for _ in range(120):
            simulation.step()
            angles.append(float(np.arctan2(*rotated(simulation)[1::-1])) % (2.0 * np.pi))

    assert max(angles) == pytest.approx(5.5, abs=0.05)
    assert min(angles) > 0.9
    assert angles[-1] == pytest.approx(5.5, abs=0.05)


def rotated(simulation):
    """Return the x axis of the first body in the world."""
    turned = simulation.state.body_q.numpy()[0, 3:].tolist()
    return np.array(wp.quat_rotate(wp.quat(*turned), wp.vec3(1.0, 0.0, 0.0)))


def test_a_palm_holds_fingers_that_are_heavier_about_their_joints(simulate):
    """Newton's iterations diverge there: each finger corrects the palm as if it were alone."""
    builder = newton.ModelBuilder()
    of_palm, of_finger = (wp.mat33(*(value * np.eye(3)).ravel().tolist()) for value in (5e-4, 1e-2))
    palm = builder.add_link(mass=0.5, inertia=of_palm, lock_inertia=True)
    joints = [builder.add_joint_revolute(-1, palm, axis=newton.Axis.Y)]
    for x in np.linspace(-0.05, 0.05, 6):
        finger = builder.add_link(mass=0.02, inertia=of_finger, com=wp.vec3(0.0, 0.0, 0.01), lock_inertia=True)
        frame = wp.transform((float(x), 0.0, 0.05), wp.quat_identity())
        joints.append(builder.add_joint_revolute(palm, finger, axis=newton.Axis.X, parent_xform=frame))
    builder.add_articulation(joints, label="hand")
    builder.joint_qd[:] = [1.0, 3.0, -2.0, 1.0, 2.0, -1.0, 4.0]
    with simulate(builder) as simulation:
        simulation.step(100)
        simulation.raise_errors()
        poses, speeds = simulation.state.body_q.numpy(), simulation.state.body_qd.numpy()

    assert np.abs(poses[:, 1]).max() < 2e-3
    assert np.abs(speeds).max() < 20.0


def test_a_thin_link_that_tumbles_gains_no_energy(simulate):
    """Newton, with the gyroscopic torque of the start of a step, turns 3 J into 227 J."""
    builder = newton.ModelBuilder()
    builder.add_body(mass=0.24, inertia=THIN, lock_inertia=True, label="shin")
    builder.joint_qd[:] = [0.0, 0.0, 0.0, 30.0, 5.0, 30.0]
    with simulate(builder, gravity=0.0) as simulation:
        simulation.step(200)
        spin = simulation.state.body_qd.numpy()[0, 3:]
        turned = simulation.state.body_q.numpy()[0, 3:]
    local = np.array(wp.quat_rotate_inv(wp.quat(*turned.tolist()), wp.vec3(*spin.tolist())))

    energy = 0.5 * local @ (np.diag([6e-3, 6e-3, 3e-5]) @ local)
    assert 0.0 < energy <= 0.5 * (6e-3 * (30.0**2 + 5.0**2) + 3e-5 * 30.0**2)


def test_a_light_link_on_a_joint_beside_it_gains_no_energy(simulate):
    """The joint corrects a fast spin. Newton, with the gyroscopic torque of before each correction, makes 2000 J."""
    moments, offset = np.array([2.4e-5, 1.13e-4, 1.23e-4]), (0.03, 0.03, 0.03)
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=0.19, inertia=wp.diag(wp.vec3(*moments)), lock_inertia=True)
    frame = wp.transform(offset, wp.quat_identity())
    builder.add_articulation([builder.add_joint_ball(-1, link, child_xform=frame)])
    builder.joint_qd[:] = spin = [30.0, 200.0, 200.0]
    energies = [0.5 * moments @ np.square(spin) + 0.5 * 0.19 * np.square(np.cross(spin, offset)).sum()]
    with simulate(builder, gravity=0.0) as simulation:
        for _ in range(10):
            simulation.step(2)
            twist, turned = simulation.state.body_qd.numpy()[0], simulation.state.body_q.numpy()[0, 3:]
            local = np.array(wp.quat_rotate_inv(wp.quat(*turned.tolist()), wp.vec3(*twist[3:].tolist())))
            energies.append(0.5 * moments @ local**2 + 0.5 * 0.19 * twist[:3] @ twist[:3])

    assert energies[0] == pytest.approx(9.67, abs=0.01)
    assert max(energies) < 1.1 * energies[0], energies
    assert 0.0 < energies[-1] < energies[0]


def slider(*axes, hinge=None, **limits):
    """Return a body of 1 kg on one joint with slides, and perhaps a hinge, in a turned frame."""
    builder = newton.ModelBuilder()
    inertia = wp.mat33(*(0.02 * np.eye(3)).ravel().tolist())
    link = builder.add_link(mass=1.0, inertia=inertia, com=(0.1, 0.05, 0.2), lock_inertia=True, label="block")
    frame = wp.transform((0.1, 0.2, 0.3), wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 2.0, 3.0)), 0.7))
    axis = newton.ModelBuilder.JointDofConfig
    joint = builder.add_joint_d6(
        -1,
        link,
        linear_axes=[axis(axis=wp.vec3(*each), armature=0.0, **limits) for each in axes],
        angular_axes=[] if hinge is None else [axis(axis=wp.vec3(*hinge), armature=0.0)],
        parent_xform=frame,
        child_xform=wp.transform((0.0, 0.0, 0.0), frame.q),
        label="slide",
    )
    builder.add_articulation([joint])
    return builder


SKEW, ACROSS = (0.6, 0.0, 0.8), (0.8, 0.0, -0.6)


@pytest.mark.parametrize(
    ("axes", "hinge"), [([SKEW], None), ([SKEW, ACROSS], None), ([SKEW, ACROSS], (0.0, 1.0, 0.0)), ([SKEW], SKEW)]
)
def test_a_slide_along_any_axis_falls_along_it(simulate, axes, hinge):
    """Newton bounds each coordinate of the frame by the limits times the axis: the body falls freely in two of them."""
    gravity = np.array([3.0, -6.0, -2.0])
    with simulate(slider(*axes, hinge=hinge), dt=0.001, gravity=gravity.tolist()) as simulation:
        start = simulation.state.body_q.numpy()[:, :3].copy()
        simulation.step(100)
        moved = simulation.state.body_q.numpy()[:, :3] - start
        positions = simulation.state.joint_q.numpy()
        turn = wp.quat(*simulation.model.joint_X_p.numpy()[0, 3:].tolist())

    along = [np.array(wp.quat_rotate(turn, wp.vec3(*axis))) for axis in axes]
    expected = 0.5 * 0.1**2 * sum((axis @ gravity) * axis for axis in along)
    if hinge is None:
        assert moved == pytest.approx(np.tile(expected, (len(moved), 1)), abs=5e-4)
    assert np.cross(moved[0], along[0]) @ along[-1] == pytest.approx(0.0, abs=1e-4)
    assert positions[: len(axes)] == pytest.approx([moved[0] @ axis for axis in along], abs=1e-5)


@pytest.mark.parametrize(
    ("axes", "options", "fault"),
    [
        ([SKEW], {"hinge": (0.0, 0.0, 1.0)}, "axes that are neither along nor at right angles to slides"),
        ([SKEW, (0.0, 0.0, 1.0)], {}, "axes that are neither along nor at right angles to slides"),
        ([SKEW, ACROSS], {"limit_lower": 0.1, "limit_upper": 0.2}, "limits that leave 0 out"),
    ],
)
def test_slides_that_newton_cannot_hold_are_refused(simulate, axes, options, fault):
    with pytest.raises(pippin.ConfigError, match=f"{fault}.*'slide'"), simulate(slider(*axes, **options)):
        pass


@pytest.mark.parametrize("arm", [0.05, 0.2])
def test_a_hinge_turns_a_body_by_its_own_inertia(simulate, arm):
    """With unequal relaxations, a body turned as if its own inertia were multiplied by their ratio: 29 and 42 % off."""
    inertia, pull = 0.05, 10.0
    builder = newton.ModelBuilder()
    matrix = wp.mat33(*(inertia * np.eye(3)).ravel().tolist())
    link = builder.add_link(mass=1.0, inertia=matrix, com=(arm, 0.0, 0.0), lock_inertia=True)
    turn = wp.quat_between_vectors(wp.normalize(wp.vec3(1.0, 2.0, 2.0)), wp.vec3(0.0, 0.0, 1.0))
    frame = wp.transform((0.0, 0.0, 0.0), turn)
    hinge = builder.add_joint_revolute(
        -1, link, parent_xform=frame, child_xform=frame, axis=wp.normalize(wp.vec3(1.0, 2.0, 2.0)), armature=0.0
    )
    builder.add_articulation([hinge])
    with simulate(builder, dt=0.001, gravity=[0.0, pull, 0.0]) as simulation:
        simulation.step(50)
        angle = float(simulation.state.joint_q.numpy()[0])

    expected = 0.5 * 0.05**2 * arm * pull / (inertia + arm**2)
    assert angle == pytest.approx(expected * (1.0 + 1.0 / 50), rel=5e-3)


@pytest.mark.parametrize("solver", [{"iterations": 2}, {"iterations": 8}, {"joint_linear_relaxation": 0.3}])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_drive_has_its_gains_with_any_number_of_iterations(simulate, kind, solver):
    """A mass on a spring and a damper: x = 1 - exp(-d t) (cos w t + d / w sin w t)."""
    options = {"iterations": 2, "joint_linear_relaxation": 0.5, "joint_angular_relaxation": 0.5, **solver}
    options["joint_angular_relaxation"] = options["joint_linear_relaxation"]
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=2.0, inertia=wp.mat33(np.eye(3) * 2.0), lock_inertia=True)
    add = getattr(builder, f"add_joint_{kind}")
    drive = {"target_ke": 50.0, "target_kd": 4.0, "target_q": 1.0}
    builder.add_articulation([add(-1, link, axis=wp.vec3(1.0, 0.0, 0.0), **drive)], label="servo")

    with simulate(builder, dt=0.001, solver={"type": "xpbd", **options}) as simulation:
        simulation.step(250)
        reached = float(simulation.state.joint_q.numpy()[0])

    slowing, pace = 1.0, np.sqrt(25.0 - 1.0)
    true = 1.0 - np.exp(-slowing * 0.25) * (np.cos(pace * 0.25) + slowing / pace * np.sin(pace * 0.25))
    assert reached == pytest.approx(true, rel=0.02)  # of the first order in the step


def gap_to_mujoco(text, tmp_path, iterations=2):
    """Return how far the bodies of a file are from MuJoCo's after 200 steps of 0.5 ms [m]."""
    file = tmp_path / "robot.xml"
    file.write_text(text)
    config = {
        "simulation": {"device": "cpu", "dt": 0.0005},
        "scene": {"assets": [{"path": str(file), "keyframe": "k"}], "ground": False},
        "solver": {"type": "xpbd", "iterations": iterations},
    }
    with pippin.Simulation(pippin.structure(config)) as simulation:
        simulation.step(200)
        places = {
            label.rpartition("/")[2]: pose
            for label, pose in zip(simulation.model.body_label, simulation.state.body_q.numpy(), strict=True)
        }
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 200)
    return max(np.abs(pose[:3] - data.body(name).xpos).max() for name, pose in places.items())


def test_a_tree_with_anchors_far_from_its_centres_of_mass_does_not_burst(tmp_path):
    """The corrections of a hinge and of a weld turn the first link by several times what they have to."""
    text = """<mujoco><option gravity="0.4 -0.2 7" timestep="0.0005"/><worldbody><body name="a">
      <joint name="j" axis="-1 0.5 2"/><geom type="box" size="0.033 0.088 0.069" pos="0.009 -0.04 -0.2"/>
      <body name="b" pos="0.1 0 0"><geom size="0.1"/><geom size="0.05" pos="-0.08 0.05 0.04"/></body></body></worldbody>
      <keyframe><key name="k" qvel="1.045"/></keyframe></mujoco>"""

    assert gap_to_mujoco(text, tmp_path) < 1e-3


@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_an_odd_number_of_iterations_does_not_burst_either(iterations, tmp_path):
    """They leave an error of the opposite sign if they go too far, which grows from substep to substep."""
    text = """<mujoco><option gravity="0.3 -4 -4" timestep="0.0005"/><worldbody><body name="a"><geom size="0.03"/>
      <body name="b" pos="-0.02 0.06 -0.3"><joint name="j"/><geom size="0.07"/></body></body></worldbody>
      <keyframe><key name="k" qvel="1"/></keyframe></mujoco>"""

    assert gap_to_mujoco(text, tmp_path, iterations) < 0.03


def test_a_soft_drive_of_a_slide_does_not_turn_the_body_that_carries_it(tmp_path):
    """Its side forces act where it is, not at its target 1 m away."""
    text = """<mujoco><option gravity="-4 -2 5" timestep="0.0005"/><worldbody><body name="a"><joint name="h"/>
      <inertial pos="-0.4 -0.06 -0.03" mass="1" diaginertia="0.02 0.02 0.02"/><body name="b">
      <joint name="j" type="slide" axis="0 1 0"/><inertial pos="0.2 0.08 0.1" mass="2" diaginertia="0.05 0.06 0.05"/>
      </body></body></worldbody><actuator><position name="p" joint="j"/></actuator>
      <keyframe><key name="k" qvel="3 0" ctrl="-1"/></keyframe></mujoco>"""

    assert gap_to_mujoco(text, tmp_path) < 1e-3
