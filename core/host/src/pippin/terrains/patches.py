"""The built-in patches: blocks, such as stairs and stepping stones, and fields of heights, such as slopes and waves."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from pippin import ConfigError

from . import configs
from .configs import at
from .patch import Block, Ground, Patch

Size = tuple[float, float]


class Flat(Patch):
    """The patch `flat`."""

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return one block."""
        return Ground(blocks=(Block(size=size, top=0.0),))


class Stairs(Patch):
    """The patch `stairs`: blocks that stand on each other, each smaller than the one below."""

    config: configs.StairsConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return a block for each step: at a distance e from the border, the height is that of step ⌊e / width⌋ + 1."""
        height, blocks = at(self.config.step_height, difficulty), [Block(size=size, top=0.0)]
        if height > 0.0:
            blocks += (Block(size=each, top=(step + 1) * height) for step, each in enumerate(self._steps(size)))
        return Ground(blocks=tuple(blocks))

    def _steps(self, size: Size) -> list[Size]:
        config = self.config
        room = min(size) - 2.0 * config.border - config.platform
        _refuse_large(size, config.platform + 2.0 * config.border, "platform", "with the border twice")
        count = int(room / (2.0 * config.step_width) + 1e-9)  # steps below the platform's own on each side of it
        edges = [2.0 * (config.border + step * config.step_width) for step in range(count + 1)]
        return [(size[0] - edge, size[1] - edge) for edge in edges]


class StairsDown(Stairs):
    """The patch `stairs-down`: frames that lie inside each other, each below the last."""

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return four blocks for each step, and the platform; depths are the heights of `stairs`."""
        height = at(self.config.step_height, difficulty)
        if height == 0.0:
            return Ground(blocks=(Block(size=size, top=0.0),))
        outer, blocks = size, list[Block]()
        for step, inner in enumerate(self._steps(size)):
            blocks += _frame(outer, inner, -step * height)
            outer = inner
        blocks.append(Block(size=outer, top=-(len(self._steps(size))) * height))
        return Ground(blocks=tuple(blocks))


class Gap(Patch):
    """The patch `gap`."""

    config: configs.GapConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return the platform, the ground of the ditch, and the frame around it."""
        platform, width = self.config.platform, at(self.config.width, difficulty)
        _refuse_large(size, platform + 2.0 * width, "platform", f"with a ditch of {width:g} m twice")
        wide = platform + 2.0 * width
        outside = _frame(size, (wide, wide), 0.0)
        floor = Block(size=size, top=-self.config.depth)
        return Ground(blocks=(floor, Block(size=(platform, platform), top=0.0), *outside))


class Boxes(Patch):
    """The patch `boxes`."""

    config: configs.BoxesConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return level ground, and boxes on it: of a random size, place and angle."""
        config, highest = self.config, at(self.config.height, difficulty)
        _refuse_large(size, config.platform + 2.0 * math.sqrt(2.0) * max(config.width), "platform", "with a box twice")
        blocks = [Block(size=size, top=0.0)]
        while len(blocks) <= config.count:
            lengths = random.uniform(*config.width, size=2)
            reach = math.hypot(*lengths) / 2.0
            centre = random.uniform([reach - each / 2.0 for each in size], [each / 2.0 - reach for each in size])
            block = Block(
                size=tuple(lengths.tolist()),
                top=float(random.uniform(0.5, 1.0)) * highest,
                centre=tuple(centre.tolist()),
                yaw=float(random.uniform(-math.pi, math.pi)) if config.turned else 0.0,
            )
            if math.hypot(*block.centre) >= config.platform / 2.0 + reach:
                blocks.append(block)
        return Ground(blocks=tuple(blocks))


