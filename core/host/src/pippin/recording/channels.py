"""Channels: every quantity that can be recorded or plotted, by name, with its array, units and labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.axes import axis_labels
from pippin.binding import Host
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.devices import shares_memory
from pippin.errors import ConfigError
from pippin.labels import covers, match
from pippin.matter import OF_BODIES, OF_PARTICLES, Matter

from .series import Column
from .tables import CONTACT_NAMES, ContactTable, EpisodeTable, ObjectTable, TendonTable, no_contacts

__all__ = ["Channel", "channels"]

HEAVY = re.compile(r"body_q|particle_qd?|objects/.*/qd?|contacts/.*")
"""Names of channels that are recorded only if they are asked for."""

POSE = ("px", "py", "pz", "qx", "qy", "qz", "qw")
XYZ = ("x", "y", "z")

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")

_OF_PARTICLES = {"q": {"units": ("m",), "components": XYZ}, "qd": {"units": ("m/s",), "components": XYZ}}
_OF_BODIES = {"q": {"components": POSE}, "qd": {"components": TWIST}}
"""The channels of an object of matter by their element, with their units and components."""

_OF_OBJECTS = {
    "centroid": {"units": ("m",), "frame": "world", "components": XYZ},
    "extent": {"units": ("m",), "frame": "world", "components": XYZ},
    "largest_speed": {"units": ("m/s",)},
}
"""The channels of an object of matter as a whole, with their units, frames and components."""

_ACTUATOR_UNITS = {
    "applied_effort": {"m": "N", "rad": "N·m"},
    "position_targets": {"m": "m", "rad": "rad", "1": "1"},
    "velocity_targets": {"m": "m/s", "rad": "rad/s"},
}
"""The channels of an actuator, with their units by the unit of the joint's coordinate: 1 for what is no joint."""

Update = Callable[[], Any]


@attrs.frozen(kw_only=True, eq=False)
class Channel(Column):
    """A quantity of the chosen worlds while the simulation runs."""

    source: wp.array
    """The latest values, shape [worlds, …]; the memory is the same for the life of the simulation."""

    update: Update | None = None
    """Function that fills `source` from the latest state; None if the simulation itself does. Channels may share one:
    call each function once for each row."""

    def numpy(self) -> np.ndarray:
        """Return the latest values, of shape `shape`: on CUDA a copy, which waits for the device."""
        if self.update is not None:
            self.update()
        return self.source.numpy()


def channels(
    simulation: Host,
    worlds: Sequence[int] | np.ndarray = (0,),
    series: Sequence[str] | None = None,
    *,
    episode: wp.array | None = None,
    also: Sequence[str] = (),
    max_contacts: int = 16,
    where: str = "",
) -> tuple[Channel, ...]:
    """Return the channels of some worlds, in a fixed order: state, actuators, sensors, task, bodies and their variants,
    particles, objects of matter, tendons, contacts.

    Args:
        simulation: The simulation; components that are not bound yet have no channels.
        worlds: Indices of worlds with the same contents, in the order that the values shall have.
        series: Patterns of names, see `pippin.labels`; None means all channels except body poses, particles,
            segments of cables and contacts.
        episode: Resets of each world so far, shape [world_count]; without it there is no channel `episode`.
        also: Names of channels to add, if the simulation has them.
        max_contacts: Number of contacts of a world that the channels of contacts have room for.
        where: Beginning of error messages, such as `recorders.log.`.

    Raises:
        ConfigError: The worlds have different contents, or a pattern is malformed or matches no channel.
    """
    worlds = np.asarray(worlds, dtype=np.int64)
    refuse_unlike(simulation.prototype_of_world, worlds, where)
    found = _Finder(simulation, worlds, max_contacts, where)
    every = [channel for channel in found.all(episode) if channel.source.size]
    names = [channel.name for channel in every]
    if series is None:
        chosen = {name for name in names if not HEAVY.fullmatch(name)}
    else:
        _refuse_absent_contacts(simulation, series, names, where)
        chosen = {names[index] for index in match(series, names, "channel", f"{where}series")}
    return tuple(channel for channel in every if channel.name in chosen.union(also))


