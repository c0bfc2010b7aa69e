"""Exceptions of plugins: what names the component, the hook and the place, and what keeps the exception."""

import inspect
import pickle
import re
from pathlib import Path

import pippin
import pytest
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.hookspecs import Hooks

BUILD = (
    "configure_builder",
    "fill_prototype",
    "extend_prototype",
    "complete_builder",
    "check_model",
    "initialize_contacts",
    "bind",
)
STEP = (
    "start_step",
    "apply_actuators",
    "before_substep",
    "after_substep",
    "update_sensors",
    "end_step",
    "observe",
    "after_step",
)
LATER = ("initialize_worlds", "reset_worlds", "notify_model_changed", "close")
LOOKING = ("frame",)  # what it raises ends nothing: tests/step/test_host_schedule.py
SOLVER = ("build_solver", "step_solver")


BOOM = KeyError("boom")


def raising(hook, error=BOOM):
    """Return an object that raises in a hook."""

    def answer(self):
        raise error

    answer.__name__ = hook
    return type("Bad", (), {hook: pippin.hookimpl(answer)})()


@pytest.fixture(scope="module")
def prototype():
    import newton
    from pippin_conformance import scenes

    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0)
    return builder


def live(configure, prototype, plugin, solver="semi-implicit"):
    """Build, step, reset and close."""
    with pippin.Simulation(
        configure(solver, capture="off"), plugins={"bad": plugin}, prototype=prototype
    ) as simulation:
        simulation.step()
        simulation.reset()
        simulation.notify_model_changed(1)
        simulation.step()


def test_every_hook_is_tried():
    hooks = {name for name, _ in inspect.getmembers(Hooks, inspect.isfunction)}

    assert {*BUILD, *STEP, *LATER, *LOOKING, *SOLVER} == hooks


@pytest.mark.parametrize("hook", [*BUILD, *STEP, *LATER])
def test_an_exception_in_a_hook_names_component_hook_class_and_line(configure, prototype, hook):
    line = rf"{Path(__file__).name}:\d+"
    told = rf"^plugins\.bad: {hook} raised KeyError: 'boom' \(class Bad, {line}\); correct the plugin"

    with pytest.raises(pippin.PluginError, match=told) as caught:
        live(configure, prototype, raising(hook))

    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.owner == "plugins:bad"


def test_a_solver_that_raises_in_a_step_is_named(configure, prototype):
    with pytest.raises(pippin.PluginError, match=r"^plugins\.bad: step_solver raised KeyError"):
        live(configure, prototype, raising("step_solver"))


def test_a_solver_that_raises_while_it_is_built_is_named(configure, prototype):
    with pytest.raises(pippin.PluginError, match=r"^plugins\.bad: build_solver raised KeyError"):
        live(configure, prototype, raising("build_solver"), solver=None)


def test_a_solver_that_refuses_a_model_is_a_fault_of_the_file(configure, prototype):
    with pytest.raises(pippin.ConfigError, match=r"^plugins\.bad: refused this model or these settings: no planes"):
        live(configure, prototype, raising("build_solver", NotImplementedError("no planes")), solver=None)


@pytest.mark.parametrize("hook", ["bind", "after_step", "reset_worlds"])
def test_a_fault_of_the_file_stays_one_and_gets_its_place(configure, prototype, hook):
    with pytest.raises(pippin.ConfigError, match=r"^plugins\.bad\.force: expected newtons, got 'x'$"):
        live(configure, prototype, raising(hook, pippin.ConfigError("force: expected newtons, got 'x'")))


def test_a_refused_change_of_the_model_is_told_with_its_flags_and_a_cure(configure, prototype):
    told = (
        r"^solver\.notify_model_changed: solver 'semi-implicit' refuses a change of JOINT_PROPERTIES: no joints; write"
    )

    with pytest.raises(pippin.ConfigError, match=told):
        live(configure, prototype, raising("notify_model_changed", NotImplementedError("no joints")))


@pytest.mark.parametrize(
    ("hook", "answer", "told"),
    [
        ("build_solver", 3, "build_solver returned 3; return the solver of the model"),
        ("initialize_contacts", 3, r"initialize_contacts returned 3; return a pippin\.solving\.ContactSource, or None"),
        ("check_model", 3, "check_model returned 3; return a sequence of faults"),
        ("check_model", "no", "check_model returned 'no'; return a sequence of faults"),
        ("check_model", [3], r"check_model returned \[3\]; return a sequence of faults"),
    ],
)
def test_an_answer_of_a_wrong_type_is_told_with_what_to_return(configure, prototype, hook, answer, told):
    wrong = type("Bad", (), {hook: pippin.hookimpl(lambda self: answer)})()

    with pytest.raises(pippin.PluginError, match=rf"^plugins:bad: {told}"):
        live(configure, prototype, wrong, solver=None if hook == "build_solver" else "semi-implicit")


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("actuated_dofs", [0], r"actuated_dofs: expected a Warp array or None, got \[0\]"),
        ("ended_worlds", [0], r"ended_worlds: expected a Warp array or None, got \[0\]"),
        ("joint_labels", "hip", "joint_labels: expected a collection of names, got 'hip'"),
        ("outputs", [1], r"outputs: expected a mapping of pippin\.sensing\.Output, got \[1\]"),
        ("outputs", {"a": 3}, r"outputs: 'a' is not a pippin\.sensing\.Output, got 3"),
        ("state_arrays", lambda: [1], r"state_arrays: expected a mapping of Warp arrays, got \[1\]"),
    ],
)
def test_an_attribute_of_a_wrong_type_names_its_component(attribute, value, told):
    component = type("Bad", (), {attribute: staticmethod(value) if callable(value) else value})()
    attributes = RuntimeAttributes(component, "sensors:bad")

    with pytest.raises(pippin.PluginError, match=rf"^sensors:bad: {told}") as caught:
        attributes.state_arrays() if attribute == "state_arrays" else getattr(attributes, attribute)

    assert caught.value.owner == "sensors:bad", "whoever reads it is not blamed"


