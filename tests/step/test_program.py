"""Users' plugin objects inside a captured simulation: what is recorded, what is called, and when."""

import itertools
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor, wait

import attrs
import numpy as np
import pippin
import pytest
import warp as wp


@wp.kernel
def add_force(force: wp.vec3, body_f: wp.array[wp.spatial_vector]):
    i = wp.tid()
    body_f[i] = body_f[i] + wp.spatial_vector(force, wp.vec3())


def push(state, force):
    wp.launch(add_force, state.body_count, [wp.vec3(*force), state.body_f], device=state.body_f.device)


class Push:
    """Pushes along x in a kernel: nothing of it happens on the host."""

    @pippin.hookimpl
    def before_substep(self, state):
        push(state, (0.5, 0.0, 0.0))


class Brake:
    """Reads a velocity on the host and pushes against it."""

    @pippin.hookimpl
    def before_substep(self, state):
        push(state, (-2.0 * float(state.body_qd.numpy()[0, 0]), 0.0, 0.0))


class Shake:
    """Counts its calls in Python and pushes to and fro."""

    def __init__(self):
        self.calls = 0

    @pippin.hookimpl
    def before_substep(self, state):
        self.calls += 1
        push(state, (1.0 if self.calls % 3 else -2.0, 0.0, 0.0))


class Careful(Push):
    """Could be recorded, and says that it must not be."""

    is_capturable = False


def run(config, prototype, plugins, steps=8):
    with pippin.Simulation(config, plugins=plugins, prototype=prototype) as simulation:
        simulation.step(steps)
        state = {name: a.numpy().tobytes() for name, a in vars(simulation.state).items() if isinstance(a, wp.array)}
    return state, simulation.program


def eager_names(program):
    return {op.name for segment in program.segments if segment.graph is None for op in segment.operations}


def recorded_names(program):
    return {op.name for segment in program.segments if segment.graph is not None for op in segment.operations}


@pytest.mark.parametrize("decimation", [1, 2])
@pytest.mark.parametrize("kind", ["callback", "plugin"])
def test_what_declares_that_it_runs_eagerly_is_called_once_for_each_step(ball, configure, kind, decimation):
    """Its count is in an iterator, which nothing can put back."""

    class Counting:
        is_capturable = False

        @pippin.hookimpl
        def before_substep(self, state):
            push(state, (0.1 * next(count), 0.0, 0.0))

    ends = {}
    for capture in ("off", "auto"):
        count = itertools.count()
        counting, config = Counting(), configure("featherstone", capture=capture, decimation=decimation)
        with pippin.Simulation(config, [counting] if kind == "plugin" else [], prototype=ball()) as simulation:
            if kind == "callback":
                simulation.callbacks.add("before_substep", counting.before_substep, is_capturable=False)
            simulation.step(5)
            ends[capture] = simulation.state.joint_q.numpy().tobytes()
        assert next(count) == 5 * decimation

    assert ends["auto"] == ends["off"]
    assert len(recorded_names(simulation.program)) > 3


def test_an_eager_actuator_does_not_hide_what_another_plugin_reads_on_the_host(ball, configure):
    """It is not called for the comparison; what it wrote in the first step goes on acting there."""

    class Force:
        is_capturable = False

        @pippin.hookimpl
        def before_substep(self, state):
            push(state, (1.0, 0.0, 0.0))

    config = configure("featherstone", scene={"gravity": [0.0, 0.0, 0.0]})
    with pytest.warns(pippin.CaptureWarning, match="brake"):
        _, program = run(config, ball(), [Force(), Brake()])

    assert {name for name in eager_names(program) if "plugins" in name} == {
        "before_substep(plugins:force)",
        "before_substep(plugins:brake)",
    }


STEPS = {"substeps": 3, "decimation": 2}
"""Six calls of `before_substep` per control step."""


