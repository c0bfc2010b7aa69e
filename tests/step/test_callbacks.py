"""Callbacks: called when they say, in order, as often as the phase says, and gone when they are removed."""

import gc
import re
from functools import partial

import numpy as np
import pippin
import pytest
import warp as wp
from pippin import Callbacks


@wp.kernel
def count_call(count: wp.array[int]):
    count[0] += 1


@wp.kernel
def push(force: float, body_f: wp.array[wp.spatial_vector]):
    body_f[wp.tid()] += wp.spatial_vector(wp.vec3(force, 0.0, 0.0), wp.vec3())


class Counter:
    """Counts its calls on the device."""

    def __init__(self):
        self.count = wp.zeros(1, dtype=int, device="cpu")

    def __call__(self):
        wp.launch(count_call, 1, [self.count], device="cpu")

    def tick(self):
        self()

    @property
    def calls(self):
        return int(self.count.numpy()[0])


pytestmark = pytest.mark.simulation(dt=0.002, prototype="ball", solver="xpbd")


def test_events_come_in_the_order_of_a_life(simulate):
    seen = []
    callbacks = Callbacks()
    callbacks.add("model_ready", lambda model: seen.append(("model", model.body_count)))
    callbacks.add("simulation_ready", lambda simulation: seen.append(("ready", simulation.program.is_recorded)))
    callbacks.add("stopped", lambda simulation: seen.append(("stopped", simulation.step_count)))

    with simulate(callbacks=callbacks) as simulation:
        simulation.step(3)
    simulation.close()

    assert seen == [("model", 1), ("ready", False), ("stopped", 3)]


def test_what_a_model_event_changes_is_what_the_solver_is_built_from(simulate):
    callbacks = Callbacks()
    callbacks.add("model_ready", lambda model: model.gravity.fill_(wp.vec3(0.0, 0.0, 1.0)))

    with simulate(callbacks=callbacks) as simulation:
        simulation.step(10)
        assert simulation.state.body_qd.numpy()[0, 2] == pytest.approx(0.02, rel=1e-5)


@pytest.mark.parametrize("capture", ["require", "off"])
def test_phases_are_called_as_often_as_they_say(simulate, capture):
    actuators, substeps, steps = Counter(), Counter(), []
    with simulate(substeps=3, decimation=2, capture=capture) as simulation:
        simulation.callbacks.add("after_actuators", actuators.tick)
        simulation.callbacks.add("before_substep", substeps.tick)
        simulation.callbacks.add("after_step", lambda simulation: steps.append(simulation.step_count))
        simulation.step(4)
        simulation.step()

        assert simulation.program.is_captured is (capture == "require")
    assert (actuators.calls, substeps.calls, steps) == (5 * 2, 5 * 2 * 3, [1, 2, 3, 4, 5])


def test_a_force_before_each_substep_accelerates_by_the_formula(simulate):
    """Two newtons on one kilogram for 0.1 s: v = F t / m."""
    with simulate(dt=0.002, substeps=2, capture="require") as simulation:
        simulation.callbacks.add(
            "before_substep", lambda state: wp.launch(push, 1, [2.0, state.body_f], device=simulation.device)
        )
        simulation.step(50)

        assert simulation.state.body_qd.numpy()[0, 0] == pytest.approx(0.2, rel=1e-5)


def test_adding_and_removing_in_the_middle_of_a_run_records_the_step_again(simulate):
    counter = Counter()
    with simulate() as simulation:
        simulation.step(2)
        assert simulation.program.is_captured
        handle = simulation.callbacks.add("before_substep", counter.tick)
        simulation.step(3)
        assert simulation.program.is_captured
        assert "before_substep(Counter.tick)" in str(simulation.program)
        handle.remove()
        handle.remove()
        simulation.step(2)

        assert counter.calls == 3
        assert "Counter.tick" not in str(simulation.program)


def test_a_run_with_a_callback_that_comes_and_goes_has_the_bits_of_one_without(simulate):
    counter = Counter()
    with simulate() as plain, simulate() as simulation:
        handle = simulation.callbacks.add("before_substep", counter.tick)
        simulation.step(2)
        handle.remove()
        simulation.step(3)
        plain.step(5)

        np.testing.assert_array_equal(simulation.state.body_q.numpy(), plain.state.body_q.numpy())
    assert counter.calls == 2


def test_they_are_called_in_order_and_then_as_added(simulate):
    seen = []
    with simulate() as simulation:
        for name, order in (("c", 1), ("a", -1), ("d", 1), ("b", 0)):
            simulation.callbacks.add("after_step", lambda name=name: seen.append(name), order=order, name=name)
        simulation.step()

    assert seen == ["a", "b", "c", "d"]


