"""Features that a scene may need, and that a solver may declare as supported."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen(kw_only=True)
class Feature:
    """Something that a scene may contain and a solver may support."""

    meaning: str
    """A phrase for the reference, with units."""

    is_structural: bool = True
    """Whether the scene is another mechanism without the feature; otherwise only numbers change, and `pippin compare`
    accepts the loss."""

    cure: str = ""
    """A change of the scene that makes the feature unnecessary, as an imperative."""


FEATURES: Mapping[str, Feature] = {
    "rigid_bodies": Feature(meaning="bodies that move"),
    "rigid_contacts": Feature(meaning="contacts between rigid shapes"),
    "fixed_joints": Feature(meaning="joints without a degree of freedom"),
    "free_joints": Feature(meaning="free-floating bodies"),
    "revolute_joints": Feature(meaning="hinges"),
    "prismatic_joints": Feature(meaning="sliders"),
    "ball_joints": Feature(meaning="ball joints"),
    "d6_joints": Feature(meaning="joints of several axes"),
    "distance_joints": Feature(meaning="joints that keep a distance"),
    "rod_joints": Feature(meaning="joints of cables and rods"),
    "loop_joints": Feature(meaning="joints that close a kinematic loop"),
    "light_links": Feature(meaning="links with almost no mass, which stand between two axes of one body"),
    "joint_limits": Feature(meaning="limits of joint positions"),
    "ball_limits": Feature(meaning="limits of the angle of ball joints"),
    "joint_drives": Feature(meaning="the model's own joint drives"),
    "disabled_joints": Feature(meaning="joints that are switched off"),
    "massless_bodies": Feature(
        meaning="bodies without a mass that move with the bodies to which they are fixed",
        cure="merge them: collapse_fixed_joints = true in the asset",
    ),
    "inactive_equalities": Feature(meaning="MuJoCo's connections and welds that are switched off at first"),
    "mimic_joints": Feature(meaning="joints that follow another one"),
    "mimic_constraints": Feature(
        meaning="joints that follow another one by a constraint of its own, as MJCF writes it"
    ),
    "equality_constraints": Feature(
        meaning="MuJoCo's equality constraints that are neither a joint nor a mimic constraint"
    ),
    "tendons": Feature(meaning="Newton's tendons"),
    "mujoco_tendons": Feature(meaning="MuJoCo's tendons"),
    "asset_actuators": Feature(
        meaning="actuators of the asset's own other than the servos of its joints, as MJCF has them"
    ),
    "muscles": Feature(meaning="muscles"),
    "particles": Feature(meaning="particles"),
    "springs": Feature(meaning="springs between particles"),
    "triangles": Feature(meaning="elastic triangles between particles"),
    "bending": Feature(meaning="edges of cloth that resist bending"),
    "tetrahedra": Feature(meaning="elastic tetrahedra between particles"),
    "gradients": Feature(meaning="derivatives of the step"),
    "heterogeneous_worlds": Feature(meaning="worlds that do not hold the same"),
    "particle_worlds": Feature(
        meaning="particles or cloth in several worlds, which do not touch each other",
        cure="use one world: scene.worlds = 1",
    ),
    "armature": Feature(meaning="rotor inertia of joints [kg, kg·m²]", is_structural=False),
    "joint_friction": Feature(meaning="dry friction of joints [N, N·m]", is_structural=False),
    "joint_damping": Feature(meaning="passive damping of joints [N·s/m, N·m·s/rad]", is_structural=False),
    "joint_stiffness": Feature(meaning="passive stiffness of joints [N/m, N·m/rad]", is_structural=False),
    "effort_limits": Feature(
        meaning="limits of the effort of the model's own joint drives [N, N·m]", is_structural=False
    ),
    "velocity_limits": Feature(meaning="limits of joint velocities [m/s, rad/s]", is_structural=False),
    "gravity_compensation": Feature(meaning="bodies that gravity pulls less or not at all", is_structural=False),
    "restitution": Feature(meaning="restitution of shapes, which lets them bounce", is_structural=False),
    "contact_stiffness": Feature(
        meaning="stiffness and damping of shapes in contact [N/m, N·s/m]", is_structural=False
    ),
    "friction_damping": Feature(meaning="damping of sliding in a contact [N·s/m]", is_structural=False),
    "adhesion": Feature(meaning="distance at which shapes adhere [m]", is_structural=False),
    "torsional_friction": Feature(
        meaning="friction of shapes against turning about the normal of a contact [m]", is_structural=False
    ),
    "rolling_friction": Feature(meaning="friction of shapes against rolling [m]", is_structural=False),
    "limit_stiffness": Feature(
        meaning="stiffness and damping of joint limits [N/m, N·s/m, N·m/rad, N·m·s/rad]", is_structural=False
    ),
}
"""Every feature by name, structural ones first; `pippin.support.used_features` finds them in a model."""

RIGID_TREES = frozenset(
    {
        "rigid_bodies",
        "rigid_contacts",
        "fixed_joints",
        "free_joints",
        "revolute_joints",
        "prismatic_joints",
        "ball_joints",
        "d6_joints",
        "joint_limits",
        "joint_drives",
    }
)
"""Features that most robots need: bodies in trees of joints with limits and drives, and contacts."""


NO_LIMIT = 1e6
"""Value from which Newton's importers and builders mean that an effort, a velocity or a coordinate is not limited."""

MEASURED = frozenset({"body_qdd"})
"""Observables that the host measures in the state, so that every solver has them."""


OF_ATTRIBUTES: Mapping[str, str] = {
    "joint_damping": "joint_damping",
    "joint_enabled": "disabled_joints",
    "joint_limit_kd": "limit_stiffness",
    "joint_limit_ke": "limit_stiffness",
    "joint_rest_q": "joint_stiffness",
    "joint_stiffness": "joint_stiffness",
    "shape_material_ka": "adhesion",
    "shape_material_kd": "contact_stiffness",
    "shape_material_ke": "contact_stiffness",
    "shape_material_kf": "friction_damping",
    "shape_material_mu_rolling": "rolling_friction",
    "shape_material_mu_torsional": "torsional_friction",
    "shape_material_restitution": "restitution",
}
"""Features that a solver needs to honour arrays of the model, by name of the array."""


RIGID_CHANGES = frozenset(
    {
        "BODY_INERTIAL_PROPERTIES",
        "JOINT_DOF_FORCE_PROPERTIES",
        "JOINT_DOF_PROPERTIES",
        "JOINT_PROPERTIES",
        "MODEL_PROPERTIES",
        "SHAPE_PROPERTIES",
    }
)
"""Model changes that most rigid-body solvers accept while they run: masses, gains, frames, gravity, friction."""
