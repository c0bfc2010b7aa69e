"""Arrays of state, inputs and model that recorded steps hold: an array in the place of one of them is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter, is_not
from typing import Any

import attrs
from pippin.errors import SimulationError


@attrs.frozen(eq=False)
class _Owner:
    """An object that holds arrays, with its name in errors, and the names of its arrays; it has at least two."""

    path: str
    part: Any
    names: tuple[str, ...]
    arrays: tuple[Any, ...]
    read: attrgetter


class CapturedArrays:
    """The arrays of objects whose arrays a caller writes in place, such as Newton's state and control.

    A recorded step keeps using the arrays that it was recorded with. Another array under the same name would act in
    eager steps alone.

    Args:
        owners: The objects by their names in errors, such as `control`.
    """

    def __init__(self, owners: Mapping[str, Any]) -> None:
        self._owners = [owner for path, part in owners.items() for owner in _owners(path, part)]

    def refuse_others(self) -> None:
        """Refuse replaced arrays, and restore the captured ones."""
        for owner in self._owners:
            if any(map(is_not, owner.read(owner.part), owner.arrays)):
                self._put_back(owner)

    def _put_back(self, owner: _Owner) -> None:
        pairs = list(zip(owner.names, owner.arrays, strict=True))
        others = [name for name, array in pairs if getattr(owner.part, name) is not array]
        for name, array in pairs:
            setattr(owner.part, name, array)
        path = f"{owner.path}.{others[0]}"
        raise SimulationError(
            f"{path}: another array was assigned, which recorded steps would not read, so that the array of before"
            f" is put back; write into it: sim.{path}.assign(values)"
        )


def _owners(path: str, part: Any) -> Iterator[_Owner]:
    import newton
    import warp as wp

    from .shaped_array import ShapedArray

    arrays = {name: value for name, value in vars(part).items() if isinstance(value, wp.array)}
    for name, array in arrays.items():
        ShapedArray.name(array, f"{path}.{name}")
    if arrays:
        # With one name, a getter would return no tuple.
        names = tuple(arrays) if len(arrays) > 1 else (*arrays, *arrays)
        yield _Owner(path, part, names, tuple(arrays[name] for name in names), attrgetter(*names))
    for name, value in vars(part).items():
        if isinstance(value, newton.Model.AttributeNamespace):
            yield from _owners(f"{path}.{name}", value)
