"""Quantities of readings: any output of a sensor, any quantity of a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, SimulationError, did_you_mean, labels

from pippin_task import Quantity, TermContext

from .configs import ImageConfig, SensorReadingConfig, ViewReadingConfig
from .kernels import copy_flags, read_colours, read_depths

_COMPONENTS = {3: "xyz", 4: "xyzw", 7: ("x", "y", "z", "qx", "qy", "qz", "qw")}


class SensorReading(Quantity):
    """The quantity `sensor`: the latest values of a sensor's output, those of each element side by side.

    A sensor that needs the solver reads zero after a reset, until the next step.
    """

    unit = "its own"

    def __init__(self, config: SensorReadingConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = context.sensor_output(config.sensor, config.output)
        self.unit = output.unit
        numbers = context.numbers(output)
        if numbers is None:
            kind = getattr(output.data.dtype, "__name__", output.data.dtype)
            raise ConfigError(f"output: {config.output!r} consists of {kind}, not of real numbers; choose another one")
        self._numbers, self._is_flag = numbers, numbers.dtype is wp.bool
        self.labels = _labels(output.labels, output.shape[1:], numbers.shape[1])
        if not self._is_flag:
            self.values = numbers

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the values."""
        if self._is_flag:
            wp.launch(copy_flags, out.shape, [self._numbers, out], device=out.device)
        elif out is not self.values:
            wp.copy(out, self._numbers)


class ImageReading(Quantity):
    """The quantity `image`: an image of a camera, from 0 to 1."""

    def __init__(self, config: ImageConfig, context: TermContext) -> None:
        super().__init__(config, context)
        data: Any = context.sensor_output(config.sensor, config.output).data
        if data.ndim != 4 or data.shape[1] != 1:
            raise ConfigError(
                f"sensor: {config.sensor!r} has the shape {list(data.shape[1:])} in each world, and one camera has one"
                " image of rows and columns; make a sensor for each camera"
            )
        self._image = data
        rows, columns = data.shape[2:]
        channels = ("red", "green", "blue") if config.far is None else (config.output,)
        pixels = [f"{row}.{column}" for row in range(rows) for column in range(columns)]
        #: The shape of the numbers of a world.
        self.image_shape: tuple[int, int, int]
        if config.channels == "first":
            self.image_shape, self._strides = (len(channels), rows, columns), (rows * columns, 1)
            self.labels = tuple(f"{pixel}/{channel}" for channel in channels for pixel in pixels)
        else:
            self.image_shape, self._strides = (rows, columns, len(channels)), (1, len(channels))
            self.labels = tuple(f"{pixel}/{channel}" for pixel in pixels for channel in channels)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Read the image."""
        worlds, _, rows, columns = self._image.shape
        if self.config.far is None:
            kernel, inputs = read_colours, [self._image, columns, *self._strides, out]
        else:
            kernel, inputs = read_depths, [self._image, columns, self.config.far, out]
        wp.launch(kernel, (worlds, rows * columns), inputs, device=out.device)


class ViewReading(Quantity):
    """The quantity `view`: any quantity of `simulation.view`, those of a world's rows side by side."""

    unit = "its own"

    def __init__(self, config: ViewReadingConfig, context: TermContext) -> None:
        super().__init__(config, context)
        simulation: Any = context.simulation
        try:
            self._view = getattr(simulation.view, config.rows.replace("-", "_"))(config.pattern)
        except (ConfigError, SimulationError) as error:
            raise ConfigError(f"pattern: {error}") from error
        table = self._view.quantities
        if config.name not in table or table[config.name].dtype != "float32":
            hint = did_you_mean(config.name, table) or ";"
            raise ConfigError(f"name: {config.name!r} is not a number of {config.rows}{hint} names: {', '.join(table)}")
        try:
            first = getattr(self._view, f"get_{config.name}")()
        except (ConfigError, SimulationError) as error:
            raise ConfigError(f"name: {error}") from error
        counts = np.bincount(np.asarray(self._view.world_ids) + 1, minlength=context.world_count + 1)[1:]
        low, high = counts.min(), counts.max()
        if low < high or counts.sum() < len(self._view.labels):
            raise ConfigError(
                f"pattern: {config.pattern!r} matches {low} to {high} rows in a world; choose as many in each"
            )
        self.unit, rows = table[config.name].unit, int(counts[0])
        self._values: Any = wp.zeros(first.shape, dtype=float, device=context.device)
        self._numbers = self._values.reshape((context.world_count, -1))
        names = [labels.name_of(label) for label in self._view.labels[:rows]]
        self.labels = _labels(names, (rows, *first.shape[1:]), self._numbers.shape[1])

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy what the view returns."""
        getattr(self._view, f"get_{self.config.name}")(out=self._values)
        wp.copy(out, self._numbers)


def _labels(elements: Sequence[str], shape: Sequence[int], width: int) -> tuple[str, ...]:
    """Return a name for each number of elements; elements and their components are the axes of `shape`."""
    count = shape[0] if shape else 1
    size = width // count
    components = tuple(_COMPONENTS.get(size, map(str, range(size))))
    names = elements if len(elements) == count else [str(index) for index in range(count)]
    if size == 1:
        return tuple(names)
    if count == 1:
        return components
    return tuple(f"{element}/{component}" for element in names for component in components)
