"""Images of a page: what the cameras of a world see."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from typing import Any

import numpy as np
from pippin import Host
from pippin.recording.channels import Channel, channels

from .panel import Panel

_NONE = "none"
"""Choice of no image."""

_PERIOD = 0.2
"""Time between two changes of the image [s]."""

_SIZE_MIN = 8
"""Pixels of the smallest image: shorter axes belong to other quantities."""


class Images:
    """The image of a sensor in the chosen world, or in the first one; several cameras stand side by side."""

    def __init__(self, simulation: Host, panel: Panel) -> None:
        self._gui, self._simulation, self._controls = panel.page.server.gui, simulation, panel.controls
        self._world, self._next = panel.controls.worlds[0], 0.0
        self._channels = self._of_world()
        self._name = _NONE
        self._image: Any = None
        if not self._channels:
            return
        self._folder = self._gui.add_folder("Cameras", order=19.0)
        with self._folder:
            choice = self._gui.add_dropdown("Image", (_NONE, *self._channels), initial_value=_NONE, order=1.0)
        choice.on_update(panel.user_input.queued(self.choose))

    def choose(self, name: str) -> None:
        """Show the image of a channel, or none."""
        self._name, self._next = name, 0.0
        if self._image is not None:
            self._image.remove()
            self._image = None

    def follow(self) -> None:
        """Show the latest image, at most five times a second."""
        if self._name == _NONE or clock.perf_counter() < self._next:
            return
        self._next = clock.perf_counter() + _PERIOD
        if self._controls.worlds[0] != self._world:
            self._world = self._controls.worlds[0]
            self._channels = self._of_world()
        channel = self._channels.get(self._name)
        if channel is None:  # this world has no such camera
            self.choose(_NONE)
        elif self._image is None:
            with self._folder:
                self._image = self._gui.add_image(pixels(channel.numpy()[0]), label=self._name, order=2.0)
        else:
            self._image.image = pixels(channel.numpy()[0])

    def _of_world(self) -> Mapping[str, Channel]:
        found: dict[str, Channel] = {}
        for channel in channels(self._simulation, (self._world,)):
            shape = channel.shape[1:-1] if channel.shape[-1] in (3, 4) else channel.shape[1:]
            if len(shape) == 3 and min(shape[1:]) >= _SIZE_MIN and channel.dtype.kind in "iuf":
                found[channel.name] = channel
        return found


def pixels(images: np.ndarray) -> np.ndarray:
    """Return images side by side, in red, green and blue from 0 to 255: shape [height, cameras · width, 3].

    Numbers are bright where they are small, from the smallest to the largest one; indices have a colour each; the
    components of a vector of length 1 are red, green and blue.

    Args:
        images: Shape [cameras, height, width], or with a last axis of three or four components.
    """
    if images.dtype == np.uint8:
        shown = images[..., :3]
    elif images.ndim == 4:
        shown = np.where(np.isfinite(images), np.clip(127.5 * (images + 1.0), 0.0, 255.0), 0.0)
    elif images.dtype.kind == "f":
        finite = images[np.isfinite(images)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        grey = 255.0 * (high - images) / max(high - low, 1e-9)
        shown = np.repeat(np.where(np.isfinite(images), grey, 0.0)[..., None], 3, axis=-1)
    else:
        colours = (np.arange(3) * 85 + 97 * (images[..., None] + 1)) % 256  # neighbouring indices differ much
        shown = np.where(images[..., None] < 0, 0, colours)
    return np.concatenate(shown.astype(np.uint8), axis=1)
