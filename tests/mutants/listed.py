"""The wrong solvers by which a review of the kit began, as far as it listed them: 44 of 62, of which 26 passed then.

Most are mutants of `physics`. Those of observables are in the tests of the kit. `python -m tests.mutants.listed` prints
the check that finds each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import newton
import numpy as np
from pippin.quaternions import rotated

from tests.mutants.physics import WHERE, Mutant, let_pass, mutants, worlds_of

LISTED: Mapping[str, tuple[str, str]] = {
    "the step is 2 ms": ("dt is 2 ms", "tree_a_free_body"),
    "dampers of 2 ms": ("", "tree_numbers_of_a_joint_of_two_axes"),
    "no velocity terms of hinges on hinges": ("", "tree_hinges"),
    "no gyroscopic torque on ball joints": ("", "tree_a_ball_joint"),
    "armature in the link": ("", "tree_numbers_of_a_joint_of_two_axes"),
    "rotation of the child's frame lost": ("joint_X_c unturned", "tree_a_free_body"),
    "velocity of free bodies is that of the origin": ("", "tree_a_free_body"),
    "forces act at the origin": ("", "tree_a_free_body"),
    "efforts of free joints lost": ("joint_f lost (free)", "tree_a_free_body"),
    "efforts of balls lost": ("joint_f lost (ball)", "tree_a_ball_joint"),
    "limits of children lost": ("joint_limit_ke lost (children)", "tree_limits"),
    "sign of a mimic lost": ("", "feature_mimic_joints"),
    "leak of world 3 into 4": ("leak of world 3 into 4", "tree_a_free_body"),
    "contacts of capsules lost": ("contacts of capsule lost", "feature_rigid_contacts"),
    "damping copied": ("joint_damping copied at the first step", "tree_damping"),
    "stiffness of drives copied": ("joint_target_ke copied at the first step", "tree_numbers_of_a_joint_of_two_axes"),
    "damping of drives copied": ("joint_target_kd copied at the first step", "tree_numbers_of_a_joint_of_two_axes"),
    "friction copied": ("shape_material_mu copied at the first step", "model_changes"),
    "armature copied": ("joint_armature copied at the first step", "tree_numbers_of_a_joint_of_two_axes"),
    "masses copied": ("", "tree_hinges"),
    "upper limits copied": ("joint_limit_upper copied at the first step", "change_set_dof_limits"),
    "frames copied": ("joint_X_p copied at the first step", "change_set_root_transforms"),
    "gravity along z": ("gravity z alone", "tree_a_free_body"),
    "gravity of world 0": ("gravity of world 0", "tree_a_free_body"),
    "gravity grows": ("", "tree_a_slider_with_a_hinge"),
    "gravity copied": ("gravity copied at the first step", "tree_a_free_body"),
    "parents weigh twice": ("", "tree_hinges"),
    "damping of world 0": ("joint_damping of world 0", "tree_damping"),
    "armature of world 0": ("joint_armature of world 0", "tree_numbers_of_a_joint_of_two_axes"),
    "upper limits of world 0": ("joint_limit_upper of world 0", "change_set_dof_limits"),
    "stiffness of drives of world 0": ("joint_target_ke of world 0", "tree_numbers_of_a_joint_of_two_axes"),
    "frames of world 0": ("joint_X_p of world 0", "change_set_root_transforms"),
    "quaternions of length 1.05": ("", "relation_translate"),
    "forces that linger": ("", "tree_a_free_body"),
    "friction of one shape": ("", "relation_rotate"),
    "contacts of planes lost": ("contacts of plane lost", "feature_rigid_contacts"),
    "contacts of boxes lost": ("contacts of box lost", "feature_kinematic_bodies"),
    "far bodies stop": ("", "relation_translate"),
    "leak of world 0 into 1": ("leak of world 0 into 1", "tree_a_free_body"),
    "leak of world 1 into 0": ("leak of world 1 into 0", "tree_a_free_body"),
}
"""What is wrong; the mutant of `physics` that does it, or none if it is one of `OWN`; and a check that finds it.

