"""Kernels of Newton's collision pipelines, made once for all pipelines of a process."""

from __future__ import annotations

import sys
from functools import cache

from newton.geometry import NarrowPhase

__all__ = ["keep_collision_kernels"]


def keep_collision_kernels() -> None:
    """Let Newton use the kernels of a collision pipeline in later ones too. A second call changes nothing.

    Newton makes the kernels of each pipeline anew, in 0.2 to 0.3 s, and Warp then loads their modules again. The
    functions that make them depend on their arguments alone, which are functions and flags, and not on a model.
    """
    names = vars(sys.modules[NarrowPhase.__module__])
    for name, make in tuple(names.items()):
        if name.startswith("create_") and "_kernel" in name and not hasattr(make, "cache_info"):
            names[name] = cache(make)
