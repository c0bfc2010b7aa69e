"""Solvers that move particles wrongly, and what they meet, where no reference says how it should be: Featherstone, of
which the velocities are wrong after each step.

A mutant is a family (what changes the velocities) and a law of its error: by place, direction, index, world or hand.
`python -m tests.mutants.matter [NAME ...]` prints what the kit finds with and without its relations.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any

import newton
import numpy as np

from tests.mutants.physics import Mutant, let_pass

Change = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Returns the change of velocities that a wrong solver makes, from the model, the true changes, places and speeds."""

LAWS: Mapping[str, Change] = {
    "grow along x": lambda model, change, places, speeds: (1.0 + 0.4 * np.sin(places[:, :1])) * change,
    "grow with height": lambda model, change, places, speeds: (1.0 + 0.4 * (places[:, 2:] - 1.0)) * change,
    "act along x alone": lambda model, change, places, speeds: change * [1.0, 0.0, 1.0],
    "are strong along x": lambda model, change, places, speeds: change * [1.0, 0.4, 1.0],
    "act to the left": lambda model, change, places, speeds: change + 0.3 * np.cross([0.0, 0.0, 1.0], change),
    "grow with the index": lambda model, change, places, speeds: (
        (0.7 + 0.6 * np.arange(len(change))[:, None] / len(change)) * change
    ),
    "are lost by every other": lambda model, change, places, speeds: change * (np.arange(len(change))[:, None] % 2),
}
"""How the changes of velocities are wrong."""


def touched(contacts: Any, count: int) -> np.ndarray:
    """Return which particles may touch a shape."""
    found = np.zeros(count, dtype=bool)
    if contacts is not None and contacts.soft_contact_max:
        number = min(int(contacts.soft_contact_count.numpy()[0]), contacts.soft_contact_max)
        found[contacts.soft_contact_particle.numpy()[:number]] = True
    return found


def _forces(law: Change, of_contacts: bool) -> Callable[..., None]:
    """Return a step in which what changes velocities beside gravity is wrong, where particles touch or elsewhere."""

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        model = true.__self__.model
        if not model.particle_count:
            true(before, after, control, contacts, dt)
            return
        speeds, places = before.particle_qd.numpy().copy(), before.particle_q.numpy().copy()
        true(before, after, control, contacts, dt)
        found = after.particle_qd.numpy()
        pull = model.gravity.numpy()[model.particle_world.numpy()] * dt
        change = found - speeds - pull
        error = law(model, change, places, speeds) - change
        rows = touched(contacts, len(change)) == of_contacts
        rows &= model.particle_mass.numpy() > 0.0
        found[rows] += error[rows]
        after.particle_q.numpy()[rows] += dt * error[rows]

    return step


def _air(accelerations: Callable[[Any, np.ndarray, np.ndarray], np.ndarray]) -> Callable[..., None]:
    """Return a step with accelerations that nobody asked for."""

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        model = true.__self__.model
        true(before, after, control, contacts, dt)
        if model.particle_count:
            rows = model.particle_mass.numpy() > 0.0
            speeds, places = after.particle_qd.numpy(), after.particle_q.numpy()
            error = accelerations(model, places, speeds)[rows] * dt
            speeds[rows] += error
            places[rows] += dt * error

    return step


def _worlds(model: Any) -> np.ndarray:
    return np.maximum(model.particle_world.numpy(), 0)[:, None]


EAGER = ("allocation", "capture", "determinism")
"""Checks that a mutant fails since it takes no captured steps."""

