"""One warning for all margins that MuJoCo Warp cannot use, in place of one for each shape."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator

__all__ = ["one_warning"]

_MARGIN = re.compile(r"Geom (.*?): authored margin=")


@contextlib.contextmanager
def one_warning() -> Iterator[None]:
    """Issue the warnings of the `with` block again, and those about margins as one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", ".*< MJ_MINMU")  # such contacts are mended or refused
        yield
    names = []
    for warning in caught:
        found = _MARGIN.match(str(warning.message))
        if found:
            names.append(found.group(1))
        else:
            warnings.warn(warning.message, warning.category, stacklevel=4)
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        warnings.warn(
            f"solver: the margin of shape {names[0]!r}{more} is left out: MuJoCo Warp tests boxes and meshes without"
            " margins; set use_mujoco_contacts = false, or use the solver mujoco-native",
            UserWarning,
            stacklevel=4,
        )
