"""Runs of simulations with a plugin: each runs once, and several checks use its results."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin import PippinError, PluginError, Simulation
from pippin.arrays import on_host
from pippin.devices import find_device
from pippin.workers import WorkerProcess

from . import scenes
from .kinds import merged
from .observation import HALF, StateSnapshot, advance, begin_anew, given, model_and_state, see, start, step
from .plugin_under_test import PluginUnderTest, Scene
from .trials import TIMEOUT, TRIALS, begin_rollout, begin_trials

FALL_TIME = 0.1
"""Duration of the free fall [s]."""


@attrs.frozen(kw_only=True, eq=False)
class StateSample:
    """Motion of the falling ball and of the pendulum at one time."""

    time: float
    """Time since the start [s]."""

    height: float
    """Height of the ball, or of the centre of all particles [m]."""

    speed: float
    """Upward velocity of the ball, or of the centre of all particles [m/s]."""

    angle: float | None
    """Angle of the pendulum [rad]; None without a pendulum."""

    rate: float | None
    """Angular velocity of the pendulum [rad/s]; None without a pendulum."""


@attrs.frozen(kw_only=True, eq=False)
class RunRecord:
    """Results of a captured run from its start to its end."""

    initial: StateSnapshot
    """Arrays before the first step."""

    half: StateSnapshot
    """Arrays after `HALF` control steps."""

    end: StateSnapshot
    """Arrays after `HALF` more control steps."""

    file: bytes | PippinError
    """The checkpoint saved half way, or the error of saving it."""

    unexpected: Mapping[str, str]
    """Operations that run eagerly although nothing declares it, with the reasons."""

    allocations: tuple[str, str]
    """Warp's report of all allocations before some further steps, and after them."""

    contacts: Mapping[str, bool] | None
    """Observed values of `detects_contacts` and `runs_pipeline`; None if nothing in the scene can touch."""

    is_open_loop: bool
    """Whether the plugin, if it is an actuator, declares `is_open_loop`."""

    misplacement: float
    """Largest distance between a body in the state and its position according to the joint coordinates [m]."""