@pytest.mark.first_cases(1)
def test_a_plugin_that_launches_kernels_is_recorded_and_gives_the_same_bits(solver, ball, configure):
    eager, _ = run(configure(solver, capture="off", **STEPS), ball(), [Push()])
    captured, program = run(configure(solver, capture="require", **STEPS), ball(), [Push()])
    without, _ = run(configure(solver, **STEPS), ball(), [])

    assert captured == eager
    assert captured["body_q"] != without["body_q"]
    assert "before_substep(plugins:push)" in recorded_names(program)


@pytest.mark.parametrize("make", [Brake, Shake])
def test_a_plugin_that_works_on_the_host_runs_eagerly_and_alone(make, chain, configure):
    name = f"before_substep(plugins:{make.__name__.lower()})"
    eager, _ = run(configure(capture="off", **STEPS), chain(), [make(), Push()])

    with pytest.warns(pippin.CaptureWarning) as caught:
        captured, program = run(configure(capture="auto", **STEPS), chain(), [make(), Push()])

    assert [str(warning.message).split(" runs eagerly: ")[0] for warning in caught] == [name]
    assert eager_names(program) == {name}
    assert "before_substep(plugins:push)" in recorded_names(program)
    assert captured == eager


@pytest.mark.parametrize("decimation", [1, 2])
def test_an_actuator_with_memory_is_recorded_beside_a_plugin_on_the_host(chain, configure, pd, decimation):
    """Its two memories are swapped in Python at every step, and settled at the end: that is no reason to blame it."""
    config = configure("featherstone", decimation=decimation, actuators=pd)

    with pytest.warns(pippin.CaptureWarning) as caught:
        _, program = run(config, chain(), [Shake()])

    assert len(caught) == 1
    assert eager_names(program) == {"before_substep(plugins:shake)"}


@pytest.mark.parametrize("make", [Brake, Shake])
def test_require_refuses_a_plugin_that_works_on_the_host(make, chain, configure):
    name = make.__name__.lower()

    with pytest.raises(
        pippin.SimulationError, match=rf"capture: 'require', but before_substep\(plugins:{name}\) cannot be captured"
    ):
        run(configure(capture="require", **STEPS), chain(), [make()])


def test_a_python_count_is_what_it_would_be_without_capture(chain, configure):
    shake = Shake()

    with pytest.warns(pippin.CaptureWarning, match="'calls' of plugins:shake"):
        run(configure(**STEPS), chain(), [shake], steps=5)

    assert shake.calls == 5 * 6


class Note:
    """Keeps what it sees on the host, as plugins do; no array of the device ever shows it."""

    def __init__(self, kept, note):
        self.kept, self.note = kept, note

    @pippin.hookimpl
    def before_substep(self, state):
        self.note(self.kept)


def bump(kept):
    kept["calls"] += 1


def renew(kept):
    kept.append(kept[-1] + 1)


@attrs.define
class Statistics:
    calls: int = 0

    def bump(self):
        self.calls += 1


@pytest.mark.parametrize(
    ("make", "note", "count"),
    [
        (lambda: {"calls": 0}, bump, lambda kept: kept["calls"]),
        (Counter, bump, lambda kept: kept["calls"]),
        (lambda: deque([0], maxlen=1), renew, lambda kept: kept[-1]),
        (set, lambda kept: kept.add(len(kept)), len),
        (list, lambda kept: kept.append("called"), len),
        (Statistics, Statistics.bump, lambda kept: kept.calls),
        (lambda: np.zeros(2), lambda kept: np.add(kept, 1, out=kept), lambda kept: kept[0]),
    ],
    ids=["dict", "Counter", "deque", "set", "list", "object", "numpy"],
)
def test_what_a_plugin_keeps_on_the_host_is_what_it_would_be_without_capture(make, note, count, chain, configure):
    plugin = Note(make(), note)

    with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(plugins:note\) runs eagerly: .*'kept"):
        run(configure(), chain(), [plugin], steps=6)

    assert count(plugin.kept) == 6


