"""Divergence of a simulation: the bounds, the kinds of failure, and the words for one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.matter import OF_PARTICLES, Matter


class FailureKind(IntEnum):
    """The kinds of failure, in the order of the kernel's notes; if several happen in one step, the first is told."""

    INPUT = 0
    BODY = 1
    PARTICLE = 2
    JOINT_SPEED = 3
    EFFORT = 4
    BODY_SPEED = 5
    PARTICLE_SPEED = 6


class Bounds(NamedTuple):
    """Values above which a state counts as diverged; infinity allows any finite value."""

    max_speed: float = math.inf
    """Largest velocity of a joint, a body or a particle [m/s, rad/s]."""

    max_effort: float = math.inf
    """Largest effort on a joint [N, N·m]."""


@attrs.frozen(kw_only=True, order=True)
class Failure:
    """The first failure of a kind."""

    step: int
    """Control step, counted from 1."""

    kind: FailureKind

    index: int
    """The input, body, particle or DOF with the lowest index that failed in this step."""

    value: float
    """Its velocity [m/s or rad/s] or effort [N or N·m]; not finite if that is the failure."""


def described(
    failure: Failure, model: newton.Model, step_dt: float, bounds: Bounds, cures: Callable[[int | None], Sequence[str]]
) -> str:
    """Return the error message for a failure: the step, the element and its world, the value, and the cures."""
    dof = failure.index if failure.kind in (FailureKind.JOINT_SPEED, FailureKind.EFFORT) else None
    what, world, unit = _place(failure, model)
    place = "outside every world" if world < 0 else f"world {world}"
    when = f"step {failure.step} (t = {failure.step * step_dt:.6g} s)"
    to_do = [*cures(dof), "use a smaller 'simulation.dt', more 'simulation.substeps', smaller gains or another solver"]
    if math.isfinite(failure.value):
        key, bound = ("max_effort", bounds[1]) if failure.kind is FailureKind.EFFORT else ("max_speed", bounds[0])
        verb = "is driven with" if failure.kind is FailureKind.EFFORT else "moves at"
        fault = f"{verb} {abs(failure.value):.3g} {unit}, more than simulation.{key} = {bound:g}"
        to_do.append(f"raise simulation.{key} if this is meant")
    else:
        fault = "is not finite"
    return f"{when}: {what} of {place} {fault}; {', or '.join(to_do)}"


def _place(failure: Failure, model: newton.Model) -> tuple[str, int, str]:
    """Return the failed element in words, its world, and the unit of its value."""
    if failure.kind in (FailureKind.PARTICLE, FailureKind.PARTICLE_SPEED):
        return _particle(model, failure.index), _world(model.particle_world, failure.index), "m/s"
    if failure.kind in (FailureKind.BODY, FailureKind.BODY_SPEED):
        label = model.body_label[failure.index]
        return f"body {label!r}", _world(model.body_world, failure.index), "m/s or rad/s"
    starts = on_host(model.joint_qd_start)
    joint = int(np.searchsorted(starts, failure.index, side="right")) - 1
    linear_count = on_host(model.joint_dof_dim)[joint][0]
    is_linear = failure.index - starts[joint] < linear_count
    units = ("m/s", "rad/s") if failure.kind is FailureKind.JOINT_SPEED else ("N", "N·m")
    return f"joint {model.joint_label[joint]!r}", _world(model.joint_world, joint), units[0 if is_linear else 1]


def _particle(model: newton.Model, index: int) -> str:
    """Return a particle in words: by its number in its object, else by that in the model."""
    matter = Matter.of(model, *OF_PARTICLES)
    for row in np.flatnonzero((matter.starts <= index) & (index < matter.starts + matter.counts)).tolist():
        return f"particle {index - matter.starts[row]} of {matter.labels[row]!r}"
    return f"particle {index}"


def _world(worlds: Any, index: int) -> int:
    return int(on_host(worlds)[index])
