"""Hands of a Panda and a UR5: errors, spare motion, singular poses and stiffness, by formulas."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.config import structure

from .arms import ARMS, PANDA

IMPEDANCE = {"type": "joint-impedance", "kp": 1600.0, "kd": 80.0}
DIFFERENTIAL = {"type": "differential-ik", "damping": 0.01}

arms = pytest.mark.parametrize("arm", ARMS.values(), ids=list(ARMS))


def simulate(folder, arm, group, positions=None, controller=None, **tables):
    """Build a simulation of an arm that a group `arm` drives, and perhaps a controller `hand`."""
    where = {"body": arm.tool} if controller or group["type"] == "operational-space" else {}
    config = {
        "simulation": {"dt": 0.002, "device": "cpu", **tables.pop("simulation", {})},
        "scene": {"assets": [arm.asset(folder, positions)], **tables.pop("scene", {})},
        "solver": {"type": "mujoco"},
        "actuators": {"arm": {"joints": arm.joints, **group, **({} if controller else where)}},
    }
    if controller:
        config["controllers"] = {"hand": {"actuator": "arm", **where, **controller}}
    return pippin.Simulation(structure({**config, **tables}))


def angle_between(one, other):
    return 2.0 * np.arccos(np.clip(abs(np.dot(one[3:], other[3:])), 0.0, 1.0))


def tool_jacobian(simulation, tool):
    """Return the Jacobian of the origin of a link with respect to the driven joints, shape [6, joints]."""
    model, state = simulation.model, simulation.state
    link = next(index for index, label in enumerate(model.body_label) if label.rpartition("/")[2] == tool)
    [joint] = np.flatnonzero(model.joint_child.numpy() == link)
    jacobian = newton.eval_jacobian(model, state).numpy()[0].reshape(model.joint_count, 6, -1)[joint]
    pose = wp.transform(*state.body_q.numpy()[link])
    arm = -np.array(wp.transform_vector(pose, wp.vec3(*model.body_com.numpy()[link])))
    linear = jacobian[:3] + np.cross(jacobian[3:].T, arm).T  # from the centre of mass to the origin
    return np.vstack([linear, jacobian[3:]])[:, simulation.actuators["arm"].actuated_dofs.numpy()]


@pytest.mark.parametrize("controller", [DIFFERENTIAL, {"type": "ik"}], ids=lambda each: each["type"])
@arms
def test_the_tool_is_at_its_goal_after_a_second(arm, controller, tmp_path):
    """Against gravity; what exp(-10) leaves of 12 cm and 0.3 rad is 5 µm and 14 µrad, the rest is the drives'."""
    with simulate(tmp_path, arm, IMPEDANCE, controller=controller, scene={"worlds": 2}) as simulation:
        hand = simulation.controllers["hand"]
        goals = hand.goals.numpy().copy()
        home = goals[0, 0].copy()
        turn = wp.quat_from_axis_angle(wp.vec3(0.6, 0.0, 0.8), 0.3) * wp.quat(*goals[1, 0, 3:])
        goals[1, 0] = [*(goals[1, 0, :3] + [-0.06, 0.08, 0.06]), *turn]
        hand.goals.assign(goals)
        simulation.step(500)
        held, moved = hand.poses().numpy()[:, 0]

    assert np.linalg.norm(held[:3] - home[:3]) < 1e-3
    assert np.linalg.norm(moved[:3] - goals[1, 0, :3]) < 1e-3
    assert angle_between(moved, goals[1, 0]) < 3e-3


def test_the_posture_moves_no_tool(tmp_path):
    """The velocity is N k (q0 - q), N = 1 - Jᵀ (J Jᵀ + λ² 1)⁻¹ J: seven joints, one motion that moves no tool."""
    keys = {**DIFFERENTIAL, "posture_stiffness": 2.0}
    with simulate(tmp_path, PANDA, IMPEDANCE, controller=keys) as simulation:
        hand, q = simulation.controllers["hand"], simulation.state.joint_q.numpy().copy()
        home = q[hand.coordinates[0]].copy()
        q[hand.coordinates[0]] += [0.3, 0.2, -0.4, 0.2, 0.3, -0.1, 0.2]
        simulation.state.joint_q.assign(q)
        simulation.invalidate("joints")
        hand.hold()
        away = q[hand.coordinates[0]] - home
        jacobian = tool_jacobian(simulation, PANDA.tool)
        goal = hand.goals.numpy()[0, 0]
        simulation.step(1)
        velocities = hand.velocities.numpy()[0].copy()
        simulation.step(1000)
        pose, left = hand.poses().numpy()[0, 0], hand.positions.numpy()[0] - home

    inverse = np.linalg.inv(jacobian @ jacobian.T + 0.02**2 * np.eye(6))
    projection = np.eye(7) - jacobian.T @ inverse @ jacobian
    assert velocities == pytest.approx(projection @ (-2.0 * away), abs=2e-3)
    assert np.abs(velocities).max() > 0.1
    assert np.linalg.norm(jacobian @ velocities) < 0.01 * np.linalg.norm(velocities)
    assert np.linalg.norm(pose[:3] - goal[:3]) < 1e-3
    assert angle_between(pose, goal) < 3e-3
    assert np.linalg.norm(left) < 0.8 * np.linalg.norm(away)


