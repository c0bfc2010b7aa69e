"""The monitor of diverged states: the bounds on speed and effort, and the cures that its errors name."""

import math

import newton
import numpy as np
import pippin
import pytest
from pippin.runs.loop import start_notes

NO_BOUND = 1e30

PD = {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0}


@pytest.fixture
def diverged(chain, configure):
    """Return a function that gives the second world's second hinge a speed [rad/s], and the error after a step."""

    def run(speed, armature=0.01, effort=0.0, actuators=None, **simulation):
        builder = chain()
        builder.joint_armature = [armature] * len(builder.joint_armature)
        config = configure("featherstone", scene={"worlds": 2}, actuators=actuators, **simulation)
        with pippin.Simulation(config, prototype=builder) as simulated:
            simulated.state.joint_qd.assign(np.float32([0.0, 0.0, 0.0, speed]))
            simulated.invalidate("joints")
            simulated.control.joint_f.assign(np.float32([0.0, 0.0, 0.0, effort]))
            simulated.step()
            simulated.raise_errors()

    return run


def test_a_joint_beyond_the_bound_is_named_with_step_world_and_speed(diverged):
    with pytest.raises(pippin.SimulationError) as caught:
        diverged(5e5)

    text = str(caught.value)
    assert text.startswith("step 1 (t = 0.002 s): joint ")
    assert " of world 1 moves at " in text
    assert " rad/s, more than simulation.max_speed = 10000; use a smaller 'simulation.dt'" in text
    assert text.endswith(", or raise simulation.max_speed if this is meant")


def test_a_higher_bound_lets_the_joint_pass(diverged):
    diverged(5e3, max_speed=NO_BOUND)


def test_a_lower_bound_stops_the_joint(diverged):
    with pytest.raises(pippin.SimulationError, match=r"more than simulation\.max_speed = 10;"):
        diverged(100.0, max_speed=10.0)


@pytest.mark.parametrize(
    ("speed", "fault"), [(20.0, "moves at 20 m/s, more than .*max_speed = 10"), (math.nan, "is not")]
)
def test_a_particle_that_is_too_fast_is_named(speed, fault, configure):
    """Beside a ground, on which it has contacts; there are no bodies, of which an overlap could be a cause."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for _ in range(2):
        builder.add_particle((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1.0, radius=0.0)
    config = configure("xpbd", scene={"worlds": 2, "ground": True, "gravity": [0.0, 0.0, 0.0]}, max_speed=10.0)
    with pippin.Simulation(config, prototype=builder) as simulation:
        assert list(start_notes(simulation)) == []
        simulation.state.particle_qd.assign(np.float32([[0.0, 0.0, 0.0], [0.0, speed, 0.0]] * 2))
        simulation.step()
        with pytest.raises(pippin.SimulationError, match=rf"step 1 .*: particle 1 of world 0 {fault}"):
            simulation.raise_errors()


@pytest.mark.parametrize("speed", [5e5, math.nan])
def test_explicit_drives_and_missing_armature_are_the_first_cures(diverged, speed):
    with pytest.raises(pippin.SimulationError) as caught:
        diverged(speed, armature=0.0, actuators={"legs": PD})

    cures = str(caught.value).split("; ")[1].split(", or ")
    assert cures[0] == 'set effort_mode = "implicit" in actuators.legs'
    assert cures[1].startswith("give '")
    assert " an armature" in cures[1]
    assert cures[2].startswith("use a smaller 'simulation.dt'")


def test_cures_that_are_in_place_are_not_named(diverged):
    with pytest.raises(pippin.SimulationError) as caught:
        diverged(5e5, actuators={"legs": {**PD, "effort_mode": "implicit"}})

    assert "effort_mode" not in str(caught.value)
    assert "armature" not in str(caught.value)


def test_an_effort_beyond_the_bound_is_named(diverged):
    with pytest.raises(
        pippin.SimulationError, match=r"world 1 is driven with 1e\+03 N·m, more than .*max_effort = 100;"
    ):
        diverged(0.0, effort=1e3, max_effort=100.0, max_speed=NO_BOUND)


def test_a_body_may_be_beyond_the_bound_though_no_joint_is(chain, configure):
    """The second link turns with the sum of both joint speeds."""
    with pippin.Simulation(configure("featherstone", max_speed=10.0), prototype=chain()) as simulation:
        simulation.state.joint_qd.assign(np.float32([7.0, 7.0]))
        simulation.invalidate("joints")
        simulation.step()

        with pytest.raises(pippin.SimulationError, match=r"body 'link_1' of world 0 moves at 1[34]\S* m/s or rad/s, "):
            simulation.raise_errors()


def test_a_reset_forgets_a_divergence(ball, configure):
    with pippin.Simulation(configure("xpbd"), prototype=ball()) as simulation:
        simulation.state.body_qd.assign(np.float32([[0.0, 0.0, 2e4, 0.0, 0.0, 0.0]]))
        simulation.invalidate("bodies")
        simulation.step()
        simulation.reset()
        simulation.step()

        simulation.raise_errors()


@pytest.mark.parametrize("bound", [0.0, -1.0, math.nan])
def test_a_bound_that_is_not_a_positive_number_is_refused(configure, bound):
    with pytest.raises(pippin.ConfigError, match=r"simulation\.max_speed: "):
        configure(max_speed=bound)


def test_a_reset_of_one_world_keeps_what_is_known_of_the_others(chain, configure):
    with pippin.Simulation(configure("featherstone", scene={"worlds": 3}), prototype=chain()) as simulation:
        simulation.state.joint_qd.assign(np.float32([0.0, 0.0, 0.0, 5e5, 0.0, 5e5]))
        simulation.invalidate("joints")
        simulation.step()

        simulation.reset([1])
        with pytest.raises(pippin.SimulationError, match=r"step 1 .* of world 2 moves at"):
            simulation.raise_errors()
        simulation.reset([2])
        simulation.raise_errors()


def test_an_overflow_of_a_shared_buffer_outlives_the_reset_of_one_world(ball, configure):
    config = configure("xpbd", scene={"worlds": 4, "ground": True}, collision={"rigid_contact_max": 1})
    with pippin.Simulation(config, prototype=ball(height=0.09)) as simulation:
        simulation.step()
        simulation.reset([0])
        with pytest.raises(pippin.BufferOverflowError, match="rigid_contact_max"):
            simulation.raise_errors()
        simulation.reset()
        simulation.raise_errors()
