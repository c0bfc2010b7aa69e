"""Every quantity of a view in one table: what it is, where its numbers are, and what follows when they are set.

The methods of the views, the reference page and most tests go by this table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import attrs

__all__ = ["ARTICULATION", "RIGID_BODY", "Element", "Quantity"]

Element = Literal["dof", "coordinate", "root", "link", "body", "generalized"]


@attrs.frozen(kw_only=True)
class Quantity:
    """One quantity of all rows of a view."""

    name: str
    """What follows `get_` and `set_`."""

    meaning: str
    unit: str
    source: Literal["state", "control", "model", "observable", "computed"]
    """Whose arrays hold it; "computed" is computed by each call."""

    arrays: tuple[str, ...] = ()
    """Names of Newton's arrays; the numbers of several stand side by side."""

    element: Element
    """What each row has it for: its DOFs, its links; or once, for its root or body."""

    components: int = 1
    """Numbers per element."""

    frame: str = ""
    """Frame and reference point, where there is one."""

    is_settable: bool = False

    flags: tuple[str, ...] = ()
    """What the solver is told when it is set: names in `newton.ModelFlags`."""

    invalidates: Literal["joints"] | None = None
    """What bodies are computed anew from when it is set."""

    dtype: Literal["float32", "uint8"] = "float32"
    """Type of the numbers."""


_POSE = "world; position of the body's origin, quaternion (x, y, z, w)"
_TWIST = "world; linear of the centre of mass, then angular"
_FORCE_FLAGS = ("JOINT_DOF_FORCE_PROPERTIES",)
_ABOUT_COM = "body axes, about the centre of mass"


def _table(quantities: Iterable[Quantity]) -> dict[str, Quantity]:
    return {quantity.name: quantity for quantity in quantities}


def _of_dofs(name: str, meaning: str, unit: str, array: str, flags: tuple[str, ...]) -> Quantity:
    """Return a quantity of the model that each DOF has one number of."""
    return Quantity(
        name=name,
        meaning=meaning,
        unit=unit,
        source="model",
        arrays=(array,),
        element="dof",
        is_settable=True,
        flags=flags,
    )


def _inertial(element: Element) -> list[Quantity]:
    """Return what bodies weigh: of the links of an articulation, or of single bodies."""
    flags = ("BODY_INERTIAL_PROPERTIES",)

    def of(name: str, meaning: str, unit: str, array: str, components: int = 1, frame: str = "") -> Quantity:
        is_settable = not name.startswith("inv_")
        return Quantity(
            name=name,
            meaning=meaning,
            unit=unit,
            source="model",
            arrays=(array,),
            element=element,
            components=components,
            frame=frame,
            is_settable=is_settable,
            flags=flags if is_settable else (),
            invalidates="joints" if name == "coms" else None,
            dtype="uint8" if name == "disable_gravities" else "float32",
        )

    return [
        of("masses", "mass; its inverse follows", "kg", "body_mass"),
        of("inv_masses", "inverse mass; 0 where nothing moves the body", "1/kg", "body_inv_mass"),
        of("coms", "centre of mass; the quaternion after it is the identity", "m", "body_com", 7, "body"),
        of("inertias", "inertia; its inverse follows", "kg·m²", "body_inertia", 9, _ABOUT_COM),
        of("inv_inertias", "inverse inertia; 0 if singular", "1/(kg·m²)", "body_inv_inertia", 9, _ABOUT_COM),
        of("disable_gravities", "mark of bodies without gravity; 1 or 0", "1", "mujoco.gravcomp"),
    ]


