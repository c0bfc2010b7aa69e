"""Checks of what adds content to a scene: an importer from a file of its author, an object from its table, and the
patches of a terrain by difficulty and seed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import newton
import numpy as np
import pippin
from pippin import ConfigError, PluginError
from pippin.arrays import present
from pippin.assembly import scene_builder
from pippin.catalog import Catalog
from pippin.terrains import TerrainGrid

from .kinds import LABEL
from .outcomes import NotApplicableError
from .plugin_under_test import PluginUnderTest
from .runs import Runs
from .scenes import add_ball

_POSITION, _TURN = (0.5, -1.0, 2.0), (0.0, 0.0, 0.6, 0.8)
"""A pose of the asset: metres, and a unit quaternion (x, y, z, w)."""

_TOLERANCE = 1e-4
"""Largest error of a placed body or shape [m]; the entries of poses are float32."""

_VALUES: Mapping[str, tuple[Any, Any]] = {"floating": (True, False), "scale": (None, 2.0)}
"""Two values of an option that give two different assets."""

_STEPS = 5

_RADIUS = 0.1
"""Radius of the balls [m]."""

_DROP = 0.05
"""Height above the start from which they fall [m]."""

_TIME = 0.5
"""Time for which they fall and roll [s]."""

_DEPTH = 0.05
"""Depth to which a ball may sink into soft contacts [m]."""

_LEVELS = 3

_FALLING_BALL = {
    "type": "body",
    "label": "ball",
    "position": (0.0, 0.0, _RADIUS + _DROP),
    "shapes": [{"type": "sphere", "radius": _RADIUS}],
}


def check_content(runs: Runs) -> None:
    """An importer reads its file, and an object its table, into bodies, shapes or particles; those of a kind have
    different labels. They are the same every time.
    """
    first, second = (_read(runs.subject) for _ in range(2))
    if not (first.body_count or first.shape_count or first.particle_count):
        raise runs.fault("adds no body, shape or particle; add the content to the builder that is passed")
    for what in ("body", "joint", "shape"):
        if twice := _twice(getattr(first, f"{what}_label")):
            raise runs.fault(f"several of kind {what} are called {twice[0]!r}; tell them apart")
    odd = [name for name, values in _numbers(first).items() if not _same(values, _numbers(second).get(name))]
    if odd:
        raise runs.fault(f"reads {', '.join(odd[:3])} differently the second time; draw by a seed")


def check_place(runs: Runs) -> None:
    """The asset or the object stands where its table puts it: an importer reads its file at the origin, and does not
    place it itself; an object takes the pose of its place.
    """
    here = _poses(_read(runs.subject))
    there = _poses(_read(runs.subject, position=_POSITION, rotation=_TURN))
    for name, points in here.items():
        error = np.abs(_moved(points) - there[name]).max(initial=0.0)
        if not error < _TOLERANCE:
            raise runs.fault(
                f"with a position and a rotation, a {name} is {error:.2g} m away from its place; leave the position of"
                " an asset to the host, and put an object where its place is"
            )


def check_options(runs: Runs) -> None:
    """An option that the importer declares changes the asset, if it is `floating` or `scale`."""
    declared = [name for name in _VALUES if name in runs.subject.plugin.options]
    if not declared:
        raise NotApplicableError("it declares neither floating nor scale")
    for name in declared:
        first, second = (
            _numbers(_read(runs.subject, **({} if value is None else {name: value}))) for value in _VALUES[name]
        )
        if first.keys() == second.keys() and all(_same(values, second[key]) for key, values in first.items()):
            raise runs.fault(
                f"declares the option {name}, and reads the same with {_VALUES[name][0]!r} and {_VALUES[name][1]!r};"
                " obey it, or take it out of options"
            )


def check_copies(runs: Runs) -> None:
    """Copies of an object have different labels, and are alike but for their places."""
    copies = _read(runs.subject, repeat={"count": (3, 1, 1), "spacing": (5.0, 0.0, 0.0)})
    single = _read(runs.subject)
    for what in ("body", "joint", "shape"):
        labels = getattr(copies, f"{what}_label")
        if twice := _twice(labels):
            raise runs.fault(f"two copies have a {what} {twice[0]!r}; begin it with the place's label")
        count = len(getattr(single, f"{what}_label"))
        if len(labels) != 3 * count:
            raise runs.fault(f"one has {count} of kind {what}, and three copies have {len(labels)}")


def check_simulation(runs: Runs) -> None:
    """Worlds with the asset or the object take steps: the state stays finite, and is the same in every world."""
    subject = runs.subject
    with subject.simulate({"worlds": subject.world_count, **subject.content()}, ball=_BallAbove()) as simulation:
        simulation.step(_STEPS)
        poses: Any = simulation.state.body_q
        values = poses.numpy().reshape(subject.world_count, -1)
    if not np.isfinite(values).all():
        raise runs.fault(f"after {_STEPS} steps a body is nowhere; check its pose, mass and inertia")
    if not (values == values[0]).all():
        raise runs.fault(f"the worlds differ after {_STEPS} steps; read the same into each")


def _twice(labels: list[str]) -> list[str]:
    return sorted({label for label in labels if labels.count(label) > 1})


class _BallAbove:
    """Something that moves, if the asset is scenery."""

    @pippin.hookimpl
    def fill_prototype(self, builder: Any) -> None:
        """Add a ball high above the asset."""
        add_ball(builder, 100.0)


def _read(subject: PluginUnderTest, **keys: Any) -> Any:
    config = pippin.structure({"scene": subject.content(**keys)})
    try:
        return scene_builder(config)
    except ConfigError as error:
        what = "does not read its file" if subject.of_kind.reads_file else "is not added from its table"
        raise PluginError(f"{subject}: {what}: {error}") from error


def _numbers(builder: Any) -> dict[str, np.ndarray]:
    found = {}
    for name, values in vars(builder).items():
        if name.startswith(("body_", "joint_", "shape_", "particle_")) and isinstance(values, list):
            with suppress(TypeError, ValueError):  # labels, meshes, lists of different lengths
                found[name] = np.array(values, dtype=float)
    return found


def _same(left: np.ndarray, right: np.ndarray | None) -> bool:
    return right is not None and np.array_equal(left, right, equal_nan=True)


def _poses(builder: Any) -> dict[str, np.ndarray]:
    """Return the positions of the asset's bodies, and of its shapes that stand still [m], shape [count, 3]."""
    model = builder.finalize(device="cpu", skip_validation_inertia=True)
    state = model.state()
    if model.joint_count:
        newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    still = [pose[:3] for pose, body in zip(builder.shape_transform, builder.shape_body, strict=True) if body < 0]
    bodies = state.body_q.numpy()[:, :3] if model.body_count else np.zeros((0, 3))
    return {"body": bodies, "shape": np.array(still, dtype=float).reshape(-1, 3)}


