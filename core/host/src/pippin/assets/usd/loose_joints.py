"""Articulations for the joints of a stage that belong to none: Newton refuses such joints between two bodies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs

from .stage import is_within

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
    joints = [_Joint(prim, _bodies(prim, physics)) for prim in prims if _is_in_tree(prim, physics)]
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
    """Tell whether a prim is a joint that may be part of an articulation."""
    joint = physics.Joint(prim)
    return (
        prim.IsA(physics.Joint)
        and joint.GetJointEnabledAttr().Get() is not False
        and not joint.GetExcludeFromArticulationAttr().Get()
    )


def _bodies(prim: Any, physics: Any) -> _Pair:
    joint = physics.Joint(prim)
    first, second = (_body(prim.GetStage(), rel, physics) for rel in (joint.GetBody0Rel(), joint.GetBody1Rel()))
    return first, second


def _body(stage: Any, relation: Any, physics: Any) -> str:
    """Return the path of the rigid body at or above the target of a relation."""
    for target in relation.GetTargets():
        prim = stage.GetPrimAtPath(target)
        while prim.IsValid() and not prim.IsPseudoRoot():
            if prim.HasAPI(physics.RigidBodyAPI):
                return str(prim.GetPath())
            prim = prim.GetParent()
    return _WORLD


def _mechanisms(joints: Iterable[_Joint]) -> Iterator[Sequence[_Joint]]:
    """Yield the joints of each set of bodies that joints connect."""
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
