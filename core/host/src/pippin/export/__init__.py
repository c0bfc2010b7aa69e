"""Export: the captured step as files that Warp alone replays."""

from .step_export import export_step

__all__ = ["export_step"]
