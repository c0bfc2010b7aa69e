"""Quantities of the views in one table: their meaning, the arrays that hold them, and the effects of setting them.

The methods of the views, the reference page and most tests use this table. No other file of the views mentions a
quantity by its name, except in the methods that are named after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import attrs

from .rules import Valid

__all__ = ["ARTICULATION", "RIGID_BODY", "Element", "ViewQuantity"]

Element = Literal["dof", "coordinate", "root", "link", "body", "generalized"]


@attrs.frozen(kw_only=True)
class ViewQuantity:
    """One quantity of all rows of a view."""

    name: str
    """Name after `get_` and `set_`."""

    meaning: str
    """One line for a table."""
    unit: str
    """Unit; `1` for a pure number."""
    source: Literal["state", "control", "model", "observable", "computed"]
    """Owner of the arrays that hold the quantity; "computed" is computed by each call."""

    arrays: tuple[str, ...] = ()
    """Names of Newton's arrays; the numbers of several arrays become components side by side."""

    element: Element
    """Elements of a row that have the quantity: its DOFs or links, or only its root or body."""

    components: int = 1
    """Numbers per element."""

    frame: str = ""
    """Frame and reference point, if the quantity has a frame."""

    is_settable: bool = False
    """Whether the view has a setter."""

    valid: Valid = "finite"
    """Rule of the values that can be set, a name in `rules.RULES`."""

    flags: tuple[str, ...] = ()
    """Names in `newton.ModelFlags` that the solver is notified of when the quantity is set."""

    feature: str = ""
    """Name in `pippin.solving.FEATURES` of the feature that a solver needs to honour the quantity."""

    invalidates: Literal["joints"] | None = None
    """Source from which bodies are computed again when the quantity is set."""

    storage: Literal["number", "flag", "position"] = "number"
    """Newton's storage of an element: unchanged numbers; a flag as 0 or another number; the position of a pose."""

    inverse: str = ""
    """Name of the model's array of inverses, which are written with the quantity."""

    is_in_coordinates: bool = False
    """Whether Newton stores this quantity of DOFs in joint coordinates, with a quaternion for a ball joint."""

    placed: Literal["", "pose", "velocity"] = ""
    """ViewQuantity that is set through the joint that moves the body, instead of in the array."""

    moves_anchor: bool = False
    """Whether the quantity can be set if a joint holds the body: the joint's anchor in the world then moves too."""

    @property
    def dtype(self) -> Literal["float32", "uint8"]:
        """Type of the numbers."""
        return "uint8" if self.storage == "flag" else "float32"


_POSE = "world; position of the body's origin, quaternion (x, y, z, w)"
_TWIST = "world; linear of the centre of mass, then angular"
_FORCE_FLAGS = ("JOINT_DOF_FORCE_PROPERTIES",)
_LIMIT: Valid = "non-negative or infinite"
_INERTIAL_FLAGS = ("JOINT_DOF_INERTIAL_PROPERTIES",)


def _table(quantities: Iterable[ViewQuantity]) -> dict[str, ViewQuantity]:
    return {quantity.name: quantity for quantity in quantities}


def _of_dofs(
    name: str,
    meaning: str,
    unit: str,
    array: str,
    feature: str,
    flags: tuple[str, ...] = _FORCE_FLAGS,
    valid: Valid = "non-negative",
) -> ViewQuantity:
    """Return a quantity of the model with one number for each DOF."""
    return ViewQuantity(
        name=name,
        meaning=meaning,
        unit=unit,
        source="model",
        arrays=(array,),
        element="dof",
        is_settable=True,
        valid=valid,
        flags=flags,
        feature=feature,
    )


