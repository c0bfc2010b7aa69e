"""The external forces of a control step."""

from __future__ import annotations
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any
import attrs
import numpy as np
from pippin.arrays import on_host, present
from pippin.state.double_buffer import DoubleBuffer
from .callbacks import Callbacks, Phase
from pippin.state.checkpoint import Carried
from pippin.components.registry import Components, Implementation
from pippin.solving.contact_source import ContactSource
from pippin.errors import ConfigError, PluginError
from pippin.state.observables import Reports
from pippin.state.outcome import Outcome
from .program import Operation, Program
from .callbacks import Turn
if TYPE_CHECKING:
    import newton
    import warp as wp

    from pippin.config import StepConfig
    from pippin.state.monitor import Monitor
    from pippin.state.snapshot import Snapshot

__all__ = ['ExternalForces']


class ExternalForces:
    """The forces a user wrote into the state before a control step, applied in each of its substeps.

    Args:
        state: The state that the user writes to.
    """

    def __init__(self, state: newton.State) -> None:
        import warp as wp

        names = [name for name, count in (("body_f", state.body_count), ("particle_f", state.particle_count)) if count]
        self._state = state
        self._kept = {name: wp.clone(getattr(state, name)) for name in names}

    def keep(self) -> None:
        """Keep what the user wrote."""
        import warp as wp

        for name, kept in self._kept.items():
            wp.copy(kept, getattr(self._state, name))

    def apply(self, state: newton.State) -> None:
        """Overwrite the forces of the state that a substep starts from."""
        import warp as wp

        for name, kept in self._kept.items():
            wp.copy(getattr(state, name), kept)
