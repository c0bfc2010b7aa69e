"""Bodies, particles and joints are where their motion says; targets and forces have its values."""

import numpy as np
import pippin
import pytest
import warp as wp

from .scenes import BOX, CLOTH, PLATE, simulate

SINE = {"type": "sine", "amplitude": 0.5, "frequency": 1.0}
SOLVERS = ("featherstone", "kamino", "mujoco", "semi-implicit", "xpbd")
PENDULUM = {
    "type": "body",
    "label": "arm",
    "position": [0.0, 0.0, 2.0],
    "shapes": [{"type": "box", "size": [0.1, 0.1, 0.6], "position": [0.0, 0.0, -0.3]}],
    "joint": {"type": "revolute", "label": "hinge", "axis": [0.0, 1.0, 0.0], "position": 0.3},
}


def poses(simulation, label="plate"):
    """Return pose and velocity of a body in each world."""
    bodies = [index for index, each in enumerate(simulation.model.body_label) if each == label]
    return simulation.state.body_q.numpy()[bodies], simulation.state.body_qd.numpy()[bodies]


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("capture", ["off", "require"])
def test_a_body_is_where_the_formula_says_with_every_solver(solver, capture):
    """Also between the control steps: a callback sees each substep."""
    turn = {"type": "rate", "bodies": {"of": "plate"}, "about": [0.0, 0.0, 1.0], "point": [1.0, 0.0, 0.0], "rate": 2.0}
    with simulate(
        turn, PLATE, {**BOX, "position": [9, 0, 2]}, solver=solver, simulation={"capture": capture}
    ) as running:
        running.step(7)
        pose, velocity = (each[0] for each in poses(running))
        joint_q = running.state.joint_q.numpy()[:7].copy()

    angle = 2.0 * 0.07
    np.testing.assert_allclose(pose[:3], [1 - np.cos(angle), -np.sin(angle), 1.0], atol=1e-6)
    np.testing.assert_allclose(pose[3:], [0, 0, np.sin(angle / 2), np.cos(angle / 2)], atol=1e-6)
    np.testing.assert_allclose(velocity, [2 * np.sin(angle), -2 * np.cos(angle), 0, 0, 0, 2], atol=1e-5)
    np.testing.assert_allclose(joint_q, pose, atol=1e-6)


def test_a_body_moves_in_substeps():
    """Each substep begins where the one before it has ended, at the formula's place."""
    seen = []
    move = {**SINE, "bodies": {"of": "plate"}, "along": [0.0, 1.0, 0.0]}
    with simulate(move, simulation={"capture": "off"}) as running:
        running.callbacks.add("before_substep", lambda state: seen.append(state.body_q.numpy()[0, 1].copy()))
        running.step(2)

    ends = 0.5 * np.sin(2 * np.pi * 0.0025 * np.arange(8))
    np.testing.assert_allclose(seen, ends, atol=1e-6)


def test_a_box_on_a_conveyor_moves_at_its_speed():
    belt = {"type": "rate", "bodies": {"of": "plate"}, "along": [1.0, 0.0, 0.0], "rate": 0.4}
    with simulate(belt, PLATE, {**BOX, "position": [0.0, 0.0, 1.2]}) as running:
        running.step(100)
        _, velocity = poses(running, "box")

    np.testing.assert_allclose(velocity[0], [0.4, 0, 0, 0, 0, 0], atol=0.01)


def test_worlds_begin_at_their_own_resets():
    move = {**SINE, "bodies": {"of": "plate"}, "along": [0.0, 1.0, 0.0]}
    with simulate(move, scene={"worlds": 2}) as running:
        running.step(5)
        running.reset([1])
        running.step(5)
        pose, _ = poses(running)
        times = running.motions["moved"].times.numpy().copy()

    np.testing.assert_allclose(times, [0.1, 0.05], rtol=1e-6)
    np.testing.assert_allclose(pose[:, 1], 0.5 * np.sin(2 * np.pi * times), atol=1e-6)


