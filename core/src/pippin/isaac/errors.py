"""The error of this package's functions: Isaac Sim raises `ValueError` there, and Pippin `ConfigError`."""

from __future__ import annotations

from pippin.errors import ConfigError

__all__ = ["ArgumentError"]


class ArgumentError(ConfigError, ValueError):
    """An argument does not fit; caught as a `ValueError` and as a `pippin.ConfigError`."""
