"""Stepping: the same bits eager and captured, odd and even, alone and beside others."""

import threading
import tracemalloc

import numpy as np
import pippin
import pytest
import warp as wp


def arrays(simulation):
    """Return copies of what a step leaves in the state, by name."""
    return {name: array.numpy().copy() for name, array in vars(simulation.state).items() if isinstance(array, wp.array)}


def run(config, prototype, steps, plugins=()):
    with pippin.Simulation(config, plugins=plugins, prototype=prototype) as simulation:
        simulation.step(steps)
        return arrays(simulation), simulation


def assert_same_bits(left, right):
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].tobytes() == right[name].tobytes(), name


def run_suited(suited, **options):
    with suited.build(**options) as simulation:
        simulation.step(suited.step_count)
        return arrays(simulation), simulation


def assert_captured_as_declared(suited, simulation):
    """Hold a program to what its solver declares: all of it captured, or all but the solver, which says why."""
    if suited.eager_reason is None:
        assert simulation.program.is_captured
    else:
        assert simulation.program.eager_reasons == {"step_solver(solver)": suited.eager_reason}


@pytest.mark.slow
def test_captured_steps_give_the_bits_of_eager_steps(suited_substeps):
    """An odd count of substeps ends in the other state and is copied back; an even one is not."""
    suited, substeps = suited_substeps

    eager, _ = run_suited(suited, substeps=substeps, capture="off")
    captured, simulation = run_suited(suited, substeps=substeps)

    assert_captured_as_declared(suited, simulation)
    assert all(np.isfinite(array).all() for array in captured.values())
    assert_same_bits(eager, captured)


@pytest.mark.first_cases(2)
def test_decimation_is_captured_with_the_bits_of_eager_steps(solver, suit):
    """An odd count of physics steps of one substep: the solver's states take turns across them."""
    suited = suit(solver, 3)

    eager, _ = run_suited(suited, decimation=3, capture="off")
    captured, simulation = run_suited(suited, decimation=3, capture="require")

    assert simulation.program.is_captured
    assert_same_bits(eager, captured)


@pytest.mark.first_cases(3)
def test_a_step_ends_in_the_same_state_object(suited):
    with suited.build(substeps=3) as simulation:
        state = simulation.state
        addresses = {name: array.ptr for name, array in vars(state).items() if isinstance(array, wp.array)}

        simulation.step(2)

        assert simulation.state is state
        assert addresses.items() <= {name: vars(state)[name].ptr for name in addresses}.items()
        assert addresses


def test_substeps_split_a_step(chain, configure):
    """Four substeps of one step are four steps of a quarter the length, without actuators."""
    split, _ = run(configure("featherstone", dt=0.004, substeps=4), chain(), 5)
    whole, _ = run(configure("featherstone", dt=0.001), chain(), 20)

    assert_same_bits(split, whole)


@pytest.mark.slow
def test_decimation_repeats_the_physics_step(solver, chain, configure, pd):
    together, _ = run(configure(solver, decimation=4, actuators=pd), chain(), 5)
    apart, _ = run(configure(solver, actuators=pd), chain(), 20)

    assert_same_bits(together, apart)


def test_every_world_moves_alike(solver, chain, configure, pd):
    state, simulation = run(configure(solver, scene={"worlds": 3}, actuators=pd), chain(), 30)

    worlds = state["body_q"].reshape(3, -1)

    np.testing.assert_allclose(worlds[1:], np.broadcast_to(worlds[0], worlds[1:].shape), atol=1e-5)
    assert simulation.time == pytest.approx(30 * 0.002)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "capture"),
    [
        ("mujoco", "featherstone", "off"),
        ("mujoco", "featherstone", "auto"),
        ("xpbd", "vbd", "auto"),
        ("steel", "semi-implicit", "auto"),
        ("kamino", "mujoco-native", "auto"),
        ("style3d", "implicit-mpm", "auto"),
    ],
)
def test_two_simulations_side_by_side_equal_two_alone(suit, first, second, capture):
    pair = [suit(first, 1), suit(second, 1)]
    options = [{"capture": capture, "substeps": substeps} for substeps in (2, 3)]
    alone = []
    for suited, chosen in zip(pair, options, strict=True):
        with suited.build(**chosen) as simulation:
            simulation.step(3)
            alone.append(arrays(simulation))

    with pair[0].build(**options[0]) as left, pair[1].build(**options[1]) as right:
        for _ in range(3):
            left.step()
            right.step()
        together = [arrays(left), arrays(right)]

    assert_same_bits(alone[0], together[0])
    assert_same_bits(alone[1], together[1])