def _refuse_absent_contacts(simulation: Host, series: Sequence[str], names: Sequence[str], where: str) -> None:
    reason = no_contacts(simulation)
    for pattern in series if reason is not None else ():
        if any(covers([pattern], name) for name in CONTACT_NAMES) and not any(covers([pattern], n) for n in names):
            raise ConfigError(f"{where}series: no channel matches {pattern!r}: {reason}")


def refuse_unlike(prototypes: Sequence[int] | np.ndarray, worlds: Sequence[int] | np.ndarray, where: str) -> None:
    """Refuse worlds with different contents; `prototypes` has the number of the contents of each world."""
    of_worlds = np.asarray(prototypes)[np.asarray(worlds)]
    others = np.flatnonzero(of_worlds != of_worlds[:1])
    if len(others):
        raise ConfigError(
            f"{where}worlds: world {worlds[others[0]]} has other contents than world {worlds[0]}, and one array cannot"
            " hold both; record them by two recorders"
        )


class _Finder:
    """The channels of some worlds, which have the same contents."""

    def __init__(self, simulation: Host, worlds: np.ndarray, max_contacts: int, where: str) -> None:
        self._simulation, self._worlds, self._max_contacts, self._where = simulation, worlds, max_contacts, where
        self._model = simulation.model

    def all(self, episode: wp.array | None) -> Iterator[Channel]:
        """Yield every channel."""
        parts = (self._joints, self._actuators, self._sensors, self._task, self._bodies, self._particles, self._matter)
        for part in (*parts, self._tendons, self._contacts):
            yield from part()
        if episode is not None:
            yield self._channel("episode", *rows(episode, self._worlds), units=("1",))

    def _joints(self) -> Iterator[Channel]:
        for name, has_quaternions in (("joint_q", True), ("joint_qd", False)):
            entries = list(_joint_entries(self._model, int(self._worlds[0]), has_quaternions=has_quaternions))
            if entries:
                per = "" if has_quaternions else "/s"
                labels, units = tuple(label for label, _ in entries), tuple(f"{unit}{per}" for _, unit in entries)
                array = self._of_state(name, "joint_coord" if has_quaternions else "joint_dof")
                yield self._channel(name, *array, labels=labels, units=units)

    def _actuators(self) -> Iterator[Channel]:
        coordinates = dict(_joint_entries(self._model, int(self._worlds[0]), has_quaternions=True))
        for label, actuator, chosen in self._present(self._simulation.actuators, "actuators"):
            joints = tuple(actuator.joint_labels)
            for name, unit_of in _ACTUATOR_UNITS.items():
                if (array := getattr(actuator, name)) is not None:
                    units = tuple(unit_of[coordinates.get(joint, "1")] for joint in joints)
                    yield self._channel(f"actuators/{label}/{name}", *rows(array, chosen), labels=joints, units=units)
            if (inputs := actuator.ctrl) is not None:
                names = tuple(actuator.actuator_labels)
                units = ("1",) * len(names)
                yield self._channel(f"actuators/{label}/ctrl", *rows(inputs, chosen), labels=names, units=units)

    def _sensors(self) -> Iterator[Channel]:
        for label, sensor, chosen in self._present(self._simulation.sensors, "sensors"):
            for name, output in sensor.outputs.items():
                names = {"labels": output.labels, "units": (output.unit,), "frame": output.frame}
                yield self._channel(f"sensors/{label}/{name}", *rows(output.data, chosen), **names)

    def _task(self) -> Iterator[Channel]:
        task = self._simulation.component("task")
        if task is None:
            return
        table, labels = EpisodeTable(task, self._worlds), {"rewards": tuple(task.rewards)}
        labels["terminations"] = tuple(task.terminations)
        for name, array in table.arrays.items():
            yield self._channel(f"task/{name}", array, table.update, labels=labels.get(name, ()), units=("1",))
        for name in ("reward", "terminated", "truncated"):
            yield self._channel(f"task/{name}", *rows(getattr(task.episodes, name), self._worlds), units=("1",))
        for row, label in enumerate(task.metrics):
            array: Any = task.episodes.metric_terms[row]
            yield self._channel(f"task/metrics/{label}", *rows(array, self._worlds), units=("1",))
        action = ("action", task.action_labels, task.episodes.taken_action)
        groups = ((f"observations/{name}", group.labels, group.values) for name, group in task.observations.items())
        curricula = ((f"curricula/{name}", each.labels, each.value) for name, each in task.curricula.items())
        for name, names, array in (action, *groups, *curricula):
            if names:
                yield self._channel(f"task/{name}", *rows(array, self._worlds), labels=names, units=("1",))

    def _bodies(self) -> Iterator[Channel]:
        first, last = on_host(self._model.body_world_start)[self._worlds[0] :][:2]
        if last > first:
            labels = tuple(self._model.body_label[first:last])
            array = self._of_state("body_q", "body")
            yield self._channel("body_q", *array, labels=labels, frame="world", components=POSE)
            variants: Any = self._model.body_variant
            if (on_host(variants)[first:last] >= 0).any():
                starts = on_host(self._model.body_world_start)[self._worlds]
                array = blocks(variants, starts, int(last - first))
                yield self._channel("body_variant", *array, labels=labels, units=("1",))

    def _particles(self) -> Iterator[Channel]:
        first, last = on_host(self._model.particle_world_start)[self._worlds[0] :][:2]
        if last > first:
            for name, unit in (("particle_q", "m"), ("particle_qd", "m/s")):
                array = self._of_state(name, "particle")
                yield self._channel(name, *array, units=(unit,), frame="world", components=XYZ)

    def _matter(self) -> Iterator[Channel]:
        """Yield what each object of matter does as a whole, and its particles, or the segments of a cable."""
        for kinds, element, texts in ((OF_PARTICLES, "particle", _OF_PARTICLES), (OF_BODIES, "body", _OF_BODIES)):
            matter = Matter.of(self._model, *kinds)
            starts = on_host(getattr(self._model, f"{element}_world_start"))[self._worlds]
            here = np.flatnonzero(matter.worlds == self._worlds[0]).tolist()
            if not here:
                continue
            state = self._simulation.state
            arrays = {name: present(getattr(state, f"{element}_{name}")) for name in texts}
            whole = ObjectTable(self._model, matter, self._worlds, *arrays.values())
            for row in here:
                first, size = int(matter.starts[row] - starts[0]), int(matter.counts[row])
                label = matter.labels[row].strip("/")
                for name, own in _OF_OBJECTS.items():
                    yield self._channel(
                        f"objects/{label}/{name}", whole.of(name, matter.labels[row]), whole.update, **own
                    )
                for name, own in texts.items():
                    source = blocks(arrays[name], starts + first, size)
                    yield self._channel(f"objects/{label}/{name}", *source, frame="world", **own)

    def _tendons(self) -> Iterator[Channel]:
        if not self._model.tendon_count:
            return
        table = TendonTable(self._model, self._simulation.state, self._worlds)
        for row, label in enumerate(table.labels):
            lengths: Any = table.lengths[row]
            name, tensions = f"tendons/{label.strip('/')}", table.tensions[row]
            yield self._channel(f"{name}/length", lengths, table.update, units=("m",))
            if tensions is not None:
                spans = tuple(f"span_{span}" for span in range(tensions.shape[1]))
                yield self._channel(f"{name}/tension", tensions, table.update, labels=spans, units=("N",))

    def _contacts(self) -> Iterator[Channel]:
        if no_contacts(self._simulation) is not None:
            return
        table = ContactTable(self._simulation, self._worlds, self._max_contacts)
        units = {"point": ("m",), "force": ("N",)}
        for name, array in table.arrays.items():
            is_vector = array.dtype is wp.vec3
            yield self._channel(
                f"contacts/{name}",
                array,
                table.update,
                units=units.get(name, ("1",)),
                frame="world" if is_vector else "none",
                components=XYZ if is_vector else ("first", "second") if name == "bodies" else (),
            )

    def _channel(self, name: str, source: wp.array, update: Update | None = None, **texts: Any) -> Channel:
        kind: Any = source.dtype
        shape = (*source.shape, *getattr(kind, "_shape_", ()))
        dtype = np.dtype(wp.dtype_to_numpy(getattr(kind, "_wp_scalar_type_", kind)))
        return Channel(name=name, shape=shape, dtype=dtype, source=source, update=update, **texts)

    def _of_state(self, name: str, what: str) -> tuple[wp.array, Update | None]:
        """Return the part of an array of the state that belongs to the worlds, shape [worlds, elements]."""
        starts = on_host(getattr(self._model, f"{what}_world_start"))
        size = int(starts[self._worlds[0] + 1] - starts[self._worlds[0]])
        return blocks(present(getattr(self._simulation.state, name)), starts[self._worlds], size)

    def _present(
        self, components: Mapping[str, Any], table: str
    ) -> Iterator[tuple[str, RuntimeAttributes, np.ndarray]]:
        for label, component in components.items():
            attributes = RuntimeAttributes(component, f"{table}:{label}")
            own = attributes.worlds
            if own is None:
                yield label, attributes, self._worlds
                continue
            is_here = np.isin(self._worlds, own)
            if is_here.any() and not is_here.all():
                raise ConfigError(
                    f"{self._where}worlds: {table}.{label} has no values in world {self._worlds[~is_here][0]}, but in"
                    f" world {self._worlds[is_here][0]}; record them by two recorders"
                )
            if is_here.all():
                yield label, attributes, np.searchsorted(own, self._worlds)


