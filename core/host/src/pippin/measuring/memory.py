"""Memory of a simulation by owner: counts of the bytes of all arrays at a few numbers of worlds."""

from __future__ import annotations

import gc
import io
import math
import re
import tempfile
import weakref
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import attrs
import newton
import numpy as np
import warp as wp
from pippin.arrays import present
from pippin.catalog.entries import Catalog
from pippin.config import SimulationConfig, load
from pippin.errors import ConfigError, PippinError
from pippin.simulation import Simulation
from pippin.solving.contact_source import Capacity
from pippin.state.snapshot import walk

_GIGABYTES = (8, 24, 80, 141)
"""Memory of common GPUs [GB]."""


_COUNTS = (2, 4, 32, 128)
"""Numbers of worlds: two give a line, the third one tells whether it is one, and else the last two give it."""

_BUILD_MAX = 2**30
"""Largest of the later builds [bytes]."""

_STEPS, _PEAK_STEPS = 50, 10
"""Control steps in which the largest need of buffers is seen, and the most that a step allocates."""

_HEAD_ROOM, _WASTE = 1.25, 2.0
"""Room of a buffer that is enough, relative to the need, and the room from which it is waste, relative to that."""

_ARRAYS = 5
"""Number of arrays that are named."""

_REST, _NATIVE, _STEP = "host", "native", "step"
"""Owners that are no components; `MemoryUse.owners` describes them."""

_SIZE = r"([\d.]+) (B|KB|MB|GB)"

_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


@attrs.frozen(kw_only=True)
class MemoryOwner:
    """Bytes that one part of a simulation holds."""

    name: str
    per_world: float
    fixed: float
    is_linear: bool
    """Whether the bytes grow with the worlds in a line; if not, the line goes through the two largest counts."""


@attrs.frozen(kw_only=True)
class ArrayMemory:
    """One of the arrays that grow most, with its owner and path, and its shape at `MemoryUse.worlds[1]`."""

    name: str
    shape: tuple[int, ...]
    per_world: float


@attrs.frozen
class MemoryWaste:
    """A buffer with room for more than twice what was needed, for the file's worlds; sizes are values of its key."""

    key: str
    holds: str
    room: int
    used: int
    enough: int
    saved: float
    """What the value `enough` saves, measured in another build [bytes]."""


@attrs.frozen(kw_only=True)
class MemoryUse:
    """Bytes of all arrays of a simulation on its device, and how many worlds fit a device.

    The figures leave out what no array holds: the context of the driver, the code of kernels, recorded graphs, and
    arrays of other libraries.
    """

    device: str
    """The device on which the arrays were counted."""

    worlds: tuple[int, ...]
    """The numbers of worlds at which they were counted."""

    file_worlds: int
    """The number of worlds of the file."""

    owners: tuple[MemoryOwner, ...]
    """Parts of the simulation, the largest first. Besides components, `host` is what steps, resets and checks hold of
    their own, `native` the trees and grids of Warp, and `step` what an eager step allocates and frees again."""

    arrays: tuple[ArrayMemory, ...]
    """The arrays that grow most."""

    wastes: tuple[MemoryWaste, ...]
    """Buffers with room for more than twice the need, the largest saving first."""

    steps: int
    """Control steps, from the start and without actions, in which `used` was seen."""

    per_world: float = attrs.field(default=attrs.Factory(lambda use: _sum(use, "per_world"), takes_self=True))
    """Bytes for each world; an average if worlds differ."""

    fixed: float = attrs.field(default=attrs.Factory(lambda use: _sum(use, "fixed"), takes_self=True))
    """Bytes for any number of worlds."""

    fits: Mapping[int, int] = attrs.field(
        default=attrs.Factory(
            lambda use: {size: max(0, int((size * 1e9 - use.fixed) / max(use.per_world, 1.0))) for size in _GIGABYTES},
            takes_self=True,
        )
    )
    """How many worlds fit into a memory, by its size [GB, 10⁹ bytes]."""


def _sum(use: MemoryUse, name: str) -> float:
    return sum(getattr(owner, name) for owner in use.owners)


def measure(config: SimulationConfig, prototype: newton.ModelBuilder | None = None) -> MemoryUse:
    """Build a simulation with a few numbers of worlds, without viewers, and count its arrays.

    Raises:
        ConfigError: Assets or objects have worlds that do not repeat, or the simulation cannot be built.
    """
    period = _period(config)
    few, some = (Count(config, period * count, prototype) for count in _COUNTS[:2])
    wastes = sorted(some.wastes(few, config, prototype), key=lambda waste: -waste.saved)
    counts = [few, some]
    for worlds in (period * count for count in _COUNTS[2:]):
        is_small = (some.held - few.held) / (some.worlds - few.worlds) * worlds <= _BUILD_MAX
        if is_small and (counts[-1] is some or not all(_owner(counts, name).is_linear for name in some.owners)):
            counts.append(Count(config, worlds, prototype, steps=1))
    grown = {key: (size - few.arrays.get(key, 0)) / (some.worlds - few.worlds) for key, size in some.arrays.items()}
    largest = sorted(grown, key=lambda key: -grown[key])[:_ARRAYS]
    return MemoryUse(
        device=some.device,
        worlds=tuple(count.worlds for count in counts),
        owners=tuple(sorted((_owner(counts, name) for name in some.owners), key=lambda each: -each.per_world)),
        arrays=tuple(ArrayMemory(name=key, shape=some.shapes[key], per_world=grown[key]) for key in largest),
        wastes=tuple(wastes),
        file_worlds=config.scene.worlds,
        steps=_STEPS,
    )


