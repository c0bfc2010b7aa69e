"""The patches of a scene in rows and columns: their ground, their shapes, and where worlds start."""

from __future__ import annotations

import math
import zlib
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.catalog.entries import Catalog
from pippin.config.model import SceneConfig
from pippin.config.shapes import TerrainConfig
from pippin.errors import ConfigError, PluginError
from pippin.objects.scene_object import ObjectPose
from pippin.objects.shapes import properties_of
from pippin.state.places import StartPoses

from .patch import THICKNESS, Block, Ground, Patch

WHERE = "scene.terrain"

SHADES = ((0.56, 0.60, 0.56), (0.66, 0.70, 0.66))
"""Colours of neighbouring patches; the border has the first."""

CLEARANCE = 0.5
"""Half of the side of the square around a start whose highest ground is the height of the start [m]."""


@attrs.frozen(kw_only=True, eq=False)
class TerrainGrid:
    """The ground of all patches, by level and column."""

    config: TerrainConfig
    """The table of the terrain."""

    grounds: tuple[tuple[Ground, ...], ...]
    """The ground of each level and column."""

    spawns: np.ndarray
    """Where worlds start on each patch [m], shape [levels, columns, 3]."""

    @classmethod
    def of(cls, scene: SceneConfig, seed: int, catalog: Catalog) -> TerrainGrid | None:
        """Return the patches of a scene; None if it has no terrain.

        Args:
            scene: The scene.
            seed: The seed of what is random, unless the table of the terrain states one.
            catalog: The installed plugins.

        Raises:
            ConfigError: A patch does not fit its size.
            PluginError: A plugin returns no ground.
        """
        config = scene.terrain
        if config is None:
            return None
        seed = seed if config.seed is None else config.seed
        patches = {}
        for label, choice in config.patches.items():
            plugin: Any = catalog.find("terrain", choice.type).load()
            patches[label] = plugin(choice.config)
        if not any(choice.config.share for choice in config.patches.values()):
            raise ConfigError(f"{WHERE}.patches: every share is 0, so that no world can start; give one patch a share")
        first, last = config.difficulty
        steps = config.levels - 1
        levels = [first + (last - first) * level / steps for level in range(config.levels)] if steps else [last]
        grounds = tuple(
            tuple(_ground(patch, label, config.size, d, (seed, level)) for label, patch in patches.items())
            for level, d in enumerate(levels)
        )
        spawns = np.zeros((len(levels), len(patches), 3))
        for level, row in enumerate(grounds):
            for column, each in enumerate(row):
                spawns[level, column, :2] = _centre(config, level, column) + each.spawn
                spawns[level, column, 2] = start_height(each, config.size)
        return cls(config=config, grounds=grounds, spawns=spawns)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the columns."""
        return tuple(self.config.patches)

    @property
    def extent(self) -> tuple[float, float]:
        """Lengths of all patches together along x and y [m], without the border."""
        length, width = self.config.size
        return length * self.config.levels, width * len(self.config.patches)

    def height(self, x: Any, y: Any) -> np.ndarray:
        """Return the height of the ground at points of the world [m], and -inf outside of it; shape of `x`.

        Args:
            x: Places along x, of any shape.
            y: Places along y, of the same shape.
        """
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        size, extent, border = self.config.size, self.extent, self.config.border
        beyond = np.maximum(np.abs(x) - extent[0] / 2.0, np.abs(y) - extent[1] / 2.0)
        found = np.where((beyond >= 0.0) & (beyond <= border) & (border > 0.0), 0.0, -np.inf)
        for level, row in enumerate(self.grounds):
            for column, ground in enumerate(row):
                away = _centre(self.config, level, column)
                local = x - away[0], y - away[1]
                is_here = (2.0 * np.abs(local[0]) <= size[0]) & (2.0 * np.abs(local[1]) <= size[1])
                within = [np.where(is_here, each, 0.0) for each in local]
                found = np.where(is_here, np.maximum(found, ground.height(within[0], within[1], size)), found)
        return found

    def start_patches(self, scene: SceneConfig) -> tuple[np.ndarray, np.ndarray]:
        """For the core: return the level and the column on which each world starts, shape [worlds] each.

        Neighbouring worlds share a column, as large a part of all worlds as its share. They take its levels in turn. A
        part of a larger run has the patches that its worlds have there.
        """
        shares = np.cumsum([choice.config.share for choice in self.config.patches.values()])
        ends = np.round(shares / shares[-1] * scene.run_worlds).astype(int)  # of the worlds of each column
        worlds = scene.first_world + np.arange(scene.worlds)
        columns = np.searchsorted(ends, worlds, side="right")
        firsts = np.concatenate([[0], ends])[columns]
        return (worlds - firsts) % self.config.levels, columns

    def places(self, scene: SceneConfig, model: newton.Model) -> StartPoses:
        """For the core: return where the worlds of a model start."""
        levels, columns = self.start_patches(scene)
        return StartPoses(self.spawns, levels, columns, self.labels, self.config.size, model)

    def add_shapes(self, builder: newton.ModelBuilder, scene: SceneConfig) -> None:
        """For the core: add the shapes of all patches and of the border to the builder of all worlds, for all of them.

        Raises:
            ConfigError: The scene has no material of the stated name.
        """
        place = ObjectPose(label="terrain", pose=None, where=WHERE, labels=(), materials=scene.materials)
        cfg = properties_of(builder, place, self.config.material, f"{WHERE}.material")
        for level, row in enumerate(self.grounds):
            for column, ground in enumerate(row):
                common = {"cfg": cfg, "color": SHADES[(level + column) % 2]}
                label = f"terrain/{self.labels[column]}/{level}"
                self._add_ground(builder, ground, _centre(self.config, level, column), label, common)
        self._add_border(builder, {"cfg": cfg, "color": SHADES[0]})

    def _add_ground(
        self, builder: newton.ModelBuilder, ground: Ground, centre: np.ndarray, label: str, common: dict[str, Any]
    ) -> None:
        for number, block in enumerate(ground.blocks):
            _add_block(builder, block, centre, ground.bottom, f"{label}/block_{number}", common)
        if ground.heights is None:
            return
        length, width = self.config.size
        if np.ptp(ground.heights) < _LEVEL:  # a field without a range has no volume
            block = Block(size=(length, width), top=float(ground.heights.max()))
            _add_block(builder, block, centre, ground.bottom, f"{label}/block", common)
            return
        rows, columns = ground.heights.shape
        field = newton.Heightfield(ground.heights, rows, columns, length / 2, width / 2)
        given = {_BASE: THICKNESS} if _BASE in builder.custom_attributes else None
        pose = wp.transform(wp.vec3(*centre, 0.0), wp.quat_identity())
        builder.add_shape_heightfield(
            xform=pose, heightfield=field, label=f"{label}/field", custom_attributes=given, **common
        )

    def _add_border(self, builder: newton.ModelBuilder, common: dict[str, Any]) -> None:
        wide = self.config.border
        if not wide:
            return
        length, width = self.extent
        sides = {
            "east": Block(size=(wide, width), top=0.0, centre=((length + wide) / 2.0, 0.0)),
            "west": Block(size=(wide, width), top=0.0, centre=(-(length + wide) / 2.0, 0.0)),
            "north": Block(size=(length + 2.0 * wide, wide), top=0.0, centre=(0.0, (width + wide) / 2.0)),
            "south": Block(size=(length + 2.0 * wide, wide), top=0.0, centre=(0.0, -(width + wide) / 2.0)),
        }
        for name, block in sides.items():
            _add_block(builder, block, np.zeros(2), -THICKNESS, f"terrain/border/{name}", common)


_LEVEL = 1e-6
"""Range of heights below which a field is level [m]."""

_BASE = "mujoco:hfield_base"
"""MuJoCo's thickness of a field below its lowest point, by the name of the attribute that its solvers register."""


