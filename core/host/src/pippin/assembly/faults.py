"""Faults of a scene: values that nothing can have, components that are not deterministic, and cures of a divergence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin.arrays import on_host
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.config.fields import has_deterministic
from pippin.errors import ConfigError
from pippin.solving.contact_source import ContactSource
from pippin.spelling import listed
from pippin.state.start_pose import overlaps
from pippin.support.requirements import solvers_declaring

_UNIT_TOLERANCE = 1e-3
"""Largest deviation of a quaternion's length from 1, as for the setters."""

_FINITE = ("joint_q", "joint_qd", "body_q", "body_qd", "body_com", "joint_X_p", "joint_X_c", "shape_transform")
_FINITE += ("particle_q", "particle_qd", "gravity")
_POSITIVE = ("body_mass", "particle_mass", "particle_radius")
_POSITIVE += tuple(
    f"joint_{name}"
    for name in ("armature", "friction", "damping", "stiffness", "target_ke", "target_kd", "limit_ke", "limit_kd")
)
_POSITIVE += tuple(f"shape_material_{name}" for name in ("mu", "restitution", "ke", "kd", "kf", "ka"))
_BOUNDS = ("joint_effort_limit", "joint_velocity_limit")
_POSES = ("body_q", "joint_X_p", "joint_X_c", "shape_transform")


def refuse_values(model: newton.Model) -> None:
    """Refuse numbers that are not finite, negative masses, gains and frictions, reversed limits, and quaternions that
    are not unit. A solver would continue with them, or blow up somewhere else.
    """
    faults = [fault for name in dict.fromkeys((*_FINITE, *_POSITIVE, *_BOUNDS)) for fault in _faults(model, name)]
    faults += [*_faults_of_limits(model), *_faults_of_rotations(model)]
    if faults:
        raise ConfigError(*faults)


def _faults(model: newton.Model, name: str) -> Iterator[str]:
    array = getattr(model, name, None)
    if array is None or not array.size:
        return
    values = array.numpy()
    values = values.reshape(len(values), -1)
    for expected, is_faulty in _rules(name, values):
        if is_faulty.any():
            rows = np.flatnonzero(is_faulty)
            first = values[rows[0]].tolist()
            value, where = first[0] if len(first) == 1 else first, _owners(model, name, rows)
            yield f"scene: {name} of {where}: expected {expected}, got {value}; correct the scene"
            return


def _rules(name: str, values: np.ndarray) -> Iterator[tuple[str, Any]]:
    if name in _BOUNDS:
        yield "a number >= 0", ~(values >= 0.0).all(axis=1)
        return
    yield "finite numbers", ~np.isfinite(values).all(axis=1)
    if name in _POSITIVE:
        yield "a number >= 0", (values < 0.0).any(axis=1)
    if name in _POSES:
        lengths = np.linalg.norm(values[:, 3:], axis=1)
        yield "a quaternion of length 1", ~(np.abs(lengths - 1.0) <= _UNIT_TOLERANCE)


def _faults_of_limits(model: newton.Model) -> list[str]:
    if not model.joint_dof_count:
        return []
    lower, upper = on_host(model.joint_limit_lower), on_host(model.joint_limit_upper)
    rows = np.flatnonzero(~(lower <= upper))
    if not len(rows):
        return []
    where, first = _owners(model, "joint_limit_lower", rows), rows[0]
    ends = [float(lower[first]), float(upper[first])]
    return [f"scene: limits of {where}: expected lowest <= highest, got {ends}; correct the scene"]


def _faults_of_rotations(model: newton.Model) -> Iterator[str]:
    if not model.joint_count:
        return
    types, starts, values = (on_host(array) for array in (model.joint_type, model.joint_q_start, model.joint_q))
    first = starts[: len(types)] + np.where(types == newton.JointType.BALL, 0, 3)
    kinds = (newton.JointType.FREE, newton.JointType.DISTANCE, newton.JointType.BALL)
    rows = np.flatnonzero(np.isin(types, kinds))
    rotations = values[first[rows, None] + np.arange(4)]
    errors = np.abs(np.linalg.norm(rotations, axis=1) - 1.0)
    for wrong in np.flatnonzero((errors > _UNIT_TOLERANCE) & (errors < np.inf))[:1]:
        yield (
            f"scene: joint_q of {model.joint_label[rows[wrong]]!r}: expected a quaternion of length 1, got"
            f" {rotations[wrong].tolist()}; correct the scene"
        )


def _owners(model: newton.Model, name: str, rows: np.ndarray) -> str:
    """Return the labels of bodies, joints and shapes with some rows of an array; else the rows themselves."""
    kind = name.partition("_")[0]
    if kind == "joint":
        starts = {"joint_q": model.joint_q_start, "joint_X_p": None, "joint_X_c": None}.get(name, model.joint_qd_start)
        if starts is not None:
            rows = np.searchsorted(on_host(starts), rows, side="right") - 1
    labels = getattr(model, f"{kind}_label", None)
    if not labels:
        return f"{kind} {listed(str(row) for row in rows)}"
    return listed(repr(labels[row]) for row in rows.tolist())


