"""Joint encoders on joints whose motion is known: Newton's Featherstone and XPBD move them."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin.axes import name_axes

DT = 0.002


class Featherstone:
    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


class XPBD:
    coordinates = "maximal"

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverXPBD(model, iterations=10)


class Push:
    """An actuator with an effort of 0.5 N·m on each hinge, and 3 N on each slide."""

    @pippin.hookimpl
    def bind(self, simulation):
        joints = simulation.model.joint_label
        is_slide = np.array(["slide" in label for label in joints])
        self.actuated_dofs = wp.array(range(len(joints)), dtype=int, device=simulation.device)
        self.efforts = wp.array(np.where(is_slide, 3.0, 0.5), dtype=float, device=simulation.device)

    @pippin.hookimpl
    def apply_actuators(self, control):
        wp.copy(control.joint_f, self.efforts)


@pytest.fixture
def machine():
    """A slide along x and a hinge about y, each from the world to a body of 2 kg and 0.1 kg·m² of its own."""
    builder = newton.ModelBuilder()
    for name, add in (("slide", builder.add_joint_prismatic), ("hinge", builder.add_joint_revolute)):
        link = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.1)), label=f"{name}_link")
        axis = (1.0, 0.0, 0.0) if name == "slide" else (0.0, 1.0, 0.0)
        builder.add_articulation([add(-1, link, axis=axis, label=name)])
    return builder


pytestmark = pytest.mark.simulation(
    dt=DT,
    decimation=2,
    capture="require",
    gravity=0.0,
    solver=Featherstone,
    sensors={"encoders": {"type": "joint-state", "joints": [".*"]}},
    options="sensors.encoders",
)


def reading(simulation, name):
    return simulation.sensors["encoders"][name].numpy()


@pytest.mark.alone
@pytest.mark.parametrize("solver", [Featherstone, XPBD])
def test_encoders_read_a_motion_at_constant_acceleration(simulate, machine, solver):
    """After n steps of the semi-implicit Euler method: v = n dt a and x = n (n + 1) / 2 dt² a. XPBD is a maximal
    solver: it moves bodies, and the host computes joints from them, with the rounding of a float."""
    with simulate(machine, solver=solver(), plugins=[Push()]) as simulation:
        simulation.step(25)

        acceleration, count = np.array([3.0 / 2.0, 0.5 / 0.1]), 50
        np.testing.assert_allclose(reading(simulation, "velocity")[0], count * DT * acceleration, rtol=2e-3)
        np.testing.assert_allclose(
            reading(simulation, "position")[0], count * (count + 1) / 2 * DT**2 * acceleration, rtol=2e-3
        )
        np.testing.assert_array_equal(reading(simulation, "effort"), [[3.0, 0.5]])


def test_positions_are_valid_before_the_first_step_and_after_a_reset_of_one_world(simulate, machine):
    machine.joint_q[:] = [0.25, -0.5]
    machine.joint_qd[:] = [1.0, 2.0]
    with simulate(machine, worlds=2, plugins=[Push()]) as simulation:
        np.testing.assert_array_equal(reading(simulation, "position"), [[0.25, -0.5]] * 2)
        np.testing.assert_array_equal(reading(simulation, "velocity"), [[1.0, 2.0]] * 2)
        np.testing.assert_array_equal(reading(simulation, "effort"), 0.0)
        simulation.step(3)
        before = {name: reading(simulation, name)[0].copy() for name in ("position", "velocity", "effort")}
        simulation.reset([1])

        for name, values in before.items():
            np.testing.assert_array_equal(reading(simulation, name)[0], values)
        assert reading(simulation, "position")[1].tolist() == [0.25, -0.5]
        assert reading(simulation, "velocity")[1].tolist() == [1.0, 2.0]
        assert reading(simulation, "effort")[1].tolist() == [0.0, 0.0]


def test_written_inputs_do_not_show_after_a_reset_of_another_world(simulate, machine):
    with simulate(machine, worlds=2) as simulation:
        simulation.step()
        simulation.control.joint_f.fill_(7.0)
        simulation.reset([1])
        np.testing.assert_array_equal(reading(simulation, "effort"), 0.0)
        simulation.step()

        np.testing.assert_array_equal(reading(simulation, "effort"), [[7.0, 7.0], [0.0, 0.0]])


def test_joints_that_match_are_stacked_for_every_world(simulate, machine):
    with simulate(machine, worlds=3, joints=["hinge"]) as simulation:
        simulation.control.joint_f[3:4].fill_(2.0)
        simulation.step()

        np.testing.assert_array_equal(reading(simulation, "effort"), [[0.0], [2.0], [0.0]])
        assert simulation.sensors["encoders"].outputs["effort"].labels == ("hinge",)


def test_each_axis_of_a_joint_with_several_is_one_encoder(simulate):
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    axis = newton.ModelBuilder.JointDofConfig
    joint = builder.add_joint_d6(-1, link, linear_axes=[axis(axis=(0, 0, 1))], angular_axes=[axis(axis=(1, 0, 0))])
    builder.add_articulation([joint])
    builder.joint_qd[:] = [0.5, 0.25]
    with simulate(builder) as simulation:
        outputs = simulation.sensors["encoders"].outputs

        np.testing.assert_array_equal(reading(simulation, "velocity"), [[0.5, 0.25]])
        assert {name: output.unit for name, output in outputs.items()} == {
            "position": "m, rad",
            "velocity": "m/s, rad/s",
            "effort": "N, N·m",
        }


def test_recorded_and_eager_steps_read_the_same_bits(simulate, machine):
    runs = []
    for capture in ("require", "off"):
        with simulate(machine, plugins=[Push()], capture=capture, period=2 * DT * 2) as simulation:
            simulation.step(5)
            runs.append([reading(simulation, name).tobytes() for name in ("position", "velocity", "effort")])

    assert runs[0] == runs[1]


def test_a_simulation_resumes_from_a_file_with_the_readings_of_before(simulate, machine, tmp_path):
    with simulate(machine, period=2 * DT * 2) as simulation:
        simulation.control.joint_f.fill_(1.0)
        simulation.step(3)
        simulation.save(tmp_path / "run")
        before = reading(simulation, "position").tobytes()
    with pippin.Simulation.load(tmp_path / "run", [Featherstone()], machine) as resumed:
        assert reading(resumed, "position").tobytes() == before


def test_a_free_joint_is_refused(simulate):
    builder = newton.ModelBuilder()
    builder.add_body(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), label="drone")

    with pytest.raises(pippin.ConfigError, match=r"^sensors\.encoders\.joints: .* only 'drone.*' \(free\)"):
        simulate(builder)


def test_one_axis_of_a_joint_is_read_by_its_name(simulate, machine):
    table = machine.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    axes = [newton.ModelBuilder.JointDofConfig(axis=axis) for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))]
    mount = machine.add_joint_fixed(-1, table, label="mount")
    plate = machine.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    joint = machine.add_joint_d6(table, plate, linear_axes=axes[:1], angular_axes=axes[1:], label="xr")
    machine.add_articulation([mount, joint])
    name_axes(machine, joint, ["x", "r"])
    machine.joint_q[2:] = [0.3, 0.4]

    with simulate(machine, joints=["r|mount"], worlds=2) as simulation:
        assert simulation.sensors["encoders"].outputs["position"].labels == ("r",)
        assert reading(simulation, "position").tolist() == [[np.float32(0.4)]] * 2
        assert simulation.sensors["encoders"].outputs["position"].unit == "rad"
        [note] = simulation.notes["sensors:encoders"]
        assert note.startswith("joints: leaves out 'mount' (fixed)")


def test_a_joint_that_does_not_exist_is_refused_with_the_nearest_one(simulate, machine):
    with pytest.raises(pippin.ConfigError, match=r"^sensors\.encoders\.joints: no joint matches 'hing'.*'hinge'"):
        simulate(machine, joints=["hing"])


@pytest.mark.parametrize(
    ("field", "options"),
    [("joints", {"joints": []}), ("joints", {"joints": "knee"}), ("rate", {"joints": ["knee"], "rate": 1})],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.encoders\.{field}\b.*: "):
        pippin.structure({"sensors": {"encoders": {"type": "joint-state", **options}}})


CONFORMANCE = conformance.Conformance("sensor", "joint-state", config={"joints": ["hinge_.*"]})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