def test_joint_state_follows_the_bodies_in_maximal_coordinates(chain, configure):
    """XPBD and semi-implicit Euler move bodies only; the host keeps joint_q in step."""
    import newton

    with pippin.Simulation(configure("xpbd"), prototype=chain()) as simulation:
        simulation.step(20)

        joint_q, joint_qd = (wp.zeros_like(array) for array in (simulation.state.joint_q, simulation.state.joint_qd))
        newton.eval_ik(simulation.model, simulation.state, joint_q, joint_qd)

        assert joint_q.numpy().tobytes() == simulation.state.joint_q.numpy().tobytes()
        assert not np.array_equal(joint_q.numpy(), simulation.model.joint_q.numpy())


def free_body(mass):
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    body = builder.add_link(label="ball", mass=mass, inertia=wp.diag(wp.vec3(0.1, 0.1, 0.1)))
    builder.add_articulation([builder.add_joint_free(body, label="free")], label="ball")
    return builder


def test_a_force_written_before_a_step_acts_in_every_substep(chain, configure):
    """A force on a free body changes its velocity by F dt / m, however a step is split."""
    velocities = []
    for substeps, decimation in ((1, 1), (4, 1), (2, 3)):
        config = configure(
            "semi-implicit",
            dt=0.012 / decimation,
            substeps=substeps,
            decimation=decimation,
            scene={"gravity": [0.0, 0.0, 0.0]},
        )
        with pippin.Simulation(config, prototype=free_body(mass=2.0)) as simulation:
            for _ in range(3):
                simulation.state.body_f.assign([[6.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
                simulation.step()
            simulation.step(5)
            velocities.append(simulation.state.body_qd.numpy()[0, 0])

    np.testing.assert_allclose(velocities, 3 * 6.0 * 0.012 / 2.0, rtol=1e-5)


def test_efforts_on_joints_without_actuator_survive_a_step(chain, configure):
    actuators = {"first": {"type": "pd", "joints": ["hinge_0"], "kp": 1.0}}
    with pippin.Simulation(configure("featherstone", actuators=actuators), prototype=chain()) as simulation:
        simulation.control.joint_f.assign([7.0, 0.25])

        simulation.step(3)

        effort = simulation.control.joint_f.numpy()
        assert effort[1] == 0.25
        assert effort[0] == simulation.actuators["first"].applied_effort.numpy()[0, 0]


class Constant:
    """Adds an effort of 1 N·m to every joint, and owns those that it is told."""

    def __init__(self, *owned):
        self.owned = owned

    @pippin.hookimpl
    def bind(self, simulation):
        self.actuated_dofs = wp.array(self.owned, dtype=int, device=simulation.device)
        self.ones = wp.ones(simulation.model.joint_dof_count, dtype=float, device=simulation.device)

    @pippin.hookimpl
    def apply_actuators(self, control):
        wp.launch(add, len(self.ones), [self.ones, control.joint_f], device=self.ones.device)


@wp.kernel
def add(values: wp.array[float], totals: wp.array[float]):
    totals[wp.tid()] += values[wp.tid()]


class Watcher:
    """Wants to see every substep."""

    @pippin.hookimpl
    def before_substep(self):
        pass


def solver_calls(simulation):
    return [operation.name for operation in simulation.program.operations].count("step_solver(solver)")


@pytest.mark.slow
def test_open_loop_actuators_leave_a_control_step_whole(chain, configure):
    """The solver takes a control step in one call, with the bits of a call for each physics step."""
    drives = {"legs": {"type": "solver-pd", "joints": [".*"], "kp": 20.0, "kd": 1.0}}
    config = configure("mujoco-native", decimation=3, substeps=2, actuators=drives, scene={"worlds": 2})

    whole, together = run(config, chain(), 10)
    split, apart = run(config, chain(), 10, plugins=[Watcher()])

    assert (solver_calls(together), solver_calls(apart)) == (1, 6)
    assert_same_bits(whole, split)


def test_a_closed_loop_splits_a_control_step_until_it_is_switched_off(chain, configure, pd):
    first = {"type": "solver-pd", "joints": ["hinge_0"], "kp": 20.0, "kd": 1.0}
    drives = {"first": first, "second": {**pd["legs"], "joints": ["hinge_1"]}}
    with pippin.Simulation(configure("mujoco-native", decimation=3, actuators=drives), prototype=chain()) as simulation:
        split = solver_calls(simulation)
        simulation.set_enabled(simulation.actuators["second"], False)
        simulation.step()

        assert (split, solver_calls(simulation)) == (3, 1)


def test_an_object_adds_to_the_dofs_of_actuators_and_not_to_itself_on_its_own(chain, configure):
    config = configure("featherstone", actuators={"first": {"type": "pd", "joints": ["hinge_0"], "kp": 1.0}})
    with pippin.Simulation(config, plugins={"push": Constant(1)}, prototype=chain()) as simulation:
        simulation.step(3)

        effort = simulation.control.joint_f.numpy()
        drive = simulation.actuators["first"].applied_effort.numpy()[0, 0]
        assert "apply_actuators(plugins:push)" in str(simulation.program)

    assert effort[0] == pytest.approx(drive + 1.0)
    assert effort[1] == 1.0


@pytest.mark.first_cases(2)
def test_a_small_pendulum_swings_with_the_period_of_the_formula(solver, configure, chain):
    """Compound pendulum: T = 2π √((I + m l² + a) / (m g l)), armature a, which maximal coordinates do not have."""
    length, inertia, armature, dt = 0.5, 0.02, 0.01, 0.001
    if solver in ("xpbd", "semi-implicit", "vbd"):
        armature = 0.0
    period = 2 * np.pi * np.sqrt((inertia + length**2 + armature) / (9.81 * length))
    options = {"angular_damping": 0.0} if solver in ("xpbd", "featherstone", "semi-implicit") else {}
    if solver == "xpbd":
        options |= {"iterations": 8, "joint_linear_relaxation": 1.0, "joint_angular_relaxation": 1.0}
    config = configure({"type": solver, **options}, dt=dt)
    with pippin.Simulation(config, prototype=chain(1, length, angle=0.05)) as simulation:
        angles = []
        for _ in range(int(2.2 * period / dt)):
            simulation.step()
            angles.append(float(simulation.state.joint_q.numpy()[0]))

    crossings = np.flatnonzero(np.diff(np.sign(angles)) < 0) * dt

    assert np.diff(crossings)[0] == pytest.approx(period, rel=0.01)


class JointsOnly:
    """Featherstone that leaves bodies to the host."""

    coordinates = "joint"

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        self.whole = model.state()
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, contacts, dt):
        solver.step(state_in, self.whole, control, contacts, dt)
        wp.copy(state_out.joint_q, self.whole.joint_q)
        wp.copy(state_out.joint_qd, self.whole.joint_qd)


@pytest.mark.parametrize("substeps", [1, 2, 3])
def test_bodies_follow_the_joints_of_a_solver_that_moves_joints_only(chain, substeps):
    import newton

    config = pippin.SimulationConfig(
        simulation=pippin.SimulationOptions(device="cpu", substeps=substeps, capture="require")
    )
    with pippin.Simulation(config, plugins=[JointsOnly()], prototype=chain()) as simulation:
        simulation.step(20)
        expected = simulation.model.state()
        newton.eval_fk(simulation.model, simulation.state.joint_q, simulation.state.joint_qd, expected)

        assert simulation.state.body_q.numpy().tobytes() == expected.body_q.numpy().tobytes()
        assert simulation.state.body_qd.numpy().tobytes() == expected.body_qd.numpy().tobytes()
        assert not np.array_equal(expected.body_q.numpy(), simulation.model.body_q.numpy())


class UndeclaredXPBD:
    """XPBD without saying that it leaves joint positions alone."""

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        return newton.solvers.SolverXPBD(model)


def test_a_solver_that_wrongly_claims_reduced_coordinates_is_refused(chain):
    config = pippin.SimulationConfig(simulation=pippin.SimulationOptions(device="cpu"))

    with (
        pippin.Simulation(config, plugins=[UndeclaredXPBD()], prototype=chain()) as simulation,
        pytest.raises(pippin.PluginError, match=r"does not write joint_q.*coordinates = \"maximal\""),
    ):
        simulation.step()


class UndefinedMotion:
    """Featherstone with a joint position that is no number, as a singular mass matrix gives it."""

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        class Undefined(newton.solvers.SolverFeatherstone):
            def step(self, state_in, state_out, control, contacts, dt, *, observables=None):
                super().step(state_in, state_out, control, contacts, dt, observables=observables)
                state_out.joint_q.fill_(float("nan"))

        return Undefined(model)


def test_a_motion_that_is_no_number_is_no_fault_of_the_claim(chain):
    config = pippin.SimulationConfig(simulation=pippin.SimulationOptions(device="cpu"))

    with pippin.Simulation(config, plugins=[UndefinedMotion()], prototype=chain()) as simulation:
        simulation.step()

        assert np.isnan(simulation.state.joint_q.numpy()).all()


def test_a_model_without_joint_coordinates_claims_nothing(configure):
    """One body that a fixed joint holds: there is no joint position to write."""
    import newton

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_fixed(-1, body)])
    with pippin.Simulation(configure("featherstone"), prototype=builder) as simulation:
        simulation.step()

        assert not simulation.state.body_q.numpy()[:, :3].any()


