"""Parts that several tables of a scene have: numbers, vectors, turns, attributes of solvers, and selections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import attrs
from attrs.validators import deep_iterable, ge, min_len, optional
from pippin.validators import finite, non_negative, only_where, positive, unit_quaternion

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

HERE: Vector3 = (0.0, 0.0, 0.0)
UPRIGHT: Quaternion = (0.0, 0.0, 0.0, 1.0)


def number(*validators: Any) -> Any:
    """Return a field for a finite number >= 0; the default None leaves it to Newton or the tendon."""
    return attrs.field(default=None, validator=[optional(non_negative), *validators])


def vector(default: Vector3 = HERE) -> Any:
    """Return a field for a vector of finite numbers."""
    return attrs.field(default=default, validator=deep_iterable(finite))


def orientation() -> Any:
    """Return a field for a unit quaternion (x, y, z, w); by default no rotation."""
    return attrs.field(default=UPRIGHT, validator=[deep_iterable(finite), unit_quaternion])


def not_zero(instance: Any, attribute: Any, value: Vector3) -> None:
    """Reject a direction of length zero."""
    if not any(value):
        raise ValueError(f"'{attribute.name}' must be a direction, not {list(value)}")


def _are_named(instance: Any, attribute: Any, value: Mapping[str, Any]) -> None:
    for name, number in value.items():
        if ":" not in name:
            raise ValueError(
                f"'{attribute.name}': must be names such as 'mujoco:condim', with the solver first: {name!r}"
            )
        for each in number.values() if isinstance(number, Mapping) else (number,):
            finite(instance, attribute, each)


def attributes_field() -> Any:
    """Return a field for numbers, or lists of components, or tables of them, by `SOLVER:NAME`; empty by default."""
    return attrs.field(factory=dict, validator=_are_named)


Edge: TypeAlias = Literal["left", "right", "bottom", "top"]
Corner: TypeAlias = Literal["bottom-left", "bottom-right", "top-left", "top-right"]

_CHOICES = ("edge", "corner", "index", "box", "nearest", "part")


def choices_of(selection: PartConfig) -> list[str]:
    """Return the keys that choose a part of the object; empty for the whole object."""
    return [name for name in _CHOICES if getattr(selection, name) is not None]


def _listed(each: Any) -> Any:
    return attrs.field(default=None, validator=optional([min_len(1), deep_iterable(each)]))


@attrs.frozen(kw_only=True, slots=False)
class PartConfig:
    """A part of an object: one of these keys."""

    edge: Edge | None = None
    """What has the lowest x (`left`), highest x (`right`), lowest y (`bottom`) or highest y (`top`) in the frame of the
    object."""

    corner: Corner | None = None
    """What lies on two edges at once."""

    index: tuple[int, ...] | None = _listed(ge(0))
    """Numbers of particles of the object, or of its bodies."""

    box: tuple[Vector3, Vector3] | None = attrs.field(
        default=None, validator=optional(deep_iterable(deep_iterable(finite)))
    )
    """Lowest and highest corner of a box in the frame of the object [m]."""

    nearest: Vector3 | None = attrs.field(default=None, validator=optional(deep_iterable(finite)))
    """A point in the frame of the object [m], to which one particle or body is nearest."""

    part: Literal["first", "last"] | tuple[int, ...] | None = None
    """The `first` or the `last` body of a rod; or numbers of bodies, counted from the end if they are negative."""

    def __attrs_post_init__(self) -> None:
        given = choices_of(self)
        if len(given) > 1:
            raise ValueError(f"'{given[1]}' stands beside '{given[0]}'; a selection has one of {', '.join(_CHOICES)}")


@attrs.frozen(kw_only=True)
class PinConfig(PartConfig):
    """Particles of an object that are held: one of these keys."""

    def __attrs_post_init__(self) -> None:
        PartConfig.__attrs_post_init__(self)
        if not choices_of(self):
            raise ValueError(f"expected one of {', '.join(_CHOICES)}, which say what is held; add one")


@attrs.frozen(kw_only=True)
class SelectionConfig(PartConfig):
    """Particles or bodies of objects: all of them, or a part of each object."""

    of: str = attrs.field(validator=min_len(1))
    """A pattern of labels of objects, such as `"flag"` or `"crate_.*"`; or of labels of bodies."""


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