def _moved(points: np.ndarray) -> np.ndarray:
    axis, w = np.array(_TURN[:3]), _TURN[3]
    turned = points + 2.0 * np.cross(axis, np.cross(axis, points) + w * points)
    return turned + np.array(_POSITION)


def check_ground(runs: Runs) -> None:
    """For each difficulty from 0 to 1, the ground is made of finite numbers and has a start on it. It depends on
    nothing but the size, the difficulty and the random numbers that are passed.
    """
    first, again, other = (_grid(runs, seed) for seed in (1, 1, 2))
    points = np.linspace(-0.5, 0.5, 41)
    x, y = np.meshgrid(points * first.extent[0], points * first.extent[1])
    if not np.array_equal(first.height(x, y), again.height(x, y)):
        raise runs.fault("equal arguments give different ground; draw with the generator that is passed, alone")
    if first.spawns.shape != other.spawns.shape:
        raise runs.fault("another seed gives other patches; return one ground for each call")


def check_stand(runs: Runs) -> None:
    """Balls that fall on the start of an easy, a middle and a hard patch do not fall through the ground."""
    subject = runs.subject
    with subject.simulate(_scene(runs, 1) | {"worlds": _LEVELS, "objects": [_FALLING_BALL]}) as simulation:
        simulation.step(round(_TIME / subject.dt))
        places = present(simulation.state.body_q).numpy()[:, :3]
    ground = _grid(runs, 1).height(places[:, 0], places[:, 1])
    heights = np.where(np.isfinite(ground), places[:, 2] - ground, -np.inf)  # below all ground
    for level, height in enumerate(heights.tolist()):
        if not height > _RADIUS - _DEPTH:
            raise runs.fault(
                f"a ball with a radius of {_RADIUS:g} m that falls on the patch of level {level} is {height:.3g} m"
                " above the ground; let blocks and heights cover the start"
            )


def _scene(runs: Runs, seed: int) -> dict[str, object]:
    return {"terrain": {"levels": _LEVELS, "border": 1.0, "seed": seed, "patches": {LABEL: runs.subject.table}}}


def _grid(runs: Runs, seed: int) -> TerrainGrid:
    scene = pippin.structure({"scene": _scene(runs, seed)}).scene
    try:
        grid = TerrainGrid.of(scene, 0, Catalog.installed())
    except ConfigError as error:
        raise runs.fault(f"gives no ground: {error}") from error
    assert grid is not None, "the scene has a terrain"
    return grid
