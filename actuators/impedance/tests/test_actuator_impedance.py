"""Impedance of joints and tools: motions and stiffness by formulas, and what is refused."""

import math

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.solving import RIGID_TREES

LINKS, LENGTH, MASS = 7, 0.25, 1.0
START = (0.3, 0.4, -0.2, 0.9, 0.3, 0.7, 0.1)
AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))


class Featherstone:
    """A solver that comes with Newton itself."""

    supported_features = RIGID_TREES

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


def arm():
    """Seven links on hinges about z and y in turn, and a site at the tip."""
    builder, above, joints = newton.ModelBuilder(up_axis=newton.Axis.Z), -1, []
    for index, angle in enumerate(START):
        link = builder.add_link(label=f"link_{index}", mass=MASS, inertia=wp.diag(wp.vec3(0.01)))
        builder.body_com[link] = wp.vec3(0.0, 0.0, LENGTH / 2)
        place = wp.transform(wp.vec3(0.0, 0.0, 0.5 if above < 0 else LENGTH), wp.quat_identity())
        hinge = builder.add_joint_revolute(
            above, link, parent_xform=place, axis=AXES[index % 2], label=f"hinge_{index}", armature=0.0
        )
        builder.joint_q[-1] = angle
        joints.append(hinge)
        above = link
    builder.add_articulation(joints, label="arm")
    builder.add_site(above, xform=wp.transform(wp.vec3(0.0, 0.0, LENGTH), wp.quat_identity()), label="tip")
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    prototype=arm,
    solver=Featherstone,
    actuators={"arm": {"type": "joint-impedance", "joints": ["hinge_.*"], "kp": 100.0, "kd": 20.0}},
    options="actuators.arm",
)

SPACE = {"type": "operational-space", "joints": ["hinge_.*"], "site": "tip"}
CONFORMANCES = (
    conformance.Conformance("actuator", "joint-impedance", config={"kp": 400.0, "kd": 20.0, "joints": ["hinge_.*"]}),
    conformance.Conformance(
        "actuator",
        "operational-space",
        config={"kp": 400.0, "kd": 20.0, "inertia_decoupling": False, "joints": ["hinge_.*"], "body": "link_1"},
    ),
)


def tip(simulation):
    """Return where the tip is in the world [m]."""
    model = simulation.model
    site = model.shape_label.index("tip")
    link = wp.transform(*simulation.state.body_q.numpy()[int(model.shape_body.numpy()[site])])
    return np.array(wp.transform_point(link, wp.vec3(0.0, 0.0, LENGTH)))


@pytest.mark.alone
def test_each_joint_moves_as_if_it_were_alone(simulate):
    """Critically damped with kp = ω² and kd = 2 ω: Δq = (1 + ω t) exp(-ω t), in spite of gravity and coupling."""
    with simulate() as simulation:
        group = simulation.actuators["arm"]
        start = np.array(START)
        group.position_targets.assign([start + 0.3])
        simulation.step(150)
        joint_q = simulation.state.joint_q.numpy()

    left = (1.0 + 10.0 * 0.15) * math.exp(-10.0 * 0.15)
    assert joint_q - start == pytest.approx(np.full(LINKS, 0.3 * (1.0 - left)), rel=0.02)


def test_a_joint_without_decoupling_is_a_spring(simulate):
    """A torque on the last hinge turns it by torque / kp, while gravity is compensated."""
    keys = {"inertia_decoupling": False, "kp": 200.0, "kd": 10.0}
    with simulate(**keys) as simulation:
        simulation.actuators["arm"].feedforward.assign([[0.0] * (LINKS - 1) + [4.0]])
        simulation.step(1500)
        angle = simulation.state.joint_q.numpy()[-1] - START[-1]

    assert angle == pytest.approx(4.0 / 200.0, rel=0.02)


def test_gains_can_be_set(simulate):
    with simulate(inertia_decoupling=False) as simulation:
        group = simulation.actuators["arm"]
        group.set("kp", 500.0)
        group.position_targets.assign([np.array(START) + 0.1])
        simulation.step(1)
        effort = group.computed_effort.numpy().copy()
        group.set("kp", 0.0)
        simulation.reset()
        group.position_targets.assign([np.array(START) + 0.1])
        simulation.step(1)
        without = group.computed_effort.numpy()

    assert effort - without == pytest.approx(np.full((1, LINKS), 50.0), rel=1e-3)


