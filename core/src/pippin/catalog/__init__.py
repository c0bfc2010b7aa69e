"""Catalog of installed plugins, read from their metadata."""

from .entries import Catalog
from .entry import Entry

__all__ = ["Catalog", "Entry"]
