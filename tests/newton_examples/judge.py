"""Newton's own checks of its examples, on the arrays of a Pippin simulation.

The check of an example is a method of its class, which reads a few attributes. So an object of that class is made
without its constructor, and gets these attributes from a simulation of a file. The criteria are Newton's code of the
installed version: nothing of them stands here. Its step keeps the time and what the check measures on the way, and
calls `simulate`, which is the step of the simulation.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.quaternions import rotated
from pippin_optimise.descent import Descent
from pippin_optimise.objective import Objective
from pippin_optimise.variables import flat

FILES = Path(__file__).parent / "files"

ON_CPU = "a CPU"
"""Where a test with the mark `cuda` has passed that takes a CPU twenty minutes."""

Attributes = Callable[[pippin.Simulation], Mapping[str, Any]]


def _none(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {}


@attrs.frozen(kw_only=True)
class Case:
    """One example: its module in Newton, its frames, and what its check reads beyond model and state."""

    module: str
    """Below `newton.examples`, such as `basic.example_basic_shapes`."""

    frames: int
    """Number of frames; those of Newton's own test on a CPU, or the example's default."""

    attributes: Attributes = _none
    """Returns further attributes that the check reads, from the simulation at its start."""

    step: Callable[[Any], None] | None = None
    """Takes a frame of the example that it gets; by default the example's own step."""

    finish: Callable[[Any], None] | None = None
    """Computes what the example computes to draw it, and reads in its check; gets the example."""

    solvers: tuple[str, ...] = ()
    """Solvers to run the file with, one after the other; by default the one of the file."""

    slow_solvers: tuple[str, ...] = ()
    """Those of `solvers` whose test is `slow`, if the others are fast."""

    is_optimised: bool = False
    """Whether the example optimises: frames are iterations, or moves if the file has some, and its check reads the
    losses and the gradient."""

    is_empty: bool = False
    """Whether Newton's check is empty, so that only ours counts."""

    is_still: bool = False
    """Whether everything keeps its pose, to a centimetre."""

    asset: str | None = None
    """A file `newton:…` that the file needs, and that Newton's package lacks."""

    marks: tuple[str, ...] = ()
    """Marks of the test: `slow`, or `cuda` for what takes a CPU too long."""

    has_passed: str = ""
    """The GPU on which a test with the mark `cuda` has passed; or ON_CPU."""

    @property
    def name(self) -> str:
        """The name of the example, and of its file."""
        return self.module.rpartition(".example_")[2]

    def marks_with(self, solver: str | None) -> tuple[str, ...]:
        """Return the marks of the test with a solver."""
        return (*self.marks, "slow") if solver in self.slow_solvers else self.marks

    @property
    def file(self) -> Path:
        """The configuration file."""
        return FILES / f"{self.name}.toml"


def judge(case: Case, solver: str | None = None) -> None:
    """Run a file as long as the example, and let the example check it, after each frame and at the end.

    Args:
        case: The example.
        solver: The solver, in place of that of the file.

    Raises:
        Exception: The check fails, with Newton's words; or the state is not finite.
    """
    example = object.__new__(importlib.import_module(f"newton.examples.{case.module}").Example)
    overrides = {} if solver is None else {"solver": {"type": solver}}
    with pippin.Simulation.from_file(case.file, overrides) as simulation:
        read = {
            "model": simulation.model,
            "solver": simulation.solver,
            "state_0": simulation.state,
            "control": simulation.control,
            "contacts": simulation.contacts,
            "world_count": simulation.world_count,
            "simulate": simulation.step,
            "graph": None,
            "sim_time": 0.0,
            "frame_dt": simulation.control_dt,
            "test_mode": True,
        }
        vars(example).update(read | dict(case.attributes(simulation)))
        start = poses(simulation)
        for _ in range(case.frames):
            example.step() if case.step is None else case.step(example)
            if hasattr(example, "test_post_step"):
                example.test_post_step()
        if case.finish is not None:
            case.finish(example)
        if case.is_empty:
            refuse_open(simulation)
        else:
            example.test_final()
        refuse_dead(start, poses(simulation), is_still=case.is_still)