def test_a_failed_simulation_is_told_as_it_is(configure, prototype):
    with pytest.raises(pippin.SimulationError, match=r"^world 0: broke\n") as caught:
        live(configure, prototype, raising("after_step", pippin.SimulationError("world 0: broke")))

    assert caught.value.__notes__ == ["raised in after_step of plugins:bad"]


class Around:
    """Wraps a hook, and raises before or after it."""

    def __init__(self, is_first):
        self.is_first = is_first

    @pippin.hookimpl(wrapper=True)
    def before_substep(self):
        if self.is_first:
            raise KeyError("boom")
        yield
        raise KeyError("boom")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_wrapper_that_raises_is_named(configure, prototype, is_first):
    with pytest.raises(
        pippin.PluginError, match=r"^plugins\.bad: before_substep raised KeyError: 'boom' \(class Around"
    ):
        live(configure, prototype, Around(is_first))


def test_what_raises_inside_a_wrapper_is_named_and_not_the_wrapper(configure, prototype):
    class Passing:
        @pippin.hookimpl(wrapper=True)
        def before_substep(self):
            return (yield)

    plugins = {"around": Passing(), "bad": raising("before_substep")}

    with pytest.raises(pippin.PluginError) as caught:
        pippin.Simulation(configure(capture="off"), plugins=plugins, prototype=prototype).step()

    assert str(caught.value).startswith("plugins.bad: before_substep raised KeyError")


def test_an_attribute_that_raises_is_named(configure, prototype):
    class Bad:
        @pippin.hookimpl
        def bind(self):
            """Do nothing."""

        def state_arrays(self):
            return {}["missing"]

    with pytest.raises(pippin.PluginError, match=r"^plugins\.bad: state_arrays raised KeyError: 'missing'"):
        live(configure, prototype, Bad())


def test_an_exception_while_a_step_is_recorded_makes_it_eager_with_the_reason(configure, prototype):
    class Shy:
        @pippin.hookimpl
        def before_substep(self, state):
            if state.body_q.device.is_capturing:
                raise KeyError("not now")

    simulation = pippin.Simulation(configure(), plugins={"shy": Shy()}, prototype=prototype)

    with simulation, pytest.warns(pippin.CaptureWarning, match=r"before_substep\(plugins:shy\) .* \('not now'\)"):
        simulation.step()


def test_a_long_exception_is_cut_in_the_message_only(configure, prototype):
    with pytest.raises(pippin.PluginError) as caught:
        live(configure, prototype, raising("bind", RuntimeError("word " * 1000)))

    assert len(str(caught.value)) < 600
    assert len(str(caught.value.__cause__)) == 5000


ARM = """
[simulation]
device = "cpu"
accept_unsupported = ["armature"]

[solver]
type = "{solver}"

[actuators.legs]
type = "pd"
kp = 1.0
joints = [
  "{joints}",
]
"""


@pytest.mark.parametrize(
    ("solver", "joints", "told"),
    [
        ("xpbd", "nope", r"arm\.toml:12: actuators\.legs\.joints: no joint matches 'nope'"),
        ("style3d", ".*", r"arm\.toml:6: solver: 'style3d' does not support "),
    ],
)
def test_a_fault_of_the_file_that_the_build_finds_has_file_and_line(tmp_path, chain, solver, joints, told):
    file = tmp_path / "arm.toml"
    file.write_text(ARM.format(solver=solver, joints=joints))

    with pytest.raises(pippin.ConfigError, match=told) as caught:
        pippin.Simulation.from_file(file, prototype=chain(1))

    assert all(line.startswith(str(file)) for line in caught.value.faults)


def test_plugins_are_reached_by_label(configure, prototype):
    class Calm:
        @pippin.hookimpl
        def after_step(self):
            """Do nothing."""

    calm = Calm()
    with pippin.Simulation(configure(capture="off"), {"calm": calm}, prototype) as simulation:
        reached = simulation.plugins

    assert list(reached) == ["calm"]
    assert reached["calm"] is calm


def test_an_error_of_another_process_is_made_again_with_its_faults():
    error = pippin.BufferOverflowError("solver.njmax: full", needed={"njmax": 30})
    error.restate(lambda fault: f"arm.toml:3: {fault}")

    again = pickle.loads(pickle.dumps(error))

    assert (str(again), again.needed) == ("arm.toml:3: solver.njmax: full", {"njmax": 30})
    assert re.match("arm", again.faults[0])
