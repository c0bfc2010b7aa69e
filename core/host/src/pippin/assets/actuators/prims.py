"""Reader of `NewtonActuator` prims: the driven joints, and the equivalent table of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from pippin.assets.asset import Asset, failure
from pippin.assets.usd.stage import actuator_prims, ignored_paths, is_within, open_stage
from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

from .prim_schemas import JOINT_TYPES, SCHEMAS, TARGETS, Schema

_BASES = ("NewtonActuatorControlBaseAPI", "NewtonActuatorClampingBaseAPI")


@attrs.frozen
class PrimActuator:
    """An actuator that a prim describes."""

    where: str
    """The asset and the prim, for errors."""

    names: tuple[str, str]
    """Candidate labels: the prim's name, or its path if the name is taken. The asset's label precedes both."""

    joints: tuple[str, ...]
    """Labels of the driven joints."""

    table: Mapping[str, Any]
    """The equivalent table `[actuators.*]`, without the joints."""


def read_actuators(asset: Asset, faults: list[str]) -> Iterator[PrimActuator]:
    """Yield the actuators of a stage, in the order of its prims.

    Args:
        asset: The stage.
        faults: The list that receives the faults of the other prims, one line for each.
    """
    try:
        stage = open_stage(asset.file, is_quiet=True)
    except Exception as error:  # OpenUSD has its own error classes
        raise ConfigError(failure(asset, error)) from error
    ignored = ignored_paths(stage, asset.config, asset.where)
    for prim in actuator_prims(stage):
        path = str(prim.GetPath())
        if is_within(path, ignored):
            continue
        where = f"{asset.where}.path: {str(asset.file)!r}, prim {path!r}"
        try:
            yield _actuator(prim, where, asset.config.label, ignored)
        except ValueError as error:
            faults += [f"{where}: {fault}" for fault in error.args]


def _actuator(prim: Any, where: str, label: str | None, ignored: Sequence[str]) -> PrimActuator:
    prefix = "" if label is None else f"{label}/"
    joints = tuple(prefix + path for path in _targets(prim, ignored))
    names = (prefix + prim.GetName(), prefix + str(prim.GetPath()))
    return PrimActuator(where, names, joints, _table(prim))


def _targets(prim: Any, ignored: Sequence[str]) -> list[str]:
    paths = [str(path) for path in prim.GetRelationship(TARGETS).GetTargets()]
    if not paths:
        raise ValueError(f"{TARGETS} names no joint; name one, or deactivate the prim")
    faults = [fault for path in paths if (fault := _target_fault(prim.GetStage().GetPrimAtPath(path), path, ignored))]
    if faults:
        raise ValueError(*faults)
    return paths


def _target_fault(joint: Any, path: str, ignored: Sequence[str]) -> str | None:
    if not joint.IsValid():
        return f"{TARGETS}: {path!r} is not on the stage; name a revolute or prismatic joint"
    if joint.GetTypeName() not in JOINT_TYPES:
        kind = joint.GetTypeName() or "a prim without a type"
        return f"{TARGETS}: {path!r} is {kind}, which no drive can turn; name one of {' or '.join(JOINT_TYPES)}"
    if is_within(path, ignored):
        return f"{TARGETS}: {path!r} is left out by the asset's `ignore`; leave the actuator out as well"
    return None


def _table(prim: Any) -> dict[str, Any]:
    """Return the table of a prim's schemas, with clampings in the order in which they are applied."""
    names = [str(name) for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas()]
    schemas = {name: SCHEMAS[name] for name in names if name in SCHEMAS}
    faults = [*_unknown_schemas(names), *_unknown_attributes(prim, schemas.values())]
    controls = [name for name, schema in schemas.items() if schema.kind == "control"]
    if len(controls) != 1:
        known = ", ".join(name for name, schema in SCHEMAS.items() if schema.kind == "control")
        faults.append(f"expected one control, got {' and '.join(controls) or 'none'}; apply one of {known}")
    if faults:
        raise ValueError(*faults)
    tables = {kind: [] for kind in ("control", "clamping", "delay")}
    for schema in schemas.values():
        table = schema.table({name: _value(prim, name) for name in schema.keys})
        tables[schema.kind] += [] if table is None else [table]
    (control,), delays = tables["control"], tables["delay"]  # no schema is applied twice
    return {**control, "clamping": tables["clamping"], **({"delay": delays[0]} if delays else {})}


def _value(prim: Any, name: str) -> Any:
    """Return the authored value of an attribute, or else the default of its schema."""
    value = prim.GetAttribute(f"newton:{name}").Get()
    if name != "modelPath":
        return value
    if not value or not value.path:
        raise ValueError("newton:modelPath names no file; name the network of the actuator")
    if not value.resolvedPath:
        raise ValueError(f"newton:modelPath: {value.path!r} names no file; correct the path")
    return value.resolvedPath


def _unknown_schemas(names: Sequence[str]) -> Iterator[str]:
    from pxr import Usd

    registry = Usd.SchemaRegistry()
    for name in names:
        is_elses = not name.startswith("Newton") and registry.FindAppliedAPIPrimDefinition(name) is not None
        if name not in SCHEMAS and name not in _BASES and not is_elses:
            yield (
                f"applies {name}, which is not a schema of an actuator{did_you_mean(name, SCHEMAS)};"
                f" schemas: {', '.join(SCHEMAS)}"
            )


def _unknown_attributes(prim: Any, schemas: Iterable[Schema]) -> Iterator[str]:
    known = [f"newton:{name}" for schema in schemas for name in schema.keys]
    for attribute in prim.GetAuthoredPropertiesInNamespace("newton"):
        name = str(attribute.GetName())
        if name not in (*known, TARGETS):
            yield f"{name} is not an attribute of the schemas applied{did_you_mean(name, known)}; remove it"
