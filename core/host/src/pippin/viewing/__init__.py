"""Base classes of viewers, through which people look at a simulation."""

from .file_viewer import FileViewer, FileViewerConfig, ViewerConfig
from .variant_watch import VariantWatch

__all__ = ["FileViewer", "FileViewerConfig", "VariantWatch", "ViewerConfig"]
