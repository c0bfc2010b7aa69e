"""Compiling ahead: the modules of a build and of a step are ready before they launch, and nothing else has changed."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pippin
import pytest
import warp as wp
import warp.fem as fem
from pippin.devices import start_warp
from pippin.state.snapshot import Snapshot
from pippin.state.step_data import StateRecord
from pippin.step.compilation import compiling_together, noting_launches
from pippin.step.program import Program

NUMBERS = itertools.count()


class Loads:
    """A Warp logger that keeps which modules were loaded."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, message: str) -> None:
        if message.startswith("Module "):
            self.lines.append(message)

    debug = warning = error = lambda self, message, *_, **__: None


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loads]:
    logger = Loads()
    start_warp()
    monkeypatch.setattr(wp.config, "log_level", wp.LOG_INFO)
    wp.set_logger(logger)
    yield logger
    wp.set_logger(None)


class Fresh:
    """A plugin whose kernel no test has loaded yet; it counts its launches on the device."""

    def __init__(self) -> None:
        @wp.kernel(module=wp.Module(f"fresh_{next(NUMBERS)}"))
        def count_up(counter: wp.array[int]):
            counter[0] += 1

        self.kernel = count_up

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        self.device = simulation.device
        self.counter = wp.zeros(1, dtype=int, device=self.device)

    @pippin.hookimpl
    def before_substep(self) -> None:
        wp.launch(self.kernel, 1, [self.counter], device=self.device)


class Unknown(Fresh):
    """A plugin whose kernel no kernel cache has."""

    def __init__(self) -> None:
        super().__init__()
        one = wp.constant(1 + (time.time_ns() & 0x3FFFFFFF))

        @wp.kernel(module=wp.Module(f"unknown_{next(NUMBERS)}"))
        def count_up(counter: wp.array[int]):
            counter[0] += wp.min(one, 1)

        self.kernel = count_up


class Waiting(Fresh):
    """A plugin that waits on the host for what its kernel does."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self) -> None:
        before = self.counter.numpy()[0]
        while self.counter.numpy()[0] == before:
            wp.launch(self.kernel, 1, [self.counter], device=self.device)


class Looping(Fresh):
    """A plugin that loops on the device until its kernel has cleared a flag, and launches another kernel then."""

    def __init__(self) -> None:
        super().__init__()
        self.last = Fresh().kernel

        @wp.kernel(module=wp.Module(f"fresh_{next(NUMBERS)}"))
        def clear(flag: wp.array[int]):
            flag[0] = 0

        self.clear = clear

    @pippin.hookimpl
    def before_substep(self) -> None:
        flag = wp.ones(1, dtype=int, device=self.device)
        wp.capture_while(flag, lambda: wp.launch(self.clear, 1, [flag], device=self.device))
        wp.launch(self.last, 1, [self.counter], device=self.device)


class Demanding(Fresh):
    """A plugin that does not accept that its kernel has not run."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self) -> None:
        before = self.counter.numpy()[0]
        wp.launch(self.kernel, 1, [self.counter], device=self.device)
        if self.counter.numpy()[0] == before:
            raise RuntimeError("nothing was counted")


def build(configure: Callable[..., Any], chain: Callable[..., Any], *plugins: Any, **tables: Any) -> pippin.Simulation:
    return pippin.Simulation(configure(**tables), plugins=plugins, prototype=chain())


def test_every_module_is_loaded_before_the_first_step(
    configure: Callable[..., Any], chain: Callable[..., Any], loads: Loads
) -> None:
    simulation = build(configure, chain, Fresh())
    del loads.lines[:]

    simulation.program.compile()
    assert any("fresh_" in line for line in loads.lines)

    del loads.lines[:]
    simulation.step()
    assert loads.lines == []


def test_no_kernel_runs_while_compiling(configure: Callable[..., Any], chain: Callable[..., Any]) -> None:
    fresh = Fresh()
    simulation = build(configure, chain, fresh)

    simulation.program.compile()

    assert fresh.counter.numpy()[0] == 0
    assert simulation.step_count == 0
    assert not simulation.program.is_recorded