def test_a_plugin_that_holds_a_nan_is_recorded(chain, configure):
    """A NaN differs from itself, and still nothing has changed."""

    class Unset(Push):
        limit = float("nan")

        def __init__(self):
            self.best = float("nan")

    _, program = run(configure(capture="require"), chain(), [Unset()])

    assert program.is_captured


def test_a_plugin_that_declares_itself_not_capturable_runs_eagerly_without_a_warning(chain, configure):
    eager, _ = run(configure(capture="off", **STEPS), chain(), [Careful()])
    captured, program = run(configure(**STEPS), chain(), [Careful()])

    assert eager_names(program) == {"before_substep(plugins:careful)"}
    assert "plugins:careful declares that it is not capturable" in str(program)
    assert captured == eager


def test_require_refuses_a_declared_plugin_before_the_first_step(chain, configure):
    with pytest.raises(pippin.SimulationError, match="plugins:careful declares that it is not capturable"):
        pippin.Simulation(configure(capture="require"), plugins=[Careful()], prototype=chain())


class Twice:
    """Wraps the others' pushes, and pushes once more than all of them."""

    @pippin.hookimpl(wrapper=True)
    def before_substep(self, state):
        answers = yield
        push(state, (0.5, 0.0, 0.0))
        return answers


def test_a_wrapper_runs_around_the_hooks_it_wraps(chain, configure):
    wrapped, program = run(configure(capture="require", **STEPS), chain(), [Push(), Twice()])
    plain, _ = run(configure(capture="require", **STEPS), chain(), [Push(), Push()])

    assert "before_substep(wrapped)" in recorded_names(program)
    assert wrapped == plain


def test_a_wrapper_that_declares_itself_not_capturable_is_not_recorded(chain, configure):
    class CarefulTwice(Twice):
        is_capturable = False

    _, program = run(configure(), chain(), [Push(), CarefulTwice()])

    assert eager_names(program) == {"before_substep(wrapped)"}


def test_a_wrapper_that_counts_is_found(chain, configure):
    class CountingTwice(Twice):
        def __init__(self):
            self.calls = 0

        @pippin.hookimpl(wrapper=True)
        def before_substep(self, state):
            self.calls += 1
            return (yield)

    wrapper = CountingTwice()

    with pytest.warns(pippin.CaptureWarning, match=r"before_substep\(wrapped\).*'calls' of plugins:countingtwice"):
        run(configure(), chain(), [Push(), wrapper], steps=4)

    assert wrapper.calls == 4


def test_a_wrapper_where_none_is_called_is_an_error(chain, configure):
    class Timed:
        @pippin.hookimpl(wrapper=True)
        def step_solver(self):
            return (yield)

    with pytest.raises(pippin.PluginError, match=r"plugins:timed: 'step_solver' cannot be wrapped.*before_substep"):
        pippin.Simulation(configure(), plugins=[Timed()], prototype=chain())


