"""Matter in a model: objects of cloth, soft bodies, grains and cables, and tendons, as rows and as they are seen."""

from .rows import OF_BODIES, OF_PARTICLES, Matter, MatterKind
from .seen import SeenMatter, seen_matter
from .tendons import SeenTendon, line_radius, seen_tendons, segments_of

__all__ = [
    "OF_BODIES",
    "OF_PARTICLES",
    "Matter",
    "MatterKind",
    "SeenMatter",
    "SeenTendon",
    "line_radius",
    "seen_matter",
    "seen_tendons",
    "segments_of",
]
