"""Hook calls, listed: who answered which hook, in which phase, and what a replay stands for."""

from __future__ import annotations

import csv
import re
import time
from collections import Counter
from pathlib import Path

import newton
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.components.tracing import HookTrace
from pippin.hookspecs import Hooks

DECIMATION, SUBSTEPS = 2, 3


class Push:
    """Answers hooks of every kind and does nothing but sleep once."""

    @pippin.hookimpl
    def bind(self):
        time.sleep(0.05)

    @pippin.hookimpl
    def before_substep(self):
        pass

    @pippin.hookimpl
    def after_step(self):
        pass

    @pippin.hookimpl
    def reset_worlds(self):
        pass

    @pippin.hookimpl
    def close(self):
        pass


class Watch:
    """Wraps a hook, which then goes through pluggy."""

    @pippin.hookimpl(wrapper=True)
    def before_substep(self):
        return (yield)


@pytest.fixture
def traced(configure, chain):
    """Return a function that steps a simulation of the chain with some plugins, and returns its trace."""

    def run(*plugins, capture="require", steps=3) -> HookTrace:
        trace = HookTrace()
        config = configure("featherstone", dt=0.002, decimation=DECIMATION, substeps=SUBSTEPS, capture=capture)
        with pippin.Simulation(config, plugins, chain(1), trace=trace) as simulation:
            simulation.step(steps)
            simulation.reset()
        return trace

    return run


def counts(trace: HookTrace, owner: str = "plugins:push") -> dict[tuple[str, str], int]:
    return Counter((call.phase, call.hook) for call in trace.calls if call.owner == owner)


def test_a_captured_step_calls_its_hooks_only_until_it_is_captured(traced):
    found = counts(traced(Push()))

    per_step = DECIMATION * SUBSTEPS
    assert found == {
        ("build", "bind"): 1,
        ("rehearsal", "before_substep"): per_step,
        ("first step", "before_substep"): per_step,
        ("recording", "before_substep"): per_step,
        ("comparison", "before_substep"): 3 * per_step,
        ("later steps", "after_step"): 3,
        ("later steps", "reset_worlds"): 1,
        ("close", "close"): 1,
    }


def test_a_replay_is_listed_with_what_it_replays(traced):
    replays = [call for call in traced(Push()).calls if call.hook == "replay"]

    assert [call.phase for call in replays] == 2 * ["later steps"]
    assert replays[0].owner.endswith(" operations: keep_forces … monitor")


def test_without_capture_every_step_calls_its_hooks(traced):
    trace = traced(Push(), capture="off")

    assert counts(trace)["later steps", "before_substep"] == 2 * DECIMATION * SUBSTEPS
    assert not [call for call in trace.calls if call.hook == "replay"]


def test_the_host_is_named_where_it_steps_the_solver(traced):
    found = counts(traced(Push()), "host: StableFeatherstone")

    assert found["first step", "step_solver"] == DECIMATION * SUBSTEPS
    assert found["rehearsal", "step_solver"] == DECIMATION * SUBSTEPS + 1  # to compile, and to see what it writes


def test_wrapped_components_are_one_call_that_names_them_all(traced):
    found = counts(traced(Push(), Watch()), "plugins:watch > plugins:push")

    assert found["recording", "before_substep"] == DECIMATION * SUBSTEPS


class Everything:
    """Answers every hook of the contract."""

    @pippin.hookimpl
    def configure_builder(self):
        pass

    @pippin.hookimpl
    def fill_prototype(self):
        pass

    @pippin.hookimpl
    def extend_prototype(self):
        pass

    @pippin.hookimpl
    def complete_builder(self):
        pass

    @pippin.hookimpl
    def check_model(self):
        return ()

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def initialize_contacts(self):
        return None

    @pippin.hookimpl
    def bind(self):
        pass

    @pippin.hookimpl
    def start_step(self):
        pass

    @pippin.hookimpl
    def apply_actuators(self):
        pass

    @pippin.hookimpl
    def after_substep(self):
        pass

    @pippin.hookimpl
    def before_substep(self):
        pass

    @pippin.hookimpl
    def end_step(self):
        pass

    @pippin.hookimpl
    def observe(self):
        pass

    @pippin.hookimpl
    def initialize_worlds(self):
        pass

    @pippin.hookimpl
    def step_solver(self, solver, state_in, state_out, control, contacts, dt):
        solver.step(state_in, state_out, control, contacts, dt)

    @pippin.hookimpl
    def update_sensors(self):
        pass

    @pippin.hookimpl
    def after_step(self):
        pass

    @pippin.hookimpl
    def reset_worlds(self):
        pass

    @pippin.hookimpl
    def notify_model_changed(self):
        pass

    @pippin.hookimpl
    def close(self):
        pass


