"""The API schemas of a `NewtonActuator` prim, and the equivalent tables of a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

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


_PD = {"kp": "kp", "kd": "kd", "constEffort": "const_effort"}

SCHEMAS: Mapping[str, Schema] = {
    "NewtonPDControlAPI": Schema("control", "pd", _PD, _control),
    "NewtonPIDControlAPI": Schema("control", "pid", {**_PD, "ki": "ki", "integralMax": "integral_max"}, _control),
    "NewtonNeuralControlAPI": Schema("control", "neural", {"modelPath": "model_path"}),
    "NewtonMaxEffortClampingAPI": Schema("clamping", "max-effort", {"maxEffort": "max_effort"}, _max_effort),
    "NewtonDCMotorClampingAPI": Schema(
        "clamping",
        "dc-motor",
        {
            "saturationEffort": "saturation_effort",
            "velocityLimit": "velocity_limit",
            "maxMotorEffort": "max_motor_effort",
        },
        _dc_motor,
    ),
    "NewtonPositionBasedClampingAPI": Schema(
        "clamping",
        "position-based",
        {"lookupPositions": "lookup_positions", "lookupEfforts": "lookup_efforts"},
        _lookup,
    ),
    "NewtonActuatorDelayAPI": Schema("delay", "", {"delaySteps": "steps"}),
}
"""The schemas by name. Values are in SI units and radians, even if the joint's own drive is in degrees."""
