"""The outputs of a sensor, and their readings: clean values that stages change in order, by world, with their times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs
import numpy as np
import warp as wp
from pippin.binding import Binding
from pippin.errors import ConfigError, PluginError
from pippin.label_mapping import LabelMapping
from pippin.spelling import did_you_mean
from pippin.state.world_rows import as_rows, copy_rows

from .config import SensorConfig
from .kernels import invert, stamp
from .stage import OutputLanes, Stage


@attrs.frozen(kw_only=True, eq=False)
class Output:
    """One quantity that a sensor measures."""

    data: wp.array
    """The latest values, shape [worlds, elements, …]; the first axis has the worlds that contain measured elements.

    Each reading and each reset overwrites the values in place; the memory is the same for the life of the simulation.
    """

    unit: str
    """SI unit, such as `m/s²`; `1` for values without a unit."""

    frame: str
    """Frame of the components: `world`; `site`, the sensor's own frame; `joint`, a joint's frame on its child link;
    `reference`, a frame that the sensor's configuration names; or `none` for values without a direction."""

    labels: tuple[str, ...] = ()
    """Label of each entry of the second axis: of a body, site or joint of the first world."""

    infinite: str = ""
    """What makes its values infinite, and the cure, for errors; empty if they are finite."""

    clean: wp.array = attrs.field(default=attrs.Factory(lambda self: self.data, takes_self=True))
    """The values before `stages`, of the same shape; the same array if there are none."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values with their components, as NumPy sees them: vectors have a last axis of three."""
        return (*self.data.shape, *getattr(self.data.dtype, "_shape_", ()))

    def numbers(self, *, is_arithmetic: bool = True) -> wp.array | None:
        """View the latest values as rows of a world, shape [worlds, numbers]; None unless they are real numbers.

        Integers and booleans are not.

        Args:
            is_arithmetic: Whether the caller changes single numbers: quaternions and transforms, which that would make
                invalid, give None then, too.
        """
        values = self.data
        kind: Any = values.dtype
        is_rotation = wp.types.type_is_quaternion(kind) or wp.types.type_is_transformation(kind)
        is_number = getattr(kind, "_wp_scalar_type_", kind) is wp.float32 and not (is_rotation and is_arithmetic)
        if not is_number or not values.is_contiguous:
            return None
        view = as_rows(values, wp.float32, len(values))
        view._ref = values  # the memory lives as long as the view
        return view

    def numpy(self) -> np.ndarray:
        """Return the latest values, of shape `shape`: the same memory on the CPU, else a copy, after waiting."""
        return self.data.numpy()