@wp.kernel
def add_slopes(x: wp.array[float], at: wp.array[float], slopes: wp.array[float], loss: wp.array[float]):
    """Loss += slope × (x − at)."""
    i = wp.tid()
    wp.atomic_add(loss, 0, slopes[i] * (x[i] - at[i]))


def judge_optimised(case: Case) -> None:
    """Optimise a file for as many iterations as the example, and let the example check the losses.

    Args:
        case: The example.

    Raises:
        Exception: The check fails, with Newton's words.
    """
    example = object.__new__(importlib.import_module(f"newton.examples.{case.module}").Example)
    table = pippin.load(case.file).optimise
    count = "iterations" if table is None or table.moves is None else "moves"
    tables = {"simulation.requires_grad": True, "simulation.device": "cpu", f"optimise.{count}": case.frames}
    with pippin.Simulation.from_file(case.file, tables) as simulation:
        objective = Objective(simulation)
        descent = Descent(objective)
        descent.run()
        losses = [float(each.min()) for each in descent.losses]
        read = {"model": simulation.model, "states": [simulation.state], "loss_history": losses, "cost_history": losses}
        variable = objective.variables[0]
        varied: Any = simulation.state.particle_qd if variable.is_in_start else getattr(variable, "array", None)

        if varied is not None:
            varied.requires_grad = True
            slopes = wp.array(objective.gradient(objective.start())[1].ravel(), dtype=float, device=varied.device)

        def forward() -> wp.array:
            """Return the loss of what the check has written, with the objective's own gradient for the check's tape."""
            loss = wp.array(objective.loss(objective.start()), dtype=float, requires_grad=True)
            numbers = flat(varied)
            wp.launch(
                add_slopes,
                len(slopes),
                [numbers, wp.clone(numbers, requires_grad=False), slopes, loss],
                device=varied.device,
            )
            return loss

        vars(example).update(read | {"forward": forward} | dict(case.attributes(simulation)))
        example.test_final()
        assert np.ptp(losses) > 1e-4, "the loss stays as it is"


def refuse_open(simulation: pippin.Simulation) -> None:
    """Refuse a state in which the points that a joint holds together are more than five millimetres apart.

    A solver may leave a gap of its tolerances: the pendulum of Kamino swings with 2.4 mm.
    """
    model, poses = simulation.model, simulation.state.body_q.numpy()
    parents, children = model.joint_parent.numpy(), model.joint_child.numpy()
    held = np.isin(model.joint_type.numpy(), [newton.JointType.REVOLUTE, newton.JointType.BALL, newton.JointType.FIXED])
    at_parent, at_child = (
        placed(poses, bodies, frames.numpy()[:, :3])
        for bodies, frames in ((parents, model.joint_X_p), (children, model.joint_X_c))
    )
    gaps = np.linalg.norm(at_parent - at_child, axis=1) * held
    assert not gaps.size or gaps.max() < 5e-3, f"{model.joint_label[gaps.argmax()]} is open by {gaps.max():.3g} m"


def placed(poses: np.ndarray, bodies: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points of bodies, or of the world for body -1, in the world [m], shape [points, 3]."""
    return np.stack(
        [
            point if body < 0 else rotated(poses[body][3:], point[None])[0] + poses[body][:3]
            for body, point in zip(bodies, points, strict=True)
        ]
    )


def poses(simulation: pippin.Simulation) -> np.ndarray:
    """Return the poses of all bodies and the positions of all particles, as one row of numbers."""
    state = simulation.state
    return np.concatenate([array.numpy().ravel() for array in (state.body_q, state.particle_q) if array is not None])


def refuse_dead(start: np.ndarray, end: np.ndarray, *, is_still: bool = False) -> None:
    """Refuse a run after which a pose is not finite, or nothing has moved: some checks would pass it."""
    assert np.isfinite(end).all(), "a pose is not finite"
    moved = np.abs(end - start).max()
    assert moved < 0.01 if is_still else moved > 1e-4, f"the largest change is {moved:.3g}"
