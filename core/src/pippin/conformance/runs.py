"""What simulations of a plugin did: each is run once, and judged by several checks."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np
from pippin.errors import PippinError, PluginError

from . import scenes
from .benches import BENCHES, measured
from .observing import HALF, Seen, advance, model_and_state, see, start, step
from .subject import Scene, Subject

if TYPE_CHECKING:
    from pippin.simulation import Simulation

__all__ = ["Moment", "Runs", "Whole", "falling"]

FALL_TIME = 0.1
"""How long a fall is watched [s]."""


@attrs.frozen(kw_only=True, eq=False)
class Moment:
    """What falls and what swings, at a time."""

    time: float
    """Time since the start [s]."""

    height: float
    """Height of the ball, or of the centre of all particles [m]."""

    speed: float
    """Its velocity upwards [m/s]."""

    angle: float | None
    """Angle of the pendulum [rad]; None where there is none."""

    rate: float | None
    """Its angular velocity [rad/s]; None where there is none."""


@attrs.frozen(kw_only=True, eq=False)
class Whole:
    """A captured run from its start to its end."""

    initial: Seen
    """As it was built."""

    half: Seen
    """After `HALF` control steps."""

    end: Seen
    """After as many more."""

    file: bytes | PippinError
    """What was saved half way, or why it could not be."""

    unexpected: Mapping[str, str]
    """Operations that run eagerly although nothing declares it, with what a replay did."""

    allocations: tuple[str, str]
    """Warp's report of all allocations before some further steps and after them."""

    contacts: Mapping[str, bool] | None
    """What turned out of the claims `detects_contacts` and `runs_pipeline`; None where nothing can meet."""

    misplacement: float
    """Largest distance between the bodies of the state and where its joints put them [m]."""


class Runs:
    """Simulations of one plugin, each run when a check asks for it first.

    Args:
        subject: The plugin.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    @functools.cached_property
    def whole(self) -> Whole:
        """The run that the others are compared with: captured, three parts in a control step."""
        with self.subject.build() as simulation:
            declared = dict(simulation.program.eager_reasons)
            initial = see(simulation)
            start(simulation)
            half = advance(simulation)
            file = _saved(simulation)
            end = advance(simulation)
            found = simulation.program.eager_reasons
            return Whole(
                initial=initial,
                half=half,
                end=end,
                file=file,
                unexpected={name: reason for name, reason in found.items() if name not in declared},
                contacts=_contact_claims(simulation),
                misplacement=_misplacement(simulation),
                allocations=_allocations(simulation),
            )

    @functools.cached_property
    def eager(self) -> Seen:
        """The first half, with nothing captured."""
        with self.subject.build(capture="off") as simulation:
            start(simulation)
            return advance(simulation)

    @functools.cached_property
    def again(self) -> tuple[Seen, Seen]:
        """The first half, eagerly once more, then again after a reset of all worlds; and closed twice."""
        simulation = self.subject.build(capture="off")
        try:
            start(simulation)
            before = advance(simulation)
            simulation.reset()
            after = advance(simulation)
            simulation.check()
        finally:
            simulation.close()
        simulation.close()
        return before, after

    @functools.cached_property
    def resumed(self) -> Seen:
        """The end, reached from the file that the whole run saved half way."""
        if isinstance(self.whole.file, PippinError):
            raise PluginError(f"{self.subject}: cannot be saved: {self.whole.file}") from self.whole.file
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "half.npz")
            path.write_bytes(self.whole.file)
            with self.subject.load(path) as simulation:
                start(simulation)
                return advance(simulation)

    @functools.cached_property
    def disturbed(self) -> Seen:
        """The end, where the last world was reset half way."""
        with self.subject.build() as simulation:
            start(simulation)
            advance(simulation)
            simulation.reset([simulation.world_count - 1])
            return advance(simulation)

    @functools.cached_property
    def side_by_side(self) -> tuple[Seen, Seen]:
        """The first half of two simulations that take turns."""
        with self.subject.build() as left, self.subject.build() as right:
            for simulation in (left, right):
                start(simulation)
            for _ in range(HALF):
                for simulation in (left, right):
                    advance(simulation, 1)
            return see(left), see(right)

    @functools.cached_property
    def apart(self) -> tuple[Seen, Seen]:
        """As many single parts as the first half has with two parts in a control step, and with three."""
        with self.subject.build(count=1, capture="off") as simulation:
            start(simulation)
            return advance(simulation, 2 * HALF), advance(simulation, HALF)

    @functools.cached_property
    def fall(self) -> Sequence[Moment]:
        """A free fall at its start and at its end; after that, where a pendulum may be beside it, its quarter swing."""
        subject = self.subject
        with subject.build(count=1, scene=falling(subject), is_on_ground=False, world_count=1) as simulation:
            moments = [_moment(simulation)]
            for time in (FALL_TIME, scenes.QUARTER_SWING)[: 1 if moments[0].angle is None else 2]:
                step(simulation, round(time / subject.dt) - simulation.step_count)
                moments.append(_moment(simulation))
            return moments

    @functools.cached_property
    def features(self) -> Mapping[str, float | Exception]:
        """What is measured of each declared feature that has a bench, or what its scene raised."""
        return measured(self.subject, [name for name in BENCHES if name in (self.subject.features or ())])

    @functools.cached_property
    def even(self) -> Seen:
        """The first half, captured, with two parts in a control step."""
        with self.subject.build(count=2) as simulation:
            start(simulation)
            return advance(simulation)


def falling(subject: Subject) -> Scene:
    """Return something free, to be tried without ground: a ball, or for a solver of particles its own scene.

    A pendulum swings beside the ball where there may be one: both are one scene for all checks that need either.
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
    """Return Warp's report of allocations before ten steps and after them; it begins with one that is made here."""
    import warp as wp

    reports: list[str] = []
    with wp.ScopedMemoryTracker(report_func=reports.append):
        wp.zeros(1, dtype=float, device="cpu")
    with wp.ScopedMemoryTracker(report_func=reports.append):
        simulation.step(10)
    return reports[0], reports[1]


def _contact_claims(simulation: Simulation) -> dict[str, bool] | None:
    """Return what turned out of the claims about contacts; None where nothing can meet, and so nothing shows."""
    model, source = simulation.model, simulation.contact_source
    if not model.shape_contact_pair_count and not model.particle_count:
        return None
    return {"detects_contacts": source.pipeline is None, "runs_pipeline": source.is_run_by_solver}


def _misplacement(simulation: Simulation) -> float:
    import newton

    model, state = model_and_state(simulation)
    if not model.joint_count:
        return 0.0
    bodies = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, bodies)
    return float(np.linalg.norm(state.body_q.numpy()[:, :3] - bodies.body_q.numpy()[:, :3], axis=1).max())


def _moment(simulation: Simulation) -> Moment:
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
    return Moment(time=simulation.time, height=float(height), speed=float(speed), angle=angle, rate=rate)
