"""Features that a scene may need, and that a solver may declare as supported."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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

    attributes: tuple[str, ...] = ()
    """Names of the arrays and numbers of the model that a solver honours with the feature."""


_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _feature(row: Mapping[str, Any]) -> Feature:
    values: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Feature(**values)


FEATURES: Mapping[str, Feature] = {name: _feature(row) for name, row in _ROWS.items()}
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

ASKED = frozenset(
    name for name in FEATURES if not FEATURES[name].is_structural and name.startswith(("soft_contact_", "particle_"))
)
"""Features that keys of `[collision]` ask for; a model does not tell whether its numbers were stated."""

NO_LIMIT = 1e6
"""Value from which Newton's importers and builders mean that an effort, a velocity or a coordinate is not limited."""

MEASURED = frozenset({"body_qdd"})
"""Observables that the host measures in the state, so that every solver has them."""

OF_ATTRIBUTES: Mapping[str, str] = {each: name for name, feature in FEATURES.items() for each in feature.attributes}
"""Features that a solver needs to honour arrays and numbers of the model, by their names."""

OF_KINDS: Mapping[str, Mapping[str, str]] = {
    "joint_armature": {"FREE": "free_joint_forces"},
    "joint_damping": {"FREE": "free_damping"},
    "joint_friction": {"FREE": "free_joint_forces"},
    "joint_limit_lower": {"BALL": "ball_limits"},
    "joint_limit_upper": {"BALL": "ball_limits"},
    "joint_stiffness": {"BALL": "ball_stiffness", "FREE": "free_joint_forces"},
    "joint_target_kd": {"BALL": "ball_drives"},
    "joint_target_ke": {"BALL": "ball_drives"},
}
"""Features that a solver needs to honour an array at joints of some kinds, besides that of other joints."""


def live_changes(levels: Mapping[str, str]) -> frozenset[str]:
    """Return the names in `newton.ModelFlags` of the changes that a solver follows: those of its live features."""
    flags = {flag for name, level in levels.items() if level == "live" for flag in FEATURES[name].flags}
    whole = {"JOINT_DOF_PROPERTIES"} if any(flag.startswith("JOINT_DOF_") for flag in flags) else set()
    return frozenset(flags | whole)