@pytest.mark.slow
@pytest.mark.alone
def test_the_tip_is_as_stiff_as_asked(simulate):
    """A force at the tip shifts it by force / kp along each axis."""
    keys = {
        **SPACE,
        "kp": [500.0, 1000.0, 2000.0, 50.0, 50.0, 50.0],
        "kd": [60.0] * 3 + [4.0] * 3,
        "inertia_decoupling": False,
    }
    with simulate(**keys, posture_kp=2.0, posture_kd=0.5) as simulation:
        before, force = tip(simulation), np.array([5.0, 5.0, 5.0])
        link = simulation.model.shape_body.numpy()[simulation.model.shape_label.index("tip")]
        for _ in range(4000):
            body, at = simulation.state.body_q.numpy()[link], tip(simulation)
            com = np.array(wp.transform_point(wp.transform(*body), wp.vec3(*simulation.model.body_com.numpy()[link])))
            forces = np.zeros((LINKS, 6), dtype=np.float32)
            forces[link] = [*force, *np.cross(at - com, force)]
            simulation.state.body_f.assign(forces)
            simulation.step()
        shift = tip(simulation) - before

    assert shift == pytest.approx(force / [500.0, 1000.0, 2000.0], rel=0.05)


def test_the_tip_goes_to_its_goal_as_a_point_mass(simulate):
    """With the mass matrix of the tool, (1 + ω t) exp(-ω t) of the way is left, with gravity."""
    with simulate(**SPACE, kp=100.0, kd=20.0) as simulation:
        group, start = simulation.actuators["arm"], tip(simulation)
        goals = group.goals.numpy().copy()
        goals[0, 0, :3] += [0.05, -0.05, 0.05]
        group.goals.assign(goals)
        simulation.step(150)
        way = tip(simulation) - start

    left = (1.0 + 10.0 * 0.15) * math.exp(-10.0 * 0.15)
    assert way == pytest.approx(np.array([0.05, -0.05, 0.05]) * (1.0 - left), rel=0.05)


def test_a_wrench_pushes_along_its_axis(simulate):
    """Along the axis, the effort is that of the force alone: Jᵀ w."""
    keys = {**SPACE, "kp": 0.0, "kd": 0.0, "gravity_compensation": False, "wrench_axes": [0, 0, 1, 0, 0, 0]}
    with simulate(**keys, wrench=[0.0, 0.0, -8.0, 0.0, 0.0, 0.0]) as simulation:
        model, state = simulation.model, simulation.state
        jacobian = newton.eval_jacobian(model, state).numpy()[0].reshape(LINKS, 6, LINKS)[-1]
        link = wp.transform(*state.body_q.numpy()[LINKS - 1])
        com = np.array(wp.transform_point(link, wp.vec3(0.0, 0.0, LENGTH / 2)))
        force = np.array([0.0, 0.0, -8.0])
        expected = jacobian.T @ np.concatenate([force, np.cross(tip(simulation) - com, force)])
        simulation.step(1)
        effort = simulation.actuators["arm"].computed_effort.numpy()[0]

    assert effort == pytest.approx(expected, abs=1e-3)


def test_a_motion_writes_the_goals(simulate):
    way = {"type": "keyframes", "goal_of": "arm", "times": [0.0], "values": [[0.05, 0.0, -0.05]]}
    with simulate(**SPACE, kp=400.0, kd=40.0, motions={"reach": way}) as simulation:
        start = tip(simulation)
        simulation.step(600)
        shift = tip(simulation) - start

    assert shift == pytest.approx([0.05, 0.0, -0.05], abs=1e-3)


def test_a_reset_lets_the_tool_hold_its_place(simulate):
    with simulate(worlds=2, **SPACE, kp=100.0, kd=20.0) as simulation:
        group = simulation.actuators["arm"]
        home = group.goals.numpy().copy()
        group.goals.assign(home + np.float32([0.1, 0, 0, 0, 0, 0, 0]))
        simulation.step(5)
        simulation.reset([1])
        goals = group.goals.numpy()

    assert goals[1] == pytest.approx(home[1], abs=1e-6)
    assert goals[0, 0, 0] == pytest.approx(home[0, 0, 0] + 0.1, abs=1e-6)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({**SPACE, "kp": -1.0, "kd": 1.0}, r"kp: must be >= 0"),
        ({**SPACE, "kp": 1.0, "kd": 1.0, "wrench": [1.0, 0, 0, 0, 0, 0]}, r"wrench: needs wrench_axes"),
        ({**SPACE, "kp": 1.0, "kd": 1.0, "posture_kd": 1.0}, r"posture_kd: needs posture_kp"),
        ({**SPACE, "kp": 1.0, "kd": 1.0, "joints": ["hinge_[0-3]"], "posture_kp": 1.0}, r"joints: Newton's controller"),
        ({**SPACE, "kp": 1.0, "kd": 1.0, "offset": 0.1}, "offset: has no effect: operational-space follows"),
    ],
)
def test_what_cannot_be_is_refused(simulate, keys, told):
    with pytest.raises(pippin.ConfigError, match=told):
        simulate(**keys)


@pytest.mark.first_cases(5)
@conformance.parametrize(CONFORMANCES[0])
def test_joint_impedance_keeps_the_contract(check):
    check()


@pytest.mark.first_cases(5)
@conformance.parametrize(CONFORMANCES[1])
def test_operational_space_keeps_the_contract(check):
    check()