PROTOTYPES = 2
BUILDERS = 2  # that of all worlds, and an empty one that shows what the solver registers; none of assets
HOW_OFTEN = {
    "once": 1,
    "once for each builder": BUILDERS,
    "once for each prototype": PROTOTYPES,
    "`decimation` times": DECIMATION,
    "`decimation` × `substeps` times": DECIMATION * SUBSTEPS,
}


def test_the_hooks_page_says_when_and_how_often_each_hook_is_called(configure, chain):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "hooks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([\w ]+) \| `(\w+)` \| (.*) \| (yes|no) \|$", page, re.MULTILINE)
    trace = HookTrace()
    config = configure(None, scene={"worlds": 2}, decimation=DECIMATION, substeps=SUBSTEPS)

    with pippin.Simulation(config, [Everything()], [(chain(1), 1), (chain(2), 1)], trace=trace) as simulation:
        simulation.step()
        simulation.reset()
        simulation.services.notify_solver(newton.ModelFlags.MODEL_PROPERTIES)

    found = counts(trace, "plugins:everything")
    phases = {"build": "build", "control step": "first step", "end": "close"}
    told = {
        (phases.get(when, "later steps"), hook): HOW_OFTEN[often]
        for when, hook, often, _ in rows
        if hook != "frame"  # when one is due: tests/step/test_host_schedule.py
    }
    told["later steps", "observe"] = 1  # after the reset, as the page's section on it says
    assert told == {
        key: count for key, count in found.items() if key[0] not in ("rehearsal", "recording", "comparison")
    }
    recorded = {hook for *_, hook, _, graph in rows if graph == "yes"}
    assert recorded - {"notify_model_changed"} == {hook for phase, hook in found if phase == "recording"}
    assert [hook for _, hook, *_ in rows] == [name for name in vars(Hooks) if not name.startswith("_")]


def test_times_are_those_of_the_calls_in_their_order(traced):
    trace = traced(Push())

    (bind,) = [call for call in trace.calls if call.hook == "bind"]
    assert 0.05 <= bind.seconds < 5.0
    starts = [call.start for call in trace.calls]
    assert starts == sorted(starts)


def test_a_hook_that_raises_is_listed(configure, chain):
    class Broken:
        @pippin.hookimpl
        def bind(self):
            raise RuntimeError

    trace = HookTrace()
    with pytest.raises(pippin.PluginError):
        pippin.Simulation(configure("featherstone"), [Broken()], chain(1), trace=trace)

    assert counts(trace, "plugins:broken") == {("build", "bind"): 1}


def test_nothing_is_timed_where_there_is_no_trace(configure, chain, monkeypatch):
    monkeypatch.setattr(pippin.HookTrace, "timed", lambda *_: pytest.fail("a call is wrapped"))
    with pippin.Simulation(configure("featherstone"), [Push()], chain(1)) as simulation:
        simulation.step()

    with pytest.raises(pytest.fail.Exception, match="a call is wrapped"):
        pippin.Simulation(configure("featherstone"), [Push()], chain(1), trace=pippin.HookTrace())


def test_a_run_prints_a_table_and_leaves_every_call_in_its_folder(examples: Path, tmp_path: Path):
    file, folder = examples / "cartpole.toml", tmp_path / "out"
    options = ["--steps", "2", "--set", "scene.worlds=1", "--set", "simulation.device='cpu'", "--out", str(folder)]

    result = CliRunner().invoke(main, ["run", str(file), "--trace-hooks", *options])

    lines = result.stdout.splitlines()
    head = next(index for index, line in enumerate(lines) if line.startswith("phase "))
    assert lines[head].split("  ")[-1] == "total [ms]"
    assert lines[head + 1].split()[:2] == ["build", "extend_prototype"]
    with (folder / "hooks.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["phase"] for row in rows} >= {"build", "first step", "recording", "comparison", "later steps"}
    assert sum(float(row["seconds"]) for row in rows if row["hook"] == "build_solver") > 0.0


def test_a_run_leaves_no_list_of_calls_unless_asked(examples: Path, tmp_path: Path):
    options = ["--steps", "1", "--set", "scene.worlds=1", "--out", str(tmp_path / "out")]

    CliRunner().invoke(main, ["run", str(examples / "cartpole.toml"), *options])

    assert not (tmp_path / "out" / "hooks.csv").exists()
