"""The `[[scene.attachments]]` tables: particles that bodies hold."""

from __future__ import annotations

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.validators import finite, non_negative, only_where, positive

from .geometry import Vector3
from .selections import SelectionConfig


@attrs.frozen(kw_only=True)
class AttachmentConfig:
    """Particles that are held to points of a body, which feels their pull. `pin` holds particles to the world, and a
    joint holds a body to another one.
    """

    particles: SelectionConfig
    """The particles."""

    body: str = attrs.field(validator=min_len(1))
    """Label of the body, or the last part of this label."""

    point: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """Point in the frame of the body that holds every particle [m]; by default each is held where the file places it,
    with the body where it is at position zero of its joints."""

    stiffness: float | None = attrs.field(default=None, validator=optional(positive))
    """Stiffness of each attachment [N/m]; by default the particles do not leave their points."""

    damping: float = attrs.field(
        default=0.0, validator=[non_negative, only_where(lambda table: table.stiffness is not None, "a 'stiffness'")]
    )
    """Damping of each attachment [N·s/m]."""
