"""Authoring of an actuator in a USD stage; Pippin reads it like any other actuator of a stage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pippin import did_you_mean
from pippin.extras import import_library

from .configs import CLAMPINGS, CONTROLS, DelayConfig, attributes_of
from .errors import ArgumentError

if TYPE_CHECKING:
    from typing import TypeAlias

    # OpenUSD has no type annotations.
    Stage: TypeAlias = Any
    Prim: TypeAlias = Any

__all__ = ["add_actuator"]

PRIM_TYPE = "NewtonActuator"
TARGETS = "newton:targets"
JOINT_TYPES = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
"""The joints that an actuator may drive."""


def add_actuator(
    articulation_root: Stage | Prim,
    target_names: str | Sequence[str],
    name: str,
    controller: Any,
    *,
    clamping: Sequence[Any] | None = None,
    delay: DelayConfig | None = None,
    overwrite_existing: bool = False,
) -> Prim:
    """Write a `NewtonActuator` prim at `{root}/Actuators/{name}` and return it. An error leaves the stage unchanged.

    Every attribute of the schemas is authored, even if its value is the schema's default.

    Args:
        articulation_root: The prim above the joints, or a stage, whose default prim is taken.
        target_names: Names of the driven joints, or their paths if two joints have the same name.
        name: Name of the prim, and of the actuator in a simulation.
        controller: The law: `PDControlConfig`, `PIDControlConfig` or `NeuralControlConfig`.
        clamping: Limits in the order in which they are applied, at most one of each class.
        delay: Delay of the targets before they reach the law.
        overwrite_existing: Whether an existing prim of that name is replaced.

    Raises:
        ArgumentError: A joint is unknown or ambiguous, the prim exists, a clamping comes twice, or the name is invalid.
        PluginError: The extra `pippin-isaac[usd]` is not installed.
        TypeError: A configuration is of another class.
    """
    import_library("newton_usd_schemas", "usd", "pippin-isaac")  # registers the schemas

    root = _root_of(articulation_root)
    _refuse_classes(controller, clamping or (), delay)
    targets = [_find_joint(root, target) for target in _listed(target_names)]
    path = _free_path(root, name, overwrite_existing=overwrite_existing)
    # From here on, nothing can fail.
    stage = root.GetStage()
    stage.RemovePrim(path)
    if not stage.GetPrimAtPath(path.GetParentPath()):
        stage.DefinePrim(path.GetParentPath(), "Scope")
    prim = stage.DefinePrim(path, PRIM_TYPE)
    prim.CreateRelationship(TARGETS, custom=False).SetTargets(targets)
    for config in (controller, *(clamping or ()), *([] if delay is None else [delay])):
        prim.AddAppliedSchema(config.schema)
        _author(prim, config)
    return prim


def _root_of(given: Any) -> Prim:
    from pxr import Usd

    if isinstance(given, Usd.Stage):
        given = given.GetDefaultPrim()
        if not given.IsValid():
            raise ArgumentError("articulation_root: the stage has no default prim; pass the prim above the joints")
    if not isinstance(given, Usd.Prim) or not given.IsValid():
        raise TypeError(f"articulation_root: expected a Usd.Stage or a valid Usd.Prim, got {given!r}")
    return given


def _refuse_classes(controller: Any, clamping: Sequence[Any], delay: Any) -> None:
    _expect("controller", controller, CONTROLS)
    for index, each in enumerate(clamping):
        _expect(f"clamping[{index}]", each, CLAMPINGS)
        if type(each) in map(type, clamping[:index]):
            raise ArgumentError(
                f"clamping[{index}]: {type(each).__name__} comes twice, and a schema applies once; keep the tighter one"
            )
    if delay is not None:
        _expect("delay", delay, (DelayConfig,))


def _expect(where: str, config: Any, classes: Sequence[type]) -> None:
    if not isinstance(config, tuple(classes)):
        names = ", ".join(each.__name__ for each in classes)
        raise TypeError(f"{where}: expected one of {names}, got {config!r}")


def _listed(names: str | Sequence[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if not listed or len(set(listed)) < len(listed):
        raise ArgumentError(f"target_names: expected joints, each once, got {listed}")
    return listed


def _find_joint(root: Prim, name: str) -> Any:
    joints = list(_joints_under(root))
    found = [joint for joint in joints if name in (joint.GetName(), str(joint.GetPath()))]
    if len(found) == 1:
        return found[0].GetPath()
    if found:
        paths = ", ".join(str(joint.GetPath()) for joint in found)
        raise ArgumentError(f"target_names: {name!r} is the name of {len(found)} joints; write one of {paths}")
    names = [joint.GetName() for joint in joints]
    known = ", ".join(names) or "none"
    raise ArgumentError(
        f"target_names: no revolute or prismatic joint {name!r} under {str(root.GetPath())!r}"
        f"{did_you_mean(name, names)}; joints: {known}"
    )


def _joints_under(root: Prim) -> Iterator[Any]:
    from pxr import Usd

    prims = Usd.PrimRange(root)
    return (prim for prim in prims if prim.GetTypeName() in JOINT_TYPES)


def _free_path(root: Prim, name: str, *, overwrite_existing: bool) -> Any:
    from pxr import Sdf

    if not Sdf.Path.IsValidIdentifier(name):
        raise ArgumentError(f"name: {name!r} is not a name of a prim; use letters, digits and _")
    stage = root.GetStage()
    layer = stage.GetEditTarget().GetLayer()
    if not layer.permissionToEdit:
        raise ArgumentError(f"articulation_root: layer {layer.identifier!r} may not be edited; edit another one")
    path = root.GetPath().AppendPath(f"Actuators/{name}")
    prim = stage.GetPrimAtPath(path)
    if prim.IsValid() and not overwrite_existing:
        raise ArgumentError(f"name: {str(path)!r} exists already; choose another one, or pass overwrite_existing=True")
    elsewhere = [spec.layer.identifier for spec in prim.GetPrimStack() if spec.layer != layer] if prim else []
    if elsewhere:
        raise ArgumentError(f"name: {str(path)!r} is also described in {elsewhere[0]!r}; edit it there")
    return path


def _author(prim: Prim, config: Any) -> None:
    from pxr import Usd

    registry = Usd.SchemaRegistry()
    definition = registry.FindAppliedAPIPrimDefinition(config.schema)
    for name, value in attributes_of(config).items():
        kind = definition.GetSchemaAttributeSpec(f"newton:{name}").typeName
        prim.CreateAttribute(f"newton:{name}", kind, custom=False).Set(value)
