"""Meanings of what a USD stage states of motion, by name, and the notes on what nothing does.

The names are in `meanings.toml`. Those of Newton's resolvers and of the solver's own attributes act, too.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import newton
import numpy as np
from pippin.assets.asset import Asset
from pippin.errors import ConfigError
from pippin.spelling import listed

from .stage import bodies_of, exchange_bodies, ignored_paths, is_within, open_stage

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

_NAMESPACES = ("physics:", "physx", "omniphysics:", "drive:", "limit:", "state:", "newton:", "mjc:")
"""Beginnings of the names of what may change motion."""

_AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def lost(asset: Asset, builder: newton.ModelBuilder) -> list[str]:
    """Return a line for each value that a stage states and that does not act, with the reason.

    What a builder has as an attribute of a solver acts.
    """
    from pxr import Usd

    stage = open_stage(asset.file, is_quiet=True)
    ignored = ignored_paths(stage, asset.config, asset.where)
    read = {
        (isinstance(each.frequency, str), each.usd_attribute_name or "") for each in builder.custom_attributes.values()
    }
    found = dict[tuple[str, str], tuple[list[str], list[str]]]()
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        for name, value in () if is_within(path := str(prim.GetPath()), ignored) else _statements(prim):
            row = _row(name)
            if row is not None and _is_lost(prim, name, value, row, read):
                texts, paths = found.setdefault((name, row["why"]), ([], []))
                texts.append(f"{value:g}" if isinstance(value, float) else str(value))
                paths.append(path)
    return [
        f"{name}{' = ' * any(texts)}{listed(texts)} of {listed(paths)} does not act: {why}"
        for (name, why), (texts, paths) in found.items()
    ]


def _statements(prim: Any) -> Iterator[tuple[str, Any]]:
    """Yield the type, the schemas, and the authored attributes and relationships of a prim, with their values."""
    yield from ((name, "") for name in (prim.GetTypeName(), *prim.GetPrimTypeInfo().GetAppliedAPISchemas()))
    for each in prim.GetAuthoredProperties():
        name, is_attribute = each.GetName(), hasattr(each, "GetTypeName")
        if is_attribute and each.GetNumTimeSamples() and name.startswith((*_NAMESPACES, "xformOp")):
            yield "time samples", name
        if ":" in name and name.startswith(_NAMESPACES):
            yield name, each.Get() if is_attribute else [str(path) for path in each.GetTargets()]


@cache
def _row(name: str) -> Mapping[str, Any] | None:
    """Return what is told of a name; None for one that acts, or says nothing of motion."""
    rows = [(pattern, row) for row in _TABLE["told"] for pattern in row["names"]]
    rows += [(pattern, None) for kind in ("acts", "still") for pattern in _TABLE[kind]]
    matches = [(len(pattern), index) for index, (pattern, _) in enumerate(rows) if fnmatchcase(name, pattern)]
    if matches:
        return rows[max(matches)[1]][1]
    return {"why": "nothing reads it", "read": name} if ":" in name and name.startswith(_NAMESPACES) else None


def _is_lost(prim: Any, name: str, value: Any, row: Mapping[str, Any], read: Collection[tuple[bool, str]]) -> bool:
    """Tell whether a value changes a motion in the engine that has it, and nothing here does that.

    What is `read` is a name, and whether that holds for actuators and tendons of MuJoCo alone.
    """
    if value is None or (prim.GetTypeName().startswith("Mjc"), row.get("read", "-")) in read:
        return False
    if name in _TABLE["acts_of_colliders"] and "PhysicsCollisionAPI" in prim.GetAppliedSchemas():
        return False
    neutral = [*row.get("neutral", ()), *(prim.GetAttribute(each).Get() for each in row.get("same", ()))]
    if not neutral and ":" in name:
        neutral.append(prim.GetPrimDefinition().GetAttributeFallbackValue(name))
    if any(_plain(value) == _plain(each) for each in neutral):
        return False
    others = [prim.GetAttribute(name.rpartition(":")[0] + f":{end}").Get() for end in row.get("with", ())]
    return not others or any(others)


def _plain(value: Any) -> Any:
    """Return a value with its numbers in single precision, which most attributes have; what has none, as text."""
    try:
        return np.asarray(value, dtype=np.float32).tolist()
    except (TypeError, ValueError):
        return str(value)


def refuse_units(stage: Any, where: str) -> None:
    """Refuse a stage whose lengths are no metres, or whose masses no kilograms; grains alone may have others."""
    from pxr import UsdGeom, UsdPhysics

    metres, kilograms = UsdGeom.StageHasAuthoredMetersPerUnit, UsdPhysics.StageHasAuthoredKilogramsPerUnit
    units = {
        "metersPerUnit": UsdGeom.GetStageMetersPerUnit(stage) if metres(stage) else 1.0,
        "kilogramsPerUnit": UsdPhysics.GetStageKilogramsPerUnit(stage) if kilograms(stage) else 1.0,
    }
    wrong = [f"{key} = {value:g}" for key, value in units.items() if not math.isclose(value, 1.0)]
    is_solid = lambda prim: prim.IsA(UsdGeom.Gprim) and not prim.IsA(UsdGeom.Points)  # noqa: E731
    if wrong and any(prim.HasAPI(UsdPhysics.RigidBodyAPI) or is_solid(prim) for prim in stage.Traverse()):
        raise ConfigError(
            f"{where}: the stage has {' and '.join(wrong)}, and its numbers are read as metres and kilograms; save it"
            " in these units, with 1"
        )


def repair(stage: Any, *, has_compensation: bool) -> None:
    """State in the memory of an open stage, as Newton's importer reads it, what the importer reads otherwise.

    Instances with bodies or joints become prims of their own, which can be changed. Bodies that are not enabled become
    static. Axes of a `PhysicsJoint` without a limit are free. Joints whose second body is the world get it as the
    first one. Offsets of PhysX's mimic joints are in degrees.
    Where the solver has compensation of gravity, bodies without gravity get it.
    """
    from pxr import Sdf, Usd, UsdPhysics

    with Usd.EditContext(stage, stage.GetSessionLayer()):
        while instances := [*filter(_is_mechanism, stage.Traverse())]:
            for instance in instances:
                instance.SetInstanceable(False)
        for prim in list(stage.Traverse()):
            if prim.HasAPI(UsdPhysics.RigidBodyAPI):
                if prim.GetAttribute("physics:rigidBodyEnabled").Get() is False:
                    prim.RemoveAPI(UsdPhysics.RigidBodyAPI)
                elif has_compensation and prim.GetAttribute("physxRigidBody:disableGravity").Get():
                    prim.CreateAttribute("mjc:gravcomp", Sdf.ValueTypeNames.Double).Set(1.0)
            first, second = bodies_of(prim, UsdPhysics) if prim.IsA(UsdPhysics.Joint) else ("", "")
            if first and not second:
                exchange_bodies(prim)
            elif prim.IsA(UsdPhysics.Joint) and not second:
                raise ValueError(f"{prim.GetPath()} joins no body that moves; remove it, or name one that is enabled")
            for axis in _AXES if prim.GetTypeName() == "PhysicsJoint" else ():
                UsdPhysics.LimitAPI.Apply(prim, axis)
            for offset in prim.GetAuthoredAttributes():
                if fnmatchcase(offset.GetName(), "physxMimicJoint:rot*:offset"):
                    offset.Set(math.radians(offset.Get()))


def _is_mechanism(prim: Any) -> bool:
    """Tell whether a prim is an instance with bodies or joints."""
    from pxr import Usd, UsdPhysics

    below = Usd.PrimRange(prim, Usd.TraverseInstanceProxies()) if prim.IsInstance() else ()
    return any(each.HasAPI(UsdPhysics.RigidBodyAPI) or each.IsA(UsdPhysics.Joint) for each in below)
