"""Pairs of shapes of each kind at random poses, overlapping by 0.2 to 4 mm, and the contacts that engines find."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import mujoco
import newton
import numpy as np
import pippin
import warp as wp
from pippin.assets.fidelity.matching import match_models

from .contacts import Touch, both, touches

_POINTS = np.random.default_rng(1).normal(size=(200, 3))
_HULL = _POINTS / np.linalg.norm(_POINTS, axis=1, keepdims=True) * (0.06, 0.04, 0.03)
"""Corners of a convex mesh [m], more than Newton keeps of a hull unless it is told to."""

KINDS = {
    "sphere": 'size=".04"',
    "capsule": 'size=".03 .04"',
    "ellipsoid": 'size=".06 .04 .03"',
    "cylinder": 'size=".04 .05"',
    "box": 'size=".05 .04 .03"',
    "mesh": 'mesh="hull"',
}
PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))

DEPTHS = 2e-4, 4e-3
"""Range of the overlaps [m]."""


@attrs.frozen(eq=False)
class Overlap:
    """Two shapes that overlap, all others far away."""

    kinds: tuple[str, str]
    geoms: tuple[int, int]
    qpos: np.ndarray
    touch: Touch | None
    """What plain MuJoCo finds; None if it finds nothing."""


def write_kinds(folder: Path) -> Path:
    """Write an MJCF file with two floating bodies of each kind, far from each other."""
    bodies = [
        f'<body name="{kind}{side}" pos="{4 * place + 2 * (side == "b")} 0 0"><freejoint name="{kind}{side}"/>'
        f'<geom name="{kind}{side}" type="{kind}" mass="1" {size}/></body>'
        for place, (kind, size) in enumerate(KINDS.items())
        for side in "ab"
    ]
    vertices = " ".join(f"{value:.6f}" for value in _HULL.ravel())
    path = folder / "kinds.xml"
    path.write_text(
        f'<mujoco><asset><mesh name="hull" vertex="{vertices}"/></asset>'
        f"<worldbody>{''.join(bodies)}</worldbody></mujoco>"
    )
    return path


def overlaps(model: Any, count: int) -> Iterator[Overlap]:
    """Yield some random poses for each pair of kinds."""
    rng, data = np.random.default_rng(0), mujoco.MjData(model)
    for first, second in PAIRS:
        geoms = model.geom(f"{first}a").id, model.geom(f"{second}b").id
        for _ in range(count):
            qpos = _overlapping(model, data, f"{first}a", f"{second}b", geoms, rng)
            yield Overlap((first, second), geoms, qpos, touches(model, qpos)[0].get(tuple(sorted(geoms))))


def _overlapping(model: Any, data: Any, first: str, second: str, geoms: tuple[int, int], rng: Any) -> np.ndarray:
    """Return a pose in which two bodies overlap by a random depth, found by bisection."""
    qpos = model.qpos0.copy()
    place, other = (int(model.joint(name).qposadr[0]) for name in (first, second))
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    for start in (place, other):
        turn = rng.normal(size=4)
        qpos[start + 3 : start + 7] = turn / np.linalg.norm(turn)
    qpos[place : place + 3] = 0.0, 0.0, 1.0
    depth, near, far = rng.uniform(*DEPTHS), 0.0, 0.3
    for _ in range(30):
        middle = (near + far) / 2
        qpos[other : other + 3] = qpos[place : place + 3] + middle * direction
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        is_deep = mujoco.mj_geomDistance(model, data, *geoms, 1.0, np.zeros(6)) < -depth
        near, far = (middle, far) if is_deep else (near, middle)
    return qpos.astype(np.float32).astype(float)


def write_pile(folder: Path) -> Path:
    """Write an MJCF file with eight convex meshes that fall into a bin."""
    rng = np.random.default_rng(3)
    meshes, bodies = [], []
    for index in range(8):
        points = rng.normal(size=(60, 3))
        points *= (0.06, 0.05, 0.04) / np.linalg.norm(points, axis=1, keepdims=True)
        meshes.append(f'<mesh name="m{index}" vertex="{" ".join(f"{value:.6f}" for value in points.ravel())}"/>')
        bodies.append(
            f'<body pos="{rng.uniform(-0.04, 0.04):.3f} {rng.uniform(-0.04, 0.04):.3f} {0.1 + 0.13 * index:.3f}">'
            f'<freejoint/><geom name="g{index}" type="mesh" mesh="m{index}" mass=".2"/></body>'
        )
    walls = (
        f'<geom type="box" size=".02 .2 .5" pos="{0.17 * x} {0.17 * y} .5" euler="0 0 {90 * abs(y)}"/>'
        for x, y in _SIDES
    )
    path = folder / "pile.xml"
    path.write_text(
        f"<mujoco><asset>{''.join(meshes)}</asset><worldbody><geom type='plane' size='1 1 .1'/>{''.join(walls)}"
        f"{''.join(bodies)}</worldbody></mujoco>"
    )
    return path


def joint_q(qpos: np.ndarray) -> np.ndarray:
    """Return the coordinates of floating bodies as Newton keeps them, with w last."""
    poses = qpos.reshape(-1, 7)
    return np.concatenate([poses[:, :3], np.roll(poses[:, 3:], -1, axis=1)], axis=1).ravel().astype(np.float32)


def build(file: Path, solver: str, worlds: int, gravity: Any = (0.0, 0.0, 0.0), **shapes: Any) -> pippin.Simulation:
    """Return the worlds of a file on a solver, with its contacts, and keys of `[scene.shapes]`."""
    scene = {"worlds": worlds, "gravity": gravity, "assets": [{"path": str(file)}], "shapes": shapes}
    simulation = {"device": "cpu", "dt": 0.002}
    return pippin.Simulation(pippin.structure({"simulation": simulation, "scene": scene, "solver": {"type": solver}}))


def off(found: list[Overlap], contacts: list[dict[tuple[int, int], Touch]]) -> np.ndarray:
    """Return how far the depth [m] and the normal [rad] of each overlap are off; infinite if the contact is lost."""
    errors = []
    for each, here in zip(found, contacts, strict=True):
        ours, theirs = here.get(tuple(sorted(each.geoms))), each.touch
        if theirs is None or ours is None:
            errors.append((np.inf, np.inf))
        else:
            angle = 2.0 * np.arcsin(min(np.linalg.norm(ours.normal - theirs.normal) / 2.0, 1.0))
            errors.append((abs(ours.depth - theirs.depth), angle))
    return np.array(errors)


def table(folder: Path, count: int) -> str:
    """Return rows of a page: how far the contacts of each pair of kinds are off in each engine."""
    file = write_kinds(folder)
    model = mujoco.MjModel.from_xml_path(str(file))
    found = [each for each in overlaps(model, count) if each.touch is not None]
    columns = []
    for solver in ("mujoco-native", "mujoco", "xpbd"):
        with build(file, solver, 1 if solver == "mujoco-native" else len(found)) as simulation:
            columns.append(off(found, _contacts_of(simulation, solver, model, found)))
    rows = []
    for pair in PAIRS:
        chosen = [index for index, each in enumerate(found) if each.kinds == pair]
        rows.append(f"| {' and '.join(pair)} | {' | '.join(_cell(column[chosen]) for column in columns)} |")
    return "\n".join(rows)


def _contacts_of(simulation: Any, solver: str, model: Any, found: list[Overlap]) -> list[dict[tuple[int, int], Touch]]:
    if solver == "mujoco-native":
        return of_native(simulation, found)
    place(simulation, found)
    if solver == "xpbd":
        return of_newton(simulation)
    matched = match_models(model, simulation.solver.mj_model)
    return of_warp(simulation, {ours: theirs for theirs, ours in matched.geoms.items()})


def _cell(errors: np.ndarray) -> str:
    kept = errors[np.isfinite(errors[:, 0])]
    lost = len(errors) - len(kept)
    depth, turn = (1e3 * kept[:, 0].max(), np.degrees(kept[:, 1].max())) if len(kept) else (np.nan, np.nan)
    return f"{depth:.3f} mm, {turn:.1f}°" + (f", {lost} of {len(errors)} lost" if lost else "")


def of_native(simulation: pippin.Simulation, found: list[Overlap]) -> list[dict[tuple[int, int], Touch]]:
    """Return what MuJoCo's C engine finds in its model of the scene."""
    solver: Any = simulation.solver
    matched = match_models(mujoco.MjModel.from_xml_path(simulation.config.scene.assets[0].path), solver.mj_model)
    known = {ours: theirs for theirs, ours in matched.geoms.items()}
    contacts = []
    for each in found:
        of_ours, _ = touches(solver.mj_model, each.qpos)
        contacts.append({tuple(known[geom] for geom in pair): touch for pair, touch in of_ours.items()})
    return contacts


