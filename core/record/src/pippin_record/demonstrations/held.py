"""Held channels: the values from before a control step, when the step is over."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin import ConfigError
from pippin.recording.channels import Channel

from pippin_record.kernels import copy_bytes

HELD = "before/"
"""Beginning of the names of held channels."""

_BYTE: Any = wp.uint8


class HeldChannels:
    """Copies of channels, which a step takes at its start; may be recorded.

    Raises:
        ConfigError: The values of a channel are gathered on the host, which a recorded step cannot do.
    """

    def __init__(self, channels: dict[str, Channel], where: str = "worlds") -> None:
        self._updates = tuple(dict.fromkeys(each.update for each in channels.values() if each.update is not None))
        if any(getattr(update, "func", None) is np.take for update in self._updates):
            raise ConfigError(f"{where}: the worlds are not evenly spaced; choose some that are, such as '0:8'")
        #: The copies by the name of the channel.
        self.channels: dict[str, Channel] = {}
        self._copies: list[tuple[wp.array, wp.array]] = []
        for name, channel in channels.items():
            copy: Any = wp.zeros(channel.source.shape, dtype=channel.source.dtype, device=channel.source.device)
            self.channels[name] = attrs.evolve(channel, name=f"{HELD}{name}", source=copy, update=None)
            self._copies.append((channel.source, copy))

    def take(self) -> None:
        """Copy the present values; may be recorded."""
        for update in self._updates:
            update()
        for source, copy in self._copies:
            if source.is_contiguous:
                wp.copy(copy, source)
            else:
                target = _bytes(copy)
                wp.launch(copy_bytes, target.shape, [_bytes(source), target], device=copy.device)


def _bytes(array: wp.array) -> wp.array:
    """View an array as the bytes of its rows, which lie together within a row, shape [rows, bytes]."""
    size = int(np.prod(array.shape[1:], dtype=int)) * wp.types.type_size_in_bytes(array.dtype)
    strides: Any = array.strides
    view = wp.array(ptr=array.ptr, shape=(len(array), size), strides=(strides[0], 1), dtype=_BYTE, device=array.device)
    view._ref = array  # the memory lives as long as the view
    return view
