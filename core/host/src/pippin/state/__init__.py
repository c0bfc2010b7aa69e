"""The state of a simulation between steps: its arrays by world, random draws, places on a terrain, host mirrors."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .draws import Draws, WorldSeeds
    from .host_mirror import HostMirror
    from .kernels import random_state
    from .places import StartPoses
    from .snapshot import Scratch
    from .variants import VariantSelection
    from .world_rows import arrays_of, worlds_of

__all__ = [
    "Draws",
    "HostMirror",
    "Scratch",
    "StartPoses",
    "VariantSelection",
    "WorldSeeds",
    "arrays_of",
    "random_state",
    "worlds_of",
]

__getattr__ = late(__name__)
