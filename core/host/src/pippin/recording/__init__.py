"""Recorders and recordings: a base class, its configuration, the channels' names and units, and reading back."""

from .config import EpisodeRecorderConfig, RecorderConfig
from .header import Header
from .reading import Recording, RecordingFile
from .recorder import Recorder
from .series import Column, Series

__all__ = [
    "Column",
    "EpisodeRecorderConfig",
    "Header",
    "Recorder",
    "RecorderConfig",
    "Recording",
    "RecordingFile",
    "Series",
]
