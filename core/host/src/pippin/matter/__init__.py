"""Matter in a model: objects of cloth, soft bodies, grains and cables, as rows and as they are seen; and tendons and
shapes as they are seen.
"""

from .rows import OF_BODIES, OF_PARTICLES, Matter, MatterKind, add_grains, color_of_next
from .seen import RenderMatter, RenderShape, render_matter, render_shapes
from .tendons import RenderTendon, line_radius, render_tendons, segments_of

__all__ = [
    "OF_BODIES",
    "OF_PARTICLES",
    "Matter",
    "MatterKind",
    "RenderMatter",
    "RenderShape",
    "RenderTendon",
    "add_grains",
    "color_of_next",
    "line_radius",
    "render_matter",
    "render_shapes",
    "render_tendons",
    "segments_of",
]
