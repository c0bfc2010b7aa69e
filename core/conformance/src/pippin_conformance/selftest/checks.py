"""The checks of a self-test: each is a function that returns what it found in words, or raises."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import Checkpoint, Replay, Simulation, SimulationError, structure
from pippin.arrays import on_host, present
from pippin.catalog import Catalog
from pippin.config import dump_toml
from pippin.devices import find_device
from pippin.diagnosis import gpu_report
from pippin.export import export_step
from pippin.workers import usable_cores

import pippin_conformance as conformance
from pippin_conformance.observation import StateSnapshot, advance, begin_anew, see, start, step
from pippin_conformance.outcomes import NotApplicableError
from pippin_conformance.plugin_under_test import PluginUnderTest

from .figures import measure_speed
from .rows import Case, WrongResult
from .scenes import EPISODE, ROBOTS, SENSORS, SETTINGS, TASK, tables

_WORLDS, _MORE_WORLDS = 5, 8
"""Numbers of worlds: the second one is for a comparison on the CPU."""

_BEFORE = 3
"""Steps before a reset or a checkpoint."""

Build = Callable[[str, int, str], Simulation]
"""Builds a simulation on a device, with a number of worlds, captured ("auto") or not ("off")."""


@attrs.define
class StepComparison:
    """A comparison of the results of steps. A difference is relative to 1 + the size of the number."""

    names: tuple[str, str]
    """The two sides, in the text of a wrong result."""

    tolerance: float = 0.0
    reason: str = ""
    has_numbers_alone: bool = False
    """Whether integers are left out, which may be numbers of elements of all worlds."""

    largest: float = 0.0
    """Largest difference so far."""

    def run(self, left: Simulation, right: Simulation, steps: int) -> str:
        """Advance both sides, compare the worlds that both have after each step, and return the outcome in words."""
        for count in range(1, steps + 1):
            worlds = range(min(left.world_count, right.world_count))
            self.add(advance(left, 1), advance(right, 1), worlds, count)
        return str(self)

    def add(self, left: StateSnapshot, right: StateSnapshot, worlds: Sequence[int], step: int) -> None:
        """Compare some worlds after a step.

        Raises:
            WrongResult: They differ.
        """
        for name, rows in left.worlds.items():
            if rows is None or (self.has_numbers_alone and left.arrays[name].dtype.kind in "iu"):
                continue
            chosen = np.isin(rows, worlds)
            first = left.arrays[name][chosen].astype(float)
            second = right.arrays[name][np.isin(present(right.worlds[name]), worlds)].astype(float)
            difference = np.abs(first - second) / (1.0 + np.abs(second))
            same = (difference <= self.tolerance) | (first == second) | (np.isnan(first) & np.isnan(second))
            for index in map(tuple, np.argwhere(~same)[:1]):
                place = f"{name}[{', '.join(map(str, index))}] of world {rows[chosen][index[0]]} at step {step}"
                mine, other = (f"{side[index]:.9g} {of}" for side, of in zip((first, second), self.names, strict=True))
                raise WrongResult(f"{place}: {mine}, {other}; allowed: {self}")
            self.largest = max(self.largest, float(np.max(difference, initial=0.0, where=np.isfinite(difference))))

    def __str__(self) -> str:
        if not self.tolerance:
            return "the same bits"
        return f"{self.tolerance:.0e}, as {self.reason}; largest difference {self.largest:.1e}"


def _steps(case: Case) -> int:
    return 8 if case.is_quick else 16


def _on_device(case: Case, *names: str) -> StepComparison:
    if case.is_alone:
        return StepComparison((names[0], names[1]))
    return StepComparison((names[0], names[1]), 1e-4, "atomic sums of a GPU have no fixed order")


def _with_cpu(case: Case) -> StepComparison:
    """Return the comparison of the device with the CPU; on the CPU, that with another number of worlds."""
    if case.is_alone:
        names = f"with {_WORLDS} worlds", f"with {_MORE_WORLDS} worlds"
        return StepComparison(names, 1e-5, "a solver may sum over more worlds in another order", has_numbers_alone=True)
    reason = "a GPU fuses multiplications and additions, and sums in another order"
    # An H100 has shown 3e-3 at most, after contacts: such differences grow with the steps.
    return StepComparison((f"on {case.device}", "on the CPU"), 1e-2, reason)


def device(case: Case) -> str:
    """Tell what Warp and the driver say about the device."""
    found = find_device(case.device)
    if case.is_alone:
        return "; ".join([f"{platform.machine()}, {usable_cores()} cores", *gpu_report()])
    memory = f"{found.total_memory / 1e9:.1f} GB, {found.free_memory / 1e9:.1f} GB free"
    others = [other for other in wp.get_cuda_devices() if other != found]
    peers = ", ".join(each.alias for each in others if wp.is_peer_access_supported(each, found)) or "none"
    return "; ".join([found.name, memory, f"peer access: {peers}", *gpu_report()])


def _subject(case: Case) -> PluginUnderTest:
    """Return the solver with the scene of the conformance kit, or with a cloth if it simulates nothing else."""
    on_device = {"simulation": {"device": case.device}}
    settings: dict[str, Any] = {"world_count": _WORLDS, **SETTINGS.get(case.solver, {})}
    if case.solver.rpartition(":")[2] == "style3d":
        settings |= {"prototype": _cloth, "world_count": 1}
    return PluginUnderTest(kind="solver", name=case.solver, tables=on_device, **settings)


def _cloth(builder: newton.ModelBuilder) -> None:
    size: dict[str, Any] = {"dim_x": 3, "dim_y": 3, "cell_x": 0.05, "cell_y": 0.05, "particle_radius": 0.01}
    start: dict[str, Any] = {"pos": wp.vec3(0.0, 0.0, 0.5), "rot": wp.quat_identity(), "vel": wp.vec3(0.3, 0.0, 0.0)}
    stiffness: dict[str, Any] = {"tri_aniso_ke": wp.vec3(400.0, 400.0, 100.0), "edge_aniso_ke": wp.vec3(1e-4)}
    newton.solvers.style3d.add_cloth_grid(builder, **start, **size, **stiffness, mass=0.01)


def _with_independent_worlds(case: Case) -> PluginUnderTest:
    subject = _subject(case)
    if subject.world_count == 1 or subject.declaration.mixed_worlds is not None:
        raise NotApplicableError(subject.declaration.mixed_worlds or "the solver has one world")
    return subject


def _of_kit(case: Case, device: str, worlds: int, capture: str) -> Simulation:
    subject = _subject(attrs.evolve(case, device=device))
    return subject.build(world_count=min(worlds, subject.world_count) if worlds == _WORLDS else worlds, capture=capture)


def _of_robot(robot: Mapping[str, Any], case: Case, device: str, worlds: int, capture: str = "auto") -> Simulation:
    return Simulation(structure(tables(robot, case.solver, worlds, device, capture)))


def captured(case: Case, build: Build | None = None) -> str:
    """Compare captured steps with eager ones."""
    build = build or partial(_of_kit, case)
    with build(case.device, _WORLDS, "auto") as recorded, build(case.device, _WORLDS, "off") as eager:
        declared = dict(recorded.program.eager_reasons)
        for each in (recorded, eager):
            start(each)
        found = _on_device(case, "captured", "eager").run(recorded, eager, _steps(case))
        reasons = recorded.program.eager_reasons
    if unexpected := [f"{name} is not captured: {why}" for name, why in reasons.items() if name not in declared]:
        raise SimulationError(*unexpected)
    return "; ".join([found, *(f"{name} runs eagerly" for name in reasons)])


def same_as_cpu(case: Case, build: Build | None = None) -> str:
    """Compare the device with the CPU; on the CPU, compare with another number of worlds."""
    if build is None and case.is_alone:
        _with_independent_worlds(case)
    build = build or partial(_of_kit, case)
    more = _MORE_WORLDS if case.is_alone else _WORLDS
    with build(case.device, _WORLDS, "auto") as mine, build("cpu", more, "off") as other:
        return _with_cpu(case).run(mine, other, _steps(case))


def reset(case: Case) -> str:
    """Reset two worlds, which begin anew, while the others move as without it."""
    subject = _with_independent_worlds(case)
    chosen = [1, _WORLDS - 1]
    others = sorted({*range(_WORLDS)} - {*chosen})
    with subject.build() as plain, subject.build() as disturbed:
        for each in (plain, disturbed):
            start(each)
        seen = [see(plain), *(advance(plain, 1) for _ in range(_BEFORE + _steps(case)))]
        advance(disturbed, _BEFORE)
        begin_anew(disturbed, chosen)
        anew = _on_device(case, "after a reset", "from the start")
        beside = _on_device(case, "beside worlds that were reset", "without a reset")
        for count in range(1, _steps(case) + 1):
            now = advance(disturbed, 1)
            anew.add(now, seen[count], chosen, count)
            beside.add(now, seen[_BEFORE + count], others, _BEFORE + count)
    return f"worlds that were reset: {anew}; others: {beside}"


def views(case: Case) -> str:
    """Write two worlds through a view, with indices on the device, and read them back, also after a step."""
    subject = _subject(case)
    if subject.features is not None and "rigid_bodies" not in subject.features:
        raise NotApplicableError("the solver has no rigid bodies")
    with subject.build() as simulation:
        start(simulation)
        step(simulation, 2)
        view: Any = simulation.view.rigid_bodies("ball")
        expected, chosen = np.array(view.get_transforms().numpy()), [1, _WORLDS - 1]
        expected[chosen, ..., 2] += 1.0
        rows, indices = (
            wp.array(each, device=simulation.device) for each in (expected, np.array(chosen, dtype=np.int32))
        )
        view.set_transforms(rows, indices=indices)
        for count, allowed in ((2, 1e-6), (3, 0.01)):
            found = np.asarray(view.get_transforms().numpy())[..., 2]
            for world, *_ in np.argwhere(np.abs(found - expected[..., 2]) > allowed)[:1]:
                values = f"{found[world]} read, {expected[world, ..., 2]} written; allowed: {allowed}"
                raise WrongResult(f"height of the ball of world {world} at step {count}: {values}")
            step(simulation, 1)
        simulation.raise_errors()
    return "written worlds hold what was written, others what they had"


def free_fall(case: Case) -> str:
    """Let a ball fall, and compare with the formula: a check of the conformance kit."""
    subject = _subject(case)
    if subject.prototype is not None:
        raise NotApplicableError("its cloth has a damping of its own")
    subject.build().close()  # a solver that refuses the device says so here, as in the other checks
    settings = {name: getattr(subject, name) for name in ("config", "tables", "world_count", "dt")}
    result = conformance.Conformance("solver", case.solver, **settings).run("free_fall")
    if result.outcome != "passed":
        raise NotApplicableError(result.reason) if result.outcome == "not applicable" else WrongResult(result.reason)
    return "the formula of free fall, as the conformance kit demands it"


def sensor(case: Case, kind: str) -> str:
    """Compare captured readings on the device with eager ones on the CPU."""
    if kind not in Catalog.installed().names("sensor"):
        raise NotApplicableError("not installed")
    robot = {**ROBOTS["quadruped"], "sensors": {"mine": {"type": kind, **SENSORS[kind]}}}
    return same_as_cpu(case, partial(_of_robot, robot, case))


def task(case: Case) -> str:
    """Run episodes that end and begin anew by themselves, and compare observations and rewards."""
    build, count = partial(_of_robot, TASK, case), 2 * EPISODE + 1
    found = [captured(case, build), *([] if case.is_alone else [same_as_cpu(case, build)])]
    with build(case.device, _WORLDS) as simulation:
        step(simulation, count)
        resets = simulation.reset_counts.numpy()
    for [world] in np.argwhere(resets < 2)[:1]:
        raise WrongResult(f"reset_counts[{world}] of world {world} at step {count}: {resets[world]}, 2 expected")
    return f"{'; '.join(found)}; episodes end by themselves"


def checkpoint(case: Case) -> str:
    """Save on the device, and continue there and on the CPU."""
    found = []
    with tempfile.TemporaryDirectory() as folder, _of_robot(TASK, case, case.device, _WORLDS) as simulation:
        advance(simulation, _BEFORE)
        simulation.save(path := Path(folder, "saved.npz"))
        whole = [advance(simulation, 1) for _ in range(_steps(case))]
        saved = Checkpoint.read(path)
        for on in dict.fromkeys((case.device, "cpu")):
            config = saved.configuration(on)
            attrs.evolve(saved, config=dump_toml(config)).write(path)
            compared = _with_cpu(case) if on != case.device else _on_device(case, f"resumed on {on}", "in one piece")
            with Simulation.load(path) as resumed:
                for count, seen in enumerate(whole, _BEFORE + 1):
                    compared.add(advance(resumed, 1), seen, range(_WORLDS), count)
            found.append(f"resumed on {on}: {compared}")
    return "; ".join(found)


def export(case: Case) -> str:
    """Export the captured step, and replay it by Warp alone."""
    with tempfile.TemporaryDirectory() as folder, _of_robot(ROBOTS["ant"], case, case.device, _WORLDS) as simulation:
        step(simulation, 1)
        export_step(simulation, Path(folder, "step"))
        replay, compared = Replay(Path(folder, "step")), _on_device(case, "replayed", "stepped")
        for count in range(_steps(case)):
            step(simulation, 1)
            replay.step()
            stepped = see(simulation)
            arrays = {name: on_host(replay[f"state.{name}"]) for name in ("joint_q", "joint_qd", "body_q")}
            compared.add(attrs.evolve(stepped, arrays={**stepped.arrays, **arrays}), stepped, range(_WORLDS), count + 2)
    return f"replayed by Warp alone: {compared}"


CHECKS: dict[str, Callable[[Case], Any]] = {
    "device": device,
    "captured": captured,
    "same as cpu": same_as_cpu,
    "more worlds": same_as_cpu,
    "reset": reset,
    "views": views,
    "free fall": free_fall,
    **{kind: partial(sensor, kind=kind) for kind in SENSORS},
    "task": task,
    "checkpoint": checkpoint,
    "export": export,
    "speed": measure_speed,
}
"""The checks by name."""
