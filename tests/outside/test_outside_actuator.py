"""A motor and a clamping that somebody else wrote, installed like any package: selected, reset, resumed, captured."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

MOTOR = {
    "type": "hot-motor",
    "joints": [".*"],
    "kp": 100.0,
    "kd": 1.0,
    "voltage": 24.0,
    "motor_constant": 0.5,
    "resistance": 2.0,
    "heat_capacity": 0.1,
    "thermal_resistance": 5.0,
}


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugin for the tests of this file."""
    with install_outside("pippin-actuator-hot-motor"):
        yield


@pytest.fixture
def arm():
    """A hinge of 0.1 kg·m², without gravity."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation(
        [builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="shoulder", armature=0.0)]
    )
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.002,
    capture="require",
    worlds=2,
    gravity=0.0,
    solver={"type": "featherstone", "angular_damping": 0.0},
    actuators={"arm": MOTOR},
    options="actuators.arm",
)


@pytest.fixture
def drive(simulate, arm):
    """Return a function that builds a simulation of the arm whose target is 1 rad."""

    def build(**options):
        simulation = simulate(arm, **options)
        simulation.actuators["arm"].position_targets.fill_(1.0)
        return simulation

    return build


def test_it_moves_and_heats_by_its_equations(drive):
    """The motor's equations, integrated beside it in double precision; symplectic Euler for the hinge."""
    q, qd, rise, dt = 0.0, 0.0, 0.0, 0.002
    with drive() as simulation:
        for _ in range(200):
            voltage = np.clip(100.0 * (1.0 - q) - qd, -24.0, 24.0)
            ohms = 2.0 * (1.0 + 0.0039 * rise)
            current = (voltage - 0.5 * qd) / ohms
            rise += dt * (current**2 * ohms - rise / 5.0) / 0.1
            qd += dt * 0.5 * current / 0.1
            q += dt * qd
        simulation.step(200)

        assert simulation.program.is_captured
        group = simulation.actuators["arm"]
        np.testing.assert_allclose(group.drive_state.rise.numpy(), rise, rtol=1e-3)
        np.testing.assert_allclose(simulation.state.joint_q.numpy(), q, rtol=1e-4)
    assert rise > 10.0


def test_a_reset_world_is_cold_again_and_the_other_stays_warm(drive):
    with drive() as simulation:
        simulation.step(100)
        warm = simulation.actuators["arm"].drive_state.rise.numpy().copy()
        simulation.reset([0])

        np.testing.assert_array_equal(simulation.actuators["arm"].drive_state.rise.numpy(), [0.0, warm[1]])


def test_a_resumed_run_has_the_bits_of_a_whole_one(drive, arm, tmp_path):
    with drive() as simulation:
        simulation.step(50)
        simulation.save(tmp_path / "warm.npz")
        simulation.step(50)
        whole = simulation.actuators["arm"].drive_state.rise.numpy().copy()
    with pippin.Simulation.load(tmp_path / "warm.npz", prototype=arm) as resumed:
        resumed.step(50)

        np.testing.assert_array_equal(resumed.actuators["arm"].drive_state.rise.numpy(), whole)


def test_its_parameters_are_those_of_its_file(drive):
    with drive(resistance={"uniform": [1.0, 3.0]}) as simulation:
        group = simulation.actuators["arm"]
        of_all = {"armature", "damping", "effort_limit", "friction"}
        assert set(group.parameters) == set(MOTOR) - {"type", "joints"} | of_all
        resistance = group.get("resistance").numpy()
        simulation.step()
        np.testing.assert_allclose(group.applied_effort.numpy(), 0.5 * 24.0 / resistance, rtol=1e-5)


def test_its_clamping_limits_the_actuators_of_others(drive):
    """A constant effort of 10 N·m on 0.1 kg·m² would reach 4 rad/s after 40 ms; it is cut off there."""
    clamping = [{"type": "speed-stop", "max_speed": 4.0}]
    free = {"type": "pd", "joints": [".*"], "clamping": clamping}
    with drive(actuators={"arm": free}) as simulation:
        simulation.actuators["arm"].feedforward.fill_(10.0)
        simulation.step(100)

        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), 4.0, atol=10.0 / 0.1 * 0.002)
        np.testing.assert_array_equal(simulation.actuators["arm"].applied_effort.numpy(), 0.0)
