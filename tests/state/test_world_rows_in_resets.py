"""Reset of some worlds: what follows, and what must not notice."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

WORLDS = 3


def by_world(simulation):
    """Return copies of what a step leaves in the state and in the actuators, one row per world."""
    # Implicit MPM leaves fields of its grid in the state as well.
    arrays = {name: vars(simulation.state)[name] for name in vars(simulation.model.state())}
    arrays = {name: array for name, array in arrays.items() if isinstance(array, wp.array)}
    for label, actuator in simulation.actuators.items():
        arrays[f"{label}.computed_effort"] = actuator.computed_effort
    count = simulation.world_count
    return {name: array.numpy().reshape(count, -1).copy() for name, array in arrays.items() if array.size}


def assert_worlds_equal(left, right, worlds, tolerance=0.0):
    """Hold some worlds of two simulations to the same bits, or to a tolerance [m, m/s] where there is one."""
    assert left.keys() == right.keys()
    for name in left:
        if tolerance:
            np.testing.assert_allclose(left[name][worlds], right[name][worlds], atol=tolerance, err_msg=name)
        else:
            assert left[name][worlds].tobytes() == right[name][worlds].tobytes(), name


def different_targets(simulation):
    for actuator in simulation.actuators.values():
        targets = np.linspace(-0.5, 0.5, WORLDS)[:, None] * np.ones((1, 2))
        actuator.position_targets.assign(targets.astype(np.float32))


@pytest.mark.slow
def test_a_reset_world_starts_over_and_the_others_continue_as_if_nothing_was(suited):
    count = suited.step_count // 2
    last = suited.world_count - 1
    with suited.build(substeps=3) as undisturbed, suited.build(substeps=3) as simulation:
        different_targets(undisturbed)
        different_targets(simulation)
        undisturbed.step(count)
        halfway = by_world(undisturbed)
        undisturbed.step(count)

        simulation.step(count)
        simulation.reset([last])
        different_targets(simulation)
        simulation.step(count)

        whole, again = by_world(undisturbed), by_world(simulation)
        assert_worlds_equal(again, whole, list(range(last)), suited.tolerance)
        assert_worlds_equal(again, halfway, [last], suited.tolerance)
        assert any(not np.array_equal(halfway[name][last], whole[name][last]) for name in whole)


@pytest.mark.first_cases(2)
def test_a_reset_before_the_first_step_changes_nothing(solver, chain, configure, pd):
    config = configure(solver, scene={"worlds": WORLDS}, actuators=pd)
    with (
        pippin.Simulation(config, prototype=chain()) as fresh,
        pippin.Simulation(config, prototype=chain()) as simulation,
    ):
        fresh.step(4)

        simulation.reset()
        simulation.step(4)

        assert_worlds_equal(by_world(simulation), by_world(fresh), [0, 1, 2])


@pytest.fixture(scope="module")
def moved():
    """Three pendulums that have moved for five steps, captured; tests put them back and step again."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    body = builder.add_link(label="bob", mass=1.0, inertia=wp.diag(wp.vec3(0.02)))
    builder.body_com[body] = wp.vec3(0.0, 0.0, -0.5)
    builder.add_articulation([builder.add_joint_revolute(-1, body, axis=(0.0, 1.0, 0.0), label="hinge")])
    builder.joint_q[0] = 0.3
    tables = {
        "simulation": {"device": "cpu", "dt": 0.002},
        "scene": {"worlds": WORLDS},
        "solver": {"type": "semi-implicit"},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        yield simulation


@pytest.mark.parametrize(
    ("worlds", "expected"),
    [
        ([1], [1]),
        ([2, 0, 2], [0, 2]),
        (np.array([1]), [1]),
        ([], []),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (None, [0, 1, 2]),
    ],
)
def test_worlds_are_named_by_index_by_mask_or_all(moved, worlds, expected):
    moved.step(5)
    initial, before = moved.model.joint_q.numpy(), moved.state.joint_q.numpy().copy()

    moved.reset(worlds)

    after = moved.state.joint_q.numpy()
    others = [world for world in range(WORLDS) if world not in expected]
    assert not np.isin(initial, before).any()
    assert np.array_equal(after[expected], initial[expected])
    assert np.array_equal(after[others], before[others])


@pytest.mark.parametrize(("values", "dtype"), [([1], int), ([False, True, False], bool)])
def test_worlds_may_be_named_on_the_device(moved, values, dtype):
    moved.step(5)
    before = moved.state.joint_q.numpy().copy()

    moved.reset(wp.array(values, dtype=dtype, device=moved.device))

    assert moved.state.joint_q.numpy()[1] == moved.model.joint_q.numpy()[1]
    assert np.array_equal(moved.state.joint_q.numpy()[[0, 2]], before[[0, 2]])


@pytest.mark.parametrize(
    ("worlds", "message"),
    [
        ([0, 3], r"worlds: 3 is not a world; there are 3, counted from 0"),
        ([-1], r"worlds: -1 is not a world; there are 3, counted from 0"),
        ([0.5], r"worlds: expected integers or booleans, got float64"),
        ([True, False], r"worlds: expected a mask of shape \[3\], got \[2\]"),
        (np.ones((3, 1), dtype=bool), r"worlds: expected a mask of shape \[3\], got \[3, 1\]"),
    ],
)
def test_what_names_no_worlds_is_refused_and_resets_none(moved, worlds, message):
    moved.step(2)
    before = moved.state.joint_q.numpy().copy()

    with pytest.raises(pippin.ConfigError, match=message):
        moved.reset(worlds)

    assert np.array_equal(moved.state.joint_q.numpy(), before)


def test_a_reset_keeps_the_state_object_and_its_memory(moved):
    state, address = moved.state, moved.state.body_q.ptr

    moved.reset([0])
    moved.step()

    assert moved.state is state
    assert moved.state.body_q.ptr == address


@pytest.mark.first_cases(2)
def test_nan_does_not_survive_a_reset(solver, ball, configure):
    """Spheres that lie on the ground, so that contacts, warm starts and multipliers are poisoned as well."""
    config = configure(solver, scene={"worlds": WORLDS, "ground": True}, dt=0.001)
    with (
        pippin.Simulation(config, prototype=ball(height=0.0995)) as healthy,
        pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation,
    ):
        healthy.step(6)
        simulation.step(2)
        for array in (simulation.state.joint_q, simulation.state.joint_qd):
            values = array.numpy().copy()
            values.reshape(WORLDS, -1)[1] = np.nan
            array.assign(values)
        for array in (simulation.state.body_q, simulation.state.body_qd):
            values = array.numpy().copy()
            values[1] = np.nan
            array.assign(values)
        simulation.step()
        with pytest.raises(pippin.SimulationError, match=r"step 3 .*body .*ball' of world 1 is not finite"):
            simulation.raise_errors()

        simulation.reset([1])
        simulation.step(3)

        simulation.raise_errors()
        assert all(np.isfinite(array).all() for array in by_world(simulation).values())
        assert_worlds_equal(by_world(simulation), by_world(healthy), [0, 2])


def test_a_reset_empties_the_delay_of_its_worlds_alone(chain, configure, pd):
    """The first target after a reset acts at once; elsewhere it takes three physics steps to arrive."""
    config = configure("featherstone", scene={"worlds": WORLDS}, actuators=pd)
    with pippin.Simulation(config, prototype=chain(angle=0.0)) as simulation:
        legs = simulation.actuators["legs"]
        simulation.step(4)
        legs.position_targets.fill_(0.1)

        simulation.reset([1])
        effort_after_reset, targets = legs.computed_effort.numpy().copy(), legs.position_targets.numpy().copy()
        legs.position_targets.fill_(0.1)
        simulation.step()

        effort = legs.computed_effort.numpy()
        np.testing.assert_array_equal(effort_after_reset[1], 0.0)
        np.testing.assert_allclose(effort[1], 20.0 * 0.1, rtol=1e-5)
        np.testing.assert_allclose(effort[[0, 2]], 0.0, atol=1e-5)
        np.testing.assert_array_equal(targets[:, 0], np.float32([0.1, 0.0, 0.1]))


def test_readings_of_a_reset_world_are_zero_until_the_next_step(ball, configure):
    sensors = {"imu": {"type": "imu", "body": "ball"}, "touch": {"type": "contact", "bodies": ["ball"]}}
    config = configure("mujoco", scene={"worlds": WORLDS, "ground": True}, sensors=sensors)
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(20)
        outputs = [simulation.sensors["imu"].outputs["linear_acceleration"].data]
        outputs.append(simulation.sensors["touch"].outputs["net_force"].data)
        before = [output.numpy().copy() for output in outputs]

        simulation.reset([1])

        for output, readings in zip(outputs, before, strict=True):
            assert (output.numpy()[1] == 0.0).all()
            assert np.array_equal(output.numpy()[[0, 2]], readings[[0, 2]])
            assert readings[1, 0, 2] > 1.0


def test_what_the_solver_reported_of_a_reset_world_is_zero_until_the_next_step(ball, configure):
    kinds = ["body_qdd", "body_parent_f", "contact_f"]
    config = configure("mujoco", scene={"worlds": WORLDS, "ground": True}, observables=kinds)
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(20)
        reported, contacts = simulation.observables, simulation.contacts
        worlds = simulation.model.shape_world.numpy()[contacts.rigid_contact_shape1.numpy()[:WORLDS]]
        assert sorted(worlds) == [0, 1, 2]
        before = {name: getattr(reported, name).numpy()[:WORLDS].copy() for name in kinds}

        simulation.reset([1])

        worlds_of = {"body_qdd": np.arange(WORLDS), "body_parent_f": np.arange(WORLDS), "contact_f": worlds}
        for name, rows in worlds_of.items():
            after = getattr(reported, name).numpy()[:WORLDS]
            assert (after[rows == 1] == 0.0).all()
            assert np.array_equal(after[rows != 1], before[name][rows != 1])
        assert before["contact_f"][:, 2].any()
        assert before["body_qdd"].any()
        assert (contacts.rigid_contact_shape1.numpy()[:WORLDS] == -1).tolist() == (worlds == 1).tolist()
        simulation.step()
        assert (reported.contact_f.numpy()[:WORLDS, 2] != 0.0).all()


@wp.kernel
def count_up(counts: wp.array[int]):
    i = wp.tid()
    counts[i] = counts[i] + 1


class Odometer:
    """Counts control steps on the device, twice per world."""

    @pippin.hookimpl
    def bind(self, simulation):
        self.counts = wp.full(2 * simulation.world_count, 7, dtype=int, device=simulation.device)
        self.masks = []

    @pippin.hookimpl
    def update_sensors(self):
        wp.launch(count_up, len(self.counts), [self.counts], device=self.counts.device)

    @pippin.hookimpl
    def reset_worlds(self, world_mask):
        self.masks.append(world_mask.numpy().tolist())

    def state_arrays(self):
        return {"counts": self.counts}


def test_declared_state_goes_back_to_what_it_was_after_bind(chain, configure):
    odometer = Odometer()
    config = configure(scene={"worlds": WORLDS}, capture="require")
    with pippin.Simulation(config, plugins=[odometer], prototype=chain()) as simulation:
        simulation.step(3)
        simulation.reset([1])
        simulation.step(2)

        assert odometer.counts.numpy().tolist() == [12, 12, 9, 9, 12, 12]


def test_components_see_the_mask_of_a_reset_with_the_global_entities_last(chain, configure):
    odometer = Odometer()
    with pippin.Simulation(configure(scene={"worlds": WORLDS}), plugins=[odometer], prototype=chain()) as simulation:
        simulation.reset([1])
        simulation.reset()

    assert odometer.masks == [[False, True, False, False], [True, True, True, True]]


def test_state_that_cannot_be_divided_among_the_worlds_is_an_error(chain, configure):
    class Crooked(Odometer):
        def state_arrays(self):
            return {"counts": self.counts[:4]}

    with pytest.raises(pippin.PluginError, match=r"plugins:crooked: state array 'counts' of shape \(4,\) .* 3 worlds"):
        pippin.Simulation(configure(scene={"worlds": WORLDS}), plugins=[Crooked()], prototype=chain())


def test_a_scene_in_which_nothing_can_move_is_reset_too():
    builder = newton.ModelBuilder()
    body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    builder.add_articulation([builder.add_joint_fixed(-1, body)])
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "mujoco-native"}}

    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step()
        simulation.reset([1])

        assert not simulation.state.joint_q.size
        np.testing.assert_array_equal(simulation.state.body_q.numpy()[:, :3], 0.0)


def test_a_state_array_that_is_none_of_warp_s_is_refused(ball, configure):
    class Numeric:
        @pippin.hookimpl
        def before_substep(self):
            """Do nothing."""

        def state_arrays(self):
            return {"heat": np.zeros(1)}

    with pytest.raises(
        pippin.PluginError, match=r"plugins:numeric: state_arrays: 'heat' is not a Warp array, but a ndarray"
    ):
        pippin.Simulation(configure(), [Numeric()], ball())
