"""Recorders of whole episodes: a base class, which splits rows into episodes of frames."""

from .episode import Episode
from .recorder import Camera, EpisodeRecorder

__all__ = ["Camera", "Episode", "EpisodeRecorder"]