def _period(config: SimulationConfig) -> int:
    """Return after how many worlds their contents repeat.

    Raises:
        ConfigError: They do not.
    """
    steps = []
    for key, entries in (("assets", config.scene.assets), ("objects", [each.config for each in config.scene.objects])):
        for index, worlds in enumerate(each.worlds for each in entries):
            match = re.fullmatch(r"(\d*)::(\d+)", worlds) if isinstance(worlds, str) else None
            if worlds is None or worlds == ":":
                continue
            if match is None or int(match[1] or 0) >= int(match[2]):
                raise ConfigError(
                    f"scene.{key}[{index}].worlds: {worlds!r} does not repeat, so that a world has no bytes of its own;"
                    " use a slice of every second or third world, such as '::2' and '1::2'"
                )
            steps.append(int(match[2]))
    return math.lcm(*steps)


def bytes_held(simulation: Simulation) -> int:
    """Return the bytes of all arrays that a simulation holds on its device, each counted once.

    Args:
        simulation: The simulation.
    """
    return sum(size for *_, size in bytes_by_array(simulation))


def bytes_by_array(simulation: Simulation) -> Iterator[tuple[str, wp.array, int]]:
    """Yield owner and path, each array on the simulation's device, and those of its bytes that no array before has."""
    claimed, of_warp = _Intervals(), (wp.Kernel, wp.Module, wp.Stream, wp.Graph, type(simulation.device))
    hosts = (type(simulation), type(simulation.services), weakref.ProxyType)
    skip = (*hosts, Catalog, newton.Model, newton.ModelBuilder, *of_warp)
    for owner, root in _roots(simulation):
        # The simulation itself is where the walk of the rest begins, and everything else refers to it.
        closed = tuple(kind for kind in skip if not isinstance(root, kind))
        for path, node in walk({owner: root}, closed):
            if isinstance(node, wp.array) and node.device == simulation.device:
                name = path.replace(_REST, "state", 1) if owner == _REST and ".states." in path else path
                for key, array in ((name, node), (f"{name}.grad", node.grad)):
                    if array is not None:
                        yield key, array, claimed.add(present(array.ptr), _extent(array))


def _roots(simulation: Simulation) -> Iterator[tuple[str, Any]]:
    """Yield the owners of arrays; an array that several ones hold belongs to the first."""
    yield "model", simulation.model
    yield "state", [simulation.state, simulation.control]
    yield "solver", simulation.solver
    yield "contacts", simulation.contact_source
    for kind in ("actuators", "sensors", "plugins"):
        yield from ((f"{kind}.{label}", each) for label, each in getattr(simulation, kind).items())
    task = simulation.component("task")
    yield from () if task is None else (("task", task),)
    yield from ((f"recorders.{label}", each) for label, each in simulation.recorders.items())
    yield _REST, vars(simulation)


def _extent(array: Any) -> int:
    spans = ((size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides, strict=True))
    return wp.types.type_size_in_bytes(array.dtype) + sum(spans)


