"""Viewers: people look at a simulation through them. Each module is one viewer, and needs the extra of its name."""

from .config import FileViewerConfig, ViewerConfig
from .file_viewer import FileViewer

__all__ = ["FileViewer", "FileViewerConfig", "ViewerConfig"]
