"""The error of this package: a `ValueError`, as in Isaac Sim, and a `ConfigError`, as elsewhere in Pippin."""

from __future__ import annotations

from pippin import ConfigError
from pippin.labels import NoMatchError

__all__ = ["ArgumentError", "UnknownAxisError"]


class ArgumentError(ConfigError, ValueError):
    """An argument is invalid. Catch it as a `ValueError` or as a `pippin.ConfigError`."""


class UnknownAxisError(ArgumentError, NoMatchError):
    """A robot has no axis of this name. If worlds differ, another one may have it."""