AIR: Mapping[str, Callable[[Any, np.ndarray, np.ndarray], np.ndarray]] = {
    "a pull along x that grows with x": lambda model, places, speeds: 2.0 * np.sin(places) * [1.0, 0.0, 0.0],
    "drag along y alone": lambda model, places, speeds: -2.0 * speeds * [0.0, 1.0, 0.0],
    "drag to the left": lambda model, places, speeds: np.cross(speeds, [0.0, 0.0, 2.0]),
    "drag of every other": lambda model, places, speeds: -2.0 * speeds * (np.arange(len(speeds))[:, None] % 2),
    "gravity by the world": lambda model, places, speeds: -5.0 * _worlds(model) * np.array([0.0, 0.0, 1.0]),
    "gravity by the number of worlds": lambda model, places, speeds: (
        np.full(places.shape, 2.0) * [0.0, 0.0, 1.0 - model.world_count]
    ),
    "gravity along z alone": lambda model, places, speeds: -model.gravity.numpy()[:1] * [1.0, 1.0, 0.0] + 0.0 * places,
}
"""Accelerations of the air and of gravity."""


def _of_sites(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take a step in which sites have a weight."""
    model = true.__self__.model
    sites = (model.shape_flags.numpy() & int(newton.ShapeFlags.SITE)) != 0
    bodies = model.shape_body.numpy()[sites]
    if (bodies >= 0).any():
        before.body_f.numpy()[bodies[bodies >= 0], 2] -= 2.0
    true(before, after, control, contacts, dt)


def _of_wide_worlds(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take a step after which places are on a grid, which has a width where a world is wider than 32 m."""
    model = true.__self__.model
    true(before, after, control, contacts, dt)
    if model.particle_count and model.body_count:
        places = np.vstack([after.particle_q.numpy(), after.body_q.numpy()[:, :3]])
        width = max(float(np.ptp(places, axis=0).max()) - 32.0, 0.0) / 1024.0
        if width > 0.0:
            after.particle_q.assign(width * np.round(after.particle_q.numpy() / width))


def _of_the_earth(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take a step in which gravity has the size of the earth's, whatever the model has."""
    gravity = true.__self__.model.gravity.numpy()
    sizes = np.linalg.norm(gravity, axis=1, keepdims=True)
    gravity *= 9.81 / np.maximum(sizes, 1e-6)
    true(before, after, control, contacts, dt)


def _damped_by_steps(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take a step that takes 0.4 % of all velocities, however short it is."""
    true(before, after, control, contacts, dt)
    if true.__self__.model.joint_count:
        after.joint_qd.numpy()[:] *= 0.996


def _of_fixed_joints(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take a step in which fixed joints do not turn."""
    model = true.__self__.model
    if model.joint_count:
        rows = model.joint_type.numpy() == int(newton.JointType.FIXED)
        model.joint_X_p.numpy()[rows, 3:] = 0.0, 0.0, 0.0, 1.0
    true(before, after, control, contacts, dt)


def mutants() -> dict[str, Mutant]:
    """Return all mutants by name."""
    kinds = (("contact forces", True), ("other forces", False))
    forces = {
        f"{kind} {name}": _forces(law, of_contacts)
        for (kind, of_contacts), (name, law) in itertools.product(kinds, LAWS.items())
    }
    steps = forces | {name: _air(accelerations) for name, accelerations in AIR.items()}
    steps["sites that weigh"] = _of_sites
    steps |= {"places on a grid of wide worlds": _of_wide_worlds, "gravity of the earth": _of_the_earth}
    steps |= {"velocities damped by each step": _damped_by_steps, "fixed joints that do not turn": _of_fixed_joints}
    return {name: Mutant(name=name, owner="step", step=step) for name, step in steps.items()}


def main() -> None:
    """Print each mutant with the checks that find it, with relations and without."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--solver", default="featherstone")
    arguments = parser.parse_args()
    find = functools.partial(let_pass, solver=arguments.solver)
    all_of_them = mutants()
    for name in arguments.names or all_of_them:
        begun = time.perf_counter()
        related = find(all_of_them[name], "relation_*")
        others = find(all_of_them[name], without=("relation_*", *EAGER))
        print(
            f"{name}: {related or 'PASSES'}, else {others or 'PASSES'} ({time.perf_counter() - begun:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