class Runs:
    """Simulations of one plugin; each runs when a check first asks for it.

    Args:
        subject: The plugin under test, kept as `subject`: its text begins each error, as those of `fault`, and it has
            the plugin's `name`, its `table` of settings and the loaded `component`. Its `simulate(scene)` builds a
            simulation.
    """

    def __init__(self, subject: Any) -> None:
        self.subject: PluginUnderTest = subject
        self._trials: dict[str, WorkerProcess] = {}
        self._rollout: WorkerProcess | None = None
        self._tried: dict[str, Any] = {}
        find_device("cpu")  # Warp starts without its greeting

    def fault(self, text: str) -> PluginError:
        """Return an error about the plugin; the text says what is wrong, and after a semicolon the cure."""
        return PluginError(f"{self.subject}: {text}")

    def begin_after(self, check: str) -> None:
        """For the core: begin what takes long in a process beside, if the check that it relies on has passed."""
        if not self.subject.builds_solver or self.subject.beside is not None:
            return
        if check == "entry_point":
            self._trials = begin_trials(self.subject)
        elif check == "round_trip" and self.has_gradients:
            self._rollout = begin_rollout(self.subject)

    def close(self) -> None:
        """For the core: end the processes, also those whose results no check has asked for."""
        for process in {*self._trials.values(), *([self._rollout] if self._rollout else [])}:
            process.close()
        self._trials, self._rollout = {}, None

    @functools.cached_property
    def whole(self) -> RunRecord:
        """For the core: the run that others are compared with: captured, with three substeps or physics steps."""
        with self.subject.build() as simulation:
            declared = dict(simulation.program.eager_reasons)
            initial = see(simulation)
            start(simulation)
            half = advance(simulation)
            file = _saved(simulation)
            end = advance(simulation)
            found = simulation.program.eager_reasons
            return RunRecord(
                initial=initial,
                half=half,
                end=end,
                file=file,
                unexpected={name: reason for name, reason in found.items() if name not in declared},
                contacts=_contact_claims(simulation),
                is_open_loop=any(given(each, "is_open_loop") for each in simulation.actuators.values()),
                misplacement=_misplacement(simulation),
                allocations=_allocations(simulation),
            )

    @functools.cached_property
    def contacts(self) -> Mapping[str, bool] | None:
        """For the core: observed values of the claims about contacts; None if nothing that it moves can touch.

        A solver that claims contacts of its own is asked beside a solid ball, although it may leave such scenes out.
        """
        found = self.whole.contacts
        if found is not None or not self.subject.declaration.detects_contacts:
            return found
        lax = {"simulation": {"accept_unsupported": ["rigid_contacts"]}}
        solid = attrs.evolve(self.subject, tables=merged(self.subject.tables, lax))
        with solid.build(scene=scenes.ball, world_count=1) as simulation:
            return _contact_claims(simulation)

    @functools.cached_property
    def eager(self) -> StateSnapshot:
        """For the core: the first half, without capture."""
        with self.subject.build(capture="off") as simulation:
            start(simulation)
            return advance(simulation)

    @functools.cached_property
    def again(self) -> tuple[StateSnapshot, StateSnapshot]:
        """For the core: the first half without capture, and again after a reset. Then it is closed twice."""
        simulation = self.subject.build(capture="off")
        try:
            start(simulation)
            before = advance(simulation)
            begin_anew(simulation)
            after = advance(simulation)
            simulation.raise_errors()
        finally:
            simulation.close()
        simulation.close()
        return before, after

    @functools.cached_property
    def resumed(self) -> StateSnapshot:
        """For the core: the end, reached from the file that the whole run saved half way."""
        if isinstance(self.whole.file, PippinError):
            raise self.fault(f"cannot be saved: {self.whole.file}") from self.whole.file
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "half.npz")
            path.write_bytes(self.whole.file)
            with self.subject.load(path) as simulation:
                start(simulation)
                return advance(simulation)

    @functools.cached_property
    def disturbed(self) -> StateSnapshot:
        """For the core: the end, after a reset of the last world half way."""
        with self.subject.build() as simulation:
            start(simulation)
            advance(simulation)
            begin_anew(simulation, [simulation.world_count - 1])
            return advance(simulation)

    @functools.cached_property
    def side_by_side(self) -> tuple[StateSnapshot, StateSnapshot]:
        """For the core: the first half of two simulations that take turns."""
        with self.subject.build() as left, self.subject.build() as right:
            for simulation in (left, right):
                start(simulation)
            for _ in range(HALF):
                for simulation in (left, right):
                    advance(simulation, 1)
            return see(left), see(right)

    @functools.cached_property
    def apart(self) -> tuple[StateSnapshot, StateSnapshot]:
        """For the core: the first half in control steps of one part: as many as two and as three parts make."""
        with self.subject.build(count=1, capture="off") as simulation:
            start(simulation)
            return advance(simulation, 2 * HALF), advance(simulation, HALF)

    @functools.cached_property
    def fall(self) -> Sequence[StateSample]:
        """For the core: the start and the end of a free fall, and the end of a pendulum's quarter swing."""
        subject = self.subject
        with subject.build(count=1, scene=falling(subject), is_on_ground=False, world_count=1) as simulation:
            moments = [_moment(simulation)]
            for time in (FALL_TIME, scenes.QUARTER_SWING)[: 1 if moments[0].angle is None else 2]:
                step(simulation, round(time / subject.dt) - simulation.step_count)
                moments.append(_moment(simulation))
            return moments

    def tried(self, trial: str) -> Mapping[str, Any]:
        """For the core: the results of a trial of a solver; a process beside sends them, if it has begun."""
        while trial not in self._tried and trial in self._trials:
            name, found = self._trials[trial].receive(TIMEOUT)
            self._tried[name] = found
        if trial not in self._tried:
            self._tried[trial] = TRIALS[trial](self.subject)
        if isinstance(results := self._tried[trial], Exception):
            raise results
        return results

    @property
    def has_gradients(self) -> bool:
        """For the core: whether a rollout with gradients is possible: they are declared, and the scene is the kit's."""
        return "gradients" in (self.subject.features or ()) and self.subject.beside is None

    @functools.cached_property
    def slope(self) -> float | str:
        """For the core: the derivative of the way of a flight by the velocity [s], per duration; or an error."""
        with self._rollout or begin_rollout(self.subject) as process:
            return process.receive(TIMEOUT)

    @functools.cached_property
    def misled(self) -> float:
        """For the core: distance by which the grains of another world mislead those of a world [m]."""
        ends = []
        for world_count in (1, 2):
            with self.subject.build(count=1, capture="off", scene=scenes.grains, world_count=world_count) as simulation:
                _, state = model_and_state(simulation)
                places = state.particle_q.numpy()
                count = len(places) // world_count
                places[count:] += 0.4 * scenes.GRAIN_RADIUS
                state.particle_q.assign(places)
                step(simulation, HALF)
                ends.append(on_host(simulation.state.particle_q)[:count].copy())
        return float(np.abs(ends[1] - ends[0]).max())

    @functools.cached_property
    def even(self) -> StateSnapshot:
        """For the core: the first half, captured, with two substeps or physics steps per control step."""
        with self.subject.build(count=2) as simulation:
            start(simulation)
            return advance(simulation)


