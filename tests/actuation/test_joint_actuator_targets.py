"""Targets of an actuator that are written into its own arrays, into `control` or through a view: all of them arrive."""

from operator import attrgetter

import newton
import numpy as np
import pippin
import pytest
import warp as wp


def hinges(count=2):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    joints, parent = [], -1
    for index in range(count):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joints.append(builder.add_joint_revolute(parent, link, label=f"joint_{index}"))
        parent = link
    builder.add_articulation(joints)
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.01,
    worlds=2,
    gravity=0.0,
    prototype=hinges,
    solver="featherstone",
    actuators={"legs": {"type": "pd", "joints": [".*"], "kp": 10.0, "kd": 1.0}},
    options="actuators.legs",
)


def speeds(simulation):
    return simulation.state.joint_qd.numpy().reshape(2, 2)[:, 0]


@pytest.mark.parametrize(
    ("kind", "solver"), [("pd", "featherstone"), ("pd", "mujoco-native"), ("solver-pd", "featherstone")]
)
def test_targets_set_through_a_view_move_the_joints_of_a_group(simulate, kind, solver):
    with simulate(type=kind, solver=solver) as simulation:
        view = simulation.view.articulations("**")
        view.set_dof_position_targets([[0.5, 0.5]], indices=[1], compact=True)
        simulation.step(2)

        still, moving = speeds(simulation)
        assert (still, moving > 0.0) == (0.0, True)
        np.testing.assert_allclose(simulation.actuators["legs"].position_targets.numpy(), [[0.0, 0.0], [0.5, 0.5]])


def test_targets_written_into_control_reach_a_recorded_step(simulate):
    with simulate() as simulation:
        simulation.step(3)
        simulation.control.joint_target_qd.fill_(2.0)
        simulation.step()

        np.testing.assert_allclose(simulation.actuators["legs"].velocity_targets.numpy(), 2.0)
        np.testing.assert_allclose(simulation.actuators["legs"].applied_effort.numpy(), 2.0, rtol=1e-5)


def test_the_one_that_was_written_last_before_a_step_holds(simulate):
    with simulate(prototype=hinges()) as simulation:
        group, view = simulation.actuators["legs"], simulation.view.articulations("**")
        view.set_dof_position_targets(0.5)
        simulation.step()
        group.position_targets.fill_(0.25)
        simulation.step()
        seen = view.get_dof_position_targets().numpy().copy()
        simulation.step()

        np.testing.assert_allclose(seen, 0.25)
        np.testing.assert_allclose(group.position_targets.numpy(), 0.25)


def test_targets_of_the_asset_are_not_taken_for_written_ones(simulate):
    prototype = hinges()
    prototype.joint_target_q[:] = [0.7, 0.7]
    with simulate(prototype=prototype) as simulation:
        simulation.step(2)

        assert not simulation.actuators["legs"].position_targets.numpy().any()
        assert not simulation.state.joint_qd.numpy().any()


@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
@pytest.mark.parametrize("name", ["position_targets", "velocity_targets", "feedforward"])
def test_an_array_of_targets_is_not_replaced(simulate, kind, name):
    with (
        simulate(type=kind) as simulation,
        pytest.raises(AttributeError, match=rf"{name}: recorded steps read it; write into it, with \.assign"),
    ):
        setattr(simulation.actuators["legs"], name, 1.0)


@pytest.mark.parametrize(
    ("kind", "setter", "message"),
    [
        ("pd", "stiffnesses", r'actuators\.legs drives joints of the view, and sets this itself; .* set\("kp", …\)'),
        ("solver-pd", "dampings", r'set\("kd", …\)'),
        ("pd", "forces", "write its `feedforward`, disable it"),
        ("solver-pd", "forces", "write its `feedforward`, disable it"),
    ],
)
def test_what_a_group_overwrites_or_sets_itself_is_refused(simulate, kind, setter, message):
    with simulate(type=kind) as simulation:
        view = simulation.view.articulations("**")
        with pytest.raises(pippin.PippinError, match=f"set_dof_{setter}: .*{message}"):
            getattr(view, f"set_dof_{setter}")(1.0)


def test_targets_that_a_network_does_not_read_are_refused(simulate, examples):
    net = {"type": "neural", "joints": [".*"], "model_path": str(examples / "knee.onnx")}
    with simulate(actuators={"legs": net}) as simulation:
        view = simulation.view.articulations("**")
        view.set_dof_position_targets(0.5)
        with pytest.raises(pippin.PippinError, match=r"set_dof_velocity_targets: actuators\.legs drives"):
            view.set_dof_velocity_targets(1.0)


def test_forces_are_set_if_the_group_is_off(simulate):
    with simulate() as simulation:
        simulation.set_enabled(simulation.actuators["legs"], False)
        simulation.view.articulations("**").set_dof_forces(1.0)
        simulation.step()

        assert (simulation.state.joint_qd.numpy()[1::2] > 0.0).all()


