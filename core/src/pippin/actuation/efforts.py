"""Efforts of actuated DOFs."""

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

__all__ = ['zero_efforts']


def zero_efforts(dofs: wp.array, control: newton.Control) -> None:
    """Set `control.joint_f` to zero on some DOFs, and leave the others as they are."""
    import warp as wp

    from pippin.state import kernels

    wp.launch(kernels.zero_efforts, len(dofs), [dofs, control.joint_f], device=dofs.device)