def falling(subject: PluginUnderTest) -> Scene:
    """Return a scene of a free ball, for use without ground; for a solver without rigid bodies, its own scene.

    A pendulum swings beside the ball if the solver supports hinges: one scene serves all checks that need either.
    """
    features = subject.features
    if features is not None and "rigid_bodies" not in features:
        return subject.scene()
    is_solid = features is None or "rigid_contacts" in features
    if features is None or "revolute_joints" in features:
        return functools.partial(scenes.falling, is_solid=is_solid)
    return functools.partial(scenes.add_ball, height=5.0, is_solid=is_solid)


def _saved(simulation: Simulation) -> bytes | PippinError:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "half.npz")
        try:
            simulation.save(path)
        except PippinError as error:
            return error
        return path.read_bytes()


def _allocations(simulation: Simulation) -> tuple[str, str]:
    reports: list[str] = []
    with wp.ScopedMemoryTracker(report_func=reports.append):
        wp.zeros(1, dtype=float, device="cpu")
    with wp.ScopedMemoryTracker(report_func=reports.append):
        simulation.step(10)
    return reports[0], reports[1]


def _contact_claims(simulation: Simulation) -> dict[str, bool] | None:
    """Return the observed values of the claims about contacts; None if nothing in the scene can touch."""
    model, source = simulation.model, simulation.contact_source
    if not model.shape_contact_pair_count and not model.particle_count:
        return None
    return {"detects_contacts": source.pipeline is None, "runs_pipeline": source.is_run_by_solver}


def _misplacement(simulation: Simulation) -> float:
    model, state = model_and_state(simulation)
    if not model.joint_count:
        return 0.0
    bodies = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, bodies)
    return float(np.linalg.norm(state.body_q.numpy()[:, :3] - bodies.body_q.numpy()[:, :3], axis=1).max())


def _moment(simulation: Simulation) -> StateSample:
    model, state = model_and_state(simulation)
    angle = rate = None
    if model.particle_count:
        mass = model.particle_mass.numpy()
        positions, velocities = state.particle_q.numpy()[:, 2], state.particle_qd.numpy()[:, 2]
        height, speed = np.average(positions, weights=mass), np.average(velocities, weights=mass)
    else:
        height, speed = state.body_q.numpy()[0, 2], state.body_qd.numpy()[0, 2]
    if scenes.PIVOT in model.joint_label:
        joint = model.joint_label.index(scenes.PIVOT)
        angle = float(state.joint_q.numpy()[model.joint_q_start.numpy()[joint]])
        rate = float(state.joint_qd.numpy()[model.joint_qd_start.numpy()[joint]])
    return StateSample(time=simulation.time, height=float(height), speed=float(speed), angle=angle, rate=rate)