@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
def test_a_reset_restores_the_targets_of_its_worlds_wherever_they_were_written(simulate, kind):
    """Also those that no step has seen yet, and what a view reads before the next step."""
    with simulate(type=kind) as simulation:
        group = simulation.actuators["legs"]
        view = simulation.view.articulations("**")
        names = ("position_targets", "velocity_targets", "feedforward")
        for name in names:
            getattr(group, name).fill_(0.5)
        simulation.step(2)
        view.set_dof_position_targets([[0.25, 0.25]] * 2)

        simulation.reset([1])
        seen = view.get_dof_position_targets().numpy()[1].tolist()
        simulation.step()

        targets = [getattr(group, name).numpy().tolist() for name in names]

    assert seen == [0.0, 0.0]
    assert targets == [[[start] * 2, [0.0, 0.0]] for start in (0.25, 0.5, 0.5)]
    assert speeds(simulation)[1] == 0.0


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["position_targets", "velocity_targets", "feedforward"])
@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
def test_a_target_that_is_not_finite_is_an_error_with_its_group(simulate, kind, name, value):
    """Without the check, a clamping makes the largest effort of it."""
    limit = {"effort_limit": 5.0} if kind == "pd" else {}
    with simulate(type=kind, capture="require", **limit) as simulation:
        simulation.step(2)
        simulation.raise_errors()
        getattr(simulation.actuators["legs"], name)[1:2, 1:2].fill_(value)
        simulation.step(3)

        message = (
            rf"step 3 \(t = 0\.03 s\): actuators\.legs: {name} of 'joint_1' in world 1 is not finite; write finite"
        )
        with pytest.raises(pippin.SimulationError, match=message):
            simulation.raise_errors()
        simulation.reset([1])
        simulation.step()
        simulation.raise_errors()


@pytest.mark.parametrize("kind", ["pd", "solver-pd"])
def test_targets_of_another_shape_are_refused(simulate, kind):
    """Warp would write the first numbers, or the same numbers in another order."""
    with simulate(type=kind) as simulation:
        for name in ("position_targets", "velocity_targets", "feedforward"):
            targets = getattr(simulation.actuators["legs"], name)
            for shape in ((), (2,), (4,), (1, 2), (2, 1), (2, 2, 1), (3, 2)):
                for values in (np.ones(shape), np.ones(shape).tolist(), wp.ones(shape or 1, dtype=float, device="cpu")):
                    with pytest.raises(pippin.ConfigError, match=rf"^actuators\.legs\.{name}: expected shape \[2, 2\]"):
                        targets.assign(values)

            np.testing.assert_array_equal(targets.numpy(), np.zeros((2, 2)))
            targets.assign([[1.0, 2.0], [3.0, 4.0]])
            np.testing.assert_array_equal(targets.numpy(), [[1.0, 2.0], [3.0, 4.0]])


ARM = """<mujoco><worldbody>
  <body name="upper"><joint name="hip" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
  <body name="lower"><joint name="knee" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
  <body name="tool"><joint name="wrist" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="2 2 2"/></body>
</worldbody><actuator>
  <position name="servo" joint="hip" kp="10"/><motor name="motor" joint="wrist"/>
</actuator></mujoco>"""
INPUTS = ("joint_target_q", "joint_target_qd", "mujoco.ctrl")


def arm():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    builder.add_mjcf(ARM)
    return builder


def reader(simulation):
    return {name: attrgetter(name)(simulation.control) for name in (*INPUTS, "joint_f")}


SOLVER_PD = {"type": "solver-pd", "joints": ["knee"], "kp": 10.0, "kd": 1.0}
CONTROL = {"type": "control", "actuators": ["servo"]}


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("groups", [{}, {"knee": SOLVER_PD, "hip": CONTROL}], ids=["alone", "beside-groups"])
def test_inputs_that_no_group_writes_are_restored_and_checked(simulate, groups):
    """Those of the wrist, and without groups of all joints."""
    with simulate(arm, worlds=3, solver="mujoco", actuators=groups) as simulation:
        inputs = reader(simulation)
        for array in inputs.values():
            array.fill_(0.5)
        simulation.step()
        written = {name: array.numpy().reshape(3, -1).copy() for name, array in inputs.items()}
        simulation.reset([1])
        simulation.step()

        for name, array in inputs.items():
            found = array.numpy().reshape(3, -1)
            assert not found[1].any(), name
            np.testing.assert_array_equal(found[[0, 2]], written[name][[0, 2]])
        for name in INPUTS:
            values = inputs[name].numpy().copy()
            values[-1] = np.nan
            inputs[name].assign(values)
            simulation.step()
            with pytest.raises(
                pippin.SimulationError, match=rf"control: {name} of '.*(wrist|motor)' in world 2 is not"
            ):
                simulation.raise_errors()
            simulation.reset([2])


@pytest.mark.parametrize("kinds", [("hip", "all"), ("all", "hip")])
def test_a_joint_has_either_its_solver_drive_or_the_input_of_its_servo(simulate, kinds):
    groups = {"hip": CONTROL, "all": {**SOLVER_PD, "joints": [".*"]}}
    with pytest.raises(pippin.ConfigError, match=r"another group (sets the input|drives a joint) of 'servo'"):
        simulate(arm, solver="mujoco", actuators={name: groups[name] for name in kinds})