def test_a_body_begins_where_it_is():
    """The second world has its plate elsewhere; the motion adds to that."""
    there = {**PLATE, "label": "plate_1", "worlds": [1], "position": [0.0, 3.0, 1.0]}
    move = {"type": "rate", "bodies": {"of": "plate.*"}, "along": [0.0, 1.0, 0.0], "rate": 1.0}
    with simulate(move, {**PLATE, "worlds": [0]}, there, scene={"worlds": 2}) as running:
        running.step(10)
        places = running.state.body_q.numpy()[:, 1].copy()

    np.testing.assert_allclose(places, [0.1, 3.1], atol=1e-6)


def test_copies_have_a_number_each():
    plates = {**PLATE, "repeat": {"count": [3, 1, 1], "spacing": [9.0, 0.0, 0.0]}}
    move = {"type": "rate", "bodies": {"of": "plate_.*"}, "along": [0.0, 1.0, 0.0], "rate": [1.0, 2.0, 3.0]}
    with simulate(move, plates, scene={"worlds": 2}) as running:
        running.step(10)
        places = running.state.body_q.numpy()[:, 1]

        np.testing.assert_allclose(places, [0.1, 0.2, 0.3] * 2, atol=1e-6)


def test_an_own_axis_turns_with_the_body():
    half = np.sqrt(0.5)
    plate = {**PLATE, "rotation": [half, 0.0, 0.0, half]}  # its z axis is the world's −y axis
    turn = {"type": "rate", "bodies": {"of": "plate"}, "about": [0.0, 0.0, 1.0], "frame": "own", "rate": 2.0}
    with simulate(turn, plate) as running:
        running.step(5)
        _, velocity = poses(running)

    np.testing.assert_allclose(velocity[0], [0, 0, 0, 0, -2, 0], atol=1e-5)


@pytest.mark.parametrize("solver", ["xpbd", pytest.param("mujoco", marks=pytest.mark.slow)])
def test_a_hinge_of_a_kinematic_body_turns(solver):
    arm = {**PENDULUM, "motion": "kinematic"}
    turn = {"type": "rate", "joints": ["hinge"], "rate": 3.0}
    with simulate(turn, arm, {**BOX, "position": [9, 0, 2]}, solver=solver) as running:
        running.step(9)
        pose, velocity = (each[0] for each in poses(running, "arm"))
        joint = running.state.joint_q.numpy()[0], running.state.joint_qd.numpy()[0]

    angle = 0.3 + 3.0 * 0.09
    np.testing.assert_allclose(joint, [angle, 3.0], rtol=1e-5)
    np.testing.assert_allclose(pose, [0, 0, 2, 0, np.sin(angle / 2), 0, np.cos(angle / 2)], atol=1e-5)
    np.testing.assert_allclose(velocity[3:], [0, 3, 0], atol=1e-5)


@pytest.mark.slow
def test_pinned_particles_turn_about_their_centre():
    turn = {"type": "rate", "particles": {"of": "flag", "edge": "left"}, "about": [1.0, 0.0, 0.0], "rate": 2.0}
    with simulate(turn, CLOTH, solver="vbd", scene={"worlds": 2}) as running:
        start = running.state.particle_q.numpy()[:25:5].copy()
        running.step(10)
        end, velocity = (array.numpy()[25::5] for array in (running.state.particle_q, running.state.particle_qd))

    arms = start - start.mean(axis=0)
    turned = start.mean(axis=0) + arms @ [[1, 0, 0], [0, np.cos(0.2), np.sin(0.2)], [0, -np.sin(0.2), np.cos(0.2)]]
    np.testing.assert_allclose(end, turned, atol=1e-6)
    np.testing.assert_allclose(velocity, np.cross([2.0, 0, 0], turned - start.mean(axis=0)), atol=1e-5)


