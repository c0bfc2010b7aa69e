"""Bodies that have one of several sets of shapes in each world, their variants, and the choice of the first ones."""

from __future__ import annotations

from typing import Any

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
            number, place = seeds.first + world, seeds.first + world + part.copy
            if isinstance(part.choose, tuple):
                chosen[body] = part.choose[place % len(part.choose)]
                continue
            count = len(model.body_variant_labels(body))
            key = key_of(f"{seed_of[world]}/{number}/variants of {part.label}")
            chosen[body] = place % count if part.choose == "turn" else np.random.default_rng(key).integers(count)
    changes.add(model.select_body_variants(wp.array(chosen, dtype=int, device=model.device)))
