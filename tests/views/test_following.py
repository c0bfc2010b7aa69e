"""What follows from a setting follows by itself: once, in time, in any order, in captures and between any substeps."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.views import ARTICULATION, ViewError

SOLVERS = ("mujoco", "xpbd", "featherstone", "mujoco-native")


def read(view, name):
    return getattr(view, f"get_{name}")().numpy().copy()


@pytest.fixture(scope="module", params=SOLVERS)
def robots(request, walker, build):
    with build(request.param, walker(), 3) as simulation:
        yield simulation


@pytest.fixture
def view(robots):
    robots.reset()
    return robots.view.articulations("walker")


@pytest.mark.first_cases(2)
def test_bodies_agree_with_joints_after_any_settings(robots, view):
    robots.step(2)
    view.set_dof_positions(0.1)
    view.set_root_transforms([0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0], mask=[True, False, True])
    view.set_dof_velocities(0.3, indices=[2])
    view.set_root_velocities([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], indices=[0])

    state, expected = robots.state, robots.model.state()
    newton.eval_fk(robots.model, state.joint_q, state.joint_qd, expected)
    mine = view.body_indices.ravel()
    np.testing.assert_array_equal(state.body_q.numpy()[mine], expected.body_q.numpy()[mine])
    np.testing.assert_array_equal(state.body_qd.numpy()[mine], expected.body_qd.numpy()[mine])
    np.testing.assert_allclose(read(view, "dof_positions"), 0.1, atol=1e-6)
    np.testing.assert_allclose(read(view, "root_velocities")[0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], atol=1e-6)


def test_the_solver_continues_from_what_was_set(robots, view):
    """A robot that is put where another one is, moves as that one does."""
    robots.step(4)
    for name in ("dof_positions", "dof_velocities", "root_transforms", "root_velocities"):
        values = read(view, name)
        values[2] = values[0]
        getattr(view, f"set_{name}")(values, indices=[2])
    robots.step(5)

    positions, poses = read(view, "dof_positions"), read(view, "link_transforms")
    np.testing.assert_allclose(positions[2], positions[0], atol=1e-4)
    np.testing.assert_allclose(poses[2], poses[0], atol=1e-4)


def test_kinematics_are_computed_once_for_many_settings(robots, view, monkeypatch):
    calls = []
    monkeypatch.setattr(newton, "eval_fk", lambda *args, **options: calls.append(options))
    for _ in range(3):
        view.set_dof_positions(0.1)
        view.set_root_velocities(0.0)
    view.get_dof_forces()
    assert not calls

    robots.view.flush()
    view.get_link_transforms()
    robots.view.flush()
    assert len(calls) == 1
    robots.reset()


def test_joints_of_bodies_that_were_written_before_are_kept(robots, view):
    state = robots.state
    poses = state.body_q.numpy()
    poses[:, 2] += 0.5
    state.body_q.assign(poses)
    robots.invalidate("bodies")
    view.set_dof_velocities(0.25)

    np.testing.assert_allclose(read(view, "root_transforms")[:, 2], 2.0, atol=1e-5)
    np.testing.assert_allclose(read(view, "dof_velocities"), 0.25, atol=1e-6)


def test_a_reset_is_read_at_once(robots, view):
    before = read(view, "link_transforms")
    robots.step(3)
    robots.reset([1])

    after = read(view, "link_transforms")
    np.testing.assert_array_equal(after[1], before[1])
    assert np.abs(after[0] - before[0]).max() > 1e-4


@pytest.mark.parametrize("substeps", [1, 2, 3])
def test_reads_are_of_the_state_after_the_step(walker, build, substeps):
    """Isaac reads the buffer that it knew at the start, and with swapped buffers every other step was stale."""
    with build("featherstone", walker(), 2, substeps=substeps) as simulation:
        view = simulation.view.rigid_bodies("ball")
        for step in range(1, 4):
            simulation.step()
            fallen = 9.81 * simulation.control_dt * step
            np.testing.assert_allclose(read(view, "velocities")[:, 2], -fallen, rtol=1e-4)


def test_views_of_a_loaded_simulation_read_where_it_continues(walker, build, tmp_path):
    with build("featherstone", walker(), 2) as simulation:
        view = simulation.view.articulations("walker")
        simulation.step(3)
        view.set_dof_positions(0.2, indices=[1])
        simulation.save(tmp_path / "state")
        expected = read(view, "link_transforms")
    with pippin.Simulation.load(tmp_path / "state", prototype=walker()) as simulation:
        view = simulation.view.articulations("walker")

        np.testing.assert_array_equal(read(view, "link_transforms"), expected)


def test_two_simulations_do_not_meet(walker, build):
    with build("featherstone", walker(), 1) as one, build("featherstone", walker(), 1) as other:
        before = read(other.view.articulations("walker"), "link_transforms")
        one.view.articulations("walker").set_dof_positions(0.4)
        one.step()

        np.testing.assert_array_equal(read(other.view.articulations("walker"), "link_transforms"), before)


# Inside captures.


def test_a_recorded_setting_is_followed_after_each_replay(robots, view):
    """The host does not see a replay, so what was recorded once is heeded before each step and read."""
    target = wp.zeros((3, view.max_dofs), dtype=float, device=robots.device)
    rows = wp.array([0, 2], dtype=int, device=robots.device)
    view.set_dof_positions(target, rows)
    view.get_dof_positions()
    robots.reset()
    with wp.ScopedCapture(device=robots.device) as capture:
        view.set_dof_positions(target, rows)
    for angle in (0.3, 0.8):
        target.fill_(angle)
        wp.capture_launch(capture.graph)

        state, expected = robots.state, robots.model.state()
        newton.eval_fk(robots.model, state.joint_q, state.joint_qd, expected)
        mine = view.body_indices[[0, 2]].ravel()
        np.testing.assert_allclose(read(view, "dof_positions")[[0, 2]], angle, atol=1e-6)
        np.testing.assert_array_equal(state.body_q.numpy()[mine], expected.body_q.numpy()[mine])
    robots.step()
    assert np.abs(read(view, "dof_positions")[1] - angle).min() > 0.04


def test_each_recorded_setting_keeps_its_own_rows_and_data(robots, view):
    """Settings share the memory in which their rows are passed to a kernel: a recording holds what was in it then."""
    device = robots.device
    shape = (3, view.max_dofs)
    data = {speed: wp.full(shape, speed, dtype=float, device=device) for speed in (1.0, 2.0, 3.0, 9.0)}
    rows = [wp.array([row], dtype=int, device=device) for row in range(3)]
    mask = wp.array([False, False, True], dtype=bool, device=device)
    compact = wp.full((1, view.max_dofs), 4.0, dtype=float, device=device)
    forces = wp.full((3, view.max_links, 3), 5.0, dtype=float, device=device)

    def settings():
        view.set_dof_velocity_targets(data[1.0], rows[0])
        view.set_dof_velocity_targets(data[2.0], rows[1])
        view.set_dof_velocity_targets(data[3.0], mask=mask)
        view.set_dof_forces(compact, rows[1], compact=True)
        view.apply_forces(forces, indices=rows[2])

    settings()
    eager = [read(view, "dof_velocity_targets"), read(view, "dof_forces"), robots.state.body_f.numpy().copy()]
    robots.reset()
    with wp.ScopedCapture(device=device) as capture:
        settings()
    view.set_dof_velocity_targets(data[9.0], rows[2])
    view.set_dof_velocity_targets(data[9.0], mask=wp.zeros(3, dtype=bool, device=device))
    view.set_dof_forces(0.0)
    robots.state.body_f.zero_()
    wp.capture_launch(capture.graph)

    replayed = [read(view, "dof_velocity_targets"), read(view, "dof_forces"), robots.state.body_f.numpy().copy()]
    assert np.abs(eager[2]).max() == 5.0
    np.testing.assert_array_equal(eager[0].max(axis=1), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(eager[1].max(axis=1), [0.0, 4.0, 0.0])
    for before, after in zip(eager, replayed, strict=True):
        np.testing.assert_array_equal(after, before)


def test_a_recorded_read_follows_the_state(robots, view):
    out = wp.zeros(view.shape_of("link_velocities"), dtype=float, device=robots.device)
    with wp.ScopedCapture(device=robots.device) as capture:
        view.get_link_velocities(out)
        positions = view.get_dof_positions()
    robots.step(3)
    wp.capture_launch(capture.graph)

    recorded = out.numpy().copy(), positions.numpy().copy()
    np.testing.assert_array_equal(recorded[0], read(view, "link_velocities"))
    np.testing.assert_array_equal(recorded[1], read(view, "dof_positions"))


def test_a_recorded_change_of_the_model_reaches_the_solver(walker, build):
    with build("mujoco", walker(), 2) as simulation:
        ball = simulation.view.rigid_bodies("ball")
        masses = wp.full(2, 2.0, dtype=float, device=simulation.device)
        ball.set_masses(masses)
        simulation.step()
        with wp.ScopedCapture(device=simulation.device) as capture:
            ball.set_masses(masses)
        simulation.step()
        masses.fill_(8.0)
        wp.capture_launch(capture.graph)
        before = read(ball, "velocities")
        ball.apply_forces([8.0, 0.0, 0.0])
        simulation.step()

        gained = (read(ball, "velocities") - before)[:, 0]
    np.testing.assert_allclose(gained, simulation.control_dt, rtol=1e-3)


def test_what_a_replay_would_not_read_again_is_refused(robots, view):
    values = np.zeros((3, view.max_dofs), dtype=np.float32)
    calls = (
        lambda: view.set_dof_positions(0.5),
        lambda: view.set_dof_positions(values.astype(np.float32)[:, ::-1]),
        lambda: view.set_dof_positions(values, [0]),
        lambda: view.set_dof_positions(values, mask=[True, False, True]),
    )
    with wp.ScopedCapture(device=robots.device):
        for call in calls:
            with pytest.raises(ViewError, match="inside a capture"):
                call()


# Inside a step.


def spin_up(view, speed):
    """Return a callback that pulls the DOFs of a view to a speed, with the state of the moment."""
    gain = 2.0
    efforts = wp.zeros(view.shape_of("dof_forces"), dtype=float)

    @wp.kernel
    def pull(velocities: wp.array2d[float], efforts: wp.array2d[float]):
        row, dof = wp.tid()
        efforts[row, dof] = gain * (speed - velocities[row, dof])

    def callback():
        wp.launch(pull, efforts.shape, [view.get_dof_velocities(), efforts])
        view.set_dof_forces(efforts)

    return callback


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("substeps", [2, 3])
@pytest.mark.parametrize("phase", ["after_actuators", "before_substep"])
def test_a_callback_reads_the_state_of_the_moment_captured_or_not(walker, build, phase, substeps):
    ends = {}
    for capture in ("require", "off"):
        with build("featherstone", walker(), 2, substeps=substeps, decimation=2, capture=capture) as simulation:
            view = simulation.view.articulations("walker")
            simulation.callbacks.add(phase, spin_up(view, 1.5))
            by_hand = simulation.state.joint_qd.numpy().copy()
            simulation.step(10)
            ends[capture] = read(view, "dof_velocities")

    np.testing.assert_array_equal(ends["require"], ends["off"])
    assert np.abs(ends["off"] - by_hand[view.dof_indices]).max() > 0.1


def test_a_callback_sees_each_substep(walker, build):
    """The states of a step take turns: what is read before the second substep is what the first one wrote."""
    seen = []
    with build("featherstone", walker(), 1, substeps=3, capture="off") as simulation:
        ball = simulation.view.rigid_bodies("ball")
        simulation.callbacks.add("before_substep", lambda: seen.append(read(ball, "velocities")[0, 2]))
        simulation.step(2)

    substep = simulation.control_dt / 3
    np.testing.assert_allclose(seen, -9.81 * substep * np.arange(6), rtol=1e-4, atol=1e-6)


def test_a_force_from_a_callback_acts_in_its_substep(walker, build):
    with build("featherstone", walker(), 1, substeps=2) as simulation:
        ball = simulation.view.rigid_bodies("ball")
        push = wp.array([[6.0, 0.0, 0.0]], dtype=wp.vec3)
        simulation.callbacks.add("before_substep", lambda: ball.apply_forces(push))
        simulation.step(5)

        expected = 6.0 / 2.0 * 5 * simulation.control_dt
        assert read(ball, "velocities")[0, 0] == pytest.approx(expected, rel=1e-4)


def test_states_and_models_are_not_set_inside_a_step(walker, build):
    refused = []
    with build("featherstone", walker(), 1, capture="off") as simulation:
        view = simulation.view.articulations("walker")

        def callback():
            for call in (view.set_dof_positions, view.set_masses, simulation.view.set_gravity):
                with pytest.raises(ViewError, match="inside a step, only targets and forces can be set"):
                    call(1.0)
                refused.append(call)

        simulation.callbacks.add("before_substep", callback)
        simulation.step()
    assert len(refused) == 3


# What the solver is notified of.


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("name", [name for name, quantity in ARTICULATION.items() if quantity.flags])
def test_the_solver_is_notified_once_of_what_was_changed(notified, name):
    simulation, flags = notified
    view = simulation.view.articulations("arm")
    flags.clear()
    for _ in range(2):
        getattr(view, f"set_{name}")(getattr(view, f"get_{name}")())
    simulation.step(2)

    assert flags == [sum(newton.ModelFlags[flag] for flag in ARTICULATION[name].flags)]


@pytest.fixture(scope="module")
def notified(walker, build):
    """A simulation, and a list that grows by what its solver is notified of."""
    with build("mujoco", walker(), 1) as simulation:
        flags, tell = [], simulation.solver.notify_model_changed
        simulation.solver.notify_model_changed = lambda changed: (flags.append(changed), tell(changed))
        yield simulation, flags


@pytest.mark.parametrize("solver", ["kamino", "mujoco-native"])
def test_forces_that_were_applied_survive_another_setting(build, solver):
    builder = newton.ModelBuilder()
    builder.add_body(label="ball", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with build(solver, builder, 1) as simulation:
        view = simulation.view.rigid_bodies("ball")
        view.apply_forces([500.0, 0.0, 0.0])
        view.set_velocities(0.0)
        simulation.step()

        assert simulation.state.body_qd.numpy()[0, 0] == pytest.approx(1.0, rel=1e-4)
