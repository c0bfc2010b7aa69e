"""Quantities of the views in one table: their meaning, the arrays that hold them, and the effects of setting them.

The methods of the views, the reference page and most tests use this table. No other file of the views mentions a
quantity by its name, except in the methods that are named after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import attrs

from .rules import Valid

Element = Literal["dof", "coordinate", "root", "link", "body", "generalized", "particle", "object"]


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
    """ValueRule of the values that can be set, a name in `rules.RULES`."""

    flags: tuple[str, ...] = ()
    """Names in `newton.ModelFlags` that the solver is notified of when the quantity is set."""

    feature: str = ""
    """Name in `pippin.solving.FEATURES` of the feature that a solver needs to honour the quantity."""

    invalidates: Literal["joints", "bodies", "particles"] | None = None
    """What of the state is written when the quantity is set: bodies follow joints, and joints bodies."""

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
_BODY_AXES = "body axes, about the centre of mass"
_FORCE_FLAGS = ("JOINT_DOF_FORCE_PROPERTIES",)
_INERTIAL_FLAGS = ("JOINT_DOF_INERTIAL_PROPERTIES",)


def _table(*quantities: ViewQuantity) -> dict[str, ViewQuantity]:
    return {quantity.name: quantity for quantity in quantities}


def _quantity(name: str, meaning: str, unit: str, arrays: str = "", feature: str = "", **fields: Any) -> ViewQuantity:
    names = tuple(arrays.split())
    return ViewQuantity(name=name, meaning=meaning, unit=unit, arrays=names, feature=feature, **fields)


_settable_of_dofs = partial(_quantity, element="dof", is_settable=True)
_of_joints = partial(_settable_of_dofs, source="state", invalidates="joints")
_input = partial(_settable_of_dofs, source="control")
_target = partial(_input, feature="joint_drives")
_of_dofs = partial(_settable_of_dofs, source="model", valid="non-negative", flags=_FORCE_FLAGS)
_bound_of_dofs = partial(_of_dofs, valid="non-negative or infinite")
_of_bodies = partial(_quantity, components=6, frame=_TWIST)
_pose = partial(_of_bodies, source="state", unit="m, 1", arrays="body_q", components=7, frame=_POSE)
_velocity = partial(_of_bodies, source="state", unit="m/s, rad/s", arrays="body_qd")
_in_last_substep = partial(_of_bodies, source="observable")
_computed = partial(_quantity, source="computed")
_generalized = partial(_computed, element="generalized")
_of_object = partial(_computed, element="object", frame="world")
_of_particles = partial(
    _quantity,
    source="state",
    element="particle",
    components=3,
    frame="world",
    is_settable=True,
    invalidates="particles",
)
_WRITTEN: Mapping[str, Any] = {"is_settable": True, "invalidates": "bodies"}


def _placed(what: Literal["pose", "velocity"], **others: Any) -> dict[str, Any]:
    """Return the fields of a pose or velocity that is set through the joint that moves the body."""
    valid = "pose" if what == "pose" else "finite"
    return {"is_settable": True, "invalidates": "joints", "placed": what, "valid": valid, **others}


def _inertial(element: Element) -> list[ViewQuantity]:
    of = partial(_quantity, source="model", element=element)
    settable = partial(of, is_settable=True, flags=("BODY_INERTIAL_PROPERTIES",))
    com = "centre of mass; the quaternion after it is the identity"
    position = {"components": 7, "frame": "body", "storage": "position", "invalidates": "joints", "valid": "position"}
    tensor = {"components": 9, "frame": _BODY_AXES}
    mass = {"inverse": "body_inv_mass", "valid": "non-negative"}
    inertia = {"inverse": "body_inv_inertia", "valid": "inertia", **tensor}
    mark = {"storage": "flag", "valid": "mark", "feature": "gravity_compensation"}
    return [
        settable("masses", "mass; its inverse follows", "kg", "body_mass", **mass),
        of("inv_masses", "inverse mass; 0 if nothing moves the body", "1/kg", "body_inv_mass"),
        settable("coms", com, "m", "body_com", **position),
        settable("inertias", "inertia; its inverse follows", "kg·m²", "body_inertia", **inertia),
        of("inv_inertias", "inverse inertia; 0 if singular", "1/(kg·m²)", "body_inv_inertia", **tensor),
        settable("disable_gravities", "mark of bodies without gravity; 1 or 0", "1", "mujoco.gravcomp", **mark),
    ]


ARTICULATION: Mapping[str, ViewQuantity] = _table(
    _of_joints(
        "dof_positions", "position; of a ball joint, its rotation vector", "m or rad", "joint_q", is_in_coordinates=True
    ),
    _of_joints("dof_velocities", "velocity; of a ball joint, its angular velocity", "m/s or rad/s", "joint_qd"),
    _of_joints(
        "joint_coords",
        "joint coordinate; of a ball joint, its quaternion",
        "m or rad",
        "joint_q",
        element="coordinate",
        valid="coordinate",
    ),
    _target(
        "dof_position_targets",
        "position that the solver's own drives pull to",
        "m or rad",
        "joint_target_q",
        is_in_coordinates=True,
    ),
    _target("dof_velocity_targets", "velocity that the solver's own drives pull to", "m/s or rad/s", "joint_target_qd"),
    _input(
        "dof_forces",
        "effort in addition to the drives; kept until set again; an actuator owns its DOFs",
        "N or N·m",
        "joint_f",
    ),
    _of_dofs(
        "dof_limits",
        "lowest and highest position",
        "m or rad",
        "joint_limit_lower joint_limit_upper",
        "joint_limits",
        components=2,
        valid="interval",
    ),
    _of_dofs("dof_stiffnesses", "stiffness of the drive", "N/m or N·m/rad", "joint_target_ke", "joint_drives"),
    _of_dofs("dof_dampings", "damping of the drive", "N·s/m or N·m·s/rad", "joint_target_kd", "joint_drives"),
    _bound_of_dofs("dof_max_forces", "largest effort of the drive", "N or N·m", "joint_effort_limit", "effort_limits"),
    _bound_of_dofs("dof_max_velocities", "highest speed", "m/s or rad/s", "joint_velocity_limit", "velocity_limits"),
    _of_dofs("dof_armatures", "armature", "kg or kg·m²", "joint_armature", "armature", flags=_INERTIAL_FLAGS),
    _of_dofs("dof_frictions", "friction", "N or N·m", "joint_friction", "joint_friction"),
    _pose(
        "root_transforms",
        "pose of the root; setting it for a fixed root moves its anchor",
        element="root",
        **_placed("pose", moves_anchor=True, flags=("JOINT_PROPERTIES",)),
    ),
    _velocity(
        "root_velocities",
        "velocity of the root; can be set only for a free root",
        element="root",
        **_placed("velocity"),
    ),
    _pose("link_transforms", "pose of each link", element="link"),
    _velocity("link_velocities", "velocity of each link", element="link"),
    _in_last_substep(
        "link_accelerations",
        "acceleration of each link in the last substep",
        "m/s², rad/s²",
        "body_qdd",
        element="link",
    ),
    _in_last_substep(
        "link_incoming_joint_force",
        "wrench that a link's own joint exerted on it in the last substep",
        "N, N·m",
        "body_parent_f",
        element="link",
        frame="world; force, then torque about the centre of mass",
    ),
    *_inertial("link"),
    _computed(
        "jacobians",
        "velocity of each link per velocity of each generalized DOF",
        "1, m, 1/m, 1",
        element="link",
        components=6,
        frame=_TWIST,
    ),
    _generalized("mass_matrices", "inertia that couples the generalized DOFs, with armature", "kg, kg·m, kg·m²"),
    _generalized("gravity_forces", "effort that holds the articulation still against gravity", "N or N·m"),
    _generalized("coriolis_forces", "effort that Coriolis and centrifugal accelerations need", "N or N·m"),
)
"""The quantities of `ArticulationView`, by name."""

CABLE: Mapping[str, ViewQuantity] = _table(
    _pose("link_transforms", "pose of each segment", element="link", valid="pose", **_WRITTEN),
    _velocity("link_velocities", "velocity of each segment", element="link", **_WRITTEN),
    _of_object("centroids", "mean of the origins of the segments", "m", components=3),
    _of_object("bounds", "lowest and highest coordinates of these origins", "m", components=6),
    *_inertial("link"),
)
"""The quantities of `CableView`, by name."""

PARTICLES: Mapping[str, ViewQuantity] = _table(
    _of_particles("particle_positions", "position of each particle", "m", "particle_q"),
    _of_particles("particle_velocities", "velocity of each particle", "m/s", "particle_qd"),
    _quantity(
        "particle_masses",
        "mass of each particle; 0 if it is pinned",
        "kg",
        "particle_mass",
        source="model",
        element="particle",
        inverse="particle_inv_mass",
    ),
    _of_object("centroids", "mean of the positions", "m", components=3),
    _of_object("bounds", "lowest and highest coordinates", "m", components=6),
)
"""The quantities of `ParticleView`, by name."""

RIGID_BODY: Mapping[str, ViewQuantity] = _table(
    _pose("transforms", "pose; can be set only for a free body", element="body", **_placed("pose")),
    _velocity("velocities", "velocity; can be set only for a free body", element="body", **_placed("velocity")),
    _in_last_substep("accelerations", "acceleration in the last substep", "m/s², rad/s²", "body_qdd", element="body"),
    *_inertial("body"),
)
"""The quantities of `RigidBodyView`, by name."""
