"""Contacts of two models of one file at random poses: number, depth and normal, and the acceleration with them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import mujoco
import numpy as np
from pippin.assets.fidelity.matching import Match

POSES, TRIES = 8, 60
"""Poses with contacts that are compared, and those that are drawn to find them."""

DEPTH, TURN, PUSH = 2e-5, 0.01, 2e-3
"""Differences from which two contacts are not the same: of the depth [m], of the normal [rad], and of accelerations,
relative to the largest one."""

EXCUSE = 5.0
"""A difference is rounding if MuJoCo's own model changes by a fifth of it when its numbers are rounded otherwise."""

PROBES = 4
"""Roundings of MuJoCo's own model."""

_ROUNDED = ("body_pos", "body_quat", "geom_pos", "geom_quat", "geom_size", "mesh_vert", "hfield_data", "body_inertia")
"""Numbers that Newton keeps in single precision."""

_NEWTON = int(mujoco.mjtSolver.mjSOL_NEWTON)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


@attrs.frozen
class Touch:
    """The contacts of two geoms."""

    count: int
    depth: float
    """Depth of the deepest one [m]."""
    normal: np.ndarray
    """Its normal, from the geom with the smaller index to the other."""


Engine: TypeAlias = "Callable[[np.ndarray], list[tuple[dict[tuple[int, int], Touch], np.ndarray]]]"
"""What finds, for poses of our model, the contacts of each pair of its geoms and the accelerations of its DOFs."""


@attrs.frozen
class ContactFinding:
    """What differs between the contacts of two models."""

    poses: int = 0
    """Poses with contacts."""
    pairs: int = 0
    """Pairs of geoms that touch in them, added up over the poses."""
    lost: int = 0
    """Contacts of MuJoCo that the other model has not."""
    added: int = 0
    depth: float = 0.0
    """Largest difference of depths beyond rounding [m]."""
    turn: float = 0.0
    """Largest angle between normals beyond rounding [rad]."""
    push: float = 0.0
    """Largest difference of accelerations beyond rounding, relative to the largest acceleration."""

    @property
    def faults(self) -> list[str]:
        """What differs, in words."""
        found = {
            f"{self.lost} of {self.pairs} contacts lost": self.lost,
            f"{self.added} contacts added to {self.pairs}": self.added,
            f"depths of contacts differ by {1e3 * self.depth:.2g} mm": self.depth,
            f"normals of contacts differ by {np.degrees(self.turn):.2g}°": self.turn,
            f"accelerations with contacts differ by {100 * self.push:.2g} %": self.push,
        }
        return [words for words, size in found.items() if size]


def compare_contacts(match: Match, found_in: Engine | None = None) -> ContactFinding | None:
    """Return how the contacts of two models differ at random poses; None if no pose with contacts was found.

    MuJoCo's C engine finds those of our model, or else what is given.
    """
    addresses = _addresses(match)
    if addresses is None:
        return None
    theirs, ours = copy.copy(match.theirs), copy.copy(match.ours)
    for model in (theirs, ours):  # options are compared elsewhere, and these decide how far solvers converge
        model.opt.solver, model.opt.iterations, model.opt.ls_iterations = _NEWTON, 200, 100
        model.opt.tolerance = model.opt.ls_tolerance = 1e-10
        model.opt.ccd_iterations, model.opt.ccd_tolerance, model.opt.noslip_iterations = 500, 1e-9, 0
    ours.opt.timestep = theirs.opt.timestep  # MuJoCo raises time constants of constraints to two steps
    match = attrs.evolve(match, theirs=theirs, ours=ours)
    rng = np.random.default_rng(0)
    probes = [rounded(theirs, rng) for _ in range(PROBES)]
    total = ContactFinding()
    poses = list(touching_poses(theirs, rng))
    moved = np.tile(ours.qpos0, (len(poses), 1))
    for to, source in addresses:
        moved[:, to] = np.reshape(poses, (len(poses), theirs.nq))[:, source]
    found = [touches(ours, each) for each in moved] if found_in is None else found_in(moved) if poses else []
    for qpos, each in zip(poses, found, strict=True):
        total = _merged(total, _compare_pose(match, probes, qpos, *each))
    return total if total.poses else None


