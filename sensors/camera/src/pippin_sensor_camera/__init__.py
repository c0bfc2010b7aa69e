"""Cameras on bodies or fixed in the world, for all worlds at once, as a Pippin sensor."""

from .config import CameraConfig

__all__ = ["CameraConfig"]
