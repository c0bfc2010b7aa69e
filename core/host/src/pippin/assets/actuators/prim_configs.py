"""Actuators from USD assets: `NewtonActuator` prims become the equivalent configurations of a file."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import attrs
from cattrs import BaseValidationError
from pippin.assets.asset import find_asset
from pippin.assets.formats import FORMATS
from pippin.catalog.entries import Catalog
from pippin.config.component import ComponentConfig
from pippin.config.converter import make_converter
from pippin.config.faults import UnexpectedValueError, faults_of
from pippin.config.fields import joints_of
from pippin.config.model import AssetConfig, SimulationConfig
from pippin.errors import ConfigError
from pippin.labels import covers

from .prim_schemas import SCHEMAS
from .prims import PrimActuator, read_actuators


def find_prim_actuators(config: SimulationConfig, catalog: Catalog) -> dict[str, tuple[str, ComponentConfig]]:
    """Return the actuators of USD assets by label: the place of each, and its equivalent configuration.

    If an actuator of the file drives the same joint as a prim, the file's actuator wins, and a warning names both.
    """
    found: list[PrimActuator] = []
    faults: list[str] = []
    for index, asset in enumerate(config.scene.assets):
        if _is_stage(asset):
            for actuator in read_actuators(find_asset(asset, f"scene.assets[{index}]"), faults):
                # Two copies of a stage without labels: patterns match the joints of both.
                if not any(attrs.evolve(actuator, where=other.where) == other for other in found):
                    found.append(actuator)
    found = [rest for each in found if (rest := _without_the_files(each, config.actuators)) is not None]
    faults += _driven_twice(found)
    chosen = {}
    for label, actuator in _labelled(found, config.actuators):
        try:
            chosen[label] = (actuator.where, _structured(actuator, catalog))
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(*faults)
    return chosen


def _is_stage(config: AssetConfig) -> bool:
    if config.importer is not None:
        return False
    return config.format == "usd" or (config.format is None and config.path.lower().endswith(FORMATS["usd"].suffixes))


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


def _labelled(
    actuators: Sequence[PrimActuator], groups: Mapping[str, ComponentConfig]
) -> Iterator[tuple[str, PrimActuator]]:
    counts = Counter([*groups, *(actuator.names[0] for actuator in actuators)])
    for actuator in actuators:
        yield actuator.names[counts[actuator.names[0]] > 1], actuator


def _structured(actuator: PrimActuator, catalog: Catalog) -> ComponentConfig:
    table = {"joints": [re.escape(joint) for joint in actuator.joints], **actuator.table}
    kind: Any = Annotated[ComponentConfig, "actuator"]
    try:
        return make_converter(catalog).structure(table, kind)
    except (BaseValidationError, UnexpectedValueError) as error:
        texts = [_worded(actuator, fault.path, fault.text) for fault in faults_of(error)]
        raise ConfigError(*texts) from error


def _worded(actuator: PrimActuator, path: Sequence[str | int], text: str) -> str:
    """Return a fault of a table, expressed in the terms of the stage."""
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
