"""Viewers: people look at a simulation through them. Each module is one viewer, and needs the extra of its name."""

from .config import ViewerConfig

__all__ = ["ViewerConfig"]
