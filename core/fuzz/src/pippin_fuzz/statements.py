"""Words of statements that are drawn, and the features of solvers that they need."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from pippin.solving import FEATURES

_FLUID = ("density", "viscosity", "wind", "fluidshape")
_MOTORS = ("motor", "velocity", "intvelocity", "damper", "general", "cylinder", "dcmotor")

WORDS: Mapping[str, tuple[str, ...]] = {
    "armature": ("armature",),
    "asset_actuators": _MOTORS,
    "ball_joints": ("ball",),
    "ball_limits": ("ball:range",),
    "ball_stiffness": ("ball:stiffness",),
    "carried_sliders": ("carried",),
    "d6_joints": ("several", "d6", "d6 free", "planar"),
    "effort_limits": ("forcerange",),
    "equality_constraints": ("weld", "connect"),
    "free_joints": ("free",),
    "gravity_compensation": ("gravcomp",),
    "inactive_equalities": ("active",),
    "joint_damping": ("damping",),
    "joint_drives": ("position",),
    "joint_friction": ("frictionloss", "friction"),
    "joint_limits": ("range",),
    "joint_stiffness": ("stiffness",),
    "light_links": ("several",),
    "limit_stiffness": ("solreflimit",),
    "loop_joints": ("connect", "weld"),
    "mimic_constraints": ("mimic",),
    "mimic_joints": ("mimic",),
    "mujoco_tendons": ("tendon",),
    "prismatic_joints": ("slide",),
    "revolute_joints": ("hinge",),
    "rigid_contacts": ("contact", "pair"),
}
"""Words of the statements that need a feature, by its name."""

_NAMED: Mapping[str, tuple[str, ...]] = {
    r"can collide|as contacts on": ("contact", "pair"),
    r"weld": ("weld",),
    r"connect": ("connect",),
    r"tendon": ("tendon",),
    r"margin": ("margin",),
    r"solref\w*|o_solref": ("solref", "solreflimit"),
    r"solimp|solmix": ("solmix",),
    r"flag|filterparent|refsafe": ("flag",),
    r"actuatorgravcomp": ("actuatorgravcomp",),
    r"mjc:gravcomp|disableGravity": ("gravcomp",),
    r"noslip\w*": ("noslip_iterations",),
    r"impratio": ("impratio",),
    r"axes that are neither|CYLINDRICAL|linear and \d angular|several (slides|axes)": ("several", "d6", "d6 free"),
    r"servo": ("position",),
    r"polycoef": ("mimic",),
    r"springref": ("springref",),
    r"actuator": (*_MOTORS, "position"),
    r"density|viscosity|wind|medium|ellipsoid|fluid|geoms? .* lost": _FLUID,
}
"""Words of statements that an expression in a note or a fault is about."""


def unclaimed(features: Collection[str]) -> frozenset[str]:
    """Return the words of the statements that need a feature other than some."""
    return frozenset(word for name, words in WORDS.items() if name not in features for word in words)


def words_in(text: str, without: Collection[str] = ()) -> frozenset[str]:
    """Return the words of the statements that a note or a fault is about, other than those that are left out already.

    Args:
        text: The note or the fault.
        without: Words that are left out. If these are all that the text names, the statements beside them are meant.
    """
    named = [name for name in FEATURES if name in WORDS and re.search(rf"\b{name}\b", text)]
    found = {word for name in named for word in WORDS[name]} - set(without)
    if not found:
        found |= {word for pattern, words in _NAMED.items() if re.search(pattern, text) for word in words}
    return frozenset(found - set(without))
