"""A random robot file."""

import attrs


@attrs.frozen(kw_only=True)
class RandomFile:
    """A robot file, and an MJCF text that means the same."""

    suffix: str
    """That of the file: `.urdf`."""

    text: str
    reference: str
    """MJCF. It starts at its first keyframe, if it has one."""
