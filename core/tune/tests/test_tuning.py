"""Proposed gains: formulas of a pendulum, stability of a step, and an arm that holds its pose."""

import math

import numpy as np
import pippin
import pytest
from pippin_tune.gain_tables import gain_notes, group_table
from pippin_tune.tuning import stable_drives, tune

PENDULUM = """<mujoco><worldbody><body><joint name="swing" axis="0 1 0" armature="0.05" actuatorfrcrange="-5 5"/>
<inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""

ARM = """<mujoco><worldbody><body pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
<body pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
<body pos="0.3 0 0"><joint name="wrist" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.02"/></body>
</body></body></worldbody></mujoco>"""


@pytest.fixture
def scene(tmp_path):
    """Return a function that writes a robot, and returns the tables of a scene with it."""

    def make(robot, dt=0.002):
        (tmp_path / "robot.xml").write_text(robot)
        return {
            "simulation": {"device": "cpu", "dt": dt},
            "scene": {"assets": [{"path": str(tmp_path / "robot.xml")}]},
            "solver": {"type": "mujoco-native"},
        }

    return make


def test_the_gains_of_a_pendulum_are_those_of_its_natural_frequency(scene):
    """I = 0.1 + 2 · 0.5² + 0.05 and m g l = 2 · 9.81 · 0.5; the gains have three digits."""
    (proposal,) = tune(pippin.structure(scene(PENDULUM)), frequency=5.0)
    (gain,) = proposal.gains

    inertia, rate = 0.65, 2.0 * math.pi * 5.0
    assert gain.load.inertia == pytest.approx(inertia, rel=1e-5)
    assert abs(gain.load.gravity) == pytest.approx(9.81, rel=1e-5)
    assert gain.kp == pytest.approx(inertia * rate**2, rel=5e-3)
    assert gain.kd == pytest.approx(2.0 * inertia * rate, rel=5e-3)
    assert gain.sag == pytest.approx(9.81 / gain.kp)


def test_a_drive_that_would_sag_too_far_is_faster(scene):
    (proposal,) = tune(pippin.structure(scene(PENDULUM)), frequency=0.5, sag=0.02)

    assert proposal.gains[0].sag == pytest.approx(0.02, rel=5e-3)


def test_an_effort_limit_below_the_weight_is_noted(scene):
    (proposal,) = tune(pippin.structure(scene(PENDULUM)))

    (note,) = gain_notes(proposal, 0.002)
    assert note == "actuators.joints: swing: the asset's effort limit is below the weight at the start pose"


def test_a_long_step_limits_explicit_gains_and_no_implicit_ones(scene):
    config = pippin.structure(scene(PENDULUM, dt=0.05))

    (explicit,), (implicit,) = (tune(config, is_implicit=each)[0].gains for each in (False, True))

    assert explicit.is_limited
    assert explicit.kd * 0.05 / 0.65 <= 1.0
    assert explicit.kp * 0.05**2 / 0.65 <= 1.0
    assert not implicit.is_limited
    assert implicit.frequency == 5.0


@pytest.mark.alone
def test_an_explicit_step_with_the_gains_is_stable():
    """The eigenvalues of a step from positions and velocities to the next ones; the wanted gains diverge."""
    factor = np.random.default_rng(3).normal(size=(6, 6))
    mass, dt, wanted = factor @ factor.T + 0.02 * np.eye(6), 0.01, np.full(6, 5.0)
    inertias, inverse = mass.diagonal(), np.linalg.inv(mass)

    def growth(frequency, damping):
        rates = 2.0 * np.pi * frequency
        spring, damper = inverse * (inertias * rates**2), inverse * (2.0 * inertias * rates * damping)
        velocity = np.hstack([-dt * spring, np.eye(6) - dt * damper])
        position = np.hstack([np.eye(6), np.zeros((6, 6))]) + dt * velocity
        return np.abs(np.linalg.eigvals(np.vstack([position, velocity]))).max()

    assert growth(wanted, np.ones(6)) > 1.0
    assert growth(*stable_drives(inertias, inverse, wanted, dt)) < 1.0


def test_the_gains_hold_an_arm_near_its_pose(scene):
    """The largest sag is 0.05 rad for each joint by itself; coupling and the settling add little."""
    tables = scene(ARM)
    (proposal,) = tune(pippin.structure(tables))

    with pippin.Simulation(pippin.structure({**tables, "actuators": {"joints": group_table(proposal)}})) as simulation:
        simulation.step(500)
        simulation.raise_errors()
        errors = np.abs(simulation.state.joint_q.numpy())

    assert 0.0 < errors.max() < 0.06


def test_the_gains_of_a_group_are_those_of_its_joints_and_its_effort_mode(scene):
    group = {"type": "pd", "joints": ["elbow"], "effort_mode": "implicit"}
    (proposal,) = tune(pippin.structure({**scene(ARM), "actuators": {"arm": group}}))

    assert (proposal.name, proposal.is_new, proposal.is_implicit) == ("arm", False, True)
    assert [gain.load.label.rpartition("/")[2] for gain in proposal.gains] == ["elbow"]
    assert set(group_table(proposal)) == {"kp", "kd"}