def test_adding_one_again_is_adding_it_once():
    callbacks, counter = Callbacks(), Counter()

    handle = callbacks.add("before_substep", counter.tick)

    assert callbacks.add("before_substep", counter.tick) is handle
    assert callbacks.of("before_substep") == [handle]
    with pytest.raises(pippin.SimulationError, match=r"order=0 .*; remove it before"):
        callbacks.add("before_substep", counter.tick, order=5)


def test_a_method_goes_with_its_object_and_the_step_is_recorded_without_it(simulate):
    counter = Counter()
    count = counter.count
    with simulate() as simulation:
        simulation.callbacks.add("before_substep", counter.tick)
        simulation.step(2)
        del counter
        gc.collect()
        simulation.step(2)

        assert "tick" not in str(simulation.program)
    assert count.numpy()[0] == 2


def test_a_callback_that_cannot_be_recorded_runs_eagerly_in_its_place(simulate):
    calls = []
    with simulate(substeps=2) as simulation:
        simulation.callbacks.add("before_substep", lambda: calls.append(1), name="log", is_capturable=False)
        simulation.step(4)

        assert simulation.program.eager_reasons == {"before_substep(log)": "it was added with is_capturable=False"}
    assert sum(calls) >= 4 * 2  # more, where the host compares replayed steps with eager ones


def test_a_callback_that_counts_in_python_is_found_out(simulate):
    class Log:
        calls = 0

        def note(self):
            self.calls += 1

    log = Log()
    with simulate() as simulation:
        simulation.callbacks.add("before_substep", log.note)
        with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(.*Log\.note\) runs eagerly"):
            simulation.step(5)
    assert log.calls == 5


COUNTS = {"global": 0}
CALLS = 0


def count_globally():
    COUNTS["global"] += 1


def bind_globally():
    global CALLS
    CALLS += 1


def counting_around():
    calls = 0

    def count():
        nonlocal calls
        calls += 1

    return count


def count_by_default(calls=[0]):  # noqa: B006  a default that remembers
    calls[0] += 1


def counting_partially():
    return partial(lambda state, calls: calls.append(1), calls=[])


@pytest.mark.parametrize(
    "function",
    [count_globally, bind_globally, counting_around(), count_by_default, counting_partially()],
    ids=["global", "bound global", "nonlocal", "default", "partial"],
)
def test_whatever_a_function_counts_in_is_found_out(function, simulate):
    with simulate() as simulation:
        simulation.callbacks.add("before_substep", function, name="counting")
        with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(counting\) runs eagerly"):
            simulation.step(5)


def test_a_phase_that_does_not_exist_is_refused():
    with pytest.raises(
        pippin.SimulationError, match=r"'before_substeps' is not a phase; did you mean 'before_substep'\?"
    ):
        Callbacks().add("before_substeps", lambda: None)
    with pytest.raises(pippin.SimulationError, match="callbacks: expected a function for 'after_step', got 3"):
        Callbacks().add("after_step", 3)


def test_an_argument_that_the_phase_does_not_give_is_refused():
    with pytest.raises(pippin.SimulationError, match=r"asks for 'contrl', .*; did you mean 'control'\?"):
        Callbacks().add("before_substep", lambda state, contrl: None)


def test_each_callback_of_a_phase_is_called_even_where_another_raises(simulate):
    seen = []

    def fail():
        raise RuntimeError("full disk")

    with simulate() as simulation:
        simulation.callbacks.add("after_step", fail)
        simulation.callbacks.add("after_step", lambda: seen.append("called"))
        with pytest.raises(RuntimeError, match="full disk") as caught:
            simulation.step()
    assert seen == ["called"]
    assert "raised in callback" in caught.value.__notes__[0]


@pytest.mark.parametrize("phase", ["after_actuators", "before_substep"])
def test_a_callback_in_a_step_that_raises_is_named(simulate, phase):
    def fail():
        raise RuntimeError("full disk")

    with simulate() as simulation:
        simulation.callbacks.add(phase, fail)
        with pytest.raises(RuntimeError, match="full disk") as caught:
            simulation.step()
    (note,) = caught.value.__notes__
    assert re.fullmatch(rf"raised in callback .*fail of {phase}", note)


def test_two_simulations_have_their_own(simulate):
    with simulate() as first, simulate() as second:
        calls = []
        first.callbacks.add("after_step", lambda: calls.append("first"))
        second.step(3)
        first.step(1)

    assert calls == ["first"]
