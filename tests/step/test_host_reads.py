"""Numbers that a recorded operation reads on the host: no replay would read them again, so it runs eagerly."""

import ctypes

import attrs
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.controllers import Controller, ControllerConfig
from pippin.sensing import Output, Sensor, SensorConfig

WEIGHTLESS = {"scene": {"gravity": [0.0, 0.0, 0.0]}, "simulation": {"dt": 0.01, "device": "cpu"}}


@wp.kernel
def push_all(force: float, body_f: wp.array[wp.spatial_vector]):
    body_f[wp.tid()] += wp.spatial_vector(wp.vec3(force, 0.0, 0.0), wp.vec3())


READS = {
    "numpy": lambda array: float(array.numpy()[0]),
    "asarray": lambda array: float(np.asarray(array)[0]),
    "list": lambda array: array.list()[0],
    "dlpack": lambda array: float(np.from_dlpack(array)[0]),
    "pointer": lambda array: ctypes.cast(array.cptr(), ctypes.POINTER(ctypes.c_float))[0],
    "slice": lambda array: float(array[:1].numpy()[0]),
    "sum": lambda array: float(wp.utils.array_sum(array)),
    "indexed": lambda array: float(array[wp.zeros(1, dtype=int, device="cpu")].numpy()[0]),
}
REFUSED_BY_WARP = ("sum", "indexed")


class Wind:
    """Pushes every body along x by the force in an array [N], which it reads on the host in each substep."""

    def __init__(self, read):
        self.read = read

    @pippin.hookimpl
    def bind(self, simulation):
        self.force = wp.zeros(1, dtype=float, device=simulation.device)
        assert self.read(self.force) == 0.0  # a read of a build is free

    @pippin.hookimpl
    def before_substep(self, state):
        wp.launch(push_all, state.body_count, [self.read(self.force), state.body_f], device=state.body_f.device)


def simulated(prototype, plugins=(), capture="auto", **tables):
    simulation = {**WEIGHTLESS["simulation"], "capture": capture}
    solver = {"type": "featherstone"}
    config = pippin.structure({**WEIGHTLESS, "simulation": simulation, "solver": solver, **tables})
    return pippin.Simulation(config, list(plugins), prototype=prototype)


@pytest.mark.parametrize("way", READS)
def test_a_force_that_is_read_on_the_host_acts_when_it_is_set_later(ball, way):
    speeds = {}
    for capture in ("auto", "off"):
        wind = Wind(READS[way])
        with simulated(ball(), [wind], capture) as simulation:
            if capture == "auto":
                with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(plugins:wind\) runs eagerly") as told:
                    simulation.step(10)
            else:
                simulation.step(10)
            wind.force.fill_(100.0)
            simulation.step(10)
            speeds[capture] = float(simulation.state.body_qd.numpy()[0, 0])

    assert speeds["auto"] == speeds["off"] > 1.0
    reason = (
        "cannot be recorded" if way in REFUSED_BY_WARP else f"reads an array on the host (shape [1], at {__file__}:"
    )
    assert reason in str(told[0].message)


def test_require_refuses_a_read_on_the_host(ball):
    with (
        simulated(ball(), [Wind(READS["numpy"])], "require") as simulation,
        pytest.raises(pippin.SimulationError, match=r"before_substep\(plugins:wind\) cannot be captured: it reads"),
    ):
        simulation.step()


def test_an_array_of_the_simulation_is_named(ball):
    class Windy(Wind):
        @pippin.hookimpl
        def before_substep(self, control):
            control.joint_f.numpy()

    with (
        simulated(ball(), [Windy(READS["numpy"])]) as simulation,
        pytest.warns(pippin.CaptureWarning, match=r"on the host \('control\.joint_f', shape \[6\], at "),
    ):
        simulation.step()


class Follow(Controller):
    """Commands the first coordinate of each goal, which it reads on the host."""

    def build(self, binding):
        """Nothing is to be prepared."""

    def compute(self, state, dt):
        self.positions.assign(np.full(self.positions.shape, self.goals.numpy()[0, 0, 0], dtype=np.float32))


@attrs.frozen(kw_only=True)
class FollowConfig(ControllerConfig):
    """A goal, as positions."""

    implementation = "Follow"


def test_a_controller_that_reads_its_goals_on_the_host_follows_later_ones(chain):
    drives = {"legs": {"type": "pd", "joints": [".*"], "kp": 50.0, "kd": 2.0}}
    tables = {
        "actuators": drives,
        "controllers": {"lead": {"type": f"{__file__}:FollowConfig", "actuator": "legs", "body": "link_1"}},
    }
    with simulated(chain(), **tables) as simulation:
        lead = simulation.controllers["lead"]
        for goal in (0.5, -0.7):
            lead.goals.assign([[[goal, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]])
            if goal > 0.0:
                with pytest.warns(pippin.CaptureWarning, match=r"\(controllers:lead\) runs eagerly: it reads an array"):
                    simulation.step(3)
            simulation.step(3)

            np.testing.assert_allclose(lead.positions.numpy(), goal, rtol=1e-6)


class Scaled(Sensor):
    """A number that a user sets, read on the host and written to the output."""

    def build_outputs(self, binding):
        self.scale = wp.ones(1, dtype=float, device=binding.simulation.device)
        self.out = wp.zeros((1, 1), dtype=float, device=binding.simulation.device)
        return {"scale": Output(data=self.out, unit="1", frame="none")}

    def measure(self, state, contacts, observables, dt):
        self.out.fill_(self.scale.list()[0])


@attrs.frozen(kw_only=True)
class ScaledConfig(SensorConfig):
    """A scale."""

    implementation = "Scaled"


def test_a_sensor_that_reads_a_setting_on_the_host_measures_a_later_one(ball):
    with simulated(ball(), sensors={"scale": {"type": f"{__file__}:ScaledConfig"}}) as simulation:
        with pytest.warns(pippin.CaptureWarning, match=r"\(sensors:scale\) runs eagerly: it reads an array"):
            simulation.step(2)
        simulation.sensors["scale"].scale.fill_(3.0)
        simulation.step(2)

        assert simulation.sensors["scale"]["scale"].numpy().item() == 3.0
