"""The `[[scene.sites]]` and `[[scene.tendons]]` tables: frames on bodies, and cables over them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.validators import finite, non_negative, only_where, positive

from .geometry import Quaternion, Vector3, not_zero, number, orientation, vector

_is_roller = only_where(lambda guide: guide.type == "roller", "type = 'roller'")


def _of_roller(default: Any, *validators: Any) -> Any:
    """Return a field that only a roller has."""
    return attrs.field(default=default, validator=[*validators, _is_roller])


@attrs.frozen(kw_only=True)
class SceneSiteConfig:
    """A site: a named frame on a body, which has no mass and no contacts. Sensors and tendons are attached to it."""

    label: str = attrs.field(validator=min_len(1))
    """Label of the site, which no other site of the scene has."""

    body: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that carries it, or the last part of this label; by default the world."""

    position: Vector3 = vector()
    """Origin of the site in the frame of the body [m]."""

    rotation: Quaternion = orientation()
    """Orientation of the site in the frame of the body: unit quaternion (x, y, z, w)."""


@attrs.frozen(kw_only=True)
class TendonGuideConfig:
    """A point or a roller that a tendon passes, and the straight span before it."""

    type: Literal["anchor", "pinhole", "roller"] = "anchor"
    """Whether the tendon is fastened at a point (`anchor`), slides through a point (`pinhole`), or runs over a pulley
    (`roller`)."""

    body: str | None = attrs.field(default=None, validator=optional(min_len(1)))
    """Label of the body that carries the guide, or the last part of this label; by default the world."""

    site: str | None = attrs.field(
        default=None, validator=[optional(min_len(1)), only_where(lambda guide: guide.body is None, "no 'body'")]
    )
    """Label of the site that carries the guide, in place of a body."""

    position: Vector3 = vector()
    """The point, or the centre of the roller, in the frame of the body or the site [m]."""

    axis: Vector3 = attrs.field(default=(0.0, 0.0, 1.0), validator=[deep_iterable(finite), not_zero, _is_roller])
    """Axis of the roller in the frame of the body or the site."""

    radius: float | None = _of_roller(None, optional(positive))
    """Radius of the roller [m]."""

    orientation: Literal[1, -1] = _of_roller(1)
    """Side on which the tendon runs over the roller, by the sign of its turn about the axis."""

    is_dynamic: bool = _of_roller(False)
    """Whether the tendon leaves the roller while its way is straight; not for the first or the last guide, and not for
    two in a row."""

    mu: float = attrs.field(
        default=0.0, validator=[non_negative, only_where(lambda guide: guide.type != "anchor", "a pinhole or a roller")]
    )
    """Friction coefficient: tensions on both sides differ by a factor of at most `exp(mu * angle)`. A large one lets a
    roller turn with the tendon."""

    compliance: float | None = number()
    """Stretch of the span before the guide for each newton of tension [m/N]; by default that of the tendon."""

    damping: float | None = number()
    """Damping of the span before the guide [N·s/m]; by default that of the tendon."""

    rest_length: float | None = number()
    """Length of the span before the guide at rest [m]; by default its length at the start."""

    def __attrs_post_init__(self) -> None:
        if self.type == "roller" and self.radius is None:
            raise ValueError("'radius' is required for type = 'roller'; add it [m]")


_SPAN = ("compliance", "damping", "rest_length")


def _is_route(instance: Any, attribute: Any, guides: Sequence[TendonGuideConfig]) -> None:
    given = [name for name in _SPAN if getattr(guides[0], name) is not None]
    if given:
        raise ValueError(f"'{given[0]}' stands in the first guide, before which there is no span; move it to the next")
    for index, guide in enumerate(guides):
        is_end = index in (0, len(guides) - 1)
        if is_end and (guide.type == "pinhole" or guide.mu):
            raise ValueError(
                f"guide {index} is an end of the tendon, where nothing slides; let it be an anchor, or a roller without"
                " 'mu'"
            )
        if guide.is_dynamic and (is_end or guides[index - 1].is_dynamic):
            raise ValueError(
                f"'is_dynamic' of guide {index} needs fixed parts of the way before and after it; leave it out there"
            )


@attrs.frozen(kw_only=True)
class TendonConfig:
    """A tendon: a cable without mass through guides on bodies, which pulls and never pushes."""

    label: str = attrs.field(validator=min_len(1))
    """Label of the tendon, which no other tendon of the scene has."""

    guides: tuple[TendonGuideConfig, ...] = attrs.field(validator=[min_len(2), _is_route])
    """What it passes, from end to end."""

    compliance: float = attrs.field(default=0.0, validator=non_negative)
    """Stretch of each span for each newton of tension [m/N]. The tendon slides through its guides only if the spans
    stretch a little: by at least about the square of the substep divided by the mass of a load."""

    damping: float = attrs.field(default=0.0, validator=non_negative)
    """Damping of each span [N·s/m]."""

    def __attrs_post_init__(self) -> None:
        for index, (guide, following) in enumerate(pairwise(self.guides), 1):
            compliance = self.compliance if following.compliance is None else following.compliance
            if not compliance and {guide.type, following.type} != {"anchor"}:
                raise ValueError(
                    f"'compliance' of the span before guide {index} is 0, so the tendon could not slide through the"
                    " guide at its end; state a compliance above 0 [m/N], such as 1e-6"
                )
