"""What every actuator shares: parameters drawn and set, delays, clampings, implicit effort, what joints are like."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from newton.actuators import DrivePD
from pippin.actuation import ActuatorConfig, DriveActuator

INERTIA = 1.0


class Still:
    """Keeps the state where it is: what reaches the joints is all that is looked at."""

    supported_observables = frozenset()

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, state_in, state_out):
        state_out.assign(state_in)


@pytest.fixture(scope="module")
def hinges():
    """Return a function that builds free hinges of inertia 1 kg·m² at given positions and velocities."""

    def build(positions=(0.0, 0.0), velocities=(0.0, 0.0)):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        for index, (position, velocity) in enumerate(zip(positions, velocities, strict=True)):
            link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(INERTIA)))
            joint = builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label=f"joint_{index}", armature=0.0)
            builder.add_articulation([joint])
            builder.joint_q[-1], builder.joint_qd[-1] = position, velocity
        return builder

    return build


pytestmark = pytest.mark.simulation(
    dt=0.01,
    capture="require",
    gravity=0.0,
    solver=Still,
    actuators={"legs": {"type": "pd", "joints": [".*"]}},
    options="actuators.legs",
)


# Parameters.


def test_a_range_is_drawn_for_each_joint_and_world_from_the_seed(simulate, hinges):
    with (
        simulate(hinges(), worlds=50, kp={"uniform": [30.0, 50.0]}, kd=1.0) as one,
        simulate(hinges(), worlds=50, kp={"uniform": [30.0, 50.0]}, kd=1.0) as same,
        simulate(hinges(), worlds=50, kp={"uniform": [30.0, 50.0]}, kd=1.0, seed=1) as other,
    ):
        kp = one.actuators["legs"].get("kp").numpy()
        np.testing.assert_array_equal(kp, same.actuators["legs"].get("kp").numpy())
        assert (kp != other.actuators["legs"].get("kp").numpy()).all()
        assert (one.actuators["legs"].get("kd").numpy() == 1.0).all()

    assert kp.shape == (50, 2)
    assert len(np.unique(kp)) == 100
    assert ((kp >= 30.0) & (kp <= 50.0)).all()
    assert kp.mean() == pytest.approx(40.0, abs=3 * 20.0 / np.sqrt(12 * 100))  # three standard deviations


def test_a_reset_draws_for_its_worlds_alone(simulate, hinges):
    with simulate(hinges(), worlds=3, kp={"joint_0": {"uniform": [1.0, 2.0]}, "joint_1": 5.0}) as simulation:
        group = simulation.actuators["legs"]
        before = group.get("kp").numpy().copy()
        simulation.reset([1])
        after = group.get("kp").numpy().copy()
        simulation.reset([1])
        again = group.get("kp").numpy().copy()

    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_array_equal(after[:, 1], 5.0)
    assert len({before[1, 0], after[1, 0], again[1, 0]}) == 3


def test_a_drawn_gain_is_the_one_that_acts(simulate, hinges):
    with simulate(hinges(positions=(1.0, 1.0)), worlds=4, kp={"uniform": [30.0, 50.0]}) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.zero_()
        simulation.step()
        np.testing.assert_allclose(group.applied_effort.numpy(), -group.get("kp").numpy(), rtol=1e-6)


def test_a_parameter_that_is_set_acts_from_the_next_step_on_in_a_recorded_step(simulate, hinges):
    with simulate(hinges(positions=(1.0, 1.0)), worlds=3, kp=10.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.zero_()
        simulation.step(3)
        assert simulation.program.is_captured
        group.set("kp", 20.0, worlds=[1], joints="joint_1")
        group.set("kp", [[30.0, 40.0]], worlds=[2])
        simulation.step()

        np.testing.assert_array_equal(group.applied_effort.numpy(), [[-10.0, -10.0], [-10.0, -20.0], [-30.0, -40.0]])


def test_parameters_have_the_names_of_the_file(simulate, hinges):
    clamping = [{"type": "max-effort", "max_effort": 3.0}]
    with simulate(hinges(), kp=1.0, clamping=clamping, delay={"steps": 2}) as simulation:
        group = simulation.actuators["legs"]
        own = {"kp", "kd", "const_effort", "clamping[0].max_effort", "delay.steps"}
        assert set(group.parameters) == own | {"effort_limit", "armature", "friction", "damping"}
        group.set("clamping[0].max_effort", 0.5)
        group.position_targets.fill_(1.0)
        group.set("delay.steps", 0)
        simulation.step()
        np.testing.assert_array_equal(group.applied_effort.numpy(), [[0.5, 0.5]])


@pytest.fixture(scope="module")
def pair(simulate, hinges):
    """Return two worlds of hinges with a group, which a test does not change."""
    with simulate(hinges(), worlds=2, kp=1.0, delay={"steps": 2}) as simulation:
        yield simulation


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kpp", 1.0), "'kpp' is not a parameter; did you mean 'kp'"),
        (("kp", -1.0), "kp: expected a finite number of at least 0, got -1"),
        (("kp", np.inf), "kp: expected a finite number of at least 0, got inf"),
        (("kp", np.nan), "kp: expected a finite number .* got nan"),
        (("kp", 1e40), "kp: expected a finite number .* got 1e"),
        (("kp", "3"), "kp: expected numbers, got '3'"),
        (("kp", b"3"), "kp: expected numbers, got b'3'"),
        (("kp", True), "kp: expected numbers, got True"),
        (("kp", None), "kp: expected numbers, got None"),
        (("kp", 1j), "kp: expected numbers, got 1j"),
        (("kp", [[1.0], [1.0, 2.0]]), "kp: expected numbers, got a list that is not an array"),
        (("kp", [1.0, 2.0, 3.0]), r"expected values for \[2 worlds, 2 joints\], got shape \(3,\)"),
        (("kp", 1.0, [2]), "2 is not a world"),
        (("kp", 1.0, [0], "knee"), "no joint matches 'knee'"),
        (("kp", 1.0, [0], []), "joints: no pattern given; leave the argument out"),
        (("delay.steps", 3), "delay.steps: expected a whole number of at least 0 up to 2, got 3"),
        (("delay.steps", 0.5), "expected a whole number"),
    ],
)
def test_what_cannot_be_set_is_refused(pair, arguments, message):
    with pytest.raises(pippin.ConfigError, match=message):
        pair.actuators["legs"].set(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kp": {"uniform": [2.0, 1.0]}}, r"kp\.uniform: .*lowest value first"),
        ({"kp": {"uniform": [-1.0, 1.0]}}, r"kp: .*>= 0"),
        (
            {"kp": {"joint_0": {"uniform": [1.0]}, "joint_1": 1.0}},
            r"kp\.joint_0\.uniform: expected a list of 2 numbers",
        ),
        ({"delay": {"steps": 1, "min_steps": 1}}, r"delay\.steps: .*beside"),
        ({"delay": {"steps": 2**31}}, r"delay\.steps: .*<= 100000"),
        ({"delay": {"steps": 3, "max_steps": 2}}, r"delay\.max_steps: .*at least 'steps' 3"),
        ({"delay": {"min_steps": 1}}, r"delay\.steps: .*missing"),
        ({"delay": {"min_steps": 2, "max_steps": 1}}, r"delay\.max_steps: .*at least"),
        ({"effort_mode": "both"}, "effort_mode"),
        ({"armature": -1.0}, "armature"),
        ({"clamping": [{"type": "dc-motor", "saturation_effort": 1.0, "velocity_limit": 0.0}]}, "velocity_limit"),
        (
            {"clamping": [{"type": "position-based", "lookup_positions": [0.0, 1.0], "lookup_efforts": [1.0]}]},
            "one length",
        ),
        (
            {"clamping": [{"type": "position-based", "lookup_positions": [1.0, 0.0], "lookup_efforts": [1.0, 1.0]}]},
            "must not descend",
        ),
        ({"clamping": [{"type": "position-based"}]}, "not empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(simulate, hinges, options, message):
    with pytest.raises(pippin.ConfigError, match=message):
        simulate(hinges(), **options)


@pytest.mark.parametrize(("options", "is_noted"), [({}, True), ({"kp": 0.0, "kd": 1.0}, False)])
def test_a_group_without_any_gain_is_noted(simulate, hinges, options, is_noted):
    with simulate(hinges(), **options) as simulation:
        notes = simulation.notes.get("actuators:legs", [])

    assert notes == ["kp, kd: all gains are 0, so that only feedforward and constant efforts act"] * is_noted


def test_saturation_is_told_by_joint_and_world(simulate, hinges):
    with simulate(hinges(), worlds=2, kp=1.0, clamping=[{"type": "max-effort", "max_effort": 3.0}]) as simulation:
        group = simulation.actuators["legs"]
        assert not group.saturated.numpy().any()
        group.position_targets.assign([[1.0, 5.0], [-4.0, 3.0]])
        simulation.step()

        np.testing.assert_array_equal(group.saturated.numpy(), [[False, True], [True, False]])
        simulation.reset([1])
        np.testing.assert_array_equal(group.saturated.numpy(), [[False, True], [False, False]])


def test_a_group_without_limits_is_never_saturated(simulate, hinges):
    with simulate(hinges(), kp=1.0) as simulation:
        simulation.actuators["legs"].position_targets.fill_(1e9)
        simulation.step()

        assert not simulation.actuators["legs"].saturated.numpy().any()


# Delays.


def delayed_efforts(simulation, targets):
    group, efforts = simulation.actuators["legs"], []
    for target in targets:
        group.position_targets.fill_(target)
        simulation.step()
        efforts.append(group.applied_effort.numpy()[:, 0].copy())
    return np.array(efforts)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(0, [10, 20, 30, 40, 50, 60]), (1, [10, 10, 20, 30, 40, 50]), (2, [10, 10, 10, 20, 30, 40])],
)
def test_targets_arrive_late(simulate, hinges, steps, expected):
    with simulate(hinges(), kp=1.0, delay={"steps": steps}) as simulation:
        np.testing.assert_array_equal(delayed_efforts(simulation, range(10, 70, 10))[:, 0], expected)


def test_a_delay_has_room_for_one_that_is_set_and_that_a_reset_keeps(simulate, hinges):
    """No delay, and then two steps: the first target acts until the third step."""
    with simulate(hinges(), kp=1.0, delay={"steps": 0, "max_steps": 4}) as simulation:
        np.testing.assert_array_equal(delayed_efforts(simulation, (10, 20))[:, 0], [10, 20])
        simulation.actuators["legs"].set("delay.steps", 2)
        simulation.reset()
        np.testing.assert_array_equal(delayed_efforts(simulation, (10, 20, 30, 40))[:, 0], [10, 10, 10, 20])
        with pytest.raises(pippin.ConfigError, match="up to 4, got 5"):
            simulation.actuators["legs"].set("delay.steps", 5)


@pytest.mark.parametrize("options", [{}, {"effort_mode": "implicit"}, {"delay": {"steps": 1}}])
def test_the_law_compares_targets_with_what_the_encoder_reads(simulate, hinges, options):
    """A target of q* acts as kp (q* - o - q) if the encoder reads o at zero; implicit, less than 1e-3 of it is lost."""
    with simulate(hinges(), worlds=2, kp=2.0, offset={"uniform": [0.1, 0.2]}, **options) as simulation:
        group = simulation.actuators["legs"]
        offset = group.get("offset").numpy().copy()
        group.position_targets.assign(offset + 0.25)
        simulation.step(2)

        assert len(np.unique(offset)) == offset.size
        np.testing.assert_allclose(group.applied_effort.numpy(), 2.0 * 0.25, rtol=1e-3)


def test_each_world_draws_its_delay_and_keeps_it_until_it_is_reset(simulate, hinges):
    with simulate(hinges(), worlds=40, kp=1.0, delay={"min_steps": 1, "max_steps": 3}) as simulation:
        group = simulation.actuators["legs"]
        steps = group.get("delay.steps").numpy().copy()
        efforts = delayed_efforts(simulation, range(1, 11))
        simulation.reset([0])
        kept = group.get("delay.steps").numpy()[1:].copy()

    assert set(np.unique(steps)) == {1, 2, 3}
    np.testing.assert_array_equal(steps[:, 0], steps[:, 1])
    np.testing.assert_array_equal(efforts[-1], 10 - steps[:, 0])
    np.testing.assert_array_equal(kept, steps[1:])


# Clampings.


def clamped(simulate, prototype, clamping, raw, worlds=1):
    with simulate(prototype, clamping=clamping, worlds=worlds) as simulation:
        group = simulation.actuators["legs"]
        group.feedforward.fill_(raw)
        simulation.step()
        np.testing.assert_array_equal(group.computed_effort.numpy(), raw)
        return group.applied_effort.numpy()[0]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (1000.0, [100, 100, 100, 100, 60, 0, -60, -100]),
        (-1000.0, [100, 0, -60, -100, -100, -100, -100, -100]),
        (30.0, [100, 30, 30, 30, 30, 0, -60, -100]),
    ],
)
def test_a_dc_motor_gives_what_its_speed_allows(simulate, hinges, raw, expected):
    speeds = (-20.0, -10.0, -5.0, 0.0, 5.0, 10.0, 15.0, 20.0)
    motor = {"type": "dc-motor", "saturation_effort": 120.0, "velocity_limit": 10.0, "max_motor_effort": 100.0}

    applied = clamped(simulate, hinges((0.0,) * 8, speeds), [motor], raw)

    np.testing.assert_allclose(applied, expected, atol=1e-4)


LOOKUP = {"type": "position-based", "lookup_positions": [-1.0, 0.0, 1.0], "lookup_efforts": [10.0, 50.0, 20.0]}


@pytest.mark.parametrize("raw", [1000.0, -1000.0, 5.0])
def test_a_limit_by_position_is_interpolated(simulate, hinges, raw):
    positions = (-1.0, -0.5, 0.0, 0.5, 1.0, 3.0)
    limits = np.array([10.0, 30.0, 50.0, 35.0, 20.0, 20.0])

    applied = clamped(simulate, hinges(positions, (0.0,) * 6), [LOOKUP], raw)

    np.testing.assert_allclose(applied, np.clip(raw, -limits, limits), rtol=1e-5)


def test_a_lookup_table_is_found_beside_the_file_that_names_it(tmp_path, hinges):
    """Three columns, as Isaac Lab writes them: angle, ratio, torque."""
    (tmp_path / "knee.txt").write_text("# angle ratio torque\n-1 1 10\n0, 1, 50\n1 1 20\n")
    (tmp_path / "scene.toml").write_text(
        '[simulation]\ndevice = "cpu"\n[actuators.legs]\ntype = "pd"\njoints = [".*"]\n'
        'clamping = [{ type = "position-based", lookup_table = "knee.txt" }]\n'
    )
    with pippin.Simulation.from_file(
        tmp_path / "scene.toml", plugins=[Still()], prototype=hinges((-0.5, 0.5))
    ) as simulation:
        simulation.actuators["legs"].feedforward.fill_(1000.0)
        simulation.step()
        np.testing.assert_allclose(simulation.actuators["legs"].applied_effort.numpy(), [[30.0, 35.0]], rtol=1e-5)


def test_a_lookup_table_that_is_wrong_is_refused(simulate, tmp_path, hinges):
    table = tmp_path / "knee.txt"
    table.write_text("1 10\n0 20\n")
    clamping = [{"type": "position-based", "lookup_table": str(table)}]
    with pytest.raises(pippin.ConfigError, match=r"clamping\[0\]\.lookup_table: .*knee.txt.*must not descend"):
        simulate(hinges(), clamping=clamping)
    with pytest.raises(pippin.ConfigError, match=r"clamping\[0\]\.lookup_table: no file"):
        simulate(hinges(), clamping=[{"type": "position-based", "lookup_table": str(tmp_path / "nee.txt")}])


def test_limits_are_applied_in_their_order(simulate, hinges):
    """At -20 rad/s the motor brakes with 100 whatever is asked; a box before it does not help, behind it does."""
    motor = {"type": "dc-motor", "saturation_effort": 120.0, "velocity_limit": 10.0, "max_motor_effort": 100.0}
    box = {"type": "max-effort", "max_effort": 7.0}

    assert clamped(simulate, hinges((0.0,), (-20.0,)), [box, motor], 30.0)[0] == pytest.approx(100.0)
    assert clamped(simulate, hinges((0.0,), (-20.0,)), [motor, box], 30.0)[0] == pytest.approx(7.0)


# Implicit effort.


def test_an_implicit_effort_is_that_of_the_state_where_the_step_ends(simulate, hinges):
    """One DOF: τ = (kp (e - h q̇) - kd q̇) / (1 + (h kd + h² kp) / I), 833.3 where the explicit law gives 1000."""
    solver = Still()
    options = {"kp": 1000.0, "kd": 10.0}
    with (
        simulate(hinges((0.0, 0.2), (0.0, 1.0)), effort_mode="implicit", solver=solver, **options) as implicit,
        simulate(hinges((0.0, 0.2), (0.0, 1.0)), **options) as explicit,
    ):
        for simulation in (implicit, explicit):
            simulation.actuators["legs"].position_targets.fill_(1.0)
            simulation.step(2)
        e, v = np.array([1.0, 0.8]), np.array([0.0, 1.0])
        expected = (1000.0 * (e - 0.01 * v) - 10.0 * v) / (1.0 + (0.01 * 10.0 + 1e-4 * 1000.0) / INERTIA)
        np.testing.assert_allclose(implicit.actuators["legs"].applied_effort.numpy()[0], expected, rtol=1e-4)
        np.testing.assert_allclose(
            explicit.actuators["legs"].applied_effort.numpy()[0], 1000.0 * e - 10.0 * v, rtol=1e-5
        )
        assert implicit.program.is_captured


def test_a_gain_that_is_set_acts_implicitly_too(simulate, hinges):
    with simulate(hinges(), effort_mode="implicit", kp=1000.0, kd=10.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.fill_(1.0)
        simulation.step(2)
        group.set("kp", 500.0)
        np.testing.assert_array_equal(group.get("kp").numpy(), [[500.0, 500.0]])
        simulation.step()
        np.testing.assert_allclose(
            group.applied_effort.numpy(), 500.0 / (1.0 + (0.01 * 10.0 + 1e-4 * 500.0) / INERTIA), rtol=1e-4
        )


class Spring(DriveActuator):
    """A PD drive whose gain `kp` is the parameter `stiffness`."""

    def __init__(self, attribute):
        super().__init__(ActuatorConfig(joints=("joint_.*",), effort_mode="implicit"))
        self._attribute = attribute

    def build_drive(self, lanes):
        stiffness = lanes.per_lane(1000.0, "stiffness", attribute=self._attribute)
        return DrivePD(stiffness, lanes.per_lane(10.0, "kd"))


def test_a_parameter_of_another_name_than_its_attribute_acts_implicitly(hinges):
    config = pippin.structure({"simulation": {"device": "cpu", "dt": 0.01}, "solver": {"type": "featherstone"}})
    with pippin.Simulation(config, [group := Spring("kp")], prototype=hinges()) as simulation:
        group.position_targets.fill_(1.0)
        group.set("stiffness", 500.0)
        simulation.step()

        np.testing.assert_allclose(
            group.applied_effort.numpy(), 500.0 / (1.0 + (0.01 * 10.0 + 1e-4 * 500.0) / INERTIA), rtol=1e-4
        )
    missing = r"stiffness: no drive or clamping keeps it in an attribute 'stiffness', .*; pass the name"
    with pytest.raises(pippin.PluginError, match=missing):
        pippin.Simulation(config, [Spring(None)], prototype=hinges())


# What joints are like.


def test_joints_are_given_armature_friction_and_damping(simulate, hinges):
    with simulate(hinges(), armature={"joint_0": 0.1, "joint_1": 0.2}, friction=0.3, damping=0.4) as simulation:
        model = simulation.model
        np.testing.assert_allclose(model.joint_armature.numpy(), [0.1, 0.2])
        np.testing.assert_allclose(model.joint_friction.numpy(), 0.3)
        np.testing.assert_allclose(model.joint_damping.numpy(), 0.4)


# Switched on and off.


def test_an_actuator_that_is_switched_off_leaves_its_joints_to_the_caller(simulate, hinges):
    with simulate(hinges(positions=(1.0, 1.0)), kp=1.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.zero_()
        simulation.step()
        simulation.set_enabled(group, False)
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), 0.0)
        simulation.control.joint_f.fill_(3.0)
        simulation.step(2)
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), 3.0)
        simulation.set_enabled(group, True)
        simulation.step()
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), -1.0)


def test_one_of_two_actuators_is_switched_off_where_a_wrapper_watches(hinges):
    calls = []

    class Watcher:
        @pippin.hookimpl(wrapper=True)
        def apply_actuators(self):
            calls.append("before")
            return (yield)

    group = {"type": "pd", "kp": 1.0}
    tables = {
        "simulation": {"device": "cpu", "capture": "off"},
        "scene": {"gravity": [0.0, 0.0, 0.0]},
        "actuators": {"one": {**group, "joints": ["joint_0"]}, "two": {**group, "joints": ["joint_1"]}},
    }
    plugins = [Still(), Watcher()]
    with pippin.Simulation(pippin.structure(tables), plugins, prototype=hinges(positions=(1.0, 1.0))) as simulation:
        for each in simulation.actuators.values():
            each.position_targets.zero_()
        simulation.set_enabled(simulation.actuators["one"], False)
        simulation.step()
        np.testing.assert_array_equal(simulation.control.joint_f.numpy(), [0.0, -1.0])
    assert calls


def test_what_is_not_an_actuator_cannot_be_switched(simulate, hinges):
    with (
        simulate(hinges()) as simulation,
        pytest.raises(pippin.ConfigError, match=r"set_enabled: 'legs' is not an actuator of this simulation"),
    ):
        simulation.set_enabled("legs", False)


def test_a_switch_is_on_or_off(pair):
    with pytest.raises(pippin.ConfigError, match="set_enabled: expected a boolean, got 'no'; pass True or False"):
        pair.set_enabled(pair.actuators["legs"], "no")


@pytest.mark.parametrize(
    ("find", "name", "message"),
    [
        (lambda pair: pair.actuators["legs"], "kp", r"kp: .*; set it with \.set\('kp', values\)"),
        (lambda pair: pair.actuators["legs"], "position_target", "no such attribute; did you mean 'position_targets'"),
        (lambda pair: pair, "decimation", "decimation: .*; simulation.decimation is a key of the configuration"),
        (lambda pair: pair, "gravity", r"gravity: .*; call view\.set_gravity"),
        (lambda pair: pair, "model", "model: fixed when the Simulation is made"),
        (lambda pair: pair.view, "worlds", "worlds: SimulationView has no such attribute"),
        (lambda pair: pair.view.rigid_bodies("**"), "masses", r"masses: .*; call set_masses"),
    ],
)
def test_an_assignment_without_an_effect_is_refused(pair, find, name, message):
    with pytest.raises(AttributeError, match=message):
        setattr(find(pair), name, 1.0)
