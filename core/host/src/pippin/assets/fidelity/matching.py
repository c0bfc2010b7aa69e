"""Correspondence of the elements of two models: by name, and by place, type or order if they have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import mujoco
import numpy as np

from .difference import Difference
from .pairs import colliding_pairs

WRAPPED = {
    int(mujoco.mjtWrap.mjWRAP_JOINT): "joint",
    int(mujoco.mjtWrap.mjWRAP_SITE): "site",
    int(mujoco.mjtWrap.mjWRAP_SPHERE): "geom",
    int(mujoco.mjtWrap.mjWRAP_CYLINDER): "geom",
}
"""Kinds of elements that a tendon passes; besides, there are pulleys."""

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)

NO_MASS = 1e-6
"""Mass of a body that only carries a joint [kg]."""


def match_bodies(theirs: Any, ours: Any, frames: tuple[Any, Any]) -> dict[int, int]:
    """Return the body of ours for each of theirs: by name below the parent, or else by place and mass."""
    found, used = {0: 0}, {0}
    for body in range(1, theirs.nbody):
        parent = found.get(int(theirs.body_parentid[body]))
        everywhere = [i for i in range(ours.nbody) if i not in used]
        candidates = everywhere if parent is None else _below(ours, parent, used)
        name = theirs.body(body).name
        chosen = _named(ours, candidates, name) if name else _unnamed(theirs, body, ours, candidates, frames)
        if chosen is not None:
            found[body] = chosen
            used.add(chosen)
    return found


def _named(ours: Any, candidates: Sequence[int], name: str) -> int | None:
    named = [i for i in candidates if _ends_with(ours.body(i).name, name)]
    return next((i for i in named if _is_own_name(ours, i, name)), named[0] if named else None)


def _unnamed(theirs: Any, body: int, ours: Any, candidates: Sequence[int], frames: tuple[Any, Any]) -> int | None:
    """Return the body of the same place and mass, or else the first one that is not another one of the file by name."""
    names = {theirs.body(i).name for i in range(theirs.nbody)} - {""}
    free = [i for i in candidates if not any(_is_own_name(ours, i, name) for name in names)]
    for other in free:
        is_there = np.allclose(frames[0].xpos[body], frames[1].xpos[other], atol=1e-4)
        if is_there and np.isclose(theirs.body_mass[body], ours.body_mass[other], rtol=1e-3):
            return other
    return _with_mass(theirs, body, ours, free[0]) if free else None


def _with_mass(theirs: Any, body: int, ours: Any, candidate: int) -> int:
    while theirs.body_mass[body] >= NO_MASS > ours.body_mass[candidate]:
        children = np.flatnonzero(ours.body_parentid == candidate)
        if len(children) != 1:
            break
        candidate = int(children[0])
    return candidate


def _below(ours: Any, parent: int, used: set[int]) -> list[int]:
    """Return the bodies below another that are not used, the nearest first; not those below a used one."""
    level, found = [parent], []
    while level:
        level = [i for i in range(1, ours.nbody) if int(ours.body_parentid[i]) in level and i not in used]
        found += level
    return found


def carriers(theirs: Any, ours: Any, bodies: Mapping[int, int], body: int) -> list[int]:
    """Return the bodies of ours that carry the joints of a body of theirs, from the root on; the last is its own."""
    end = bodies.get(int(theirs.body_parentid[body]))
    matched = set(bodies.values())
    chain = [bodies[body]]
    while (above := int(ours.body_parentid[chain[0]])) not in (0, end, *matched):
        chain.insert(0, above)
    return chain


def match_joints(theirs: Any, ours: Any, body: int, chain: Sequence[int]) -> dict[int, int]:
    """Return the joint of ours for each of a body's, among those of its carriers: by name, axis, type or order."""
    mine = list(_owned(theirs, "jnt", body))
    free = [joint for carrier in chain for joint in _owned(ours, "jnt", carrier)]

    def is_named(i: int, j: int) -> bool:
        return bool(theirs.joint(i).name) and _ends_with(ours.joint(j).name, theirs.joint(i).name)

    def is_parallel(i: int, j: int) -> bool:
        return theirs.jnt_type[i] == ours.jnt_type[j] and np.allclose(theirs.jnt_axis[i], ours.jnt_axis[j], atol=1e-4)

    def is_same_type(i: int, j: int) -> bool:
        return theirs.jnt_type[i] == ours.jnt_type[j]

    return _pair_off(mine, free, (is_named, is_parallel, is_same_type, lambda i, j: True))