def _joint_entries(model: newton.Model, world: int, *, has_quaternions: bool) -> Iterator[tuple[str, str]]:
    """Yield label and unit of each joint coordinate of a world; without quaternions, of each DOF."""
    coordinate_counts, dof_counts = np.diff(on_host(model.joint_q_start)), np.diff(on_host(model.joint_qd_start))
    dimensions: Any = on_host(model.joint_dof_dim)
    for joint in range(*on_host(model.joint_world_start)[world : world + 2]):
        linear, angular = dimensions[joint]
        is_quaternion = coordinate_counts[joint] > dof_counts[joint]
        units = ["m"] * linear + (["1"] * 4 if is_quaternion and has_quaternions else ["rad"] * angular)
        is_by_dof = len(units) == dof_counts[joint]
        label = model.joint_label[joint]
        labels = axis_labels(model, [joint]) if is_by_dof else [f"{label}:{index}" for index in range(len(units))]
        yield from zip(labels, units, strict=True)


def rows(array: Any, indices: np.ndarray) -> tuple[wp.array, Update | None]:
    """Return rows of an array's first axis, and the function that brings them up to date; None if they are the same
    memory.
    """
    step = _even_step(indices)
    if step is None:
        return _copied(array, indices)
    first = int(indices[0])
    return array[first : first + step * (len(indices) - 1) + 1 : step], None


