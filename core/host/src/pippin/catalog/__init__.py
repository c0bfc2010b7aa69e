"""Catalog of installed plugins, read from their metadata."""

from .entries import Catalog
from .entry import Entry
from .kind import Kind

__all__ = ["Catalog", "Entry", "Kind"]
