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
    """Make articulations as Newton's importer takes them, in the memory of an open stage alone.

    Each mechanism of bodies and joints without an articulation root becomes a tree, whose root is the body that a joint
    holds to the world, or else one that no joint has as its second body. So does each of several that share a root, and
    float. The joints that would close a loop stay outside the tree, and those that lead to the root are turned round.
    A mechanism without a root all of whose joints hold bodies to the world is left as it is: Newton takes it.
    """
    from pxr import Usd, UsdPhysics

    physics: Any = UsdPhysics
    prims = [prim for prim in stage.Traverse() if not is_within(str(prim.GetPath()), ignored)]
    roots = [str(prim.GetPath()) for prim in prims if prim.HasAPI(physics.ArticulationRootAPI)]
    joints = [_Joint(prim, bodies_of(prim, physics)) for prim in prims if _is_in_tree(prim, physics)]
    tools: Any = Usd
    with tools.EditContext(stage, stage.GetSessionLayer()):
        mechanisms = [*_mechanisms(each for each in joints if each.bodies != (_WORLD, _WORLD))]
        holders = [_holder(each, roots) for each in mechanisms]
        floats = [not any(_WORLD in joint.bodies for joint in each) for each in mechanisms]
        shared = {each for each, does in zip(holders, floats, strict=True) if each and does and holders.count(each) > 1}
        for mechanism, holder in zip(mechanisms, holders, strict=True):
            if not holder and all(_WORLD in each.bodies for each in mechanism):
                continue
            root, tree, reached = _tree(mechanism, holder)
            if not holder or holder in shared:
                physics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
                for each in stage.GetPrimAtPath(holder).GetAuthoredAttributes() if holder else ():
                    if each.GetName().startswith(("physxArticulation:", "newton:self")):
                        stage.GetPrimAtPath(root).CreateAttribute(each.GetName(), each.GetTypeName()).Set(each.Get())
            for joint in mechanism:
                if joint.pair not in tree:
                    physics.Joint(joint.prim).CreateExcludeFromArticulationAttr(True)
                elif reached.index(joint.bodies[1]) < reached.index(joint.bodies[0]):
                    exchange_bodies(joint.prim)
        for holder in shared:
            stage.GetPrimAtPath(holder).RemoveAPI(physics.ArticulationRootAPI)


def exchange_bodies(prim: Any) -> None:
    """Exchange the two bodies of a joint, with their frames, about the opposite axis: its coordinate stays as it is.

    Raises:
        ValueError: The joint may have several axes, whose order counts.
    """
    from pxr import Gf

    if prim.GetTypeName() == "PhysicsJoint":
        raise ValueError(f"{prim.GetPath()} leads from a body to what carries it; exchange the two and their frames")
    axis = prim.GetAttribute("physics:axis").Get()
    back = Gf.Quatf(0.0, *np.eye(3)["ZXY".index(axis)].tolist()) if axis else Gf.Quatf(1.0)
    ends = [[prim.GetProperty(f"physics:{name}{end}") for name in ("body", "localPos", "localRot")] for end in (0, 1)]
    values = [(bodies.GetTargets(), place.Get(), turn.Get()) for bodies, place, turn in ends]
    for (bodies, place, turn), (targets, position, rotation) in zip(ends, reversed(values), strict=True):
        bodies.SetTargets(targets)
        place.Set(position)
        turn.Set(rotation * back)


def _holder(mechanism: Sequence[_Joint], roots: Sequence[str]) -> str:
    """Return the path of the articulation root that is above a mechanism, or in it; empty if there is none."""
    paths = [path for each in mechanism for path in (str(each.prim.GetPath()), *each.bodies) if path]
    return next((root for root in roots if any(is_within(path, [root]) for path in paths)), "")


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


def _tree(mechanism: Sequence[_Joint], holder: str) -> tuple[str, set[_Pair], Sequence[str]]:
    """Return the root of a mechanism, the pairs of bodies that its tree joins, and the bodies from the root on.

    The root is a joint to the world, else the holder if it is a body, or a body.
    """
    anchor = next((each for each in mechanism if _WORLD in each.bodies), None)
    bodies, seconds = [body for each in mechanism for body in each.bodies], {each.bodies[1] for each in mechanism}
    firsts = [body for body in bodies if body == holder] or [body for body in bodies if body not in seconds] or bodies
    root, tree, reached = firsts[0], set[_Pair](), firsts[:1]
    if anchor is not None:
        root, reached = str(anchor.prim.GetPath()), [_WORLD, *(body for body in anchor.bodies if body)]
        tree.add(anchor.pair)
    pairs = [each.pair for each in mechanism if _WORLD not in each.bodies]  # a second joint to the world closes a loop
    while new := next((pair for pair in pairs if len(set(pair).intersection(reached)) == 1), None):
        tree.add(new)
        reached += [body for body in new if body not in reached]
    return root, tree, reached
