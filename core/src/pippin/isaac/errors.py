"""The error of this package: a `ValueError`, as in Isaac Sim, and a `ConfigError`, as elsewhere in Pippin."""

from __future__ import annotations

from pippin.errors import ConfigError

__all__ = ["ArgumentError"]


class ArgumentError(ConfigError, ValueError):
    """An argument is invalid. Catch it as a `ValueError` or as a `pippin.ConfigError`."""
