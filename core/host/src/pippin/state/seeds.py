"""Seeds of any size as the numbers of 32 bits that draws take."""

import zlib

_INT32 = 2**31


def folded_seed(seed: int) -> int:
    """Return a seed of 31 bits: a smaller one as it is, a larger one, as some libraries draw them, hashed."""
    return seed if 0 <= seed < _INT32 else zlib.crc32(str(seed).encode()) % _INT32
