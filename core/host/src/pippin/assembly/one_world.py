"""The model of one world with its actuators, which nothing steps, and what a solver lacks for it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import attrs
import newton
import warp as wp
from pippin.assets.actuators.prims import find_prim_actuators
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.devices import find_device, leave_out_backward_kernels
from pippin.support.declaration import Declaration
from pippin.support.requirements import find_gaps

from .model import build_model, features_of


def first_world(config: SimulationConfig) -> newton.Model:
    """Return the model of a configuration with one world, on the CPU; with all worlds if they differ.

    Actuators, the solver and plugins extend it as they do in a simulation. No kernel of a step is loaded.

    Args:
        config: The configuration.

    Raises:
        ConfigError: As for a simulation.
    """
    leave_out_backward_kernels()
    if config.scene.has_equal_worlds:
        config = attrs.evolve(config, scene=attrs.evolve(config.scene, worlds=1))
    catalog = config.catalog.restrict(Catalog.installed())
    components = Components(config, (), catalog, of_stages={"actuators": find_prim_actuators(config, catalog)})
    with closing(components), wp.ScopedDevice(find_device("cpu")) as device:
        return build_model(components, config, None, device)[0]


def lacking_features(model: newton.Model, solver: str) -> Sequence[str]:
    """Return the features of a model that a solver lacks and a user has to accept, as a simulation would refuse them.

    Args:
        model: The model.
        solver: Name of the solver.

    Raises:
        PluginError: The solver is not installed, or is broken.
    """
    declared = Declaration.of(Catalog.installed().find("solver", solver).load(), solver)
    return list(find_gaps(features_of(model), declared, (), (), are_stated=True).refused)
