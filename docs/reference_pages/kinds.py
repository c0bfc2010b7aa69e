"""Kinds of plugins, in their order, as the pages have them."""

from __future__ import annotations

from pippin.catalog import Catalog


def kinds() -> dict[str, str]:
    """Return the plural of each kind of plugins, by its name."""
    return {name: kind.plural for name, kind in Catalog.installed().kinds.items()}
