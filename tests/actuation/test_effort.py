"""Efforts that were computed by hand, from a file, for every law of this repository, and where they lead."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

LAWS = {
    "pd": {},
    "pid": {"ki": 0.0},
    "dc-motor": {"saturation_effort": 1e7, "velocity_limit": 1e6, "max_motor_effort": 1e7},  # nothing here reaches it
}

each_law = pytest.mark.parametrize("law", LAWS)


class Still:
    """Keeps the state where it is: what reaches the joints is all that is looked at."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, state_in, state_out):
        state_out.assign(state_in)


def hinges(positions, velocities=None, names=None):
    """Return hinges of 1 kg·m² each, `joint_0` and so on, that turn about their centres of mass."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    for index, position in enumerate(positions):
        add_hinge(builder, names[index] if names else f"joint_{index}")
        builder.joint_q[-1], builder.joint_qd[-1] = position, velocities[index] if velocities else 0.0
    return builder


def add_hinge(builder, label, parent=-1):
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    joint = builder.add_joint_revolute(parent, link, axis=(0.0, 1.0, 0.0), label=label, armature=0.0)
    if parent == -1:
        builder.add_articulation([joint])
    return joint


pytestmark = pytest.mark.simulation(dt=0.01, capture="require", gravity=0.0)


@pytest.fixture
def drive(simulate):
    """Return a function that builds a simulation with some groups, of one law or of their own."""

    def build(prototype, groups, law=None, *, solver=None, **keys):
        shared = {"joints": [".*"], **({"type": law, **LAWS[law]} if law else {})}
        actuators = {name: {**shared, **options} for name, options in groups.items()}
        return simulate(prototype, actuators=actuators, solver=solver or Still, **keys)

    return build


@each_law
def test_proportional_and_derivative_terms_add_to_what_is_fed_forward(drive, law):
    """100 · 0.8 - 10 · 0.5 = 75; a target speed of 2 adds 20, a constant 5 and a feedforward 3 add 8; angles go on."""
    group = {
        "kp": 100.0,
        "kd": {"joint_[0124]": 10.0, "joint_3": 0.0},
        "const_effort": {"joint_2": 5.0, "joint_[0134]": 0.0},
        "clamping": [{"type": "max-effort", "max_effort": {"joint_[0-3]": 1e6, "joint_4": 50.0}}],
    }
    prototype = hinges((0.2, 0.2, 0.2, -3.0, 0.2), (0.5,) * 5)
    with drive(prototype, {"legs": group}, law) as simulation:
        legs = simulation.actuators["legs"]
        legs.position_targets.assign(np.float32([[1.0, 1.0, 1.0, 3.0, 1.0]]))
        legs.velocity_targets.assign(np.float32([[0.0, 2.0, 0.0, 0.0, 0.0]]))
        legs.feedforward.assign(np.float32([[0.0, 0.0, 3.0, 0.0, 0.0]]))

        simulation.step()

        np.testing.assert_allclose(legs.computed_effort.numpy(), [[75.0, 95.0, 83.0, 600.0, 75.0]], atol=1e-4)
        np.testing.assert_allclose(legs.applied_effort.numpy(), [[75.0, 95.0, 83.0, 600.0, 50.0]], atol=1e-4)


@each_law
def test_a_dc_motor_s_curve_limits_any_law(drive, law):
    motor = {"type": "dc-motor", "saturation_effort": 120.0, "velocity_limit": 10.0, "max_motor_effort": 100.0}
    prototype = hinges((0.0,) * 4, (-10.0, -5.0, 5.0, 15.0))
    with drive(prototype, {"legs": {"clamping": [motor]}}, law) as simulation:
        simulation.actuators["legs"].feedforward.fill_(1000.0)
        simulation.step()

        applied = simulation.actuators["legs"].applied_effort.numpy()
        np.testing.assert_allclose(applied, [[100.0, 100.0, 60.0, -60.0]], atol=1e-4)


@each_law
def test_a_limit_by_position_limits_any_law(drive, law):
    lookup = {"type": "position-based", "lookup_positions": [-1.0, 0.0, 1.0], "lookup_efforts": [10.0, 50.0, 20.0]}
    prototype = hinges((-1.0, -0.5, 0.0, 0.5, 1.0, 3.0))
    limits = np.array([10.0, 30.0, 50.0, 35.0, 20.0, 20.0])
    with drive(prototype, {"legs": {"clamping": [lookup]}}, law) as simulation:
        for raw in (1000.0, -1000.0, 5.0):
            simulation.actuators["legs"].feedforward.fill_(raw)
            simulation.step()

            applied = simulation.actuators["legs"].applied_effort.numpy()[0]
            np.testing.assert_allclose(applied, np.clip(raw, -limits, limits), atol=1e-4)


@each_law
def test_targets_and_feedforward_are_late_by_the_same_steps(drive, law):
    """The first joint of each group follows targets, the second one is fed forward alone."""
    groups = {
        f"by_{steps}": {
            "joints": [f"joint_{2 * steps}", f"joint_{2 * steps + 1}"],
            "kp": {f"joint_{2 * steps}": 1.0, f"joint_{2 * steps + 1}": 0.0},
            "delay": {"steps": steps},
        }
        for steps in range(3)
    }
    with drive(hinges((0.0,) * 6), groups, law) as simulation:
        efforts = []
        for command in (10.0, 20.0, 30.0, 40.0, 50.0, 60.0):
            for group in simulation.actuators.values():
                group.position_targets.fill_(command)
                group.feedforward.assign(np.float32([[0.0, command]]))
            simulation.step()
            efforts.append(np.stack([group.applied_effort.numpy()[0] for group in simulation.actuators.values()]))

    expected = [[10, 20, 30, 40, 50, 60], [10, 10, 20, 30, 40, 50], [10, 10, 10, 20, 30, 40]]
    np.testing.assert_allclose(np.array(efforts).transpose(2, 1, 0), [expected, expected], atol=1e-4)


@each_law
def test_an_implicit_effort_is_that_of_where_the_step_ends(drive, law):
    """1000 / (1 + (h kd + h² kp) / I) = 833.3333 with h = 0.01; an integral of e h adds its effort to the 1000."""
    group = {"kp": 1000.0, "kd": 10.0, "effort_mode": "implicit", **({"ki": 5000.0} if law == "pid" else {})}
    with drive(hinges((0.0,)), {"legs": group}, law) as simulation:
        simulation.actuators["legs"].position_targets.fill_(1.0)
        simulation.step()

        expected = (1000.0 + group.get("ki", 0.0) * 0.01) / 1.2
        np.testing.assert_allclose(simulation.actuators["legs"].applied_effort.numpy(), [[expected]], rtol=1e-5)


@each_law
def test_every_joint_of_several_floating_robots_has_its_own_gains(drive, law):
    """Two robots of seven joints on free bases, whose coordinates lie by one further than their DOFs per base."""
    random = np.random.default_rng(7)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    for robot in ("left", "right"):
        base = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
        joints = [builder.add_joint_free(base, label=f"{robot}/base")]
        joints += [add_hinge(builder, f"{robot}/joint_{index}", base) for index in range(7)]
        builder.add_articulation(joints)
    values = random.uniform(-1.0, 1.0, (2, 2, 7)).astype(np.float32)
    for robot in range(2):
        builder.joint_q[14 * robot + 7 : 14 * robot + 14] = values[0, robot].tolist()
        builder.joint_qd[13 * robot + 6 : 13 * robot + 13] = values[1, robot].tolist()
    kp, kd = random.uniform(10.0, 100.0, 14), random.uniform(1.0, 10.0, 14)
    labels = [f"{robot}/joint_{index}" for robot in ("left", "right") for index in range(7)]
    table = {
        "joints": [".*/joint_.*"],
        "kp": dict(zip(labels, kp.tolist(), strict=True)),
        "kd": dict(zip(labels, kd.tolist(), strict=True)),
    }
    with drive(builder, {"legs": table}, law, worlds=3) as simulation:
        legs = simulation.actuators["legs"]
        targets = random.uniform(-1.0, 1.0, (3, 14)).astype(np.float32)
        legs.position_targets.assign(targets)

        simulation.step()

        expected = kp * (targets - values[0].ravel()) - kd * values[1].ravel()
        assert legs.joint_labels == tuple(labels)
        assert legs.actuated_dofs.numpy()[:14].tolist() == [*range(6, 13), *range(19, 26)]
        np.testing.assert_allclose(legs.applied_effort.numpy(), expected, rtol=1e-4, atol=1e-4)
        joint_f = simulation.control.joint_f.numpy().reshape(3, 2, 13)
        np.testing.assert_array_equal(joint_f[..., 6:].reshape(3, 14), legs.applied_effort.numpy())
        np.testing.assert_array_equal(joint_f[..., :6], 0.0)


def critically_damped(time):
    """Return where a hinge of 1 kg·m² is that kp = 100 and kd = 20 pull from rest at 0 to 0.5 rad."""
    return 0.5 * (1.0 - (1.0 + 10.0 * time) * np.exp(-10.0 * time))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "capture"), [("featherstone", "require"), ("mujoco", "require"), ("mujoco-native", "off")]
)
def test_every_law_moves_a_hinge_as_the_formula_says(drive, solver, capture):
    """On the way, as near as one step of 2 ms at the greatest speed, 1.84 rad/s; at rest to 1e-5 rad."""
    laws = [*LAWS, "solver-pd"]
    groups = {law: {"joints": [law], "type": law, "kp": 100.0, "kd": 20.0, **LAWS.get(law, {})} for law in laws}
    options = {"dt": 0.002, "solver": {"type": solver}, "capture": capture}
    with drive(hinges((0.0,) * 4, names=laws), groups, **options) as simulation:
        for group in simulation.actuators.values():
            group.position_targets.fill_(0.5)
        for steps in (50, 50):
            simulation.step(steps)
            positions = simulation.state.joint_q.numpy()
            np.testing.assert_allclose(positions, critically_damped(simulation.time), atol=0.002 * 1.84)
        simulation.step(1900)

        np.testing.assert_allclose(simulation.state.joint_q.numpy(), 0.5, atol=1e-5)


# The solver's own drives in MuJoCo, which keeps gains and limits of its own.


@pytest.fixture
def driven(drive):
    """Return a function that builds hinges under `solver-pd` in MuJoCo."""

    def build(worlds=1, positions=(0.0,), **options):
        group = {"type": "solver-pd", "kp": 100.0, "kd": 0.0, **options}
        solver = {"type": "mujoco", "integrator": "euler"}
        return drive(hinges(positions), {"legs": group}, worlds=worlds, dt=0.001, solver=solver)

    return build


def gained(simulation):
    """Return the change of velocities in one step, over its length: effort over 1 kg·m² [N·m]."""
    before = simulation.state.joint_qd.numpy().copy()
    simulation.step()
    return (simulation.state.joint_qd.numpy() - before) / 0.001


@pytest.mark.slow
def test_mujoco_gets_gains_that_are_set_by_world(driven):
    with driven(worlds=3) as simulation:
        group = simulation.actuators["legs"]
        simulation.step(2)
        group.set("kp", [[200.0], [0.0]], worlds=[1, 2])
        group.position_targets.fill_(1.0)

        np.testing.assert_allclose(gained(simulation), [100.0, 200.0, 0.0], rtol=1e-4)


@pytest.mark.slow
def test_mujoco_gets_gains_that_are_drawn_at_first_and_at_a_reset(driven):
    with driven(worlds=3, kp={"uniform": [50.0, 150.0]}) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.fill_(1.0)
        first = group.get("kp").numpy()[:, 0]
        np.testing.assert_allclose(gained(simulation), first, rtol=1e-4)
        simulation.reset()
        group.position_targets.fill_(1.0)
        second = group.get("kp").numpy()[:, 0]
        np.testing.assert_allclose(gained(simulation), second, rtol=1e-4)

    assert len({*first, *second}) == 6


def test_the_effort_limit_holds_for_spring_and_damper_not_for_feedforward(driven):
    """100 · 1 + 10 · 2 = 120 is limited to 30, 100 · 1 - 10 · 9.5 = 5 is not; 7 are fed forward."""
    with driven(positions=(0.0, 0.0), kd=10.0, effort_limit=30.0) as simulation:
        group = simulation.actuators["legs"]
        group.position_targets.fill_(1.0)
        group.velocity_targets.assign(np.float32([[2.0, -9.5]]))
        group.feedforward.fill_(7.0)

        np.testing.assert_allclose(gained(simulation), [37.0, 12.0], rtol=1e-3)


@pytest.mark.slow
def test_gains_that_were_drawn_and_set_are_resumed_bit_for_bit(driven, tmp_path):
    with driven(worlds=2, kp={"uniform": [50.0, 150.0]}, kd=1.0) as simulation:
        group = simulation.actuators["legs"]
        simulation.reset([1])
        group.set("kd", 3.0, worlds=[0])
        group.position_targets.fill_(1.0)
        simulation.step(5)
        simulation.save(tmp_path / "state.ckpt")
        simulation.step(5)
        simulation.reset([0])
        simulation.step(5)
        with pippin.Simulation.load(tmp_path / "state.ckpt", prototype=hinges((0.0,))) as resumed:
            resumed.step(5)
            resumed.reset([0])
            resumed.step(5)

            np.testing.assert_array_equal(resumed.state.joint_q.numpy(), simulation.state.joint_q.numpy())
            np.testing.assert_array_equal(
                resumed.actuators["legs"].get("kp").numpy(), simulation.actuators["legs"].get("kp").numpy()
            )


def test_an_implicit_effort_resists_what_gravity_will_do():
    """A damper on a hinge at rest, torque b to hold, inertia I: the speed after a step h is h (τ - b) / I = -τ / kd.

    So τ = kd h b / (I + kd h), and not zero as for the speed before the step.
    """
    inertia, damping, dt, arm = 1.0, 50.0, 0.01, 0.5
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(inertia - 2.0 * arm**2)), com=wp.vec3(arm, 0.0, 0.0))
    builder.add_articulation([builder.add_joint_revolute(-1, link, axis=(0.0, 1.0, 0.0), label="hip", armature=0.0)])
    group = {"type": "pd", "joints": ["hip"], "kd": damping, "effort_mode": "implicit"}
    tables = {"simulation": {"device": "cpu", "dt": dt}, "scene": {"gravity": [0.0, 0.0, -9.81]}}
    config = pippin.structure({**tables, "solver": {"type": "featherstone"}, "actuators": {"legs": group}})
    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.step()
        effort = simulation.actuators["legs"].applied_effort.numpy()[0, 0]
        speed = simulation.state.joint_qd.numpy()[0]

    holding = -2.0 * 9.81 * arm  # about y, gravity turns a weight at +x downwards, which is positive
    assert effort == pytest.approx(damping * dt * holding / (inertia + damping * dt), rel=1e-4)
    assert effort == pytest.approx(-damping * speed, rel=1e-3)