def test_a_delay_that_ends_a_step_swapped_gives_the_same_bits(chain, configure, pd):
    """Three physics steps in a control step, and targets that change: the delay's memory is swapped three times."""
    efforts = {}
    for capture, decimation in (("off", 3), ("require", 3), ("require", 1)):
        config = configure("featherstone", capture=capture, decimation=decimation, actuators=pd)
        with pippin.Simulation(config, prototype=chain()) as simulation:
            legs, seen = simulation.actuators["legs"], []
            for step in range(8):
                legs.position_targets.fill_(0.1 * step)
                simulation.step(3 // decimation)
                seen.append(legs.computed_effort.numpy().copy())
        efforts[capture, decimation] = np.stack(seen)

    assert np.unique(efforts["off", 3][:, 0, 0]).size == 8
    assert np.array_equal(efforts["off", 3], efforts["require", 3])
    assert np.array_equal(efforts["off", 3], efforts["require", 1])


def test_the_program_reports_what_it_repeats_and_what_it_replays(chain, configure, pd):
    config = configure("mujoco", actuators=pd, **STEPS)
    with pippin.Simulation(config, plugins=[Careful()], prototype=chain()) as simulation:
        before = str(simulation.program)
        simulation.step()

        report = str(simulation.program)

    names = Counter(operation.name for operation in simulation.program.operations)
    assert before.startswith("first step still to come on cpu")
    assert report.startswith(f"mixed on cpu: {names.total()} operations in 13 segments")
    assert names["apply_actuators(actuators:legs)"] == 2 + 1  # once per physics step, and one that settles its memory
    assert names["before_substep(plugins:careful)"] == names["step_solver(solver)"] == 6
    assert names["update_sensors(sensors:torso)"] == 0
    assert "before_substep(plugins:careful): plugins:careful declares that it is not capturable" in report


class Witness:
    """Notes every hook that is called, in a log it shares with others."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    @pippin.hookimpl
    def configure_builder(self):
        self.log.append(("configure_builder", self.name))

    @pippin.hookimpl
    def extend_prototype(self):
        self.log.append(("extend_prototype", self.name))

    @pippin.hookimpl
    def complete_builder(self):
        self.log.append(("complete_builder", self.name))

    @pippin.hookimpl
    def bind(self):
        self.log.append(("bind", self.name))

    @pippin.hookimpl
    def close(self):
        self.log.append(("close", self.name))


def test_each_phase_of_the_build_calls_each_component_once_in_order(chain, configure):
    log = []

    pippin.Simulation(configure(), plugins=[Witness("a", log), Witness("b", log)], prototype=chain()).close()

    phases = ["configure_builder", "extend_prototype", "complete_builder", "bind"]
    assert log[:-2] == [(phase, name) for phase in phases for name in "ab"]
    assert log[-2:] == [("close", "b"), ("close", "a")]


def test_assets_from_a_file_are_configured_like_the_worlds(tmp_path, configure):
    """Custom attributes have to exist before the importer reads, and in the builder that the worlds are added to."""
    log, asset = [], tmp_path / "ball.xml"
    asset.write_text('<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')

    pippin.Simulation(configure(scene={"assets": [{"path": str(asset)}]}), plugins=[Witness("a", log)]).close()

    assert [hook for hook, _ in log] == [
        "configure_builder",
        "extend_prototype",
        "configure_builder",
        "complete_builder",
        "bind",
        "close",
    ]


def test_a_component_closes_once(chain, configure):
    log = []
    with pippin.Simulation(configure(), plugins=[Witness("a", log)], prototype=chain()) as simulation:
        pass

    simulation.close()

    assert log.count(("close", "a")) == 1


class Stuck(Witness):
    @pippin.hookimpl
    def close(self):
        super().close()
        raise OSError("the file is gone")


def test_every_component_is_closed_even_where_one_raises(chain, configure):
    log = []
    plugins = [Witness("a", log), Stuck("b", log), Witness("c", log)]
    simulation = pippin.Simulation(configure(), plugins=plugins, prototype=chain())

    with pytest.raises(pippin.PluginError, match=r"^plugins\.stuck: close raised OSError: the file is gone") as caught:
        simulation.close()

    assert isinstance(caught.value.__cause__, OSError)
    assert [name for hook, name in log if hook == "close"] == ["c", "b", "a"]


class Unbound:
    @pippin.hookimpl
    def bind(self):
        raise RuntimeError("no such camera")


def test_a_build_that_fails_closes_what_was_opened(chain, configure):
    log = []

    with pytest.raises(pippin.PluginError, match="no such camera"):
        pippin.Simulation(configure(), plugins=[Witness("a", log), Unbound()], prototype=chain())

    assert log[-1] == ("close", "a")


def test_a_build_that_fails_says_why_even_where_closing_fails_too(chain, configure):
    with pytest.raises(pippin.PluginError, match="no such camera") as caught:
        pippin.Simulation(configure(), plugins=[Stuck("a", []), Unbound()], prototype=chain())

    (note,) = caught.value.__notes__
    assert note.startswith("plugins.stuck: close raised OSError: the file is gone")


def test_after_step_is_called_on_the_host_after_every_step(chain, configure):
    class Recorder:
        def __init__(self):
            self.times = []

        @pippin.hookimpl
        def after_step(self, simulation):
            self.times.append(simulation.time)

    recorder, config = Recorder(), configure(dt=0.001, capture="require", **STEPS)

    with pippin.Simulation(config, plugins=[recorder], prototype=chain()) as simulation:
        simulation.step(4)

    assert simulation.program.is_captured
    assert recorder.times == pytest.approx([0.002, 0.004, 0.006, 0.008])


def test_two_plugins_of_one_class_are_told_apart(chain, configure):
    with pippin.Simulation(configure(), plugins=[Push(), Push()], prototype=chain()) as simulation:
        report = str(simulation.program)

    assert "before_substep(plugins:push)" in report
    assert "before_substep(plugins:push-2)" in report


@attrs.define
class Equal(Push):
    """Equals every other one: attrs compares fields, and there are none."""


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ([Push], r"plugins:push: is a class, .*Push.*; pass an instance of it"),
        ([Careful()] * 2, r"plugins:careful: is the same object as plugins:careful-2; pass another one"),
        ([Equal(), Equal()], r"plugins:equal: equals plugins:equal-2, .*@attrs\.define\(eq=False\)"),
    ],
    ids=["class", "same", "equal"],
)
def test_what_pluggy_would_mistake_is_an_error(plugins, message, chain, configure):
    with pytest.raises(pippin.PluginError, match=message):
        pippin.Simulation(configure(), plugins=plugins, prototype=chain())


def test_a_plugin_without_a_hook_is_an_error(chain, configure):
    class Idle:
        def before_substep(self):
            """Lacks the marker."""

    with pytest.raises(pippin.PluginError, match=r"plugins:idle: class \S*Idle answers no hook; mark its methods"):
        pippin.Simulation(configure(), plugins=[Idle()], prototype=chain())


def test_values_of_a_file_in_place_of_plugins_are_told_where_they_belong(chain, configure):
    with pytest.raises(pippin.PluginError, match=r"plugins:scene\.worlds: .*from_file\(file, overrides\)"):
        pippin.Simulation(configure(), {"scene.worlds": 2}, prototype=chain())


def test_a_misspelt_hook_is_an_error(chain, configure):
    class Typo:
        @pippin.hookimpl
        def before_sbstep(self):
            """Nobody calls it."""

    with pytest.raises(
        pippin.PluginError, match=r"plugins:typo: hook 'before_sbstep' is unknown; did you mean 'before_substep'\?"
    ):
        pippin.Simulation(configure(), plugins=[Typo()], prototype=chain())


def test_a_hook_whose_body_would_never_run_is_an_error(chain, configure):
    class Lazy:
        @pippin.hookimpl
        def before_substep(self):
            """A generator: nobody would take its values."""
            yield

    with pytest.raises(pippin.PluginError, match=r"plugins:lazy: hook 'before_substep' yields, .*wrapper=True"):
        pippin.Simulation(configure(), plugins=[Lazy()], prototype=chain())


def test_a_state_array_that_is_new_at_each_call_is_an_error(chain, configure):
    class Forgetful:
        @pippin.hookimpl
        def before_substep(self):
            """A component."""

        def state_arrays(self):
            return {"charge": wp.zeros(2, device="cpu")}

    with pytest.raises(pippin.PluginError, match=r"plugins:forgetful: state_arrays: 'charge' is a new array at each"):
        pippin.Simulation(configure(), plugins=[Forgetful()], prototype=chain())


def test_a_misspelt_argument_is_an_error(chain, configure):
    class Typo:
        @pippin.hookimpl
        def before_substep(self, stat):
            """There is no such argument."""

    with pytest.raises(pippin.PluginError, match=r"plugins:typo: .*stat"):
        pippin.Simulation(configure(), plugins=[Typo()], prototype=chain())


class OwnSolver:
    """Builds a solver in Python."""

    coordinates = "maximal"

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        return newton.solvers.SolverSemiImplicit(model)


def test_a_plugin_made_in_python_may_build_the_solver(chain, configure):
    own, _ = run(configure(None, capture="require"), chain(), [OwnSolver()])
    named, _ = run(configure("semi-implicit", capture="require"), chain(), [])

    assert own == named


class OwnStep:
    """Steps the solver as the host would."""

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, contacts, dt):
        solver.step(state_in, state_out, control, contacts, dt)


def test_a_plugin_may_step_the_solver_in_the_place_of_the_host(chain, configure):
    own, program = run(configure(capture="require", **STEPS), chain(), [OwnStep()])
    host, _ = run(configure(capture="require", **STEPS), chain(), [])

    assert "step_solver(plugins:ownstep)" in recorded_names(program)
    assert "step_solver(solver)" not in recorded_names(program)
    assert own == host


def test_two_solvers_are_an_error_that_names_both(chain, configure):
    with pytest.raises(pippin.PluginError, match="build_solver: answered by solver and plugins:ownsolver"):
        pippin.Simulation(configure(), plugins=[OwnSolver()], prototype=chain())


def test_two_that_step_the_solver_are_an_error_that_names_both(chain, configure):
    with pytest.raises(pippin.PluginError, match="step_solver: answered by plugins:ownstep and plugins:ownstep-2"):
        pippin.Simulation(configure(), plugins=[OwnStep(), OwnStep()], prototype=chain())


def test_no_solver_at_all_is_an_error_that_lists_those_installed(chain, configure):
    with pytest.raises(pippin.ConfigError, match=r"solver: missing; add a \[solver\] table .*mujoco.*xpbd"):
        pippin.Simulation(configure(None), prototype=chain())


def test_a_solver_that_is_not_returned_is_an_error(chain, configure):
    class Forgetful:
        @pippin.hookimpl
        def build_solver(self, model):
            """Forgets to return it."""

    with pytest.raises(pippin.PluginError, match="plugins:forgetful: build_solver returned None; return the solver"):
        pippin.Simulation(configure(None), plugins=[Forgetful()], prototype=chain())


def test_two_simulations_stepped_by_two_threads_equal_two_alone(chain, configure, pd):
    """Warp records and replays one graph at a time in a process; the simulations take turns by themselves."""
    configs = [configure(solver, actuators=pd, **STEPS) for solver in ("featherstone", "semi-implicit")]
    alone = [run(config, chain(), [Push()], steps=60)[0] for config in configs]

    with ThreadPoolExecutor(2) as pool:
        together = [pool.submit(run, config, chain(), [Push()], steps=60) for config in configs]

    assert [job.result()[0] for job in together] == alone


def test_a_simulation_built_while_another_one_records_is_whole(chain, configure):
    """What a thread launches on a device that is capturing would be recorded and not run; so it waits."""
    alone, _ = run(configure("featherstone"), chain(), [])
    jobs = []

    class Impatient(Push):
        @pippin.hookimpl
        def before_substep(self, state):
            if state.body_f.device.is_capturing and not jobs:
                jobs.append(pool.submit(run, configure("featherstone"), chain(), []))
                wait(jobs, timeout=1.0)
            super().before_substep(state)

    with ThreadPoolExecutor(1) as pool:
        _, program = run(configure(capture="require"), chain(), [Impatient()])

    assert program.is_captured
    assert jobs[0].result()[0] == alone
