"""Cures of a divergence: what to change in the file so that a joint or a body stays slow, likely cures first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import newton
import numpy as np
from pippin.arrays import on_host
from pippin.components.registry import Components
from pippin.solving.contact_source import ContactSource
from pippin.state.start_pose import overlaps

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
    """Tell whether an actuator of the file evaluates its law at the start of a step."""
    choice = components.choices.get(name)
    return choice is not None and getattr(choice[1].config, "effort_mode", None) == "explicit"


def _light_joint(model: newton.Model, dofs: Sequence[int]) -> str | None:
    """Return the joint of the first DOF that has almost no armature, or None."""
    if not dofs:
        return None
    armature = on_host(model.joint_armature)[np.array(dofs)]
    light = np.flatnonzero(armature < _SMALL_ARMATURE)
    if not len(light):
        return None
    joint = int(np.searchsorted(on_host(model.joint_qd_start), dofs[light[0]], side="right")) - 1
    return model.joint_label[joint].rpartition("/")[2]
