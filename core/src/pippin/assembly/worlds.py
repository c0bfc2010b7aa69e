"""The assets of each world."""

from __future__ import annotations

from pippin.config import SceneConfig
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError
from pippin.indices import chosen_worlds
from pippin.state.world_layout import listed_worlds


def assets_of_worlds(scene: SceneConfig) -> list[tuple[int, ...]]:
    """Return the indices of the assets in each world, one entry per world.

    Raises:
        ConfigError: An asset names a world that does not exist, or no world; or a world has no asset.
    """
    held: list[list[int]] = [[] for _ in range(scene.worlds)]
    for index, asset in enumerate(scene.assets):
        for world in _worlds_of_asset(asset, scene.worlds, f"scene.assets[{index}].worlds"):
            held[world].append(index)
    empty = [world for world, assets in enumerate(held) if not assets]
    if scene.assets and empty:
        raise ConfigError(
            f"scene.assets: no asset is in {listed_worlds(empty)}; let some asset's 'worlds' cover them, or lower"
            " scene.worlds"
        )
    return [tuple(assets) for assets in held]


def _worlds_of_asset(asset: AssetConfig, count: int, where: str) -> list[int]:
    if asset.worlds is None:
        return list(range(count))
    return sorted(chosen_worlds(asset.worlds, count, where, "leave the asset out").tolist())