@pytest.mark.first_cases(2)
def test_compiling_ahead_changes_no_bit(
    configure: Callable[..., Any], chain: Callable[..., Any], pd: dict[str, Any], solver: str
) -> None:
    ahead, plain = (build(configure, chain, solver=solver, actuators=pd) for _ in range(2))

    ahead.program.compile()
    ahead.step(5)
    plain.step(5)

    for name in ("joint_q", "joint_qd", "body_q", "body_qd"):
        np.testing.assert_array_equal(getattr(ahead.state, name).numpy(), getattr(plain.state, name).numpy())
    assert ahead.program.is_captured


def test_progress_counts_from_none_to_all(configure: Callable[..., Any], chain: Callable[..., Any]) -> None:
    reports: list[str] = []

    count = build(configure, chain, Fresh()).program.compile(reports.append)

    assert reports[0] == f"0 of {count}"
    assert reports[-1] == f"{count} of {count}"
    assert count > 1


def test_a_module_that_takes_long_is_named_with_its_seconds(
    configure: Callable[..., Any], chain: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh, reports, load = Fresh(), list[str](), wp.force_load

    def load_slowly(device: Any, modules: list[wp.Module], **options: Any) -> None:
        time.sleep(3.2 if modules[0] is fresh.kernel.module else 0.0)
        load(device, modules=modules, **options)

    simulation = build(configure, chain, fresh)
    monkeypatch.setattr(wp, "force_load", load_slowly)
    simulation.program.compile(reports.append)

    name = ".".join(fresh.kernel.module.name.split(".")[-2:])
    assert any(report.endswith(f", {name} {seconds} s") for report in reports for seconds in (2, 3))


@pytest.mark.parametrize("plugin", [Waiting, Demanding])
def test_what_declares_that_it_needs_results_of_kernels_is_not_rehearsed(
    configure: Callable[..., Any], chain: Callable[..., Any], loads: Loads, plugin: type[Fresh]
) -> None:
    fresh = plugin()
    simulation = build(configure, chain, fresh)

    simulation.program.compile()
    assert not any("fresh_" in line for line in loads.lines)

    simulation.step()
    assert fresh.counter.numpy()[0] == 1


def test_what_follows_a_device_side_loop_is_compiled_too(
    configure: Callable[..., Any], chain: Callable[..., Any], loads: Loads
) -> None:
    simulation = build(configure, chain, Looping(), capture="off")

    simulation.program.compile()
    assert sum("fresh_" in line for line in loads.lines) == 2

    del loads.lines[:]
    simulation.step()
    assert loads.lines == []


def test_launches_of_other_threads_run_meanwhile(configure: Callable[..., Any], chain: Callable[..., Any]) -> None:
    other = Fresh()
    counter = wp.zeros(1, dtype=int, device="cpu")

    class Bystander(Fresh):
        @pippin.hookimpl
        def before_substep(self) -> None:
            launch = threading.Thread(target=wp.launch, args=(other.kernel, 1, [counter]), kwargs={"device": "cpu"})
            launch.start()
            launch.join()

    build(configure, chain, Bystander()).program.compile()

    assert counter.numpy()[0] == 1


def test_a_launch_that_a_rehearsal_interrupts_keeps_its_own_arguments() -> None:
    """`warp.fem` has one set of arguments for each kernel, and a kernel that another rehearsal left is not compiled."""
    written = [wp.zeros(4, dtype=int, device="cpu") for _ in range(3)]
    one, rehearsals = wp.constant(1 + (time.time_ns() & 0x3FFFFFFF)), []  # so that no kernel cache has it

    @fem.integrand
    def mark(s: fem.Sample, domain: fem.Domain, array: wp.array(dtype=int)):
        array[s.qp_index] = wp.min(one, 1)

    def call(array: wp.array) -> None:
        fem.interpolate(mark, at=fem.Cells(fem.Grid2D(wp.vec2i(2))), dim=4, values={"array": array}, device="cpu")

    def rehearsed() -> Any:
        rehearsals.append(call(written[1]))
        raise RuntimeError

    with noting_launches(lambda *_: None):
        call(written[0])
    with compiling_together(rehearsed):
        call(written[2])

    assert len(rehearsals) == 1
    assert [array.numpy().tolist() for array in written] == [[0] * 4, [0] * 4, [1] * 4]


def compiled_by(records: list[Any]) -> list[str]:
    return [record.getMessage() for record in records if record.name == "pippin.step.compilation"]


def test_a_first_step_that_misses_a_module_is_taken_back_and_compiles_all(
    configure: Callable[..., Any], chain: Callable[..., Any], pd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pippin")
    known, unknown = Fresh(), Unknown()
    simulation = build(configure, chain, known, unknown, actuators=pd)
    plain = build(configure, chain, actuators=pd)

    simulation.step(3)
    texts = compiled_by(caplog.records)
    plain.step(3)

    count = int(texts[0].split()[-1])
    assert count > 1
    assert (texts[0], texts[-1]) == (f"compile  0 of {count}", f"compile  {count} of {count}")
    assert (known.counter.numpy()[0], unknown.counter.numpy()[0]) == (3, 3)
    np.testing.assert_array_equal(simulation.state.joint_q.numpy(), plain.state.joint_q.numpy())
    assert simulation.program.is_captured


def test_a_first_step_from_the_cache_is_not_rehearsed(
    configure: Callable[..., Any], chain: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pippin")
    build(configure, chain).step()
    del caplog.records[:]

    build(configure, chain).step()

    assert compiled_by(caplog.records) == []


@pytest.mark.slow
def test_what_must_not_be_called_twice_is_compiled_before(
    configure: Callable[..., Any], chain: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "pippin")
    once, unknown = Waiting(), Unknown()

    build(configure, chain, once, unknown).step()

    assert compiled_by(caplog.records)
    assert (once.counter.numpy()[0], unknown.counter.numpy()[0]) == (1, 1)


@pytest.mark.slow
def test_a_build_that_misses_a_module_is_rehearsed_once(
    loads: Loads, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    device, first, second = wp.get_device("cpu"), Fresh(), Fresh()
    counter, built = wp.zeros(1, dtype=int, device=device), []
    program = Program([], device=device, policy="off", save=lambda: Snapshot({}), observe=lambda: StateRecord({}, {}))

    def launch() -> AbstractContextManager[Any]:
        for fresh in (first, second):
            wp.launch(fresh.kernel, 1, [counter], device=device)
        built.append(len([line for line in loads.lines if "fresh_" in line]))
        return nullcontext(SimpleNamespace(program=program))

    with compiling_together(launch):
        launch()

    assert built == [0, 2]  # the rehearsal loads nothing; then both modules are there at the first launch
    assert sum("fresh_" in line for line in loads.lines) == 2
    assert counter.numpy()[0] == 2


class Recompiled(Unknown):
    """A plugin whose kernel no kernel cache has, and which runs in the build."""

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        super().bind(simulation)
        wp.launch(self.kernel, 1, [self.counter], device=self.device)


def test_a_rehearsal_builds_two_worlds_of_each_prototype(
    configure: Callable[..., Any], chain: Callable[..., Any]
) -> None:
    counts = []

    class Noting(pippin.Simulation):
        def __init__(self, config: pippin.SimulationConfig, *arguments: Any, **options: Any) -> None:
            counts.append(config.scene.worlds)
            super().__init__(config, *arguments, **options)

    for prototype in (chain(), [(chain(), 5), (chain(link_count=3), 2)], [(chain(), 7)]):
        with Noting(configure(scene={"worlds": 7}), [Recompiled()], prototype=prototype):
            pass

    assert counts == [7, 2, 7, 4, 7, 2]


def test_a_build_from_the_cache_is_not_rehearsed(configure: Callable[..., Any], chain: Callable[..., Any]) -> None:
    calls = []

    with compiling_together(lambda: calls.append(1)):
        wp.zeros(1, dtype=int, device="cpu").fill_(1)

    assert calls == []


@pytest.mark.slow
def test_the_rehearsal_of_a_build_finds_all_that_the_build_and_the_step_launch(tmp_path: Path) -> None:
    """In a process of its own with an empty kernel cache: no module of the cartpole compiles alone.

    Warp compiles faster without optimisation.
    """
    file = Path(__file__).parents[2] / "docs/examples/cartpole.toml"
    code = f"""
import threading, pippin, warp as wp
config, alone = pippin.load({str(file)!r}, {{"scene.worlds": 2}}), []
def log(self, message, *_, **__):
    if "(compiled)" in message and threading.current_thread() is threading.main_thread():
        alone.append(message)
Logger = type("Logger", (), dict.fromkeys(("info", "debug", "warning", "error"), log))
wp.set_logger(Logger())
wp.config.mode = "debug"
with pippin.Simulation(config) as simulation:
    simulation.step(2)
print(alone)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"WARP_CACHE_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "[]"
