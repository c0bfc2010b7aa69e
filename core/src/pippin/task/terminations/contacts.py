"""A termination by contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
from pippin.task.terms import Termination
from pippin.validators import non_negative

if TYPE_CHECKING:
    import warp as wp
    from pippin.task.context import TermContext

__all__ = ["Contact"]


@attrs.frozen(kw_only=True)
class ContactConfig:
    """The end of an episode if a body touches something."""

    sensor: str
    """Label of a contact sensor, which must be in all worlds."""

    threshold: float = attrs.field(default=1.0, validator=non_negative)
    """Net force above which a body of the sensor ends the episode [N]."""

    history: bool = False
    """Whether the largest force of the sensor's `history` counts, instead of the last one."""


class Contact(Termination):
    """The termination `contact`: the net force on any body of a sensor is above a threshold, or not a number."""

    Config: ClassVar[type] = ContactConfig

    def __init__(self, config: ContactConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._forces = context.net_forces(config.sensor, with_history=config.history)

    def evaluate(self, out: wp.array[wp.bool]) -> None:
        """Compare the forces with the threshold."""
        import warp as wp

        from .kernels import is_touching

        wp.launch(is_touching, len(out), [self._forces, self.config.threshold, out], device=out.device)