def _inertial(element: Element) -> list[ViewQuantity]:
    """Return the inertial quantities of the links of an articulation, or of single bodies."""

    def of(name: str, meaning: str, unit: str, array: str, **others: Any) -> ViewQuantity:
        return ViewQuantity(
            name=name, meaning=meaning, unit=unit, source="model", arrays=(array,), element=element, **others
        )

    def settable(name: str, meaning: str, unit: str, array: str, **others: Any) -> ViewQuantity:
        return of(name, meaning, unit, array, is_settable=True, flags=("BODY_INERTIAL_PROPERTIES",), **others)

    com = "centre of mass; the quaternion after it is the identity"
    pose = {"components": 7, "frame": "body", "storage": "position", "invalidates": "joints", "valid": "position"}
    tensor = {"components": 9, "frame": "body axes, about the centre of mass"}
    return [
        settable(
            "masses", "mass; its inverse follows", "kg", "body_mass", inverse="body_inv_mass", valid="non-negative"
        ),
        of("inv_masses", "inverse mass; 0 if nothing moves the body", "1/kg", "body_inv_mass"),
        settable("coms", com, "m", "body_com", **pose),
        settable(
            "inertias",
            "inertia; its inverse follows",
            "kg·m²",
            "body_inertia",
            inverse="body_inv_inertia",
            valid="inertia",
            **tensor,
        ),
        of("inv_inertias", "inverse inertia; 0 if singular", "1/(kg·m²)", "body_inv_inertia", **tensor),
        settable(
            "disable_gravities",
            "mark of bodies without gravity; 1 or 0",
            "1",
            "mujoco.gravcomp",
            storage="flag",
            valid="mark",
            feature="gravity_compensation",
        ),
    ]


