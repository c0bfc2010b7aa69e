"""A USD stage before Newton's importer reads it: what is asked of it, and articulations for its loose joints."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin.assets.asset import NOTE
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError
from pippin.labels import match

_LOGGER = logging.getLogger(__name__)


def open_stage(file: Path, *, is_quiet: bool = False) -> Any:
    """Return the `Usd.Stage` of a file after registering Newton's schemas; notes what OpenUSD says, unless it is quiet.

    Raises:
        ValueError: The stage refers to what is not there; besides, OpenUSD's errors, or ImportError.
    """
    import newton_usd_schemas  # noqa: F401  registers the schemas
    from pxr import Usd, UsdUtils

    library: Any = UsdUtils
    held = library.CoalescingDiagnosticDelegate()  # OpenUSD prints it otherwise
    try:
        stage = Usd.Stage.Open(str(file))
        stage.Reload()  # OpenUSD keeps what it has read, for as long as an error of an earlier build refers to it
    finally:
        said = [" ".join(each.commentary.split()) for each in held.TakeUncoalescedDiagnostics()]
        del held
    if missing := [str(each) for each in stage.GetCompositionErrors()]:
        raise ValueError("; ".join(missing))
    for text in () if is_quiet else said:
        _LOGGER.log(NOTE, f"{file.name}: {text}")
    return stage


def actuator_prims(stage: Any) -> list[Any]:
    """Return the active prims of a stage that are Newton actuators, including prims inside instances."""
    from pxr import Usd

    prims = stage.Traverse(Usd.TraverseInstanceProxies())
    return [prim for prim in prims if prim.GetTypeName() == "NewtonActuator"]


def refuse_broken_meshes(stage: Any, where: str) -> None:
    """Refuse a mesh with points that are no numbers, or with faces of points that it lacks: native code would write
    beyond its memory.
    """
    from pxr import Usd, UsdGeom

    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if not prim.IsA(UsdGeom.Mesh):
            continue
        mesh = UsdGeom.Mesh(prim)
        found = (mesh.GetPointsAttr(), mesh.GetFaceVertexCountsAttr(), mesh.GetFaceVertexIndicesAttr())
        points, counts, indices = (np.asarray(each.Get() or ()) for each in found)
        if not np.isfinite(points).all():
            raise ConfigError(f"{where}: mesh {prim.GetPath()} has a point that is not finite; correct the file")
        is_whole = counts.sum(dtype=np.int64) == len(indices) and counts.min(initial=0) >= 0
        if not is_whole or indices.min(initial=0) < 0 or indices.max(initial=-1) >= len(points):
            raise ConfigError(
                f"{where}: mesh {prim.GetPath()} has faces of points that it lacks ({len(points)} points,"
                f" {len(counts)} faces, {len(indices)} indices); correct the file"
            )


def is_within(path: str, roots: Iterable[str]) -> bool:
    """Tell whether a prim is one of some others, or below one of them."""
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def ignored_paths(stage: Any, config: AssetConfig, where: str) -> list[str]:
    """Return the paths of the prims that the configuration leaves out, with all their descendants."""
    paths = _paths(stage)
    return [paths[i] for i in match(config.ignore, paths, "prim", f"{where}.ignore")] if config.ignore else []


def skipping_patterns(stage: Any, config: AssetConfig, where: str) -> list[str]:
    """Return the expressions that make Newton's importer skip ignored prims and actuators.

    Pippin reads actuators itself: Newton's importer would drive one joint of each, in addition to the joint's drive.
    """
    patterns = [rf"{re.escape(path)}(?:/.*)?\Z" for path in ignored_paths(stage, config, where)]
    actuators = [str(prim.GetPath()) for prim in actuator_prims(stage)]
    others = [path for path in _paths(stage) if path not in actuators]
    return patterns + [_exact(path, others) for path in actuators]


def _exact(path: str, others: list[str]) -> str:
    """Return an expression that matches exactly one prim: a path if possible, since OpenUSD warns of other text."""
    is_prefix = any(other.startswith(path) and not other.startswith(f"{path}/") for other in others)
    return rf"{re.escape(path)}\Z" if is_prefix else path


def _paths(stage: Any) -> list[str]:
    return [str(prim.GetPath()) for prim in stage.Traverse()]


_WORLD = ""
"""Body of a joint that has only one."""

_Pair = tuple[str, str]


@attrs.frozen(eq=False)
class _Joint:
    """A joint of a stage, and the paths of its two bodies."""

    prim: Any
    bodies: _Pair

    @property
    def pair(self) -> _Pair:
        """The bodies in the order of their names: Newton makes one joint of all joints between two bodies."""
        first, second = sorted(self.bodies)
        return first, second


def articulate(stage: Any, ignored: Collection[str]) -> None:
    """Make articulations of the joints that belong to none, in the memory of an open stage alone.

    Each mechanism of bodies and joints without an articulation root becomes a tree, whose root is the body that a joint
    holds to the world, or else the first body. The joints that would close a loop stay outside the tree. A mechanism
    all of whose joints hold bodies to the world is left as it is: Newton takes it.
    """
    from pxr import Usd, UsdPhysics

    physics: Any = UsdPhysics
    prims = [prim for prim in stage.Traverse() if not is_within(str(prim.GetPath()), ignored)]
    roots = [str(prim.GetPath()) for prim in prims if prim.HasAPI(physics.ArticulationRootAPI)]
    joints = [_Joint(prim, bodies_of(prim, physics)) for prim in prims if _is_in_tree(prim, physics)]
    tools: Any = Usd
    with tools.EditContext(stage, stage.GetSessionLayer()):
        for mechanism in _mechanisms(each for each in joints if each.bodies != (_WORLD, _WORLD)):
            paths = [path for each in mechanism for path in (str(each.prim.GetPath()), *each.bodies)]
            is_held = any(is_within(path, roots) for path in paths if path)
            if is_held or all(_WORLD in each.bodies for each in mechanism):
                continue
            root, tree = _tree(mechanism)
            physics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
            for joint in mechanism:
                if joint.pair not in tree:
                    physics.Joint(joint.prim).CreateExcludeFromArticulationAttr(True)


def _is_in_tree(prim: Any, physics: Any) -> bool:
    joint = physics.Joint(prim)
    return (
        prim.IsA(physics.Joint)
        and joint.GetJointEnabledAttr().Get() is not False
        and not joint.GetExcludeFromArticulationAttr().Get()
    )


def bodies_of(prim: Any, physics: Any) -> _Pair:
    """Return the paths of the two bodies of a joint; empty for the world."""
    joint = physics.Joint(prim)
    first, second = (_body(prim.GetStage(), rel, physics) for rel in (joint.GetBody0Rel(), joint.GetBody1Rel()))
    return first, second


def _body(stage: Any, relation: Any, physics: Any) -> str:
    for target in relation.GetTargets():
        prim = stage.GetPrimAtPath(target)
        while prim.IsValid() and not prim.IsPseudoRoot():
            if prim.HasAPI(physics.RigidBodyAPI):
                return str(prim.GetPath())
            prim = prim.GetParent()
    return _WORLD


def _mechanisms(joints: Iterable[_Joint]) -> Iterator[Sequence[_Joint]]:
    left = list(joints)
    while left:
        bodies, found = {body for body in left[0].bodies if body}, list[_Joint]()
        while new := [each for each in left if bodies.intersection(each.bodies)]:
            found += new
            bodies.update(body for each in new for body in each.bodies if body)
            left = [each for each in left if each not in new]
        yield found


def _tree(mechanism: Sequence[_Joint]) -> tuple[str, set[_Pair]]:
    """Return the path of the root, a joint to the world or a body, and the pairs of bodies that the tree joins."""
    anchor = next((each for each in mechanism if _WORLD in each.bodies), None)
    reached = {_WORLD if anchor is not None else mechanism[0].bodies[0]}
    root = str(anchor.prim.GetPath()) if anchor is not None else mechanism[0].bodies[0]
    tree = set[_Pair]()
    if anchor is not None:
        tree.add(anchor.pair)
        reached = set(anchor.bodies) - {_WORLD}
    while new := next((each.pair for each in mechanism if len(reached.intersection(each.pair)) == 1), None):
        if _WORLD in new:  # a second joint to the world closes a loop
            mechanism = [each for each in mechanism if each.pair != new]
            continue
        tree.add(new)
        reached.update(new)
    return root, tree
