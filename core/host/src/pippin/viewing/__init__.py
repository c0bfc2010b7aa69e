"""Base classes of viewers, through which people look at a simulation."""

from .file_viewer import FileViewer, FileViewerConfig, ViewerConfig

__all__ = ["FileViewer", "FileViewerConfig", "ViewerConfig"]
