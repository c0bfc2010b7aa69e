"""Actuators from USD assets: `NewtonActuator` prims become the equivalent tables and configurations of a file."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import attrs
from cattrs import BaseValidationError
from pippin.assets.asset import Asset, failure, find_asset, is_read_as
from pippin.assets.usd.stage import actuator_prims, ignored_paths, is_within, open_stage
from pippin.catalog.entries import Catalog
from pippin.config.component import ComponentConfig
from pippin.config.converter import make_converter
from pippin.config.faults import UnexpectedValueError, faults_of
from pippin.config.fields import joints_of
from pippin.config.model import SimulationConfig
from pippin.errors import ConfigError
from pippin.labels import covers
from pippin.spelling import did_you_mean

TARGETS = "newton:targets"
JOINT_TYPES = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
"""The joints that an actuator may drive."""

Table = dict[str, Any]


@attrs.frozen
class Schema:
    """One API schema: its purpose, and the keys of its attributes in a table."""

    kind: Literal["control", "clamping", "delay"]

    type: str
    """The plugin that implements the schema; empty for a delay."""

    keys: Mapping[str, str]
    """The key in the table of each attribute, named without `newton:`."""

    complete: Callable[[Table], Table | None] = lambda table: table
    """Converts a table of all attributes to the table of a file; returns None if the schema has no effect."""

    def table(self, values: Mapping[str, Any]) -> Table | None:
        """Return the table that is equivalent to attributes, which are given by name."""
        table = {key: values[attribute] for attribute, key in self.keys.items()}
        return self.complete({"type": self.type, **table} if self.type else table)


def _control(table: Table) -> Table:
    """Leave out values without effect: a file has no infinity, and not every control has a constant effort."""
    if table.get("const_effort") == 0.0:
        del table["const_effort"]
    return _finite(table)


def _finite(table: Table) -> Table:
    return {key: value for key, value in table.items() if value != math.inf}


def _max_effort(table: Table) -> Table | None:
    return None if table["max_effort"] == math.inf else table


def _dc_motor(table: Table) -> Table | None:
    """Return the table of the torque-speed curve. Without a speed limit, the curve is a constant effort limit."""
    at_rest, fastest, largest = (table[key] for key in ("saturation_effort", "velocity_limit", "max_motor_effort"))
    for name, effort in (("saturationEffort", at_rest), ("maxMotorEffort", largest)):
        if not effort >= 0.0:  # true for a NaN, too
            raise ValueError(f"newton:{name} must be >= 0: {effort}; correct the stage")
    if fastest == math.inf:
        return _max_effort({"type": "max-effort", "max_effort": min(at_rest, largest)})
    if at_rest == math.inf:
        raise ValueError("newton:velocityLimit needs a finite newton:saturationEffort, got inf")
    return _finite(table)


def _lookup(table: Table) -> Table:
    return {key: value if key == "type" else list(value or ()) for key, value in table.items()}


_CURVE = {
    "saturationEffort": "saturation_effort",
    "velocityLimit": "velocity_limit",
    "maxMotorEffort": "max_motor_effort",
}
_POINTS = {"lookupPositions": "lookup_positions", "lookupEfforts": "lookup_efforts"}
_PD = {"kp": "kp", "kd": "kd", "constEffort": "const_effort"}

SCHEMAS: Mapping[str, Schema] = {
    "NewtonPDControlAPI": Schema("control", "pd", _PD, _control),
    "NewtonPIDControlAPI": Schema("control", "pid", {**_PD, "ki": "ki", "integralMax": "integral_max"}, _control),
    "NewtonNeuralControlAPI": Schema("control", "neural", {"modelPath": "model_path"}),
    "NewtonMaxEffortClampingAPI": Schema("clamping", "max-effort", {"maxEffort": "max_effort"}, _max_effort),
    "NewtonDCMotorClampingAPI": Schema("clamping", "dc-motor", _CURVE, _dc_motor),
    "NewtonPositionBasedClampingAPI": Schema("clamping", "position-based", _POINTS, _lookup),
    "NewtonActuatorDelayAPI": Schema("delay", "", {"delaySteps": "steps"}),
}
"""The schemas by name. Values are in SI units and radians, even if the joint's own drive is in degrees."""


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
    """Yield the actuators of a stage, in the order of its prims; `faults` receives a line for each fault of others."""
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