ARTICULATION: Mapping[str, ViewQuantity] = _table(
    [
        ViewQuantity(
            name="dof_positions",
            meaning="position; of a ball joint, its rotation vector",
            unit="m or rad",
            source="state",
            arrays=("joint_q",),
            element="dof",
            is_settable=True,
            invalidates="joints",
            is_in_coordinates=True,
        ),
        ViewQuantity(
            name="dof_velocities",
            meaning="velocity; of a ball joint, its angular velocity",
            unit="m/s or rad/s",
            source="state",
            arrays=("joint_qd",),
            element="dof",
            is_settable=True,
            invalidates="joints",
        ),
        ViewQuantity(
            name="joint_coords",
            meaning="joint coordinate; of a ball joint, its quaternion",
            unit="m or rad",
            source="state",
            arrays=("joint_q",),
            element="coordinate",
            is_settable=True,
            valid="coordinate",
            invalidates="joints",
        ),
        ViewQuantity(
            name="dof_position_targets",
            meaning="position that the solver's own drives pull to",
            unit="m or rad",
            source="control",
            arrays=("joint_target_q",),
            element="dof",
            is_settable=True,
            feature="joint_drives",
            is_in_coordinates=True,
        ),
        ViewQuantity(
            name="dof_velocity_targets",
            meaning="velocity that the solver's own drives pull to",
            unit="m/s or rad/s",
            source="control",
            arrays=("joint_target_qd",),
            element="dof",
            is_settable=True,
            feature="joint_drives",
        ),
        ViewQuantity(
            name="dof_forces",
            meaning="effort in addition to the drives; kept until set again; an actuator owns its DOFs",
            unit="N or N·m",
            source="control",
            arrays=("joint_f",),
            element="dof",
            is_settable=True,
        ),
        ViewQuantity(
            name="dof_limits",
            meaning="lowest and highest position",
            unit="m or rad",
            source="model",
            arrays=("joint_limit_lower", "joint_limit_upper"),
            element="dof",
            components=2,
            is_settable=True,
            valid="interval",
            flags=_FORCE_FLAGS,
            feature="joint_limits",
        ),
        _of_dofs("dof_stiffnesses", "stiffness of the drive", "N/m or N·m/rad", "joint_target_ke", "joint_drives"),
        _of_dofs("dof_dampings", "damping of the drive", "N·s/m or N·m·s/rad", "joint_target_kd", "joint_drives"),
        _of_dofs(
            "dof_max_forces",
            "largest effort of the drive",
            "N or N·m",
            "joint_effort_limit",
            "effort_limits",
            valid=_LIMIT,
        ),
        _of_dofs(
            "dof_max_velocities",
            "highest speed",
            "m/s or rad/s",
            "joint_velocity_limit",
            "velocity_limits",
            valid=_LIMIT,
        ),
        _of_dofs(
            "dof_armatures", "armature", "kg or kg·m²", "joint_armature", "armature", ("JOINT_DOF_INERTIAL_PROPERTIES",)
        ),
        _of_dofs("dof_frictions", "friction", "N or N·m", "joint_friction", "joint_friction"),
        ViewQuantity(
            name="root_transforms",
            meaning="pose of the root; setting it for a fixed root moves its anchor",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="root",
            components=7,
            frame=_POSE,
            is_settable=True,
            flags=("JOINT_PROPERTIES",),
            invalidates="joints",
            valid="pose",
            placed="pose",
            moves_anchor=True,
        ),
        ViewQuantity(
            name="root_velocities",
            meaning="velocity of the root; can be set only for a free root",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="root",
            components=6,
            frame=_TWIST,
            is_settable=True,
            invalidates="joints",
            placed="velocity",
        ),
        ViewQuantity(
            name="link_transforms",
            meaning="pose of each link",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="link",
            components=7,
            frame=_POSE,
        ),
        ViewQuantity(
            name="link_velocities",
            meaning="velocity of each link",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="link",
            components=6,
            frame=_TWIST,
        ),
        ViewQuantity(
            name="link_accelerations",
            meaning="acceleration of each link in the last substep",
            unit="m/s², rad/s²",
            source="observable",
            arrays=("body_qdd",),
            element="link",
            components=6,
            frame=_TWIST,
        ),
        ViewQuantity(
            name="link_incoming_joint_force",
            meaning="wrench that a link's own joint exerted on it in the last substep",
            unit="N, N·m",
            source="observable",
            arrays=("body_parent_f",),
            element="link",
            components=6,
            frame="world; force, then torque about the centre of mass",
        ),
        *_inertial("link"),
        ViewQuantity(
            name="jacobians",
            meaning="velocity of each link per velocity of each generalized DOF",
            unit="1, m, 1/m, 1",
            source="computed",
            element="link",
            components=6,
            frame=_TWIST,
        ),
        ViewQuantity(
            name="mass_matrices",
            meaning="inertia that couples the generalized DOFs, with armature",
            unit="kg, kg·m, kg·m²",
            source="computed",
            element="generalized",
        ),
        ViewQuantity(
            name="gravity_forces",
            meaning="effort that holds the articulation still against gravity",
            unit="N or N·m",
            source="computed",
            element="generalized",
        ),
        ViewQuantity(
            name="coriolis_forces",
            meaning="effort that Coriolis and centrifugal accelerations need",
            unit="N or N·m",
            source="computed",
            element="generalized",
        ),
    ]
)
"""The quantities of `ArticulationView`, by name."""

RIGID_BODY: Mapping[str, ViewQuantity] = _table(
    [
        ViewQuantity(
            name="transforms",
            meaning="pose; can be set only for a free body",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="body",
            components=7,
            frame=_POSE,
            is_settable=True,
            invalidates="joints",
            valid="pose",
            placed="pose",
        ),
        ViewQuantity(
            name="velocities",
            meaning="velocity; can be set only for a free body",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="body",
            components=6,
            frame=_TWIST,
            is_settable=True,
            invalidates="joints",
            placed="velocity",
        ),
        ViewQuantity(
            name="accelerations",
            meaning="acceleration in the last substep",
            unit="m/s², rad/s²",
            source="observable",
            arrays=("body_qdd",),
            element="body",
            components=6,
            frame=_TWIST,
        ),
        *_inertial("body"),
    ]
)
"""The quantities of `RigidBodyView`, by name."""
