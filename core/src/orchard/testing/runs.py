"""What simulations of a plugin did: each is run once, and judged by several checks."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from orchard.errors import OrchardError, PluginError
from orchard.program import CaptureWarning
from orchard.reset import arrays_of, worlds_of

from . import scenes
from .benches import BENCHES, DURATION, Rows, add_benches
from .subject import Scene, Subject

if TYPE_CHECKING:
    import newton
    from orchard.simulation import Simulation

__all__ = ["HALF", "Moment", "Runs", "Seen", "Whole", "advance", "differing", "falling", "push", "see", "start"]

FALL_TIME = 0.1
"""How long a fall is watched [s]."""

HALF = 3
"""Control steps to where runs are compared, and from there to their end: an odd number."""


@attrs.frozen(eq=False)
class Seen:
    """What there is to see of a simulation: copies of the state, and of what an actuator or a sensor shows."""

    arrays: Mapping[str, np.ndarray]
    worlds: Mapping[str, np.ndarray | None]
    """The world of each row of an array, where rows belong to worlds."""

    def of(self, worlds: Sequence[int]) -> Seen:
        """Return the rows of some worlds, without what belongs to none."""
        kept = {name: np.isin(rows, worlds) for name, rows in self.worlds.items() if rows is not None}
        return Seen({name: self.arrays[name][mask] for name, mask in kept.items()}, dict.fromkeys(kept))


@attrs.frozen(kw_only=True, eq=False)
class Moment:
    """What falls and what swings in the first world, at a time."""

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

    file: bytes | OrchardError
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
        if isinstance(self.whole.file, OrchardError):
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
        """A free fall, and a pendulum beside it where there may be one: at its start, then at two times."""
        subject = self.subject
        with subject.build(count=1, scene=falling(subject), is_on_ground=False) as simulation:
            moments = [_moment(simulation)]
            for time in (FALL_TIME, scenes.QUARTER_SWING):
                simulation.step(round(time / subject.dt) - simulation.step_count)
                moments.append(_moment(simulation))
            return moments

    @functools.cached_property
    def features(self) -> Mapping[str, float | Exception]:
        """What is measured of each declared feature that has a bench, or what its scene raised."""
        return _on_benches(self.subject, [name for name in BENCHES if name in (self.subject.features or ())])

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
    has_hinges = features is None or "revolute_joints" in features
    return scenes.falling if has_hinges else functools.partial(scenes.add_ball, height=5.0)


def _on_benches(subject: Subject, names: Sequence[str]) -> dict[str, float | Exception]:
    """Return what is measured on some benches, in one simulation; where that fails, in two, and so on."""

    def scene(builder: newton.ModelBuilder) -> None:
        add_benches(builder, names)

    if not names:
        return {}
    try:
        with subject.build(count=1, scene=scene, world_count=1) as simulation:
            before = _rows(simulation)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CaptureWarning)
                simulation.step(round(DURATION / subject.dt))
            after = _rows(simulation)
    except Exception as error:  # a plugin may raise anything
        if len(names) == 1:
            return {names[0]: error}
        middle = len(names) // 2
        return _on_benches(subject, names[:middle]) | _on_benches(subject, names[middle:])
    return {name: BENCHES[name].measure(before[name], after[name]) for name in names}


def _rows(simulation: Simulation) -> dict[str, Rows]:
    """Return copies of poses and velocities of the bodies of each bench."""
    model, state = _arrays_of(simulation)
    poses, velocities = state.body_q.numpy(), state.body_qd.numpy()
    owners = np.array([label.partition("/")[0] for label in model.body_label])
    return {name: (poses[owners == name].copy(), velocities[owners == name].copy()) for name in dict.fromkeys(owners)}


def start(simulation: Simulation) -> None:
    """Give actuators another target in each world."""
    for actuator in simulation.actuators.values():
        targets = getattr(actuator, "position_targets", None)
        if targets is not None:
            rows = np.linspace(0.2, 0.5, targets.shape[0], dtype=np.float32)
            targets.assign(np.repeat(rows[:, None], targets.shape[1], axis=1))


def push(simulation: Simulation) -> None:
    """Push everything along x for one control step, in each world with an acceleration of its own."""
    model, state = _arrays_of(simulation)
    if model.body_count:
        forces = np.zeros((model.body_count, 6), dtype=np.float32)
        forces[:, 0] = 0.5 * model.body_mass.numpy() * (model.body_world.numpy() + 1)
        state.body_f.assign(forces)
    if model.particle_count:
        forces = np.zeros((model.particle_count, 3), dtype=np.float32)
        forces[:, 0] = 0.5 * model.particle_mass.numpy() * (model.particle_world.numpy() + 1)
        state.particle_f.assign(forces)


def advance(simulation: Simulation, count: int = HALF) -> Seen:
    """Take some control steps, pushed in each, and return what there is to see then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)  # a check of its own asks for the reasons
        for _ in range(count):
            push(simulation)
            simulation.step()
    return see(simulation)