_STEP_HOOKS = ("apply_actuators", "before_substep", "step_solver", "after_substep", "update_sensors")


def with_determinism(config: SimulationConfig, kind: str) -> SimulationConfig:
    """Return the configuration with the options that `simulation.determinism` needs on "cpu" or "cuda".

    The CPU needs no option: Warp runs the threads of a kernel one after the other, so sums have a fixed order. On a
    GPU, atomic additions run in any order unless Newton's solvers and its collision pipeline sort them.
    """
    if config.simulation.determinism is None or kind == "cpu":
        return config
    collision = attrs.evolve(config.collision, deterministic=True)
    solver = config.solver
    if solver is not None and has_deterministic(solver.config):
        if solver.config.deterministic is False:
            raise ConfigError(
                "solver.deterministic: false, but simulation.determinism is 'run-to-run'; leave one of the two out"
            )
        solver = attrs.evolve(solver, config=attrs.evolve(solver.config, deterministic=True))
    return attrs.evolve(config, collision=collision).with_tables(solver=solver)


def refuse_undeterministic(components: Components, config: SimulationConfig, kind: str, catalog: Catalog) -> None:
    """If the file asks for determinism, refuse components that do not declare it for this kind of device."""
    if config.simulation.determinism is None:
        return
    hooks = (*_STEP_HOOKS, "build_solver")
    owners = dict.fromkeys(answer.owner for hook in hooks for answer in components.implementations(hook))
    silent = [name for name in owners if kind not in components.declarations[name].deterministic_on]
    if silent:
        raise ConfigError(*(_unpromised(name, config, kind, catalog) for name in silent))


def _unpromised(owner: str, config: SimulationConfig, kind: str, catalog: Catalog) -> str:
    who, cures = owner.replace(":", "."), []
    if kind != "cpu":
        cures.append('set simulation.device = "cpu"')
    if owner == "solver" and config.solver is not None:
        who = f"solver {config.solver.type!r}"
        able = ", ".join(repr(name) for name in solvers_declaring("deterministic_on", kind, catalog))
        cures.append(f"use one that does: {able or 'none that is installed'}")
    cures = cures or ["leave one of the two out"]
    return f"simulation.determinism: 'run-to-run', but {who} does not promise it on {kind}; {', or '.join(cures)}"


_SMALL_ARMATURE = 1e-4
"""Rotor inertia below which a driven joint counts as one without [kg·m²]."""


def remedies(
    components: Components,
    model: newton.Model,
    solver: newton.solvers.SolverBase,
    source: ContactSource,
    dof: int | None,
) -> list[str]:
    """Return the changes of the file that fit a divergence, in the order in which to try them."""
    driven = {name: dofs for name, dofs in _driven(components) if dof in dofs}
    if not driven:
        dof, driven = None, dict(_driven(components))
    found = [
        f'set effort_mode = "implicit" in {name.replace(":", ".")}' for name in driven if _is_explicit(components, name)
    ]
    light = _light_joint(model, [each for dofs in driven.values() for each in (dofs if dof is None else [dof])])
    if light is not None:
        found.append(f"give {light!r} an armature, it has almost none (armature of its actuator group or of the asset)")
    if any(overlap.is_own for overlap in overlaps(model, solver, source)):
        found.append("set self_collisions = false of the asset, which overlaps with itself at the start")
    if components.declarations[components.solver_name].coordinates in ("maximal", "mixed") and _has_fixed_links(model):
        found.append("set collapse_fixed_joints = true of the asset, as the solver has to hold fixed joints together")
    return found


def _driven(components: Components) -> Iterator[tuple[str, Sequence[int]]]:
    for name, attributes in components.attributes.items():
        if attributes.actuated_dofs is not None:
            yield name, attributes.actuated_dofs.numpy().tolist()


def _has_fixed_links(model: newton.Model) -> bool:
    is_fixed = on_host(model.joint_type) == int(newton.JointType.FIXED)
    return bool((is_fixed & (on_host(model.joint_parent) >= 0)).any())


def _is_explicit(components: Components, name: str) -> bool:
    choice = components.choices.get(name)
    return choice is not None and getattr(choice[1].config, "effort_mode", None) == "explicit"


def _light_joint(model: newton.Model, dofs: Sequence[int]) -> str | None:
    if not dofs:
        return None
    armature = on_host(model.joint_armature)[np.array(dofs)]
    light = np.flatnonzero(armature < _SMALL_ARMATURE)
    if not len(light):
        return None
    joint = int(np.searchsorted(on_host(model.joint_qd_start), dofs[light[0]], side="right")) - 1
    return model.joint_label[joint].rpartition("/")[2]