def test_steady_steps_leave_no_python_objects_behind(chain, configure, pd):
    with pippin.Simulation(configure("xpbd", actuators=pd), prototype=chain()) as simulation:
        simulation.step(5)
        tracemalloc.start()
        simulation.step(100)
        before = tracemalloc.get_traced_memory()[0]

        simulation.step(1000)
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()

    assert after - before < 1000, "less than a byte a step"


def test_two_threads_may_step_two_simulations(chain, configure):
    """Warp crashes where two threads replay CPU graphs at once; the host lets one at a time."""
    config = configure("xpbd", scene={"worlds": 8})
    alone, _ = run(config, chain(), 300)

    with pippin.Simulation(config, prototype=chain()) as left, pippin.Simulation(config, prototype=chain()) as right:
        threads = [threading.Thread(target=simulation.step, args=(300,)) for simulation in (left, right)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        together = [arrays(left), arrays(right)]

    assert_same_bits(alone, together[0])
    assert_same_bits(alone, together[1])


def test_steps_backwards_or_after_the_end_are_refused(chain, configure):
    simulation = pippin.Simulation(configure("xpbd"), prototype=chain())

    with pytest.raises(pippin.SimulationError, match="expected a whole number of at least 0, got -1"):
        simulation.step(-1)
    simulation.close()
    with pytest.raises(pippin.SimulationError, match="the simulation is closed"):
        simulation.step()


def test_many_steps_at_once_are_as_many_steps_apart(chain, configure, pd):
    config = configure("featherstone", actuators=pd, substeps=3)
    together, _ = run(config, chain(), 20)
    with pippin.Simulation(config, prototype=chain()) as simulation:
        for _ in range(20):
            simulation.step()
        apart = arrays(simulation)
        simulation.step(0)

        assert simulation.step_count == 20
        assert_same_bits(apart, arrays(simulation))

    assert_same_bits(together, apart)
