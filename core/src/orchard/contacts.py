"""Where contacts come from: the host's Newton collision pipeline, or the solver itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from .arrays import present

if TYPE_CHECKING:
    import newton
    import warp as wp

    from .config import CollisionConfig

__all__ = ["ContactSource", "newton_pipeline"]


@attrs.frozen(kw_only=True, eq=False)
class ContactSource:
    """The contacts a step uses. A solver that detects contacts itself gives its buffer and no pipeline."""

    contacts: newton.Contacts | None = None
    """The buffer passed to every step; None where the solver needs none."""

    pipeline: newton.CollisionPipeline | None = None
    """What fills the buffer; None where the solver detects contacts itself."""

    interval: int = 1
    """Substeps between two detections."""

    def collide(self, state: newton.State) -> None:
        """Detect the contacts of `state`. May be recorded."""
        assert self.pipeline is not None, "the program collides only where there is a pipeline"
        self.pipeline.collide(state, present(self.contacts))

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget which contacts of the masked worlds were matched."""
        if self.pipeline is not None:
            self.pipeline.reset_contact_matching(world_mask)


def newton_pipeline(model: newton.Model, config: CollisionConfig) -> ContactSource:
    """Return Newton's collision pipeline over `model`, with buffers of the capacity that `config` asks for.

    Where no two shapes and no particle can meet, only the buffer: detecting nothing costs more than a small step.
    """
    import newton

    options = attrs.asdict(config, filter=lambda field, _: field.name != "interval")
    pipeline = newton.CollisionPipeline(model, **options)
    can_meet = model.shape_contact_pair_count > 0 or model.particle_count > 0
    contacts = pipeline.contacts()
    return ContactSource(contacts=contacts, pipeline=pipeline if can_meet else None, interval=config.interval)
