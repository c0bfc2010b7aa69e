"""Quantities that are read elsewhere: the action, commands, time, sensors, the ground below rays, and views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import ConfigError, SimulationError, did_you_mean, labels
from pippin.arrays import on_host
from pippin.labels import name_of
from pippin.sensing import Output

from pippin_task import Quantity, TermContext

from . import configs, kernels
from .bodies import OfRoot


class _Copied(Quantity):
    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the numbers."""
        if out is not self.values:
            wp.copy(out, self.values)


class LastAction(_Copied):
    """The quantity `last-action`: the action of the last control step, a, before any `clip`; zero after a reset."""

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        if not context.episodes.action.shape[1]:
            raise ConfigError("type: the task has no actions; add a table [task.actions.LABEL]")
        self.labels = tuple(map(str, range(context.episodes.action.shape[1])))
        self.values = context.episodes.action

    def recipe(self) -> dict[str, Any]:
        """Return the action as the network gave it."""
        return {"kind": "last-action"}


class ActionRate(LastAction):
    """The quantity `action-rate`: the action minus that of the control step before, a − a'; zero after a reset."""

    _is_second = False

    def __init__(self, config: Any, context: TermContext) -> None:
        super().__init__(config, context)
        self.values = wp.zeros_like(self.values)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the difference."""
        episodes = self.context.episodes
        inputs = [episodes.action, episodes.last_action, episodes.earlier_action, int(self._is_second), out]
        wp.launch(kernels.take_difference, out.shape, inputs, device=out.device)

    def recipe(self) -> dict[str, Any]:
        """Return the change of the action."""
        return {"kind": "action-rate"}


class ActionAcceleration(ActionRate):
    """The quantity `action-acceleration`: a − 2 a' + a'', of the last three control steps; zero after a reset.

    Actions before the first one of an episode count as zero, as they do for `action-rate`.
    """

    _is_second = True

    def recipe(self) -> dict[str, Any]:
        """Return the change of the change of the action."""
        return {"kind": "action-acceleration"}


class RemainingTime(Quantity):
    """The quantity `remaining-time`: T − t, of an episode of the length T; or (T − t) / T."""

    unit = "s"
    labels = ("remaining",)
    advances = True

    def __init__(self, config: configs.RemainingTimeConfig, context: TermContext) -> None:
        super().__init__(config, context)
        host = context.simulation
        length = None if host.config.task is None else host.config.task.episode_length
        if length is None:
            raise ConfigError("type: an episode has no end to count to; set task.episode_length")
        self.unit = "1" if config.share else "s"
        self._steps = round(length / host.control_dt)
        self._unit = 1.0 / self._steps if config.share else host.control_dt

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the time."""
        inputs = [self.context.episodes.length, self._steps, self._unit, out]
        wp.launch(kernels.read_remaining_time, len(out), inputs, device=out.device)

    def recipe(self) -> dict[str, Any]:
        """Return (steps − steps of the episode so far) × unit."""
        return {"kind": "remaining-time", "steps": self._steps, "unit": self._unit}