class Readings:
    """The outputs of one sensor as they are read.

    An output without stages is its own clean array: nothing is copied.

    Args:
        config: The configuration of the sensor, with its stages.
        measured: The arrays that the sensor measures, by name.
        binding: The sensor's place in a simulation.
        memory: The arrays that a measurement may overwrite besides the outputs; None if measuring needs a step.

    Raises:
        ConfigError: A stage acts on an output that does not exist, or that is not made of separate numbers.
        PluginError: A stage is broken, or an output has no row for each world.
    """

    def __init__(
        self,
        config: SensorConfig,
        measured: Mapping[str, Output],
        binding: Binding,
        memory: Mapping[str, wp.array] | None,
    ) -> None:
        self._simulation = simulation = binding.simulation
        self._period = binding.step_period
        self._worlds = worlds = binding.worlds
        for name, output in measured.items():
            if not output.data.is_contiguous or output.data.shape[:1] != worlds.shape:
                raise PluginError(
                    f"output {name!r} of shape {output.data.shape}: expected a contiguous array of"
                    f" {len(worlds)} rows, one for each world"
                )
        device, count = simulation.device, simulation.world_count
        self._everywhere = wp.full(count + 1, value=True, dtype=bool, device=device)
        #: The worlds that a measurement must fill, shape [world_count + 1]: all of them, except inside `only`.
        self.asked: wp.array[wp.bool] = self._everywhere
        self._world_of_row = wp.array(worlds, dtype=int, device=device)
        self._reset_times = wp.zeros(len(worlds), dtype=wp.float64, device=device)
        #: Time from the last reading or reset to the next reading [s], shape [worlds].
        self.intervals = wp.full(len(worlds), self._period * simulation.control_dt, dtype=float, device=device)
        acted_on = {choice.config.output for choice in config.stages}
        #: The outputs by name, with the values that are read.
        self.outputs: Mapping[str, Output] = LabelMapping(
            "outputs",
            {
                name: attrs.evolve(output, data=wp.clone(output.data)) if name in acted_on else output
                for name, output in measured.items()
            },
        )
        self._apart = [output for output in self.outputs.values() if output.data is not output.clean]
        self._stages = list(self._build_stages(config, binding))
        #: Arrays that a measurement overwrites, each with a copy and with the world of each row.
        self._kept: list[tuple[wp.array, wp.array, wp.array]] = []
        if memory is not None:
            self._others = wp.zeros(count + 1, dtype=bool, device=device)
            for array in (*(output.clean for output in self.outputs.values()), *memory.values()):
                rows = np.repeat(worlds, len(array) // len(worlds))
                self._kept.append((array, wp.clone(array), wp.array(rows, dtype=int, device=device)))

    @contextmanager
    def only(self, world_mask: wp.array[wp.bool]) -> Iterator[None]:
        """Restore the worlds that are not masked at the end of a `with` block, in which any world may be measured."""
        for array, kept, _ in self._kept:
            wp.copy(kept, array)
        self.asked = world_mask
        try:
            yield
        finally:
            self.asked = self._everywhere
        wp.launch(invert, len(world_mask), [world_mask, self._others], device=world_mask.device)
        copy_rows([(kept, array, world_of_row) for array, kept, world_of_row in self._kept], self._others)

    def publish_everywhere(self, dt: float) -> None:
        """Copy the clean values of all worlds to the outputs, and apply the stages. May be recorded."""
        if self._period > 1 and dt:
            self.intervals.fill_(dt)  # a world that was reset in between had a shorter interval
        for output in self._apart:
            wp.copy(output.data, output.clean)
        self._apply(self._everywhere, dt)

    def publish(self, world_mask: wp.array[wp.bool], dt: float) -> None:
        """Copy the clean values of the masked worlds to the outputs, and apply the stages; mask [world_count + 1]."""
        copy_rows([(output.clean, output.data, self._world_of_row) for output in self._apart], world_mask)
        self._apply(world_mask, dt)

    def reset(self, world_mask: wp.array[wp.bool]) -> None:
        """Reset the stages in the masked worlds, and note the time."""
        for stage, _ in self._stages:
            stage.reset(world_mask)
        simulation = self._simulation
        inputs = [world_mask, self._world_of_row, simulation.step_counter, self._period, simulation.control_dt]
        inputs += [self._reset_times, self.intervals]
        wp.launch(stamp, len(self._worlds), inputs, device=world_mask.device)

    def times(self) -> np.ndarray:
        """Return the time of each world's last reading or reset [s], shape [worlds]."""
        steps = self._simulation.step_count
        measured = (steps - steps % self._period) * self._simulation.control_dt
        return np.maximum(self._reset_times.numpy(), measured)

    def arrays(self) -> dict[str, wp.array]:
        """Return the arrays of the outputs, clean and read, by name."""
        clean = {f"{name} (clean)": output.clean for name, output in self.outputs.items() if output in self._apart}
        return {**{name: output.data for name, output in self.outputs.items()}, **clean}

    def _apply(self, world_mask: wp.array[wp.bool], dt: float) -> None:
        for stage, numbers in self._stages:
            stage.apply(numbers, world_mask, dt)

    def _build_stages(self, config: SensorConfig, binding: Binding) -> Iterator[tuple[Stage, wp.array]]:
        simulation = binding.simulation
        label = binding.label
        for index, choice in enumerate(config.stages):
            name, place = choice.config.output, f"stages.{index}.output"
            if name not in self.outputs:
                names = ", ".join(self.outputs)
                hint = did_you_mean(name, self.outputs) or ";"
                raise ConfigError(f"{place}: {name!r} is not an output{hint} outputs: {names}")
            kind = simulation.catalog.find("stage", choice.type).load()
            numbers = self.outputs[name].numbers(is_arithmetic=getattr(kind, "is_arithmetic", True))
            if numbers is None:
                raise ConfigError(
                    f"{place}: {name!r} is not made of separate numbers, so no {choice.type!r} can act on it;"
                    " choose another output"
                )
            interval = self._period * simulation.control_dt
            text = f"{label}/{name}/{index}"
            lanes = OutputLanes(numbers, self._worlds, simulation.seeds, text, interval)
            try:
                stage: Any = kind(choice.config, lanes)
            except ConfigError as error:
                raise ConfigError(*(f"stages.{index}.{fault}" for fault in error.faults)) from error
            yield stage, numbers