ARTICULATION: Mapping[str, Quantity] = _table(
    [
        Quantity(
            name="dof_positions",
            meaning="position; of a ball joint, its rotation vector",
            unit="m or rad",
            source="state",
            arrays=("joint_q",),
            element="dof",
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
            name="dof_velocities",
            meaning="velocity; of a ball joint, its angular velocity",
            unit="m/s or rad/s",
            source="state",
            arrays=("joint_qd",),
            element="dof",
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
            name="joint_coords",
            meaning="joint coordinate; of a ball joint, its quaternion",
            unit="m or rad",
            source="state",
            arrays=("joint_q",),
            element="coordinate",
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
            name="dof_position_targets",
            meaning="position that the solver's own drives pull to",
            unit="m or rad",
            source="control",
            arrays=("joint_target_q",),
            element="dof",
            is_settable=True,
        ),
        Quantity(
            name="dof_velocity_targets",
            meaning="velocity that the solver's own drives pull to",
            unit="m/s or rad/s",
            source="control",
            arrays=("joint_target_qd",),
            element="dof",
            is_settable=True,
        ),
        Quantity(
            name="dof_forces",
            meaning="effort beside that of the drives; kept until set again; DOFs of an actuator are its own",
            unit="N or N·m",
            source="control",
            arrays=("joint_f",),
            element="dof",
            is_settable=True,
        ),
        Quantity(
            name="dof_limits",
            meaning="lowest and highest position",
            unit="m or rad",
            source="model",
            arrays=("joint_limit_lower", "joint_limit_upper"),
            element="dof",
            components=2,
            is_settable=True,
            flags=_FORCE_FLAGS,
        ),
        _of_dofs("dof_stiffnesses", "stiffness of the drive", "N/m or N·m/rad", "joint_target_ke", _FORCE_FLAGS),
        _of_dofs("dof_dampings", "damping of the drive", "N·s/m or N·m·s/rad", "joint_target_kd", _FORCE_FLAGS),
        _of_dofs("dof_max_forces", "largest effort of the drive", "N or N·m", "joint_effort_limit", _FORCE_FLAGS),
        _of_dofs("dof_max_velocities", "highest speed", "m/s or rad/s", "joint_velocity_limit", _FORCE_FLAGS),
        _of_dofs("dof_armatures", "armature", "kg or kg·m²", "joint_armature", ("JOINT_DOF_INERTIAL_PROPERTIES",)),
        _of_dofs("dof_frictions", "friction", "N or N·m", "joint_friction", _FORCE_FLAGS),
        Quantity(
            name="root_transforms",
            meaning="pose of the root; of a fixed one, setting it moves what it is fixed to",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="root",
            components=7,
            frame=_POSE,
            is_settable=True,
            flags=("JOINT_PROPERTIES",),
            invalidates="joints",
        ),
        Quantity(
            name="root_velocities",
            meaning="velocity of the root; only a free one can be set",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="root",
            components=6,
            frame=_TWIST,
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
            name="link_transforms",
            meaning="pose of each link",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="link",
            components=7,
            frame=_POSE,
        ),
        Quantity(
            name="link_velocities",
            meaning="velocity of each link",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="link",
            components=6,
            frame=_TWIST,
        ),
        Quantity(
            name="link_accelerations",
            meaning="acceleration of each link in the last substep",
            unit="m/s², rad/s²",
            source="observable",
            arrays=("body_qdd",),
            element="link",
            components=6,
            frame=_TWIST,
        ),
        Quantity(
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
        Quantity(
            name="jacobians",
            meaning="velocity of each link per velocity of each generalized DOF",
            unit="1, m, 1/m, 1",
            source="computed",
            element="link",
            components=6,
            frame=_TWIST,
        ),
        Quantity(
            name="mass_matrices",
            meaning="inertia that couples the generalized DOFs, with armature",
            unit="kg, kg·m, kg·m²",
            source="computed",
            element="generalized",
        ),
        Quantity(
            name="gravity_forces",
            meaning="effort that holds the articulation still against gravity",
            unit="N or N·m",
            source="computed",
            element="generalized",
        ),
        Quantity(
            name="coriolis_forces",
            meaning="effort that Coriolis and centrifugal accelerations need",
            unit="N or N·m",
            source="computed",
            element="generalized",
        ),
    ]
)
"""The quantities of `ArticulationView`, by name."""

RIGID_BODY: Mapping[str, Quantity] = _table(
    [
        Quantity(
            name="transforms",
            meaning="pose; only that of a free body can be set",
            unit="m, 1",
            source="state",
            arrays=("body_q",),
            element="body",
            components=7,
            frame=_POSE,
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
            name="velocities",
            meaning="velocity; only that of a free body can be set",
            unit="m/s, rad/s",
            source="state",
            arrays=("body_qd",),
            element="body",
            components=6,
            frame=_TWIST,
            is_settable=True,
            invalidates="joints",
        ),
        Quantity(
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
