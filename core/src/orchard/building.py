"""From a configuration and its components to the model of all worlds."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from .config import ShapeConfig
from .errors import ConfigError
from .scene import add_assets, add_worlds, finalize, new_builder

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .components import Components
    from .config import SceneConfig, SimulationConfig

__all__ = ["build_model"]


def build_model(
    components: Components, config: SimulationConfig, prototype: newton.ModelBuilder | None, device: wp.Device
) -> newton.Model:
    """Return the model of all worlds, after every hook of the builder.

    Args:
        components: Who prepares the builders.
        config: What one world holds and how many there are, and whether the arrays of the model have gradients.
        prototype: One world's content, in place of the scene's assets; a copy is used.
        device: Where the model's arrays live.

    Raises:
        ConfigError: An asset cannot be read, the scene says something that a prototype decides, or Newton refuses it.
    """
    scene = config.scene
    world = _from_assets(components, scene) if prototype is None else _from_prototype(prototype, scene)
    components.call_each("extend_prototype", builder=world)
    builder = new_builder(scene)
    components.call_each("configure_builder", builder=builder)
    add_worlds(builder, world, scene)
    components.call_each("complete_builder", builder=builder)
    return finalize(builder, device, requires_grad=config.simulation.requires_grad)


def _from_assets(components: Components, scene: SceneConfig) -> newton.ModelBuilder:
    builder = new_builder(scene)
    components.call_each("configure_builder", builder=builder)
    add_assets(builder, scene)
    return builder


def _from_prototype(prototype: newton.ModelBuilder, scene: SceneConfig) -> newton.ModelBuilder:
    if scene.assets:
        raise ConfigError("scene.assets: given beside a prototype built in Python; leave one of the two out")
    if scene.shapes != ShapeConfig():
        raise ConfigError(
            "scene.shapes: given beside a prototype built in Python, whose shapes are made already;"
            " set default_shape_cfg of the builder instead"
        )
    builder = copy.deepcopy(prototype)
    builder.gravity = scene.gravity
    return builder
