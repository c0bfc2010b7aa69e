"""Limits of a catalog: the lists of a file and of the environment that say which plugins may be chosen."""

from __future__ import annotations

import attrs

from .entry import Entry


@attrs.frozen(kw_only=True)
class Limit:
    """One list of names that blocks plugins, or one that blocks all others."""

    where: str
    """The list, for messages."""

    names: tuple[str, ...] = ()

    is_allowed: bool = False
    """Whether only these names may be chosen, or none of them."""

    is_of_installed: bool = False
    """Whether it lets through what is installed, and nothing else; `names` are not used."""

    def fault(self, entry: Entry) -> str | None:
        """Return why an entry may not be chosen; None if it may."""
        if self.is_of_installed:
            return f"not installed, which {self.where} asks for" if entry.is_outside else None
        is_named = any(map(entry.is_called, self.names))
        if is_named == self.is_allowed:
            return None
        return f"not in {self.where}" if self.is_allowed else f"blocked by {self.where}"
