"""Bodies that have one of several sets of shapes in each world, their variants: the first ones, and another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .draws import WorldSeeds, key_of
from .model_changes import ModelChanges
from .world_layout import SceneObjects


def choose_variants(objects: SceneObjects, seeds: WorldSeeds, changes: ModelChanges) -> None:
    """Give the bodies of all worlds the variants that their objects choose, and let the solver be told.

    A body that a plugin or a script made keeps the variant that it was built with.

    Args:
        objects: The objects of all worlds.
        seeds: The seeds of the worlds, for objects that choose at random.
        changes: The changes of the model, of which the solver is told before the first step.
    """
    model: Any = objects.model
    has_variants = on_host(model.body_variant) >= 0
    if not has_variants.any():
        return
    chosen, starts = np.full(model.body_count, -1, dtype=np.int32), objects.starts("body")
    of_prototype = [objects.objects("body", each) for each in range(int(objects.prototype_of_world.max()) + 1)]
    seed_of = on_host(seeds.values)
    for world, prototype in enumerate(objects.prototype_of_world.tolist()):
        for part, numbers in of_prototype[prototype]:
            body = int(starts[world] + numbers[0])
            if not part.choose or not has_variants[body]:
                continue
            place, choice = seeds.first + world + part.copy, part.choose
            if isinstance(choice, str):
                choice = range(len(model.body_variant_labels(body)))
            if part.choose == "random":
                key = key_of(f"{seed_of[world]}/{seeds.first + world}/variants of {part.label}")
                place = int(np.random.default_rng(key).integers(len(choice)))
            chosen[body] = choice[place % len(choice)]
    if (chosen < 0).all():
        return
    changes.add(model.select_body_variants(wp.array(chosen, dtype=int, device=model.device)))


def select_saved(model: newton.Model, arrays: Mapping[str, np.ndarray]) -> None:
    """Give the bodies the variants of a checkpoint, with what belongs to them and is not in it.

    Args:
        model: The model of all worlds.
        arrays: The arrays of the checkpoint by path.
    """
    saved = arrays.get("device/model.body_variant")
    built = on_host(model.body_variant)
    if saved is not None and saved.shape == built.shape and (built >= 0).any():
        model.select_body_variants(wp.array(saved, dtype=int, device=model.device))


class VariantSelection:
    """The selection of other variants while a simulation runs; it may be recorded.

    It has the arrays that a selection writes, so that whoever undoes a step finds them with their owner.

    Args:
        model: The model of all worlds.
    """

    model_changes: ClassVar[frozenset[str]] = frozenset(
        {"SHAPE_TYPE_AND_SOURCE", "SHAPE_PROPERTIES", "BODY_INERTIAL_PROPERTIES"}
    )
    """Names in `newton.ModelFlags` of what a selection changes."""

    def __init__(self, model: newton.Model) -> None:
        self._model: Any = model
        #: The variant to give to each body, shape [bodies]; -1 leaves it as it is.
        self.chosen: wp.array = wp.full(model.body_count, -1, dtype=int, device=model.device)
        names = ("variant", "mass", "inv_mass", "com", "inertia", "inv_inertia")
        self._written = [getattr(model, f"body_{name}") for name in names]
        owners = [model, *(each for each in vars(model).values() if isinstance(each, newton.Model.AttributeNamespace))]
        for each in (value for owner in owners for value in vars(owner).values()):
            if isinstance(each, wp.array) and len(each) == model.shape_count:
                self._written.append(each)

    def apply(self) -> None:
        """Give the bodies what `chosen` has. The caller tells the solver of `model_changes`."""
        self._model.select_body_variants(self.chosen)
