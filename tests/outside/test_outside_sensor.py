"""An altimeter and a stage that somebody else wrote, installed like any package and selected by name."""

import newton
import numpy as np
import pippin
import pytest
from pippin_conformance import scenes

SPEED = 2.0
LAG = 0.1


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugin for the tests of this file."""
    with install_outside("pippin-sensor-altimeter"):
        yield


def climbing_ball():
    """Return a ball at a height of 1 m that climbs at a constant speed."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0, mass=1.0, radius=0.1)
    builder.joint_qd[2] = SPEED
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.01,
    capture="require",
    worlds=2,
    gravity=0.0,
    prototype=climbing_ball,
    solver="semi-implicit",
    sensors={"height": {"type": "altimeter", "body": "ball", "time_constant": LAG}},
    options="sensors.height",
)


def test_it_lags_behind_a_climb_by_its_time_constant(simulate):
    """A first-order instrument that follows z = 1 + v t shows z − v τ in the end, here but for its own step."""
    with simulate() as simulation:
        simulation.step(100)

        step = 0.01 / -np.expm1(-0.01 / LAG) - 0.01  # the lag of the instrument's own recursion
        np.testing.assert_allclose(
            simulation.sensors["height"]["height"].numpy(), 1.0 + SPEED * (1.0 - step), rtol=1e-4
        )
        assert simulation.program.is_captured


def test_a_reset_sets_it_to_the_height_at_once_and_leaves_the_others(simulate):
    with simulate() as simulation:
        simulation.step(20)
        before = simulation.sensors["height"]["height"].numpy().copy()
        simulation.reset([1])

        np.testing.assert_array_equal(simulation.sensors["height"]["height"].numpy(), [before[0], [1.0]])


def test_its_stage_is_selected_by_name_like_those_of_pippin(simulate):
    stages = [
        {"type": "saturation", "output": "height", "limit": 1.5},
        {"type": "bias", "output": "height", "mean": 1.0},
    ]
    with simulate(stages=stages) as simulation:
        simulation.step(100)

        np.testing.assert_allclose(simulation.sensors["height"]["height"].numpy(), 2.5)


def test_its_period_and_its_bad_input_are_the_hosts_business(simulate):
    with pytest.raises(pippin.ConfigError, match=r"sensors\.height\.period: 0\.015 s is not a whole number"):
        simulate(period=0.015)
    with pytest.raises(pippin.ConfigError, match=r"sensors\.height\.time_constant: .*> 0"):
        simulate(time_constant=0.0)
    with pytest.raises(pippin.ConfigError, match=r"sensors\.height\.body: no body matches 'bal'.*'ball'"):
        simulate(body="bal")
