"""Arrays of state, inputs and model that recorded steps hold: an array in the place of one of them is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from pippin.errors import SimulationError

if TYPE_CHECKING:
    import warp as wp

__all__ = ["KeptArrays"]


@attrs.frozen(eq=False)
class _Place:
    """An attribute that holds an array."""

    told: str
    owner: Any
    name: str
    array: wp.array


class KeptArrays:
    """The arrays of objects whose arrays a caller writes in place, such as Newton's state and control.

    A recorded step goes on with the arrays that it was recorded with. Another array under the same name would act in
    eager steps alone.

    Args:
        owners: The objects by their names in errors, such as `control`.
    """

    def __init__(self, owners: Mapping[str, Any]) -> None:
        self._places = [place for title, owner in owners.items() for place in _places(title, owner)]

    def refuse_others(self) -> None:
        """Refuse arrays that took the place of those that are kept, and put these back.

        Raises:
            SimulationError: Names the first of them.
        """
        others = [place for place in self._places if getattr(place.owner, place.name) is not place.array]
        for place in others:
            setattr(place.owner, place.name, place.array)
        if others:
            told = others[0].told
            raise SimulationError(
                f"{told}: another array was assigned, which recorded steps would not read, so that the array of before"
                f" is put back; write into it: sim.{told}.assign(values)"
            )


def _places(title: str, owner: Any) -> Iterator[_Place]:
    """Yield the attributes with arrays, also those of namespaces of custom attributes."""
    import newton
    import warp as wp

    for name, value in vars(owner).items():
        if isinstance(value, wp.array):
            yield _Place(f"{title}.{name}", owner, name, value)
        elif isinstance(value, newton.Model.AttributeNamespace):
            yield from _places(f"{title}.{name}", value)