def test_an_actuator_gets_the_targets():
    drive = {"joints": {"type": "pd", "joints": ["hinge"], "kp": 50.0, "kd": 5.0}}
    move = {"type": "sine", "actuator": "joints", "amplitude": 0.5, "frequency": 1.0, "from_start": True}
    with simulate(move, PENDULUM, solver="mujoco", actuators=drive) as running:
        running.step(11)
        targets = running.actuators["joints"].position_targets.numpy().copy()

    np.testing.assert_allclose(targets, [[0.3 + 0.5 * np.sin(2 * np.pi * 0.1)]], rtol=1e-5)


def test_a_force_accelerates_within_its_time():
    """Two newtons on a mass of four kilograms for 0.2 s; and a torque of nothing."""
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}], "mass": 4.0}
    push = {"type": "keyframes", "times": [0.0], "values": [2.0], "force_on": {"of": "ball"}, "along": [0.0, 3.0, 0.0]}
    push |= {"start": 0.1, "end": 0.3}
    with simulate(push, ball, scene={"gravity": [0, 0, 0]}) as running:
        running.step(50)
        _, velocity = poses(running, "ball")

    np.testing.assert_allclose(velocity[0, :3], [0.0, 0.1, 0.0], atol=0.002)


@pytest.mark.parametrize("span", [0.07, 0.57])
def test_a_force_acts_in_the_substeps_of_its_time_alone(span):
    """Its impulse is force × (end − start), however the sum of time steps is rounded."""
    ball = {"type": "body", "label": "ball", "shapes": [{"type": "sphere", "radius": 0.1}], "mass": 4.0}
    push = {"type": "keyframes", "times": [0.0], "values": [4.0], "force_on": {"of": "ball"}, "along": [2.0, 1.0, 2.0]}
    with simulate({**push, "start": 0.03, "end": 0.03 + span}, ball, scene={"gravity": [0, 0, 0]}) as running:
        running.step(70)
        _, velocity = poses(running, "ball")

    np.testing.assert_allclose(velocity[0, :3], np.array([2.0, 1.0, 2.0]) / 3.0 * span, rtol=1e-5)


def test_what_a_motion_moves_has_no_velocity_before_its_start_and_after_its_end():
    """Nothing else tells that it stands: a belt would carry on."""
    move = {"type": "rate", "bodies": {"of": "plate"}, "along": [2.0, 1.0, 2.0], "rate": 3.0, "start": 0.02}
    turn = {"type": "rate", "joints": ["hinge"], "rate": 3.0, "start": 0.02, "end": 0.04}
    arm, found = {**PENDULUM, "motion": "kinematic", "position": [9.0, 0.0, 2.0]}, []
    with simulate({"plate": {**move, "end": 0.04}, "arm": turn}, PLATE, arm) as running:
        for count in (1, 2, 2):
            running.step(count)
            hinge = running.model.joint_label.index("hinge")
            dof = running.model.joint_qd_start.numpy()[hinge]
            found.append([*poses(running)[1][0, :3], running.state.joint_qd.numpy()[dof]])

    np.testing.assert_allclose(found, [[0.0] * 4, [2.0, 1.0, 2.0, 3.0], [0.0] * 4], atol=1e-5)


