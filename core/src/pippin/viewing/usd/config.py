"""The settings of a USD layer of a run."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import attrs
from pippin.viewing.config import ViewerConfig

__all__ = ["UsdConfig"]

_SUFFIXES = (".usdc", ".usda", ".usd")


def _has_suffix(instance: Any, attribute: Any, value: str) -> None:
    if value and PurePath(value).suffix.lower() not in _SUFFIXES:
        raise ValueError(f"'{attribute.name}' must end with one of {', '.join(_SUFFIXES)}: {value!r}")


@attrs.frozen(kw_only=True)
class UsdConfig(ViewerConfig):
    """The motion of bodies in USD.

    If the scene's only asset is a USD stage, the file is a layer of motion over this stage, which keeps its geometry
    and materials. Otherwise the file holds the shapes of the model that can be seen. A long motion, of more than
    200 000 poses of bodies, is in value clips in a folder beside the file.
    """

    path: str = attrs.field(default="", validator=_has_suffix)
    """The file, `.usdc`, `.usda` or `.usd`; a relative path is in the run folder. By default the label and `.usdc`."""

    physics: bool = False
    """Whether a program that opens the layer may simulate its bodies, in place of playing the motion."""
