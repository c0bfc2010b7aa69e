"""The errors of views: each is a `pippin.ConfigError`, and the error that Python has for it."""

from __future__ import annotations

from pippin.errors import ConfigError

__all__ = ["RowError", "ViewError"]


class ViewError(ConfigError, ValueError):
    """An argument does not fit: its shape, its type, where it lies, or that there is nothing to set."""


class RowError(ConfigError, IndexError):
    """An index is of no row of the view."""
