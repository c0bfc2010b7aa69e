"""Kinds of plugins, for all pages: the one place of the documentation that asks the catalog for them."""

from __future__ import annotations

from pippin.catalog.entry import PLURALS


def kinds() -> dict[str, str]:
    """Return each kind and its plural, which names its group of entry points, in the order of the catalog."""
    return dict(PLURALS)
