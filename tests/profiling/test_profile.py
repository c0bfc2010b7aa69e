"""The time of a control step, taken apart: what is measured is what runs, and measuring leaves no trace."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.profiling.profile import profile

DECIMATION, SUBSTEPS, STEPS = 2, 3, 4
PAUSE = 0.002
"""What the slow plugin adds to each call [s]."""


class Slow:
    """Sleeps in every substep."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self):
        time.sleep(PAUSE)


@pytest.fixture
def build(configure, chain, pd, device):
    """Return a function that builds a driven chain with some plugins, and takes its first step."""

    def build(*plugins, **options):
        step = {"dt": 0.002, "decimation": DECIMATION, "substeps": SUBSTEPS, "device": device, **options}
        config = configure("featherstone", scene={"worlds": 2}, actuators=pd, **step)
        simulation = pippin.Simulation(config, plugins, chain(2))
        simulation.step()
        return simulation

    return build


def test_operations_one_by_one_give_the_bits_of_the_step(build):
    simulation = build()
    segments = simulation.program.record_apart([(operation,) for operation in simulation.program.operations])
    calls = [call for segment in segments for call in segment.calls()]

    with simulation.program.undone():
        for call in calls * 3:
            call()
        apart = simulation.state_record()
    simulation.step(3)

    assert all(segment.graph is not None for segment in segments)
    assert len(segments) == len(simulation.program.operations)
    assert simulation.state_record() == apart


def test_measuring_leaves_the_simulation_as_it_was(build):
    simulation, twin = build(), build()
    before = simulation.state_record()

    profile(simulation, STEPS)

    assert simulation.state_record() == before
    simulation.step(2)
    twin.step(2)
    assert simulation.state_record() == twin.state_record()


def test_every_operation_of_the_step_is_there_as_often_as_it_runs(build):
    simulation = build()

    found = {operation.name: operation for operation in profile(simulation, STEPS).operations}

    assert list(found) == list(dict.fromkeys(operation.name for operation in simulation.program.operations))
    assert found["step_solver(solver)"].count == DECIMATION * SUBSTEPS
    assert all(operation.is_captured and operation.seconds > 0.0 for operation in found.values())


@pytest.mark.parametrize("capture", ["auto", "off"])
def test_time_is_told_of_who_takes_it(build, capture):
    found = profile(build(Slow(), capture=capture), STEPS)

    slow = next(operation for operation in found.operations if operation.name == "before_substep(plugins:slow)")
    assert not slow.is_captured
    # A sleep is never shorter than asked for.
    paused = PAUSE * DECIMATION * SUBSTEPS
    assert slow.seconds >= paused
    assert found.whole_seconds >= paused
    assert found.sum_seconds >= slow.seconds
    assert {operation.name for operation in found.operations if operation.is_captured} == (
        set() if capture == "off" else {operation.name for operation in found.operations} - {slow.name}
    )


def test_what_is_due_now_and_then_says_so(build):
    class Rare:
        period = 3 * DECIMATION * 0.002

        @pippin.hookimpl
        def update_sensors(self):
            pass

    found = profile(build(Rare()), STEPS)

    assert {operation.name: operation.period for operation in found.operations if operation.period != 1} == {
        "update_sensors(plugins:rare)": 3
    }


def test_a_simulation_that_has_not_stepped_is_refused(configure, chain):
    simulation = pippin.Simulation(configure("featherstone"), prototype=chain(1))

    with pytest.raises(pippin.SimulationError, match="nothing is captured before the first step; call `step` once"):
        profile(simulation, STEPS)


def test_the_trace_has_every_measured_step_in_its_order(build):
    simulation = build()

    events = profile(simulation, STEPS).trace_events()["traceEvents"]

    rows = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert rows == {1: "operations, one by one", 2: "whole steps"}
    operations = [event for event in events if event["ph"] == "X" and event["tid"] == 1]
    assert [event["name"] for event in operations] == STEPS * [each.name for each in simulation.program.operations]
    assert len([event for event in events if event["ph"] == "X" and event["tid"] == 2]) == STEPS
    for event, after in pairwise(operations):
        assert event["ts"] + event["dur"] <= after["ts"] + 1e-3  # [µs]: the next one begins where one ends


def test_the_command_prints_a_table_and_leaves_numbers_and_a_trace(examples: Path, tmp_path: Path):
    file, folder = examples / "cartpole.toml", tmp_path / "out"
    options = ["--steps", "2", "--set", "scene.worlds=1", "--set", "simulation.device='cpu'"]

    result = CliRunner().invoke(main, ["profile", str(file), *options, "--out", str(folder)])

    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    head = lines.index("operation runs calls launches time share")
    assert lines[head + 1].startswith("step_solver(solver) from a graph ")
    assert [line.rsplit(" ", 2)[0] for line in lines[-5:-1]][1:] == [
        "of it the clock's",
        "the whole step",
        "not explained",
    ]
    assert {path.name for path in folder.iterdir()} == {"profile.json", "trace.json"}
    numbers = json.loads((folder / "profile.json").read_text())
    assert numbers["sum_seconds"] == pytest.approx(sum(each["seconds"] for each in numbers["operations"]))
    assert json.loads((folder / "trace.json").read_text())["traceEvents"]


def test_the_command_s_json_is_the_numbers_and_where_they_lie(examples: Path, tmp_path: Path):
    file, folder = examples / "cartpole.toml", tmp_path / "out"
    options = ["--steps", "2", "--set", "scene.worlds=1", "--set", "simulation.device='cpu'", "--json"]

    result = CliRunner().invoke(main, ["profile", str(file), *options, "--out", str(folder)])

    told = json.loads(result.stdout)
    assert told.pop("run_folder") == str(folder)
    assert told == json.loads((folder / "profile.json").read_text())
