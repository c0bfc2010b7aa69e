"""Recorders and recordings: a base class, its configuration, the channels' names and units, and reading back."""

from .column import Column
from .config import RecorderConfig
from .episode_config import EpisodeRecorderConfig
from .header import Header
from .reading import Recording
from .recorder import Recorder
from .recording_file import RecordingFile
from .series import Series

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