def place(simulation: pippin.Simulation, found: list[Overlap]) -> None:
    """Put each overlap into a world of its own."""
    simulation.state.joint_q.assign(np.concatenate([joint_q(each.qpos) for each in found]))
    simulation.invalidate("joints")


def of_warp(simulation: pippin.Simulation, known: Mapping[int, int]) -> list[dict[tuple[int, int], Touch]]:
    """Return what MuJoCo Warp finds in each world; `known` gives MuJoCo's geom for each of its geoms."""
    solver: Any = simulation.solver
    simulation.step()
    contact, count = solver.mjw_data.contact, int(solver.mjw_data.nacon.numpy()[0])
    columns = (contact.worldid, contact.geom, contact.dist, contact.frame)
    worlds, geoms, distances, frames = (column.numpy()[:count] for column in columns)
    rows = zip(worlds, geoms, -distances, frames.reshape(count, -1)[:, :3], strict=True)
    return _grouped(rows, simulation.model.world_count, known.__getitem__)


def of_newton(simulation: pippin.Simulation, geom_of: Callable[[int], int] = int) -> list[dict[tuple[int, int], Touch]]:
    """Return what Newton's own collision finds in each world; shapes count as geoms, unless another geom is given."""
    model, contacts = simulation.model, simulation.contacts
    newton.eval_fk(model, simulation.state.joint_q, simulation.state.joint_qd, simulation.state)
    pipeline: Any = simulation.contact_source.pipeline
    pipeline.collide(simulation.state, contacts)
    room = contacts.rigid_contact_max
    distance, normal = wp.zeros(room, dtype=float), contacts.rigid_contact_normal
    newton.eval_rigid_contact_kinematics(model, simulation.state, contacts, out_distance=distance)
    count, per_world = int(contacts.rigid_contact_count.numpy()[0]), model.shape_count // model.world_count
    pairs = np.stack([contacts.rigid_contact_shape0.numpy(), contacts.rigid_contact_shape1.numpy()], axis=1)[:count]
    # A margin of Newton is a thickness; MuJoCo's depth leaves it out, and its forces act from the margin on, too.
    depth = -distance.numpy()[:count] - model.shape_margin.numpy()[pairs].sum(axis=1)
    rows = zip(pairs[:, 0] // per_world, pairs % per_world, depth, normal.numpy()[:count], strict=True)
    return _grouped(rows, model.world_count, geom_of)


def _grouped(rows: Any, worlds: int, geom_of: Callable[[int], int]) -> list[dict[tuple[int, int], Touch]]:
    found: list[dict[tuple[int, int], Touch]] = [{} for _ in range(worlds)]
    for world, (first, second), depth, normal in rows:
        pair = geom_of(int(first)), geom_of(int(second))
        if depth > 0.0:
            sign = 1.0 if pair[0] < pair[1] else -1.0
            key = min(pair), max(pair)
            here, before = Touch(1, float(depth), sign * normal), found[int(world)].get(key)
            found[int(world)][key] = here if before is None else both(before, here)
    return found
