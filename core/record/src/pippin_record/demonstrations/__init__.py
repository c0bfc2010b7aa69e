"""Recorders of whole episodes: a base class, which splits rows into episodes of frames."""

from .recorder import Camera, Episode, EpisodeRecorder

__all__ = ["Camera", "Episode", "EpisodeRecorder"]