@pytest.mark.parametrize(
    ("method", "bound"),
    [
        ({"method": "damped-least-squares", "damping": 0.1}, 1.0 / (2.0 * 0.1)),
        ({"method": "adaptive-damping"}, 1.0 / (2.0 * 0.01)),
        ({"method": "truncated-svd", "threshold": 0.1}, 1.0 / 0.1),
    ],
    ids=lambda each: each["method"] if isinstance(each, dict) else "",
)
@arms
def test_a_singular_pose_asks_for_bounded_speeds(arm, method, bound, tmp_path):
    """The largest gain of s / (s² + λ²) is 1 / (2 λ), and that of 1 / s above a threshold its inverse.

    Without any damping, the same goal asks for more.
    """
    speeds = []
    for keys in ({"type": "differential-ik", **method}, {"type": "differential-ik", "method": "pseudo-inverse"}):
        with simulate(tmp_path, arm, IMPEDANCE, arm.stretched, controller=keys) as simulation:
            hand = simulation.controllers["hand"]
            smallest = np.linalg.svd(tool_jacobian(simulation, arm.tool), compute_uv=False).min()
            goals = hand.goals.numpy().copy()
            goals[0, 0, :3] += [0.02, 0.0, 0.1]
            hand.goals.assign(goals)
            simulation.step(1)
            speeds.append(np.linalg.norm(hand.velocities.numpy()))
    damped, bare = speeds

    assert smallest < 0.06
    assert 0.0 < damped < 10.0 * np.linalg.norm([0.02, 0.1]) * bound
    assert not bare < damped


def push(arm, force):
    """Return motions that push the tool along x, y and z."""
    axes = np.eye(3)
    return {
        f"push_{number}": {
            "type": "keyframes",
            "force_on": {"of": arm.tool},
            "along": axes[number].tolist(),
            "point": [0.0, 0.0, 0.0],
            "times": [0.0],
            "values": [float(force[number])],
        }
        for number in range(3)
    }


FORCE = np.array([4.0, -3.0, 5.0])


def shift_of_tool(simulation, tool, steps):
    """Return how far a force has shifted the tool at the end."""
    link = next(index for index, label in enumerate(simulation.model.body_label) if label.rpartition("/")[2] == tool)
    before = simulation.state.body_q.numpy()[link, :3].copy()
    simulation.step(steps)
    return simulation.state.body_q.numpy()[link, :3] - before


@pytest.mark.parametrize("decoupling", [False, True])
@arms
def test_joint_impedance_yields_at_the_tip_by_its_compliance(arm, decoupling, tmp_path):
    """The shift is J K⁻¹ Jᵀ f with the stiffness K of the joints; with the mass matrix M, J (M K)⁻¹ Jᵀ f."""
    kp = 900.0 if decoupling else 600.0
    group = {"type": "joint-impedance", "kp": kp, "kd": 60.0 if decoupling else 20.0}
    group |= {
        "inertia_decoupling": decoupling,
        "armature": 0.1,
    }  # for stable damping of the last joints
    with simulate(tmp_path, arm, group, motions=push(arm, FORCE), controller=None) as simulation:
        dofs = simulation.actuators["arm"].actuated_dofs.numpy()
        jacobian = tool_jacobian(simulation, arm.tool)[:3]
        masses = newton.eval_mass_matrix(simulation.model, simulation.state).numpy()[0][np.ix_(dofs, dofs)]
        shift = shift_of_tool(simulation, arm.tool, 2000)

    stiffness = kp * (masses if decoupling else np.eye(len(dofs)))
    assert shift == pytest.approx(jacobian @ np.linalg.solve(stiffness, jacobian.T @ FORCE), rel=0.05, abs=2e-4)


@pytest.mark.parametrize("decoupling", [False, True])
@arms
def test_operational_space_yields_by_its_stiffness(arm, decoupling, tmp_path):
    """The shift is f / kp; with the mass matrix Λ of the tool, Λ⁻¹ f / kp of forces and torques, Λ⁻¹ = J M⁻¹ Jᵀ."""
    kp = 1600.0 if decoupling else [400.0, 600.0, 800.0, 60.0, 60.0, 60.0]
    kd = 80.0 if decoupling else [60.0, 60.0, 60.0, 6.0, 6.0, 6.0]
    group = {"type": "operational-space", "kp": kp, "kd": kd, "inertia_decoupling": decoupling}
    if arm is PANDA:
        group |= {"posture_kp": 20.0, "posture_kd": 8.0}
    with simulate(tmp_path, arm, group, motions=push(arm, FORCE)) as simulation:
        dofs = simulation.actuators["arm"].actuated_dofs.numpy()
        jacobian = tool_jacobian(simulation, arm.tool)
        masses = newton.eval_mass_matrix(simulation.model, simulation.state).numpy()[0][np.ix_(dofs, dofs)]
        shift = shift_of_tool(simulation, arm.tool, 2500)

    wrench = np.concatenate([FORCE, np.zeros(3)])
    mobility = jacobian @ np.linalg.solve(masses, jacobian.T)
    expected = mobility @ wrench / kp if decoupling else wrench / np.array(kp)
    assert shift == pytest.approx(expected[:3], rel=0.05, abs=2e-4)