def match_rigid(kind: str, theirs: Any, ours: Any, body: int, ours_body: int) -> dict[int, int]:
    """Return the geom or site of ours for each of a body's: by name, place, type or order."""
    mine, free = list(_owned(theirs, kind, body)), list(_owned(ours, kind, ours_body))
    names = {j: re.sub(r"_\d+$", "", getattr(ours, kind)(j).name) for j in free}
    types = (getattr(theirs, f"{kind}_type"), getattr(ours, f"{kind}_type"))

    def their_name(i: int) -> str:
        return getattr(theirs, kind)(i).name

    def is_last_segment(i: int, j: int) -> bool:
        return bool(their_name(i)) and _plain(names[j].rsplit("/", 1)[-1]) == _plain(their_name(i))

    def is_named(i: int, j: int) -> bool:
        return bool(their_name(i)) and _ends_with(names[j], their_name(i))

    def is_as_solid(i: int, j: int) -> bool:
        return types[0][i] == types[1][j] and (kind == "site" or _is_solid(theirs, i) == _is_solid(ours, j))

    def is_placed(i: int, j: int) -> bool:
        places = getattr(theirs, f"{kind}_pos")[i], getattr(ours, f"{kind}_pos")[j]
        sizes = getattr(theirs, f"{kind}_size")[i], getattr(ours, f"{kind}_size")[j]
        is_as_large = kind == "site" or types[0][i] == _PLANE or np.allclose(*sizes, rtol=1e-3)
        return types[0][i] == types[1][j] and is_as_large and np.allclose(*places, atol=1e-5)

    def is_same_type(i: int, j: int) -> bool:
        return types[0][i] == types[1][j]

    return _pair_off(mine, free, (is_last_segment, is_named, is_placed, is_as_solid, is_same_type))


def _is_solid(model: Any, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def match_tendons(theirs: Any, ours: Any, indices: Mapping[str, Mapping[int, int]]) -> dict[int, int]:
    """Return the tendon of ours for each of theirs: by name, path or length of the path."""

    def is_named(i: int, j: int) -> bool:
        return bool(theirs.tendon(i).name) and _ends_with(ours.tendon(j).name, theirs.tendon(i).name)

    def has_same_path(i: int, j: int) -> bool:
        path = [
            (kind, indices[kind].get(index) if kind in indices else index) for kind, index in tendon_path(theirs, i)
        ]
        return not theirs.tendon(i).name and path == tendon_path(ours, j)

    def is_as_long(i: int, j: int) -> bool:
        return not theirs.tendon(i).name and theirs.tendon_num[i] == ours.tendon_num[j]

    return _pair_off(list(range(theirs.ntendon)), list(range(ours.ntendon)), (is_named, has_same_path, is_as_long))


def tendon_path(model: Any, tendon: int) -> list[tuple[str, int]]:
    """Return what a tendon passes, each with its kind and index; -1 for a pulley."""
    first = int(model.tendon_adr[tendon])
    rows = range(first, first + int(model.tendon_num[tendon]))
    kinds = [WRAPPED.get(int(model.wrap_type[row]), "pulley") for row in rows]
    return [
        (kind, -1 if kind == "pulley" else int(model.wrap_objid[row])) for kind, row in zip(kinds, rows, strict=True)
    ]


def _pair_off(mine: list[int], free: list[int], tests: Sequence[Callable[[int, int], bool]]) -> dict[int, int]:
    """Return pairs of elements that pass a test, in order; those that pass an earlier test come first."""
    pairs: dict[int, int] = {}
    for test in tests:
        for i in mine:
            if i not in pairs:
                chosen = next((j for j in free if test(i, j)), None)
                if chosen is not None:
                    pairs[i] = chosen
                    free.remove(chosen)
    return pairs


def _owned(model: Any, kind: str, body: int) -> Iterator[int]:
    yield from np.flatnonzero(getattr(model, f"{kind}_bodyid") == body).tolist()


def _is_own_name(ours: Any, body: int, name: str) -> bool:
    path, above = ours.body(body).name, ours.body(int(ours.body_parentid[body])).name
    own = path.removeprefix(above) if int(ours.body_parentid[body]) else re.sub(r"^.*?worldbody", "", path)
    return _plain(own).strip("_") == _plain(name).strip("_")


def _ends_with(path: str, name: str) -> bool:
    return f"_{_plain(path)}".endswith(f"_{_plain(name)}")


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


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
        return getattr(self, "bodies" if kind == "body" else f"{kind}s")

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
