"""Errors of views: each is a `pippin.ConfigError`, and also the matching built-in error of Python."""

from __future__ import annotations

from pippin.errors import ConfigError


class ViewError(ConfigError, ValueError):
    """An argument has a wrong shape, type or device, or the simulation does not have the requested quantity."""


class RowError(ConfigError, IndexError):
    """An index is not the index of a row of the view."""
