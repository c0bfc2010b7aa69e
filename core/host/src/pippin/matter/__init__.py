"""Matter in a model: objects of cloth, soft bodies, grains and cables, as rows and as they are seen; and tendons and
shapes as they are seen.
"""

from .rows import OF_BODIES, OF_PARTICLES, Matter, MatterKind, add_grains, color_of_next
from .seen import SeenMatter, seen_matter
from .shapes import SeenShape, seen_shapes
from .tendons import SeenTendon, line_radius, seen_tendons, segments_of

__all__ = [
    "OF_BODIES",
    "OF_PARTICLES",
    "Matter",
    "MatterKind",
    "SeenMatter",
    "SeenShape",
    "SeenTendon",
    "add_grains",
    "color_of_next",
    "line_radius",
    "seen_matter",
    "seen_shapes",
    "seen_tendons",
    "segments_of",
]