def touching_poses(model: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield random poses in which something touches: joints within their limits, free bodies near their start."""
    data, found = mujoco.MjData(model), 0
    for _ in range(TRIES):
        qpos = _random_pose(model, rng)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon and (data.contact.dist < 0.0).any():
            found += 1
            yield qpos
        if found == POSES:
            return


def touches(model: Any, qpos: np.ndarray) -> tuple[dict[tuple[int, int], Touch], np.ndarray]:
    """Return the contacts of each pair of geoms that overlap in a pose at rest, and the accelerations of the DOFs."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    found: dict[tuple[int, int], Touch] = {}
    for contact in data.contact:
        if contact.dist < 0.0 and (contact.geom >= 0).all():
            first, second = (int(geom) for geom in contact.geom)
            normal = np.array(contact.frame[:3])
            pair = (first, second) if first < second else (second, first)
            here = Touch(1, -float(contact.dist), normal if first < second else -normal)
            found[pair] = both(found[pair], here) if pair in found else here
    return found, data.qacc.copy()


def both(one: Touch, other: Touch) -> Touch:
    """Return the contacts of two geoms taken together."""
    deeper = max(one, other, key=lambda each: each.depth)
    return attrs.evolve(deeper, count=one.count + other.count)


def _random_pose(model: Any, rng: np.random.Generator) -> np.ndarray:
    qpos = model.qpos0.copy()
    for joint in range(model.njnt):
        at, kind = int(model.jnt_qposadr[joint]), int(model.jnt_type[joint])
        if kind >= _SLIDE:
            middle = qpos[at]
            wide = (middle - 0.5, middle + 0.5) if kind == _SLIDE else (middle - np.pi, middle + np.pi)
            qpos[at] = rng.uniform(*(model.jnt_range[joint] if model.jnt_limited[joint] else wide))
            continue
        if kind == _FREE:
            qpos[at : at + 3] += rng.uniform(-0.1, 0.1, 3)
            at += 3
        turned = rng.normal(size=4)
        qpos[at : at + 4] = turned / np.linalg.norm(turned)
    return qpos.astype(np.float32).astype(float)


def _addresses(match: Match) -> list[tuple[slice, slice]] | None:
    """Return where the coordinates of each joint are in our model, and in theirs; None if a joint has none."""
    theirs, ours = match.theirs, match.ours
    if len(match.joints) != theirs.njnt or ours.nq != theirs.nq:
        return None
    found = []
    for joint, other in match.joints.items():
        if theirs.jnt_type[joint] != ours.jnt_type[other]:
            return None
        count = {0: 7, 1: 4}.get(int(theirs.jnt_type[joint]), 1)
        source, to = int(theirs.jnt_qposadr[joint]), int(ours.jnt_qposadr[other])
        found.append((slice(to, to + count), slice(source, source + count)))
    return found


def _dofs(match: Match) -> np.ndarray:
    """Return the DOFs of our model in the order of theirs."""
    order = np.zeros(match.theirs.nv, dtype=int)
    for joint, other in match.joints.items():
        count = {0: 6, 1: 3}.get(int(match.theirs.jnt_type[joint]), 1)
        start, ours = int(match.theirs.jnt_dofadr[joint]), int(match.ours.jnt_dofadr[other])
        order[start : start + count] = np.arange(ours, ours + count)
    return order


def rounded(model: Any, rng: np.random.Generator, names: Sequence[str] = _ROUNDED, rows: Sequence[str] = ()) -> Any:
    """Return a copy of a model whose numbers are off by the rounding of single precision.

    Args:
        model: MuJoCo's model.
        rng: Where the errors are drawn from.
        names: Arrays whose errors are as large as those of their largest number.
        rows: Arrays whose errors are as large as those of the largest number in their row.
    """
    probe = copy.copy(model)
    for name in (*names, *rows):
        values = getattr(probe, name)
        size = np.abs(values)
        size = size.max(axis=tuple(range(name in rows, values.ndim)), keepdims=True, initial=0.0)
        values += 1e-7 * size * rng.uniform(-1.0, 1.0, values.shape)
    return probe


def _compare_pose(
    match: Match, probes: list[Any], qpos: np.ndarray, found: Mapping[Any, Touch], acceleration: np.ndarray
) -> ContactFinding:
    theirs, pushed = touches(match.theirs, qpos)
    own = [touches(probe, qpos) for probe in probes]
    known = {j: i for i, j in match.geoms.items()}
    ours = {}
    for (first, second), touch in found.items():
        pair = known.get(first, -1), known.get(second, -1)
        swapped = pair[0] > pair[1]
        ours[pair[::-1] if swapped else pair] = attrs.evolve(touch, normal=-touch.normal if swapped else touch.normal)
    noted = _noted_pairs(match)
    is_noted = not noted.isdisjoint(theirs.keys() | ours.keys())
    theirs, ours = ({pair: each[pair] for pair in each.keys() - noted} for each in (theirs, ours))
    others = [each for each, _ in own]
    depth, turn = 0.0, 0.0
    for pair in theirs.keys() & ours.keys():
        depth = max(depth, _beyond(DEPTH, _deeper(theirs, ours, pair), [_deeper(theirs, o, pair) for o in others]))
        turn = max(turn, _beyond(TURN, _turned(theirs, ours, pair), [_turned(theirs, o, pair) for o in others]))
    push = 0.0 if is_noted else _off(pushed, acceleration[_dofs(match)])
    return ContactFinding(
        poses=1,
        pairs=len(theirs),
        lost=_missing(theirs, ours, others),
        added=_missing(ours, theirs, others),
        depth=depth,
        turn=turn,
        push=_beyond(PUSH, push, [_off(pushed, each) for _, each in own]),
    )


def _noted_pairs(match: Match) -> set[tuple[int, int]]:
    """Return the pairs of geoms that only one of the models lets collide: the import report names them."""
    known = {j: i for i, j in match.geoms.items()}
    ours = {tuple(sorted((known.get(i, -1), known.get(j, -1)))) for i, j in match.pairs[1]}
    return set(match.pairs[0]) ^ ours


def _missing(these: Mapping[Any, Touch], others: Mapping[Any, Touch], probes: list[dict[Any, Touch]]) -> int:
    """Return how many contacts of one model another one has not, where rounding does not decide."""
    deep = (pair for pair in these.keys() - others.keys() if these[pair].depth > DEPTH)
    return sum(all((pair in probe) == (pair in probes[0]) for probe in probes) for pair in deep)


def _deeper(these: Mapping[Any, Touch], others: Mapping[Any, Touch], pair: Any) -> float:
    return abs(these[pair].depth - others[pair].depth) if pair in others else np.inf


def _turned(these: Mapping[Any, Touch], others: Mapping[Any, Touch], pair: Any) -> float:
    if pair not in others:
        return np.inf
    return float(np.arccos(np.clip(these[pair].normal @ others[pair].normal, -1.0, 1.0)))


def _off(these: np.ndarray, others: np.ndarray) -> float:
    return float(np.abs(these - others).max() / max(np.abs(these).max(), 1.0))


def _beyond(tolerance: float, size: float, rounding: list[float]) -> float:
    """Return a difference that is larger than its tolerance and what rounding explains; zero for others."""
    return size if size > tolerance + EXCUSE * max(rounding) else 0.0


def _merged(one: ContactFinding, other: ContactFinding) -> ContactFinding:
    sums = {name: getattr(one, name) + getattr(other, name) for name in ("poses", "pairs", "lost", "added")}
    return ContactFinding(
        **sums, **{name: max(getattr(one, name), getattr(other, name)) for name in ("depth", "turn", "push")}
    )
