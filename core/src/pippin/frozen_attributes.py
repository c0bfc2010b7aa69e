"""Frozen attributes: an assignment that would have no effect, to an attribute of a public object, is an error."""

from __future__ import annotations

from typing import Any, ClassVar

from .spelling import did_you_mean


class FrozenAttributes:
    """An object whose public attributes nobody can add or replace once it is complete.

    Python would make a new attribute of a misspelt or unsettable name, and nothing would happen.
    """

    _assignable: ClassVar[frozenset[str]] = frozenset()
    """Public attributes that may be assigned all the same, besides properties with a setter."""

    _may_replace: ClassVar[bool] = False
    """Whether attributes that the object has may be replaced, since a subclass keeps things in them."""

    _is_frozen = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_frozen and not name.startswith("_") and not self._may_assign(name):
            raise AttributeError(f"{name}: {self._refusal(name)}")
        object.__setattr__(self, name, value)

    def _cure_of(self, name: str) -> str | None:
        """Return what to do in place of an assignment to a name; None if nothing is known."""
        setter = f"set_{name}"
        return f"call {setter}(…)" if hasattr(type(self), setter) else None

    def _may_assign(self, name: str) -> bool:
        found = getattr(type(self), name, None)
        if isinstance(found, property):
            return found.fset is not None
        return name in self._assignable or (self._may_replace and (found is not None or name in vars(self)))

    def _refusal(self, name: str) -> str:
        kind = type(self).__name__
        if cure := self._cure_of(name):
            return f"no attribute of {kind} to be assigned; {cure}"
        if hasattr(type(self), name) or name in vars(self):
            return f"fixed when the {kind} is made, and cannot be assigned; write into its arrays, or build another one"
        known = [each for each in {*dir(type(self)), *vars(self)} if not each.startswith("_")]
        return f"{kind} has no such attribute{did_you_mean(name, known) or '; see its reference'}"


def freeze(*parts: FrozenAttributes) -> None:
    """Refuse assignments to public attributes of some objects from now on."""
    for part in parts:
        object.__setattr__(part, "_is_frozen", True)