def test_a_turning_body_has_the_velocity_of_its_centre_of_mass():
    """v + ω × R c, with the centre beside the origin, about a skew axis; against the way from step to step."""
    plate = {**PLATE, "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "com": [0.3, -0.2, 0.5]}
    turn = {"type": "rate", "bodies": {"of": "plate"}, "about": [1.0, 2.0, 2.0], "rate": 2.0}
    with simulate(turn, plate) as running:
        found = []
        for _ in range(3):
            running.step(1)
            (pose,), (velocity,) = poses(running)
            found.append(np.array(wp.transform_point(wp.transform(*pose.tolist()), wp.vec3(0.3, -0.2, 0.5))))
            if len(found) == 2:
                middle = velocity[:3]

    np.testing.assert_allclose(middle, (found[2] - found[0]) / 0.02, atol=1e-3)
    assert np.linalg.norm(middle) > 0.5


def test_a_force_beside_the_centre_turns_the_body():
    ball = {"type": "body", "label": "ball", "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    push = {"type": "keyframes", "times": [0.0], "values": [2.0], "force_on": {"of": "ball"}, "along": [0.0, 1.0, 0.0]}
    with simulate({**push, "point": [0.5, 0.0, 0.0]}, ball, scene={"gravity": [0, 0, 0]}) as running:
        running.step(1)
        _, velocity = poses(running, "ball")

    np.testing.assert_allclose(velocity[0], [0, 0.02, 0, 0, 0, 0.1], atol=1e-3)


def test_random_forces_differ_from_world_to_world_and_after_a_reset():
    push = {"type": "random", "low": -1.0, "high": 1.0, "period": 0.05, "force_on": {"of": "box"}, "along": [1, 0, 0]}
    with simulate(push, BOX, scene={"worlds": 3}) as running:
        rows = []
        for count in (1, 3, 2):
            running.step(count)
            rows.append(running.motions["moved"].values.numpy()[:, 0].copy())
        running.reset()
        running.step(1)
        rows.append(running.motions["moved"].values.numpy()[:, 0].copy())

    assert len(np.unique(np.concatenate([rows[0], rows[2], rows[3]]))) == 9
    np.testing.assert_array_equal(rows[0], rows[1])
    assert np.abs(rows).max() <= 1.0


@pytest.mark.parametrize(
    ("motion", "objects", "message"),
    [
        (
            {"bodies": {"of": "box"}},
            [PLATE, BOX],
            r'moved\.bodies: .*box.* is moved by forces; set motion = "kinematic"',
        ),
        ({"bodies": {"of": "arm"}}, [{**PENDULUM, "motion": "kinematic"}], r"bodies: 'arm' hangs on a joint; name"),
        ({"joints": ["hinge"]}, [PENDULUM], r"joints: 'hinge' carries a body that forces move; drive it by"),
        ({"joints": ["box_.*"]}, [PLATE, BOX], r"joints: 'box_free_joint' is no hinge and no slider"),
        ({"force_on": {"of": "plate"}}, [PLATE], r"force_on: 'plate' is kinematic: no force moves it"),
        ({"actuator": "legs"}, [PLATE], r"actuator: no group 'legs' in \[actuators\]"),
        ({"bodies": {"of": "plat"}}, [PLATE], r"bodies\.of: no object or body matches 'plat'"),
    ],
)
def test_what_something_else_moves_is_refused(motion, objects, message):
    place = {} if {"joints", "actuator"} & motion.keys() else {"along": [1.0, 0.0, 0.0]}
    with pytest.raises(pippin.ConfigError, match=message):
        simulate({"type": "rate", "rate": 1.0, **place, **motion}, *objects)


def test_a_particle_that_is_not_pinned_is_refused():
    move = {"type": "rate", "rate": 1.0, "along": [1, 0, 0], "particles": {"of": "flag", "edge": "right"}}
    with pytest.raises(pippin.ConfigError, match=r"particles: 'particle 4' is moved by forces; name it in the 'pin'"):
        simulate(move, CLOTH, solver="vbd")


def test_two_motions_of_one_body_are_refused():
    one = {"type": "rate", "rate": 1.0, "along": [1.0, 0.0, 0.0], "bodies": {"of": "plate"}}
    with pytest.raises(pippin.ConfigError, match=r"second\.bodies: 'plate' is moved by motions\.first already"):
        simulate({"first": one, "second": one})


def test_a_run_that_is_resumed_goes_on_with_the_same_bits(tmp_path):
    move = {**SINE, "bodies": {"of": "plate"}, "along": [0.0, 1.0, 0.0]}
    with simulate(move, PLATE, BOX) as running:
        running.step(7)
        running.save(tmp_path / "half.npz")
        running.step(7)
        expected = [array.numpy().copy() for array in (running.state.body_q, running.state.body_qd)]
    with pippin.Simulation.load(tmp_path / "half.npz") as resumed:
        resumed.step(7)

        for array, wanted in zip((resumed.state.body_q, resumed.state.body_qd), expected, strict=True):
            np.testing.assert_array_equal(array.numpy(), wanted)
