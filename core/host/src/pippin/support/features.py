"""Features that a scene may need, and that a solver may declare as supported."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs


@attrs.frozen(kw_only=True)
class Feature:
    """Something that a scene may contain and a solver may support."""

    meaning: str
    """A phrase for the reference, with units."""

    is_structural: bool = True
    """Whether the scene is another mechanism without the feature; otherwise only numbers change, and `pippin compare`
    accepts the loss."""

    is_possible: bool = False
    """Whether a scene may come out right without the feature, so that it is noted and never refused."""

    is_noted: bool = False
    """Whether a solver without the feature is noted, not refused, if only a robot file states it. A feature that a key
    of the configuration asks for, or a model made in Python, is refused in any case."""

    part_of: str = ""
    """The feature of whose elements it is a number: a solver without these elements lacks that one alone."""

    cure: str = ""
    """A change of the scene that makes the feature unnecessary, as an imperative."""

    flags: tuple[str, ...] = ()
    """Names in `newton.ModelFlags` that tell a solver of changed numbers of the feature."""


_STRUCTURAL: Mapping[str, str] = {
    "gravity": "gravity, of each world [m/s²]",
    "rigid_bodies": "bodies that move",
    "kinematic_bodies": "bodies that no force moves, and whose velocity carries the bodies that touch them",
    "rigid_contacts": "contacts between rigid shapes",
    "fixed_joints": "joints without a degree of freedom",
    "free_joints": "free-floating bodies",
    "revolute_joints": "hinges",
    "prismatic_joints": "sliders",
    "ball_joints": "ball joints",
    "d6_joints": "joints of several axes",
    "distance_joints": "joints that keep a distance",
    "rod_joints": "joints of cables and rods",
    "loop_joints": "joints that close a kinematic loop",
    "light_links": "links with almost no mass, which stand between two axes of one body",
    "joint_limits": "limits of joint positions",
    "ball_limits": "limits of the angle of ball joints",
    "joint_drives": "the model's own joint drives",
    "disabled_joints": "joints that are switched off",
    "massless_bodies": "bodies without a mass that move with the bodies to which they are fixed",
    "inactive_equalities": "MuJoCo's connections and welds that are switched off at first",
    "mimic_joints": "joints that follow another one",
    "mimic_constraints": "joints that follow another one by a constraint of its own, as MJCF writes it",
    "equality_constraints": "MuJoCo's equality constraints that are neither a joint nor a mimic constraint",
    "tendons": "Newton's tendons",
    "mujoco_tendons": "MuJoCo's tendons",
    "asset_actuators": "actuators of the asset's own other than the servos of its joints, as MJCF has them",
    "muscles": "muscles, which pull their points together by their activation [N]",
    "activations": "triangles and tetrahedra that their activation strains",
    "attachments": "particles that bodies hold",
    "particles": "particles",
    "particle_contacts": "contacts of particles with each other",
    "face_contacts": "contacts of particles with faces of cloth and soft bodies",
    "springs": "springs between particles",
    "triangles": "elastic triangles between particles",
    "bending": "edges of cloth that resist bending",
    "tetrahedra": "elastic tetrahedra between particles",
    "gradients": "derivatives of the step",
    "heterogeneous_worlds": "worlds that do not hold the same",
    "particle_worlds": "particles or cloth in several worlds, which do not touch each other",
}
"""Meanings of the features without which the scene is another mechanism."""

_NUMERIC: Mapping[str, str] = {
    "armature": "rotor inertia of joints [kg, kg·m²]",
    "joint_friction": "dry friction of joints [N, N·m]",
    "joint_damping": "passive damping of joints [N·s/m, N·m·s/rad]",
    "joint_stiffness": "passive stiffness of joints [N/m, N·m/rad]",
    "ball_stiffness": "passive stiffness of ball joints [N·m/rad]",
    "free_damping": "passive damping of free joints [N·s/m, N·m·s/rad]",
    "free_joint_forces": "passive stiffness, dry friction and rotor inertia of free joints",
    "effort_limits": "limits of the effort of the model's own joint drives [N, N·m]",
    "velocity_limits": "limits of joint velocities [m/s, rad/s]; actuator groups keep those of their joints",
    "carried_sliders": "torque by which a slider turns the moving body that carries it: side force times travel [N·m]",
    "gravity_compensation": "bodies that gravity pulls less or not at all",
    "restitution": "restitution of shapes, which lets them bounce",
    "contact_stiffness": "stiffness and damping of shapes in contact [N/m, N·s/m]",
    "friction_damping": "damping of sliding in a contact [N·s/m]",
    "adhesion": "distance at which shapes adhere [m]",
    "torsional_friction": "friction of shapes against turning about the normal of a contact [m]",
    "rolling_friction": "friction of shapes against rolling [m]",
    "limit_stiffness": "stiffness and damping of joint limits [N/m, N·s/m, N·m/rad, N·m·s/rad]",
    "triangle_damping": "damping of elastic triangles [N·s/m]",
    "bending_damping": "damping of the bending of cloth [N·m·s/rad]",
    "tetrahedron_damping": "damping of elastic tetrahedra [Pa·s]",
    "rest_angles": "angles that edges of cloth have at rest [rad]",
    "air_drag": "drag and lift of triangles in air",
    "soft_contact_stiffness": "stiffness and damping of particles in contact with shapes [N/m, N·s/m]",
    "soft_contact_friction": "friction of particles against shapes",
    "soft_contact_friction_damping": "damping of particles that slide on shapes [N·s/m]",
    "soft_contact_restitution": "restitution of particles, which lets them bounce from shapes",
    "particle_contact_stiffness": "stiffness and damping of particles in contact with each other [N/m, N·s/m]",
    "particle_friction": "friction between particles",
    "particle_cohesion": "distance at which particles attract each other [m]",
    "particle_adhesion": "distance at which shapes attract particles [m]",
}
"""Meanings of the features without which only numbers change."""

_CURES: Mapping[str, str] = {
    "face_contacts": "keep them apart, as particles pass through these faces",
    "particle_contacts": "choose a solver that has them, as particles pass through each other",
    "attachments": "leave them out, or hold the particles to the world by `pin`",
    "rest_angles": "let the cloth rest flat: rest = 'flat' in its object",
    "gravity": "do without: scene.gravity = [0, 0, 0]",
    "massless_bodies": "merge them: collapse_fixed_joints = true in the asset",
    "particle_worlds": "use one world: scene.worlds = 1",
    "velocity_limits": "drive the joints by an actuator group, which keeps their limits",
}

_PART_OF: Mapping[str, str] = {
    "bending_damping": "bending",
    "rest_angles": "bending",
    "tetrahedron_damping": "tetrahedra",
    "triangle_damping": "triangles",
}

_FLAGS: Mapping[str, str] = {
    "MODEL_PROPERTIES": "gravity",
    "BODY_INERTIAL_PROPERTIES": "rigid_bodies gravity_compensation",
    "BODY_PROPERTIES": "kinematic_bodies",
    "SHAPE_PROPERTIES": "rigid_contacts restitution contact_stiffness friction_damping adhesion torsional_friction"
    " rolling_friction",
    "JOINT_PROPERTIES": "fixed_joints revolute_joints prismatic_joints ball_joints d6_joints distance_joints rod_joints"
    " loop_joints disabled_joints",
    "JOINT_DOF_FORCE_PROPERTIES": "joint_limits ball_limits joint_drives effort_limits velocity_limits joint_friction"
    " joint_damping joint_stiffness ball_stiffness free_damping free_joint_forces limit_stiffness",
    "JOINT_DOF_INERTIAL_PROPERTIES": "armature",
    "JOINT_REFERENCE_POSE_PROPERTIES": "joint_stiffness rod_joints",
    "CONSTRAINT_PROPERTIES": "mimic_joints mimic_constraints equality_constraints inactive_equalities attachments",
    "TENDON_PROPERTIES": "tendons mujoco_tendons",
    "ACTUATOR_PROPERTIES": "asset_actuators",
}
"""Features with numbers that a change is about, by the name of the change in `newton.ModelFlags`."""


_POSSIBLE = frozenset({"face_contacts", "particle_contacts"})
"""What matters only where objects of matter meet."""

_NOTED = frozenset(
    {"carried_sliders", "free_damping", "free_joint_forces", "joint_damping", "joint_friction", "velocity_limits"}
)
"""What robot files state without a choice, and some solvers lack."""

FEATURES: Mapping[str, Feature] = {
    name: Feature(
        meaning=meaning,
        is_structural=name in _STRUCTURAL,
        is_possible=name in _POSSIBLE,
        is_noted=name in _NOTED,
        part_of=_PART_OF.get(name, ""),
        cure=_CURES.get(name, ""),
        flags=tuple(flag for flag, names in _FLAGS.items() if name in names.split()),
    )
    for name, meaning in {**_STRUCTURAL, **_NUMERIC}.items()
}
"""Every feature by name, structural ones first; `pippin.support.used_features` finds them in a model."""

LEVELS = ("live", "build", "no")
"""How a solver supports a feature: it follows what changes of it while it runs, it reads it only while it is built, or
it does not have it."""

RIGID_TREES = MappingProxyType(
    dict.fromkeys(
        (
            *("gravity", "rigid_bodies", "rigid_contacts", "fixed_joints", "free_joints", "revolute_joints"),
            *("prismatic_joints", "ball_joints", "d6_joints", "joint_limits", "joint_drives", "carried_sliders"),
        ),
        "live",
    )
)
"""Features that most robots need, all live: bodies in trees of joints with limits and drives, contacts and gravity."""

ASKED = frozenset(name for name in _NUMERIC if name.startswith(("soft_contact_", "particle_")))
"""Features that keys of `[collision]` ask for; a model does not tell whether its numbers were stated."""

NO_LIMIT = 1e6
"""Value from which Newton's importers and builders mean that an effort, a velocity or a coordinate is not limited."""