class _Intervals:
    """Disjoint intervals of addresses, in order."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def add(self, begin: int, size: int) -> int:
        """Add an interval, and return how much of it is new."""
        end = begin + size
        first = last = bisect_left(self._ends, begin)
        low, high, new = begin, end, size
        while last < len(self._begins) and self._begins[last] <= end:
            new -= min(end, self._ends[last]) - max(begin, self._begins[last])
            low, high = min(low, self._begins[last]), max(high, self._ends[last])
            last += 1
        self._begins[first:last], self._ends[first:last] = [low], [high]
        return new


class Count:
    """The arrays of a simulation with some worlds, after some eager steps."""

    def __init__(
        self, config: SimulationConfig, worlds: int, prototype: newton.ModelBuilder | None, steps: int = _STEPS
    ) -> None:
        # A graph of the CPU keeps what its steps allocate; that of a GPU does not.
        changes = {"scene.worlds": worlds, "scene.first_world": 0, "simulation.capture": "off"}
        changed = load(config, changes).with_tables(viewers=None)
        self.worlds, self.file_worlds = worlds, config.scene.worlds
        self.arrays: dict[str, int] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.owners: defaultdict[str, float] = defaultdict(float)
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pippin-memory-"))
            tracker = stack.enter_context(wp.ScopedMemoryTracker("inspect", print=False))
            tracker.clear()
            simulation = stack.enter_context(Simulation(changed, prototype=prototype, folder=folder))
            self.device = simulation.device.alias
            self.needs = _needs_in(simulation, steps)
            self._count(simulation)
            gc.collect()  # of a build that only compiled kernels
            report = _report(tracker)
            native = re.findall(rf"^ +{_SIZE} : {self.device} : \(native", report, re.MULTILINE)
            self.owners[_NATIVE] = sum(float(size) * _UNITS[unit] for size, unit in native)
            #: What Warp has allocated, for a comparison [bytes].
            self.tracked = _of_device("Live allocations", self.device, report)
            #: All that the simulation holds between two steps [bytes].
            self.held = sum(self.owners.values())
            tracker.clear()
            simulation.step(_PEAK_STEPS)
            self.owners[_STEP] = _of_device("Peak usage", self.device, _report(tracker))

    def _count(self, simulation: Simulation) -> None:
        labels = {owner for owner, _ in _roots(simulation)}
        for name, array, size in bytes_by_array(simulation):
            parts = name.split(".")
            owner = next(each for end in range(len(parts)) if (each := ".".join(parts[: end + 1])) in labels)
            self.arrays[name], self.shapes[name] = size, tuple(array.shape)
            self.owners[owner] += size

    def wastes(
        self, other: Count, config: SimulationConfig, prototype: newton.ModelBuilder | None
    ) -> Iterator[MemoryWaste]:
        """Yield the buffers with too much room, each with what a smaller one saves in a build of its own.

        Another count tells whether the room grows with the worlds. If it does not, although worlds share it, the key
        is a size for the worlds of the file.
        """
        for key, (capacity, used) in self.needs.items():
            is_shared = not capacity.is_per_world and capacity.shared_by == 1
            is_grown = is_shared and other.needs[key][0].allocated != capacity.allocated
            scale = self.file_worlds / self.worlds if is_shared else 1.0
            used = math.ceil(scale * used)
            room = math.ceil(capacity.allocated // capacity.shared_by * (scale if is_grown else 1.0))
            enough = math.ceil(_HEAD_ROOM * max(used, 1))
            if room < _WASTE * enough:
                continue
            try:
                value = math.ceil(enough / scale) if is_grown else enough
                smaller = Count(load(config, {key: value}), self.worlds, prototype, steps=1)
            except PippinError:
                continue  # the solver does not take the smaller value
            saved = (self.held - smaller.held) * (1.0 if is_shared and not is_grown else self.file_worlds / self.worlds)
            holds = capacity.holds if is_shared else capacity.holds.replace(" of all worlds", " of a world")
            if saved > 0.0:
                yield MemoryWaste(key, holds, room, used, enough, saved)


def _report(tracker: wp.ScopedMemoryTracker) -> str:
    text = io.StringIO()
    tracker.report(file=text, max_items=2**30)
    return text.getvalue()


def _of_device(heading: str, device: str, report: str) -> float:
    """Return the size below a heading of Warp's report; 0 without allocations."""
    match = re.search(rf"{heading}:\n(?:    .*\n)*?    {device} .*?{_SIZE}", report)
    return 0.0 if match is None else float(match[1]) * _UNITS[match[2]]


def _needs_in(simulation: Simulation, steps: int) -> Mapping[str, tuple[Capacity, int]]:
    """Step, and return for each key of a counted buffer the largest value that was needed at the end of a step."""
    usable = [each for each in simulation.capacities if not each.is_flag and not each.cure]
    counted = [(each, count) for each in usable if (count := each.count_on_host or _reader(each.count)) is not None]
    found: dict[str, tuple[Capacity, int]] = {}
    for _ in range(steps):
        simulation.step()
        for each, count in counted:
            needed = present(each.needed(count()))
            if needed >= found.get(each.field, (each, 0))[1]:
                found[each.field] = each, needed
    return found


def _reader(count: wp.array | None) -> Callable[[], int] | None:
    return None if count is None else lambda: int(np.max(count.numpy(), initial=0))


def _line(first: Count, second: Count, name: str) -> tuple[float, float]:
    """Return the fixed bytes of an owner, and those for each world, on the line through two counts."""
    per_world = (second.owners[name] - first.owners[name]) / (second.worlds - first.worlds)
    return first.owners[name] - first.worlds * per_world, per_world


def _owner(counts: list[Count], name: str) -> MemoryOwner:
    fixed, per_world = _line(counts[0], counts[1], name)
    last = counts[-1]
    is_linear = math.isclose(fixed + last.worlds * per_world, last.owners[name], rel_tol=0.02, abs_tol=1024.0)
    if not is_linear:
        fixed, per_world = _line(counts[-2], last, name)
    return MemoryOwner(name=name, per_world=per_world, fixed=fixed, is_linear=is_linear)
