"""The base class of clampings."""

from __future__ import annotations

import abc
from typing import Any

from newton.actuators import ClampingBase

from .parameters import Lanes


class Clamping(abc.ABC):
    """A limit on the effort of any actuator. A plugin adds `build`.

    Args:
        config: The plugin's configuration.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def build(self, lanes: Lanes) -> ClampingBase:
        """Return Newton's clamping, with its parameters as arrays of one value per lane."""