def see(simulation: Simulation) -> Seen:
    """Return copies of what there is to see."""
    known = set(arrays_of(simulation.model.state()))  # a solver may keep scratch memory in the state
    arrays, worlds = {}, {}
    for name, array in arrays_of(simulation.state).items():
        if name in known:
            arrays[name] = array.numpy().copy()
            worlds[name] = worlds_of(simulation.model, name)
    for name, array, own in _shown(simulation):
        arrays[name] = array.numpy().copy()
        worlds[name] = np.repeat(own, len(arrays[name]) // len(own))
    return Seen(arrays, worlds)


def _shown(simulation: Simulation) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Yield what actuators and sensors show, with the worlds of the arrays' first axis."""
    every = np.arange(simulation.world_count)
    for actuator in simulation.actuators.values():
        for name in ("computed_effort", "applied_effort"):
            array = getattr(actuator, name, None)
            if array is not None:
                yield name, array, getattr(actuator, "worlds", every)
    for sensor in simulation.sensors.values():
        for name, output in getattr(sensor, "outputs", {}).items():
            yield f"outputs[{name!r}]", output.data, getattr(sensor, "worlds", every)


def differing(left: Seen, right: Seen) -> list[str]:
    """Return the names of what differs in any bit."""
    names = dict.fromkeys([*left.arrays, *right.arrays])
    both = [name for name in names if name in left.arrays and name in right.arrays]
    odd = [name for name in both if left.arrays[name].tobytes() != right.arrays[name].tobytes()]
    return odd + [name for name in names if name not in both]


def _arrays_of(simulation: Simulation) -> tuple[Any, Any]:
    """Return model and state, whose arrays are there as far as anything is counted of them."""
    return simulation.model, simulation.state


def _saved(simulation: Simulation) -> bytes | OrchardError:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "half.npz")
        try:
            simulation.save(path)
        except OrchardError as error:
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

    model, state = _arrays_of(simulation)
    if not model.joint_count:
        return 0.0
    bodies = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, bodies)
    return float(np.linalg.norm(state.body_q.numpy()[:, :3] - bodies.body_q.numpy()[:, :3], axis=1).max())


def _moment(simulation: Simulation) -> Moment:
    model, state = _arrays_of(simulation)
    angle = rate = None
    if model.particle_count:
        rows = slice(0, model.particle_count // simulation.world_count)
        mass = model.particle_mass.numpy()[rows]
        positions, velocities = state.particle_q.numpy()[rows, 2], state.particle_qd.numpy()[rows, 2]
        height, speed = np.average(positions, weights=mass), np.average(velocities, weights=mass)
    else:
        height, speed = state.body_q.numpy()[0, 2], state.body_qd.numpy()[0, 2]
    if scenes.PIVOT in model.joint_label:
        joint = model.joint_label.index(scenes.PIVOT)
        angle = float(state.joint_q.numpy()[model.joint_q_start.numpy()[joint]])
        rate = float(state.joint_qd.numpy()[model.joint_qd_start.numpy()[joint]])
    return Moment(time=simulation.time, height=float(height), speed=float(speed), angle=angle, rate=rate)