MEASURED = frozenset({"body_qdd"})
"""Observables that the host measures in the state, so that every solver has them."""

_ATTRIBUTES: Mapping[str, str] = {
    "adhesion": "shape_material_ka",
    "armature": "joint_armature",
    "bending": "edge_bending_properties",
    "contact_stiffness": "shape_material_kd shape_material_ke",
    "disabled_joints": "joint_enabled",
    "effort_limits": "joint_effort_limit",
    "friction_damping": "shape_material_kf",
    "joint_damping": "joint_damping",
    "joint_drives": "joint_target_kd joint_target_ke",
    "joint_friction": "joint_friction",
    "joint_limits": "joint_limit_lower joint_limit_upper",
    "joint_stiffness": "joint_rest_q joint_stiffness",
    "limit_stiffness": "joint_limit_kd joint_limit_ke",
    "particle_adhesion": "particle_adhesion",
    "particle_cohesion": "particle_cohesion",
    "particle_contact_stiffness": "particle_kd particle_ke particle_kf",
    "particle_friction": "particle_mu",
    "particles": "particle_inv_mass particle_mass",
    "restitution": "shape_material_restitution",
    "rolling_friction": "shape_material_mu_rolling",
    "soft_contact_friction": "soft_contact_mu",
    "soft_contact_friction_damping": "soft_contact_kf",
    "soft_contact_restitution": "soft_contact_restitution",
    "soft_contact_stiffness": "soft_contact_kd soft_contact_ke",
    "springs": "spring_damping spring_stiffness",
    "tetrahedra": "tet_materials",
    "torsional_friction": "shape_material_mu_torsional",
    "triangles": "tri_materials",
    "velocity_limits": "joint_velocity_limit",
}

OF_ATTRIBUTES: Mapping[str, str] = {name: feature for feature, names in _ATTRIBUTES.items() for name in names.split()}
"""Features that a solver needs to honour arrays and numbers of the model, by their names."""


OF_KINDS: Mapping[str, Mapping[str, str]] = {
    "joint_armature": {"FREE": "free_joint_forces"},
    "joint_damping": {"FREE": "free_damping"},
    "joint_friction": {"FREE": "free_joint_forces"},
    "joint_stiffness": {"BALL": "ball_stiffness", "FREE": "free_joint_forces"},
}
"""Features that a solver needs to honour an array at joints of some kinds, besides that of other joints."""


def live_changes(levels: Mapping[str, str]) -> frozenset[str]:
    """Return the names in `newton.ModelFlags` of the changes that a solver follows: those of its live features."""
    flags = {flag for name, level in levels.items() if level == "live" for flag in FEATURES[name].flags}
    whole = {"JOINT_DOF_PROPERTIES"} if any(flag.startswith("JOINT_DOF_") for flag in flags) else set()
    return frozenset(flags | whole)