def start_height(ground: Ground, size: tuple[float, float]) -> float:
    """Return the highest ground around the start in a patch [m]."""
    around = np.linspace(-CLEARANCE, CLEARANCE, 21)
    x, y = np.meshgrid(ground.spawn[0] + around, ground.spawn[1] + around)
    return float(ground.height(x, y, size).max())


def _centre(config: TerrainConfig, level: int, column: int) -> np.ndarray:
    """Return the middle of a patch in the world [m], shape [2]."""
    counts = config.levels, len(config.patches)
    return (np.array([level, column]) + 0.5 - np.array(counts) / 2.0) * config.size


def _ground(patch: Patch, label: str, size: tuple[float, float], difficulty: float, seed: tuple[int, int]) -> Ground:
    """Return the ground of a patch; what is random depends on the seed, the label and the level alone."""
    where = f"{WHERE}.patches.{label}"
    random = np.random.default_rng([zlib.crc32(label.encode()), *seed])
    try:
        ground = patch.ground(size, difficulty, random)
    except ConfigError as error:
        raise ConfigError(*(f"{where}.{fault}" for fault in error.faults)) from error
    if fault := ground_fault(ground, size):
        raise PluginError(f"{where}: {type(patch).__name__}.ground: {fault}")
    return ground


def ground_fault(ground: Any, size: tuple[float, float]) -> str | None:
    """Return what is wrong with the ground that a patch returned; None if nothing is."""
    if not isinstance(ground, Ground):
        return f"expected a pippin.terrains.Ground, got {type(ground).__name__}; return one"
    if not ground.blocks and ground.heights is None:
        return "it has neither blocks nor heights; give it some ground"
    heights = ground.heights
    if heights is not None and (np.ndim(heights) != 2 or min(np.shape(heights)) < 2 or not np.isfinite(heights).all()):
        return f"heights must be finite numbers in at least 2 rows and columns, got shape {list(np.shape(heights))}"
    numbers = np.array([[*each.size, each.top, *each.centre, each.yaw] for each in ground.blocks]).reshape(-1, 6)
    if not np.isfinite(numbers).all() or (numbers[:, :2] <= 0.0).any():
        return "a block has a length that is not above 0, or a number that is not finite; correct it"
    if any(2.0 * abs(place) > length for place, length in zip(ground.spawn, size, strict=True)):
        return f"its spawn {list(ground.spawn)} is outside of the patch of {list(size)} m; move it inside"
    if not np.isfinite(start_height(ground, size)):
        return f"there is no ground within {CLEARANCE:g} m of its spawn {list(ground.spawn)}; move it"
    return None


def _add_block(
    builder: newton.ModelBuilder, block: Block, centre: np.ndarray, bottom: float, label: str, common: dict[str, Any]
) -> None:
    height = block.top - bottom
    middle = wp.vec3(centre[0] + block.centre[0], centre[1] + block.centre[1], bottom + height / 2.0)
    turn: Any = (0.0, 0.0, math.sin(block.yaw / 2.0), math.cos(block.yaw / 2.0))
    length, width = block.size
    builder.add_shape_box(
        -1, xform=wp.transform(middle, turn), hx=length / 2, hy=width / 2, hz=height / 2, label=label, **common
    )