def blocks(array: Any, starts: np.ndarray, size: int) -> tuple[wp.array, Update | None]:
    """Return equal parts of a flat array, shape [parts, size], and their update as in `rows`."""
    step = _even_step(starts)
    if step is None:
        copy, update = _copied(array, (starts[:, None] + np.arange(size)).ravel())
        return copy.reshape((len(starts), size)), update
    item = wp.types.type_size_in_bytes(array.dtype)
    strides = (item * (step if len(starts) > 1 else size), item)
    part = wp.array(
        ptr=array.ptr + item * int(starts[0]),
        shape=(len(starts), size),
        strides=strides,
        dtype=array.dtype,
        device=array.device,
    )
    part._ref = array  # the memory lives as long as the part
    return part, None


def _even_step(indices: np.ndarray) -> int | None:
    """Return the distance of neighbouring indices; None if they are not evenly spaced or not ascending."""
    steps = np.unique(np.diff(indices))
    if not len(steps):
        return 1
    return int(steps[0]) if len(steps) == 1 and steps[0] > 0 else None


def _copied(array: Any, indices: np.ndarray) -> tuple[wp.array, Update]:
    copy: Any = wp.empty((len(indices), *array.shape[1:]), dtype=array.dtype, device=array.device)
    if shares_memory(copy.device):
        source, target = array.numpy(), copy.numpy()
        return copy, partial(np.take, source, indices, axis=0, out=target, mode="clip")  # "raise" would make a buffer
    chosen = wp.array(indices, dtype=int, device=array.device)
    choice: Any = [chosen, *[None] * (array.ndim - 1)]
    picked: Any = wp.indexedarray(array, choice)
    return copy, partial(wp.copy, copy, picked)