def find_prim_actuators(config: SimulationConfig, catalog: Catalog) -> dict[str, tuple[str, ComponentConfig]]:
    """Return the actuators of USD assets by label: the place of each, and its equivalent configuration.

    If an actuator of the file drives the same joint as a prim, the file's actuator wins, and a warning names both.
    """
    found: list[PrimActuator] = []
    faults: list[str] = []
    for index, asset in enumerate(config.scene.assets):
        if is_read_as(asset, "usd"):
            for actuator in read_actuators(find_asset(asset, f"scene.assets[{index}]"), faults):
                # Two copies of a stage without labels: patterns match the joints of both.
                if not any(attrs.evolve(actuator, where=other.where) == other for other in found):
                    found.append(actuator)
    found = [rest for each in found if (rest := _without_the_files(each, config.actuators)) is not None]
    faults += _driven_twice(found)
    chosen = {}
    counts = Counter([*config.actuators, *(actuator.names[0] for actuator in found)])
    for actuator in found:
        label = actuator.names[counts[actuator.names[0]] > 1]
        try:
            chosen[label] = (actuator.where, _structured(actuator, catalog))
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(*faults)
    return chosen


def _without_the_files(actuator: PrimActuator, groups: Mapping[str, ComponentConfig]) -> PrimActuator | None:
    """Return an actuator without the joints that groups of the file drive; None if no joint is left."""
    for label, group in groups.items():
        patterns = joints_of(group.config)
        taken = [joint for joint in actuator.joints if covers(patterns, joint)]
        if taken:
            warnings.warn(
                f"actuators.{label}: drives {', '.join(map(repr, taken))} in place of {actuator.where};"
                " leave the prim out with `ignore`, or the joints out of the group",
                UserWarning,
                stacklevel=2,
            )
            rest = tuple(joint for joint in actuator.joints if joint not in taken)
            actuator = attrs.evolve(actuator, joints=rest)
    return actuator if actuator.joints else None


def _driven_twice(actuators: Sequence[PrimActuator]) -> Iterator[str]:
    first: dict[str, PrimActuator] = {}
    for actuator in actuators:
        for joint in actuator.joints:
            other = first.setdefault(joint, actuator)
            if other is not actuator:
                yield (
                    f"{actuator.where}: drives {joint!r}, which {other.where} drives already;"
                    " let one actuator drive each joint, and give copies of an asset a `label`"
                )


def _structured(actuator: PrimActuator, catalog: Catalog) -> ComponentConfig:
    table = {"joints": [re.escape(joint) for joint in actuator.joints], **actuator.table}
    kind: Any = Annotated[ComponentConfig, "actuator"]
    try:
        return make_converter(catalog).structure(table, kind)
    except (BaseValidationError, UnexpectedValueError) as error:
        texts = [_worded(actuator, fault.path, fault.text) for fault in faults_of(error)]
        raise ConfigError(*texts) from error


def _worded(actuator: PrimActuator, path: Sequence[str | int], text: str) -> str:
    depth = max(index for index, step in enumerate(path) if isinstance(step, str))  # below it, items of a list
    table: Any = actuator.table
    for step in path[:depth]:
        table = table[step]
    key = str(path[depth])
    if key == "type":
        kind = "clamping" if depth else "actuator"
        return f"{actuator.where}: needs {text}; install pippin-{kind}-{table['type']}"
    schema = next(each for each in SCHEMAS.values() if each.type == table.get("type", ""))
    names = {own: name for name, own in schema.keys.items()}
    return f"{actuator.where}: newton:{names.get(key, key)}: {text}; correct the stage"
