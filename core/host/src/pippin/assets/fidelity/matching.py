"""Correspondence of the elements of two models: by name, and by their order in the tree if they have none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias

import attrs
import numpy as np
from pippin.assets.untyped import mujoco

from .difference import Difference
from .pairing import carriers, match_bodies, match_joints, match_rigid, match_tendons
from .pairs import colliding_pairs

Comparison: TypeAlias = "Callable[[Match, str, int, int], Iterator[Difference]]"


@attrs.frozen
class Match:
    """Two models, and for each element of the first the corresponding one of the second."""

    theirs: Any
    ours: Any
    frames: tuple[Any, Any]
    """MuJoCo's data of both models, with all poses at the start."""
    bodies: Mapping[int, int]
    joints: Mapping[int, int]
    geoms: Mapping[int, int]
    sites: Mapping[int, int]
    tendons: Mapping[int, int]
    pairs: tuple[Collection[tuple[int, int]], Collection[tuple[int, int]]]
    """Pairs of geoms of each model that can collide."""

    def indices(self, kind: str) -> Mapping[int, int]:
        """Return the correspondence of one kind of element: `joint`."""
        return {
            "body": self.bodies,
            "joint": self.joints,
            "geom": self.geoms,
            "site": self.sites,
            "tendon": self.tendons,
        }[kind]

    def rank_of_joint(self, joint: int) -> tuple[int, int]:
        """Return the places of a joint among the matched joints of its body, in the order of each model."""
        owner = self.theirs.jnt_bodyid[joint]
        beside = [i for i in self.joints if self.theirs.jnt_bodyid[i] == owner]
        return sorted(beside).index(joint), sorted(self.joints[i] for i in beside).index(self.joints[joint])

    def name(self, kind: str, index: int) -> str:
        """Return an element of the first model as text: `joint 'knee'`, or `joint 2 of body 'leg'` without a name."""
        return described(self.theirs, kind, index)


def compare_pairs(match: Match, kind: str, count: str, compare: Comparison) -> Iterator[Difference]:
    """Yield the elements of a kind that one model lacks, and what a comparison yields of each pair."""
    pairs = match.indices(kind)
    for index in range(getattr(match.theirs, count)):
        if index in pairs:
            yield from compare(match, match.name(kind, index), index, pairs[index])
        else:
            yield Difference(match.name(kind, index), "exists", True, False, True)
    for index in sorted(set(range(getattr(match.ours, count))) - set(pairs.values())):
        yield Difference(described(match.ours, kind, index), "exists", False, True, True)


def match_models(theirs: Any, ours: Any, our_pairs: Collection[tuple[int, int]] | None = None) -> Match:
    """Return which elements of two models correspond.

    Without pairs, the masks and filters of the second one tell which of its geoms can collide.
    """
    frames = frames_at_start(theirs), frames_at_start(ours)
    bodies = match_bodies(theirs, ours, frames)
    joints, geoms, sites = {}, {}, {}
    for body, ours_body in bodies.items():
        joints |= match_joints(theirs, ours, body, carriers(theirs, ours, bodies, body))
        for kind, found in (("geom", geoms), ("site", sites)):
            found |= match_rigid(kind, theirs, ours, body, ours_body)
    tendons = match_tendons(theirs, ours, {"joint": joints, "geom": geoms, "site": sites})
    pairs = colliding_pairs(theirs), colliding_pairs(ours) if our_pairs is None else our_pairs
    return Match(theirs, ours, frames, bodies, joints, geoms, sites, tendons, pairs)


def frames_at_start(model: Any) -> Any:
    """Return MuJoCo's data of a model with all poses at the start."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return data


def described(model: Any, kind: str, index: int) -> str:
    """Return an element as text: `joint 'knee'`, or `joint 2 of body 'leg'` if it has no name."""
    name = getattr(model, kind)(index).name
    if name:
        return f"{kind} {name!r}"
    if kind in ("joint", "geom", "site"):
        owners = getattr(model, f"{'jnt' if kind == 'joint' else kind}_bodyid")
        body = int(owners[index])
        return f"{kind} {index - int(np.argmax(owners == body))} of {described(model, 'body', body)}"
    return f"{kind} {index}"
