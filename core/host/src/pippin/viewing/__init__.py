"""Base classes of viewers, through which people look at a simulation."""

from typing import TYPE_CHECKING

from pippin.late import late

from .file_viewer import FileViewer, FileViewerConfig, ViewerConfig

if TYPE_CHECKING:
    from .variant_watch import VariantWatch

__all__ = ["FileViewer", "FileViewerConfig", "VariantWatch", "ViewerConfig"]

__getattr__ = late(__name__)
