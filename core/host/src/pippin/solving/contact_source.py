"""The contacts that a step uses: their buffer, and the pipeline or solver that fills it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from .capacities import Capacity, pipeline_capacities

if TYPE_CHECKING:
    import newton
    import warp as wp


def _filled(source: ContactSource) -> Sequence[Capacity]:
    if source.pipeline is None or source.contacts is None:
        return ()
    return pipeline_capacities(source.pipeline, source.contacts)


@attrs.frozen(kw_only=True, eq=False)
class ContactSource:
    """The contacts that a step uses. A solver that detects contacts itself gives its buffer and no pipeline."""

    contacts: newton.Contacts | None = None
    """The buffer passed to every step; None if the solver needs none."""

    pipeline: newton.CollisionPipeline | None = None
    """The pipeline that fills the buffer; None if the solver detects contacts itself."""

    filled_with: str | None = None
    """The observable with which the solver fills the buffer, such as `contact_f`; None if every step fills it."""

    interval: int = 1
    """Substeps between two detections."""

    overtravel: wp.array[int] | None = None
    """For an adaptive interval, in place of a fixed one: not zero if bodies moved farther than its detections expected,
    shape [1]."""

    is_run_by_solver: bool = False
    """Whether the solver runs the pipeline within its step; the buffer is then not passed to the solver."""

    capacities: Sequence[Capacity] = attrs.field(default=attrs.Factory(_filled, takes_self=True))
    """The buffers that contact detection fills; by default those of the pipeline."""

    @property
    def is_run_by_host(self) -> bool:
        """Whether the host runs the pipeline before substeps."""
        return self.pipeline is not None and not self.is_run_by_solver

    def collide(self, state: newton.State, contacts: newton.Contacts, dt: float) -> None:
        """Detect the contacts of `state` and, if the pipeline is speculative, the contacts expected within `dt` [s].

        They are written into `contacts`, a buffer of the pipeline. May be recorded.
        """
        assert self.pipeline is not None, "the program collides only if there is a pipeline"
        self.pipeline.collide(state, contacts, dt=dt)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Forget the matched contacts of the masked worlds."""
        if self.pipeline is not None:
            self.pipeline.reset_contact_matching(world_mask)