class CommandValue(Quantity):
    """The quantity `command`: the numbers of a command, or how much it asks."""

    unit = "its own"
    advances = True

    def __init__(self, config: configs.CommandValueConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._command = command = context.command(config.command, "command")
        self.unit, self.labels = command.unit, command.labels
        if config.form == "numbers":
            self.values = command.value
        elif tuple(command.labels) != ("x", "y", "yaw"):
            raise ConfigError(f"command: {config.command!r} is no velocity, and has no speed; choose one of that type")
        else:
            self.unit, self.labels = "its own", ("speed",)

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the numbers, or add up what they ask."""
        if self.config.form == "speed":
            wp.launch(kernels.take_speed, len(out), [self._command.value, out], device=out.device)
        elif out is not self._command.value:
            wp.copy(out, self._command.value)

    def recipe(self) -> dict[str, Any] | None:
        """Return the label of the command, whose numbers the user gives."""
        return {"kind": "command", "command": self.config.command} if self.config.form == "numbers" else None


_COMPONENTS = {3: "xyz", 4: "xyzw", 7: ("x", "y", "z", "qx", "qy", "qz", "qw")}


class SensorReading(Quantity):
    """The quantity `sensor`: the latest values of a sensor's output, those of each element side by side.

    A sensor that needs the solver reads zero after a reset, until the next step.
    """

    unit = "its own"

    def __init__(self, config: configs.SensorReadingConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = context.sensor_output(config.sensor, config.output)
        if output.infinite:
            raise ConfigError(f"output: {config.output!r} of {config.sensor!r} is infinite {output.infinite}")
        self.unit = output.unit
        numbers = context.numbers(output)
        if numbers is None:
            kind = getattr(output.data.dtype, "__name__", output.data.dtype)
            raise ConfigError(f"output: {config.output!r} consists of {kind}, not of real numbers; choose another one")
        self._numbers, self._is_flag = numbers, numbers.dtype is wp.bool
        self.labels = _labels(output.labels, output.shape[1:], numbers.shape[1])
        self._is_log = config.form == "signed-log"
        if self._is_log and self._is_flag:
            raise ConfigError(f"form: {config.output!r} of {config.sensor!r} is true or false; leave 'form' out")
        if not (self._is_flag or self._is_log):
            self.values = numbers

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Copy the values."""
        if self._is_flag or self._is_log:
            kernel = kernels.take_signed_log if self._is_log else kernels.copy_flags
            wp.launch(kernel, out.shape, [self._numbers, out], device=out.device)
        elif out is not self.values:
            wp.copy(out, self._numbers)


class ImageReading(Quantity):
    """The quantity `image`: an image of a camera, from 0 to 1."""

    def __init__(self, config: configs.ImageConfig, context: TermContext) -> None:
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
            kernel, inputs = kernels.read_colours, [self._image, columns, *self._strides, out]
        else:
            kernel, inputs = kernels.read_depths, [self._image, columns, self.config.far, out]
        wp.launch(kernel, (worlds, rows * columns), inputs, device=out.device)


class ViewReading(Quantity):
    """The quantity `view`: any quantity of `simulation.view`, those of a world's rows side by side."""

    unit = "its own"

    def __init__(self, config: configs.ViewReadingConfig, context: TermContext) -> None:
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


_REDUCTIONS = ("mean", "least", "most")
"""What counts of the rays of a site."""


class HeightScan(Quantity):
    """The quantity `height-scan`: z of a sensor's site − z of the point that a ray meets − offset, for each ray."""

    unit = "m"
    _is_one = False

    def __init__(self, config: configs.HeightScanConfig, context: TermContext) -> None:
        super().__init__(config, context)
        output = _hits(config.sensor, context)
        model, (_, count, *rays) = context.simulation.model, output.data.shape
        world_of_shape = on_host(model.shape_world)
        sites: dict[str, list[int]] = {label: [] for label in output.labels}
        for shape, label in enumerate(model.shape_label):
            if label in sites and world_of_shape[shape] >= 0:
                sites[label].append(shape)
        if any(len(shapes) != context.world_count for shapes in sites.values()):
            raise ConfigError(
                f"sensor: the sites of {config.sensor!r} are not one in each world; choose another sensor"
            )
        self._sites = context.ints(np.array([*sites.values()]).T.ravel())
        self._points = output.data.reshape((context.world_count * count, -1))
        bodies = on_host(model.shape_body)[[shapes[0] for shapes in sites.values()]]
        names = [name_of(model.body_label[body]) for body in bodies.tolist()]
        places = ["_".join(map(str, place)) for place in np.ndindex(*rays)]
        self.labels = names if self._is_one else [f"{name}/{place}" for name in names for place in places]

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the heights."""
        model, config = self.context.simulation.model, self.config
        poses = [state.body_q, model.shape_body, model.shape_transform]
        reduction = 1 + _REDUCTIONS.index(config.reduction) if self._is_one else 0
        bounds = wp.vec2(*(getattr(config, "clip", None) or (-math.inf, math.inf)))
        inputs = [self._sites, *poses, self._points, config.offset, config.no_hit, reduction, bounds]
        rows = out.reshape((len(self._sites), -1))
        wp.launch(kernels.read_heights_over, rows.shape, [*inputs, rows], device=out.device)


class HeightOverGround(HeightScan):
    """The quantity `height-over-ground`: the mean of the heights of each site over its rays, or one of them."""

    _is_one = True


class GroundNormal(OfRoot):
    """The quantity `ground-normal`: Rᵀ n, n the normal of the plane through the points that a sensor's rays meet."""

    unit = "1"
    is_differentiable = False

    def __init__(self, config: configs.GroundNormalConfig, context: TermContext) -> None:
        super().__init__(config, context)
        self._points = _hits(config.sensor, context).data.reshape((context.world_count, -1))

    def measure(self, state: newton.State, out: wp.array) -> None:
        """Write the normals."""
        self._launch(kernels.read_ground_normals, out, state.body_q, self._bodies, self._points)


def _hits(sensor: str, context: TermContext) -> Output:
    """Return the points that the rays of a sensor meet, shape [worlds, sites, rays…]."""
    output = context.sensor_output(sensor, "position")
    if output.data.dtype is not wp.vec3 or len(output.data.shape) < 3:
        raise ConfigError(f"sensor: {sensor!r} casts no rays; choose a sensor of type 'ray-caster'")
    return output
