"""Channels of the chosen world on a page: plots of numbers over time, and images of cameras."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pippin import Host
from pippin.labels import match, name_of
from pippin.recording.channels import Channel, channels
from viser import uplot

from .panel import Panel

_NONE = "none"
"""Choice of no series or image."""

_ROWS_MAX = 300
"""Number of rows that a plot keeps."""

_LINES_MAX = 12
"""Number of lines of a plot; the entries after them are left out, and the title says so."""

_PLOT_PERIOD = 0.1
"""Time between two changes of a plot [s]."""

_COLOURS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed")
_COLOURS += ("#0891b2", "#db2777", "#65a30d", "#475569", "#92400e")


class Plots:
    """Plots of the chosen world, or of the first one: the channels that patterns name, and one that the page chooses.

    Raises:
        ConfigError: A pattern matches no channel.
    """

    def __init__(self, patterns: Sequence[str], simulation: Host, panel: Panel, where: str) -> None:
        self._gui, self._simulation, self._controls = panel.page.server.gui, simulation, panel.controls
        self._world, self._next = panel.controls.worlds[0], 0.0
        self._channels = self._of_world()
        names = list(self._channels)
        fixed = [names[index] for index in match(patterns, names, "channel", where)] if patterns else []
        self._folder = self._gui.add_folder("Plots", order=20.0)
        with self._folder:
            choice = self._gui.add_dropdown("Series", (_NONE, *names), initial_value=_NONE, order=1.0)
            choice.on_update(panel.user_input.queued(self._choose))
        self._plots = {name: self._plot(name) for name in fixed}
        self._chosen: _Plot | None = None

    def follow(self) -> None:
        """Add the present values to the plots, at most ten times a second."""
        if clock.perf_counter() < self._next:
            return
        self._next = clock.perf_counter() + _PLOT_PERIOD
        if self._controls.worlds[0] != self._world:
            self._world = self._controls.worlds[0]
            self._channels = self._of_world()
            for plot in self._shown():
                plot.clear()
        for plot in self._shown():
            if plot.name in self._channels:
                plot.add(self._simulation.time, self._channels[plot.name])

    def _shown(self) -> list[_Plot]:
        return [*self._plots.values(), *([] if self._chosen is None else [self._chosen])]

    def _of_world(self) -> Mapping[str, Channel]:
        every = channels(self._simulation, (self._world,))
        return {channel.name: channel for channel in every if channel.dtype.kind in "biuf"}

    def _plot(self, name: str) -> _Plot:
        with self._folder:
            return _Plot(self._gui, name, self._channels[name])

    def _choose(self, name: str) -> None:
        if self._chosen is not None:
            self._chosen.handle.remove()
        self._chosen = None if name == _NONE or name not in self._channels else self._plot(name)


class _Plot:
    def __init__(self, gui: Any, name: str, channel: Channel) -> None:
        self.name = name
        labels = _labels(channel)
        count = min(len(labels), _LINES_MAX)
        self._rows: deque[np.ndarray] = deque(maxlen=_ROWS_MAX)
        self._width = count
        unit = f" [{', '.join(units)}]" if (units := dict.fromkeys(channel.units)) else ""
        more = f", the first {count} of {len(labels)}" if count < len(labels) else ""
        self.handle = gui.add_uplot(
            data=self._data(),
            series=(
                uplot.Series(label="t"),
                *(
                    uplot.Series(label=label, stroke=_COLOURS[index % len(_COLOURS)], width=1.5)
                    for index, label in enumerate(labels[:count])
                ),
            ),
            scales={"x": uplot.Scale(time=False)},
            title=f"{name}{unit}{more}",
            legend=uplot.Legend(show=count > 1),
            aspect=1.6,
            order=2.0,
        )

    def add(self, time: float, channel: Channel) -> None:
        """Add a row at `time` [s]; a time that goes back clears the plot."""
        if self._rows and time < self._rows[-1][0]:
            self._rows.clear()
        if self._rows and time == self._rows[-1][0]:
            return
        values = channel.numpy()[0].ravel()[: self._width].astype(np.float64)
        if np.isfinite(values).all():  # the browser cannot scale anything else
            self._rows.append(np.concatenate(([time], values)))
            self.handle.data = self._data()

    def clear(self) -> None:
        """Forget the rows."""
        self._rows.clear()
        self.handle.data = self._data()

    def _data(self) -> tuple[np.ndarray, ...]:
        rows = np.array(self._rows).reshape(len(self._rows), self._width + 1)
        return tuple(np.ascontiguousarray(column) for column in rows.T)


def _labels(channel: Channel) -> list[str]:
    size = int(np.prod(channel.shape[1:], dtype=int))
    names = list(map(name_of, channel.labels)) or [""]
    parts = list(channel.components) or [""]
    if len(names) * len(parts) == size:
        return [" ".join(filter(None, (name, part))) or channel.name for name in names for part in parts]
    return [str(index) for index in range(size)]


_IMAGE_PERIOD = 0.2
"""Time between two changes of an image [s]."""

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
        self._next = clock.perf_counter() + _IMAGE_PERIOD
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
