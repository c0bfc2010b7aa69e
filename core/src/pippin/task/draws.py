"""Random numbers of terms: draws by world and seed, and the function with which a kernel begins one."""

from pippin.state.draws import Draws, WorldSeeds
from pippin.state.kernels import random_state

__all__ = ["Draws", "WorldSeeds", "random_state"]
