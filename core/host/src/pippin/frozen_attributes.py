"""Attributes of public objects: an assignment that would have no effect is an error, and errors suggest names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .spelling import did_you_mean


class _MissingAttributeError(AttributeError):
    """An object has no such attribute; the nearest name is looked for when the error is printed."""

    def __str__(self) -> str:
        kind, known, name = type(self.obj).__name__, _public_names(self.obj), str(self.name)
        return f"{kind} has no attribute {name!r}{did_you_mean(name, known) or '; see its reference'}"


class SuggestedAttributes:
    """An object whose error for a missing public attribute suggests the nearest name."""

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises; a property's own error as it is
            raise _MissingAttributeError(name=name, obj=self)


class FrozenAttributes(SuggestedAttributes):
    """An object whose public attributes nobody can add or replace once it is complete.

    Python would make a new attribute of a misspelt or unsettable name, and nothing would happen.
    """

    _assignable: ClassVar[frozenset[str]] = frozenset()
    """Public attributes that may be assigned all the same, besides properties with a setter."""

    _may_replace: ClassVar[bool] = False
    """Whether attributes that the object has may be replaced, since a subclass keeps things in them."""

    _is_frozen = False

    def __setattr__(self, name: str, value: Any) -> None:
        is_fixed = self._is_frozen and not name.startswith("_") and name not in self._assignable
        if is_fixed and not self._may_assign(name):
            raise AttributeError(f"{name}: {self._refusal(name)}")
        object.__setattr__(self, name, value)

    def _cure_of(self, name: str) -> str | None:
        setter = f"set_{name}"
        return f"call {setter}(…)" if hasattr(type(self), setter) else None

    def _may_assign(self, name: str) -> bool:
        found = getattr(type(self), name, None)
        if isinstance(found, property):
            return found.fset is not None
        return self._may_replace and (found is not None or name in vars(self))

    def _refusal(self, name: str) -> str:
        kind = type(self).__name__
        if cure := self._cure_of(name):
            return f"no attribute of {kind} to be assigned; {cure}"
        if hasattr(type(self), name) or name in vars(self):
            return f"fixed when the {kind} is made, and cannot be assigned; write into its arrays, or build another one"
        return f"{kind} has no such attribute{did_you_mean(name, _public_names(self)) or '; see its reference'}"


def _public_names(thing: Any) -> list[str]:
    return [each for each in {*dir(thing)} if not each.startswith("_")]


def freeze(*parts: FrozenAttributes) -> None:
    """Refuse assignments to public attributes of some objects from now on."""
    for part in parts:
        object.__setattr__(part, "_is_frozen", True)
