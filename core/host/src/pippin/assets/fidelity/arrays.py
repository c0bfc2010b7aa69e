"""Arrays of `mujoco.MjModel` that are compared: all of a kind of element, except those that have a reason."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from .difference import Field

_WITH_MEANING: Mapping[str, str] = {
    "actuator": "actlimited actrange ctrllimited ctrlrange forcelimited forcerange biastype dyntype gaintype dynprm"
    " trntype trnid group lengthrange ctrlspec",
    "body": "inertia invweight0 ipos iquat mocapid parentid pos quat",
    "dof": "invweight0 solimp solref",
    "eq": "active0 data obj1id obj2id objtype type",
    "geom": "bodyid conaffinity contype dataid fluid pos quat size type",
    "jnt": "actfrclimited actfrcrange axis bodyid limited margin pos range solimp solref type",
    "pair": "geom1 geom2",
    "tendon": "actfrclimited actfrcrange adr num range limited margin lengthspring solimp_fri solimp_lim solref_fri"
    " solref_lim",
}
"""Arrays, by the kind of their element, whose comparison depends on other arrays: see `couplings` and `tree`."""

_REASONS: Mapping[str, Mapping[str, str]] = {
    "places of elements in other arrays": {
        "actuator": "actadr actnum ctrladr ctrlnum historyadr outadr outnum",
        "body": "bvhadr bvhnum dofadr dofnum geomadr geomnum jntadr jntnum rootid treeid weldid",
        "dof": "Madr bodyid jntid parentid simplenum treeid",
        "jnt": "actuatorid dofadr qposadr",
        "pair": "signature",
        "tendon": "actuatorid treeid treenum",
    },
    "MuJoCo computes them from what is compared": {
        "actuator": "acc0 length0",
        "body": "conaffinity contype margin sameframe simple subtreemass",
        "dof": "M0 length",
        "geom": "aabb rbound sameframe",
        "tendon": "invweight0 length0",
    },
    "they are drawn": {"geom": "group matid rgba", "jnt": "group", "tendon": "group matid rgba width"},
    "numbers of the user": dict.fromkeys(("actuator", "body", "geom", "jnt", "tendon"), "user"),
    "the numbers of plugins are compared": dict.fromkeys(("actuator", "body", "geom"), "plugin"),
    "the delay that needs it is compared": {"actuator": "history"},
}
"""Reasons for which arrays are not compared, each with their names by the kind of their element."""

_FLOORS = {"body_mass": 1e-9, "dof_armature": 1e-10}
"""Differences below which two values are equal, other than the usual one, in the unit of the array."""

_NAMES = {"actgravcomp": "actuatorgravcomp", "dim": "condim"}
"""Names in MJCF that are not those of the arrays."""


def reason_of(kind: str, name: str) -> str | None:
    """Return the reason for which an array is not compared; None if it is."""
    return next((reason for reason, arrays in _REASONS.items() if name in arrays.get(kind, "").split()), None)


def fields(kind: str) -> tuple[Field, ...]:
    """Return all arrays of a kind of element, such as `jnt`, whose values are compared as they are.

    Arrays that a later MuJoCo adds are among them, until they get a meaning or a reason.
    """
    names = [each.removeprefix(f"{kind}_") for each in dir(mujoco.MjModel) if each.startswith(f"{kind}_")]
    special = _WITH_MEANING[kind].split()
    return tuple(
        Field(_words(name), f"{kind}_{name}", _FLOORS.get(f"{kind}_{name}", 1e-7))
        for name in names
        if name not in special and reason_of(kind, name) is None
    )


def _words(name: str) -> str:
    return f"{name[:-4]} of higher orders" if name.endswith("poly") else _NAMES.get(name, name)