The four others are signs, units and steps of `contact_f`, and torques of `body_parent_f`.
"""

Step = Callable[[Any, Any, Any, Any, Any, float], None]


def with_arrays(changed: Callable[[newton.Model, float], Mapping[str, np.ndarray]]) -> Step:
    """Return a step with other arrays of the model, which are the true ones again afterwards."""

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        model = true.__self__.model
        values = changed(model, dt)
        kept = {name: getattr(model, name).numpy().copy() for name in values}
        for name, rows in values.items():
            getattr(model, name).numpy()[...] = rows
        true(before, after, control, contacts, dt)
        for name, rows in kept.items():
            getattr(model, name).numpy()[...] = rows

    return step


def dampers_of_2_ms(model: newton.Model, dt: float) -> dict[str, np.ndarray]:
    return {"joint_damping": model.joint_damping.numpy() * 0.002 / dt}


def armature_in_the_link(model: newton.Model, dt: float) -> dict[str, np.ndarray]:
    """Give each body the armature of its joint about all axes."""
    inertia, starts = model.body_inertia.numpy().copy(), model.joint_qd_start.numpy()
    armature = model.joint_armature.numpy()
    for joint, child in enumerate(model.joint_child.numpy()):
        inertia[child] += armature[starts[joint] : starts[joint + 1]].sum() * np.eye(3)
    return {"body_inertia": inertia, "joint_armature": 0.0 * armature}


def with_inertias(changed: Callable[[newton.Model, np.ndarray, dict[str, Any]], np.ndarray]) -> Step:
    """Return a step with other spatial inertias, which Featherstone computes at its build and after changes."""
    memories: dict[int, dict[str, Any]] = {}

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        solver = true.__self__
        rows = solver.body_I_m.numpy()
        kept = rows.copy()
        rows[...] = changed(solver.model, kept, memories.setdefault(id(solver), {"solver": solver}))
        true(before, after, control, contacts, dt)
        rows[...] = kept

    return step


def heavy_parents(model: newton.Model, rows: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
    is_parent = np.isin(np.arange(len(rows)), model.joint_parent.numpy())
    return np.where(is_parent[:, None, None], 2.0 * rows, rows)


def masses_of_the_first_step(model: newton.Model, rows: np.ndarray, memory: dict[str, Any]) -> np.ndarray:
    return memory.setdefault("rows", rows.copy())


def friction_of_one_shape(model: newton.Model, dt: float) -> dict[str, np.ndarray]:
    """Give shapes of the world the friction of those of bodies."""
    mu, bodies = model.shape_material_mu.numpy().copy(), model.shape_body.numpy()
    if (bodies >= 0).any():
        mu[bodies < 0] = mu[bodies >= 0].mean()
    return {"shape_material_mu": mu}


def followers_without_sign(model: newton.Model, dt: float) -> dict[str, np.ndarray]:
    if model.joint_mimic_coeffs is None:
        return {}
    return {"joint_mimic_coeffs": np.abs(model.joint_mimic_coeffs.numpy())}


def without_velocity_terms(rows_of: Callable[[newton.Model], np.ndarray]) -> Step:
    """Return a step in which velocities of some DOFs make no forces on these."""

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        model, speeds = true.__self__.model, before.joint_qd.numpy()
        rows, kept, places = rows_of(model), speeds.copy(), before.joint_q.numpy().copy()
        speeds[rows] = 0.0
        true(before, after, control, contacts, dt)
        gained = after.joint_qd.numpy()[rows].copy()
        before.joint_q.numpy()[...], speeds[...] = places, kept
        true(before, after, control, contacts, dt)
        after.joint_qd.numpy()[rows] = kept[rows] + gained
        newton.eval_fk(model, after.joint_q, after.joint_qd, after)

    return step


def hinges_on_hinges(model: newton.Model) -> np.ndarray:
    worlds = worlds_of(model, "joint_qd")
    return WHERE["revolute"](model, "joint_qd", worlds) & WHERE["children"](model, "joint_qd", worlds)


def balls(model: newton.Model) -> np.ndarray:
    return WHERE["ball"](model, "joint_qd", worlds_of(model, "joint_qd"))


def velocities_of_origins(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    """Take the velocity of a free body for that of its origin."""
    model = true.__self__.model
    joints = np.flatnonzero(model.joint_type.numpy() == int(newton.JointType.FREE))
    starts, bodies = model.joint_qd_start.numpy()[joints], model.joint_child.numpy()[joints]

    def shift(state: Any, sign: float) -> None:
        arms = rotated(state.body_q.numpy()[bodies, 3:], model.body_com.numpy()[bodies].astype(float))
        for start, arm in zip(starts, arms, strict=True):
            speeds = state.joint_qd.numpy()
            speeds[start : start + 3] += sign * np.cross(speeds[start + 3 : start + 6], arm)

    kept = before.joint_qd.numpy().copy()
    shift(before, 1.0)
    true(before, after, control, contacts, dt)
    before.joint_qd.numpy()[...] = kept
    shift(after, -1.0)
    newton.eval_fk(model, after.joint_q, after.joint_qd, after)


def forces_at_origins(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
    model, forces = true.__self__.model, before.body_f.numpy()
    kept = forces.copy()
    forces[:, 3:] -= np.cross(rotated(before.body_q.numpy()[:, 3:], model.body_com.numpy().astype(float)), kept[:, :3])
    true(before, after, control, contacts, dt)
    forces[...] = kept


def remembering(change: Callable[[Any, Any, float, dict[str, Any]], dict[str, np.ndarray]]) -> Step:
    """Return a step with a memory, from a function that returns the arrays to put back."""
    memories: dict[int, dict[str, Any]] = {}

    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        model = true.__self__.model
        kept = change(model, before, dt, memories.setdefault(id(model), {"model": model}))
        true(before, after, control, contacts, dt)
        for name, rows in kept.items():
            getattr(before if hasattr(before, name) else model, name).numpy()[...] = rows

    return step


def growing(model: Any, before: Any, dt: float, memory: dict[str, Any]) -> dict[str, np.ndarray]:
    memory["time"] = memory.get("time", 0.0) + dt
    kept = model.gravity.numpy().copy()
    model.gravity.numpy()[...] = kept * (1.0 + memory["time"])
    return {"gravity": kept}


def lingering(model: Any, before: Any, dt: float, memory: dict[str, Any]) -> dict[str, np.ndarray]:
    forces = before.body_f.numpy()
    kept = forces.copy()
    forces += 0.5 * memory.get("forces", 0.0 * kept)
    memory["forces"] = kept
    return {"body_f": kept}


def afterwards(change: Callable[[newton.Model, Any], None]) -> Step:
    def step(true: Any, before: Any, after: Any, control: Any, contacts: Any, dt: float) -> None:
        true(before, after, control, contacts, dt)
        change(true.__self__.model, after)

    return step


def long_quaternions(model: newton.Model, after: Any) -> None:
    after.body_q.numpy()[:, 3:] *= 1.05


def stop_far_away(model: newton.Model, after: Any) -> None:
    far = np.flatnonzero(np.linalg.norm(after.body_q.numpy()[:, :3], axis=1) > 10.0)
    starts = model.joint_qd_start.numpy()
    for joint in np.flatnonzero(np.isin(model.joint_child.numpy(), far)):
        after.joint_qd.numpy()[starts[joint] : starts[joint + 1]] = 0.0
    newton.eval_fk(model, after.joint_q, after.joint_qd, after)


OWN: Mapping[str, Step] = {
    "dampers of 2 ms": with_arrays(dampers_of_2_ms),
    "no velocity terms of hinges on hinges": without_velocity_terms(hinges_on_hinges),
    "no gyroscopic torque on ball joints": without_velocity_terms(balls),
    "armature in the link": with_arrays(armature_in_the_link),
    "velocity of free bodies is that of the origin": velocities_of_origins,
    "forces act at the origin": forces_at_origins,
    "sign of a mimic lost": with_arrays(followers_without_sign),
    "gravity grows": remembering(growing),
    "masses copied": with_inertias(masses_of_the_first_step),
    "parents weigh twice": with_inertias(heavy_parents),
    "quaternions of length 1.05": afterwards(long_quaternions),
    "forces that linger": remembering(lingering),
    "friction of one shape": with_arrays(friction_of_one_shape),
    "far bodies stop": afterwards(stop_far_away),
}
"""Those that are no mutants of `physics`."""


def listed() -> dict[str, Mutant]:
    """Return all mutants by what is wrong."""
    others = mutants()
    return {
        name: others[other] if other else Mutant(name=name, owner="step", step=OWN[name])
        for name, (other, _) in LISTED.items()
    }


def main() -> None:
    """Print each mutant with the check that finds it."""
    for name, mutant in listed().items():
        begun = time.perf_counter()
        found = let_pass(mutant, without=("light_import",))
        print(f"{name}: {found or 'PASSES'} ({time.perf_counter() - begun:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
