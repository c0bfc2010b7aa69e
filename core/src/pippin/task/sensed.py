"""Outputs of sensors, as terms find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pippin.errors import ConfigError
from pippin.spelling import did_you_mean

if TYPE_CHECKING:
    import warp as wp
    from pippin.sensing import Output

    from .place import TaskPlace

__all__ = ["contact_output", "net_forces", "output_of"]


def output_of(place: TaskPlace, sensor: str, name: str) -> Output:
    """Return an output of a sensor, which must be in all worlds.

    Raises:
        ConfigError: There is no such sensor or output, or it is not in all worlds; names the key.
    """
    outputs = place.sensor(sensor).outputs
    if name not in outputs:
        hint = did_you_mean(name, outputs) or ";"
        raise ConfigError(f"output: {name!r} is no output of {sensor!r}{hint} outputs: {', '.join(outputs)}")
    return outputs[name]


def contact_output(place: TaskPlace, sensor: str, name: str) -> Output:
    """Return an output of a contact sensor.

    Raises:
        ConfigError: There is no such sensor, it is not in all worlds, or it senses no contacts; names the key.
    """
    outputs = place.sensor(sensor).outputs
    if name not in outputs:
        cure = "give it a `history`" if "net_force" in outputs else "choose a sensor of type 'contact'"
        raise ConfigError(f"sensor: {sensor!r} has no output {name!r}; {cure}")
    return outputs[name]


def net_forces(place: TaskPlace, sensor: str, *, with_history: bool) -> wp.array:
    """Return the net forces of a contact sensor [N], shape [worlds, bodies, readings], with one reading or a history.

    Raises:
        ConfigError: As `contact_output`.
    """
    if with_history:
        return contact_output(place, sensor, "net_force_history").data
    forces = contact_output(place, sensor, "net_force").data
    return forces.reshape((*forces.shape, 1))
