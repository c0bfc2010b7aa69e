"""Kamino: a solver for Pippin."""

from .settings import KaminoConfig

__all__ = ["KaminoConfig"]