class SteppingStones(Patch):
    """The patch `stepping-stones`."""

    config: configs.SteppingStonesConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return the ground below, the platform, and a stone in each cell that the platform does not cover.

        A stone that lies partly under the platform is as high as the platform, so that no gap at its edge is wider than
        the others.
        """
        config = self.config
        stone, distance, rise = (at(span, difficulty) for span in (config.stone, config.distance, config.rise))
        _refuse_large(size, config.platform + 2.0 * stone, "platform", f"with a stone of {stone:g} m twice")
        half = config.platform / 2.0
        blocks = [Block(size=size, top=-config.depth), Block(size=(2.0 * half, 2.0 * half), top=0.0)]
        counts = [max(1, round(length / (stone + distance))) for length in size]
        places = [(np.arange(count) + 0.5) / count - 0.5 for count in counts]
        for x, y in np.stack(np.meshgrid(*places), axis=-1).reshape(-1, 2) * size:
            nearest, farthest = max(abs(x), abs(y)) - stone / 2.0, max(abs(x), abs(y)) + stone / 2.0
            top = float(random.uniform(-rise, rise)) if nearest >= half else 0.0
            if farthest > half:
                blocks.append(Block(size=(stone, stone), top=top, centre=(float(x), float(y))))
        return Ground(blocks=tuple(blocks))


def _frame(outer: Size, inner: Size, top: float) -> Iterator[Block]:
    x, y = (outer[0] - inner[0]) / 2.0, (outer[1] - inner[1]) / 2.0
    for side in (-1.0, 1.0):
        if y > 0.0:
            yield Block(size=(outer[0], y), top=top, centre=(0.0, side * (inner[1] + y) / 2.0))
        if x > 0.0:
            yield Block(size=(x, inner[1]), top=top, centre=(side * (inner[0] + x) / 2.0, 0.0))


def _refuse_large(size: Size, needed: float, key: str, what: str) -> None:
    if needed > min(size):
        raise ConfigError(
            f"{key}: {what} it needs {needed:.4g} m, and the patch has {min(size):g} m; make it smaller, or raise"
            " scene.terrain.size"
        )


class Slope(Patch):
    """The patch `slope`."""

    config: configs.SlopeConfig
    _sign = 1.0

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return gradient × distance from the border, at most that of the platform's edge."""
        config = self.config
        run = (min(size) - config.platform) / 2.0 - config.border
        if run <= 0.0:
            raise ConfigError(
                f"platform: {config.platform:g} m leave no slope in a patch of {min(size):g} m with a border of"
                f" {config.border:g} m; make it smaller, or raise scene.terrain.size"
            )
        x, y = _points(size, config.resolution)
        distance = np.minimum(size[0] / 2.0 - np.abs(x), size[1] / 2.0 - np.abs(y)) - config.border
        return Ground(heights=self._sign * at(config.gradient, difficulty) * np.clip(distance, 0.0, run))


class SlopeDown(Slope):
    """The patch `slope-down`."""

    _sign = -1.0


class Rough(Patch):
    """The patch `rough`."""

    config: configs.RoughConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return random multiples of the step on a coarse grid, and what lies between them."""
        config = self.config
        highest = int(at(config.height, difficulty) / config.step + 1e-9)
        columns, rows = (math.ceil(length / config.spacing - 1e-9) + 1 for length in size)
        coarse = random.integers(0, highest, size=(rows, columns), endpoint=True) * config.step
        x, y = _points(size, config.resolution)
        return Ground(heights=Ground(heights=coarse).height(x, y, size))


class Waves(Patch):
    """The patch `waves`."""

    config: configs.WavesConfig

    def ground(self, size: Size, difficulty: float, random: np.random.Generator) -> Ground:
        """Return a sine along x and one along y."""
        x, y = _points(size, self.config.resolution)
        turns = 2.0 * math.pi * self.config.count
        waves = np.sin(turns * x / size[0]) + np.sin(turns * y / size[1])
        return Ground(heights=at(self.config.amplitude, difficulty) / 2.0 * waves)


def _points(size: Size, resolution: float) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of evenly spaced points from edge to edge [m], shape [rows, columns] each."""
    counts = [max(1, math.ceil(length / resolution - 1e-9)) + 1 for length in size]
    axes = (np.linspace(-length / 2.0, length / 2.0, count) for length, count in zip(size, counts, strict=True))
    x, y = np.meshgrid(*axes)
    return x, y
