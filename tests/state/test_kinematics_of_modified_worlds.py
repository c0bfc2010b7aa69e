"""Written worlds: a solver with memory of its own is told which ones to read, in recorded steps, too."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp


@wp.kernel
def count_masked(world_mask: wp.array[bool], counts: wp.array[int]):
    world = wp.tid()
    if world_mask[world]:
        counts[world] += 1


class Engine:
    """Newton's Featherstone, which counts how often each world was to be read."""

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def bind(self, simulation):
        self.counts, self.changes = (
            wp.zeros(simulation.world_count + 1, dtype=int, device=simulation.device) for _ in range(2)
        )

    @pippin.hookimpl
    def notify_model_changed(self, solver, flags, changed_worlds):
        wp.launch(count_masked, len(self.changes), [changed_worlds, self.changes], device=self.changes.device)
        solver.notify_model_changed(flags)

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, contacts, dt, written_worlds):
        wp.launch(count_masked, len(self.counts), [written_worlds, self.counts], device=self.counts.device)
        solver.step(state_in, state_out, control, contacts, dt)


@pytest.fixture(scope="module")
def simulation():
    """Three worlds with a ball, in recorded steps; a task pushes each ball after 0.5 s and resets it after 0.75 s."""
    builder = newton.ModelBuilder(up_axis="Z")
    builder.add_body(label="ball", mass=1.0, inertia=np.eye(3))
    push = {"type": "push", "period": [0.5, 0.5], "x": [1.0, 1.0]}
    mass = {"type": "mass", "when": "reset", "bodies": ["ball"], "scale": [0.5, 2.0]}
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01, "substeps": 2, "capture": "require"},
        "scene": {"worlds": 3, "gravity": [0.0, 0.0, 0.0]},
        "task": {"episode_length": 0.75, "rewards": {}, "events": {"push": push, "mass": mass}},
    }
    with pippin.Simulation(pippin.structure(tables), [Engine()], prototype=builder) as built:
        yield built


def engine_of(simulation):
    return next(each for each in simulation.plugins.values() if isinstance(each, Engine))


def read_in(simulation, steps=1):
    """Return how often each world was to be read in some steps."""
    before = engine_of(simulation).counts.numpy().copy()
    simulation.step(steps)
    return (engine_of(simulation).counts.numpy() - before).tolist()


def told_of(simulation, change):
    """Return how often the solver was told of a change of each world's model, in the call and the next two steps."""
    before = engine_of(simulation).changes.numpy().copy()
    change()
    simulation.step(2)
    return (engine_of(simulation).changes.numpy() - before).tolist()


def test_all_worlds_are_read_once_at_first_and_written_ones_later(simulation):
    first, then = read_in(simulation), read_in(simulation, 3)
    simulation.view.rigid_bodies("**/ball").set_velocities([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]], indices=[1])
    after_a_setter = read_in(simulation)
    simulation.invalidate("joints", [0, 2])
    after_a_write = read_in(simulation, 2)
    simulation.reset([2])
    after_a_reset = read_in(simulation, 2)

    assert first == [1, 1, 1, 1]
    assert then == [0, 0, 0, 0]
    assert after_a_setter == [0, 1, 0, 0]
    assert after_a_write == [1, 0, 1, 0]
    assert after_a_reset == [0, 0, 1, 0]


def test_worlds_that_a_recorded_step_pushes_or_resets_are_read_in_the_next_one(simulation):
    simulation.reset()
    begun, until_the_push, pushed = read_in(simulation), read_in(simulation, 49), read_in(simulation)
    speed = simulation.state.body_qd.numpy()[:, 0].copy()
    until_the_reset, again = read_in(simulation, 24), read_in(simulation)

    assert begun == [1, 1, 1, 1]
    assert until_the_push == until_the_reset == [0, 0, 0, 0]
    assert pushed == again == [1, 1, 1, 0]
    np.testing.assert_allclose(speed, 1.0)
    np.testing.assert_array_equal(simulation.state.body_qd.numpy(), 0.0)


def test_the_solver_is_told_once_of_the_worlds_whose_model_a_user_changed(simulation):
    balls, robots = simulation.view.rigid_bodies("**/ball"), simulation.view.articulations("**")
    changes = {
        "masses": lambda: balls.set_masses([2.0] * 3, indices=[1]),
        "masses on the device": lambda: balls.set_masses(balls.get_masses(), mask=wp.array([False, False, True])),
        "an attribute": lambda: robots.set_attribute("joint_X_c", robots.get_attribute("joint_X_c"), [0]),
        "gravity": lambda: simulation.view.set_gravity([[0.0, 0.0, 0.0]] * 3, worlds=[0, 2]),
        "two at once": lambda: (balls.set_masses([2.0] * 3, indices=[1]), balls.set_masses([2.0] * 3, indices=[0])),
        "a report": lambda: simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES, [2]),
        "a report of all": lambda: simulation.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES),
        "nothing": lambda: None,
    }

    told = {name: told_of(simulation, change) for name, change in changes.items()}

    assert told == {
        "masses": [0, 1, 0, 0],
        "masses on the device": [0, 0, 1, 0],
        "an attribute": [1, 0, 0, 0],
        "gravity": [1, 0, 1, 0],
        "two at once": [1, 1, 0, 0],
        "a report": [0, 0, 1, 0],
        "a report of all": [1, 1, 1, 1],
        "nothing": [0, 0, 0, 0],
    }


def test_the_solver_is_told_at_once_of_the_worlds_whose_model_a_reset_changed(simulation):
    told = told_of(simulation, lambda: simulation.reset([1]))

    assert told == [0, 1, 0, 0]
