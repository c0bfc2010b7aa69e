"""Shards: the parts of a simulation's worlds, each with a configuration of its own, and their worker pool."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
from pippin.catalog import Catalog
from pippin.catalog.implementation import modules_of
from pippin.config import ComponentConfig, SceneConfig, SimulationConfig
from pippin.devices import find_device, kind_of
from pippin.errors import ConfigError
from pippin.indices import chosen_worlds
from pippin.objects.scene_object import placed_copies
from pippin.recording.config import RecorderConfig
from pippin.support.declaration import Declaration
from pippin.validators import whole_number
from pippin.viewing.file_viewer import ViewerConfig
from pippin.workers import usable_cores
from pippin.workers.pool import WorkerPool
from pippin.workers.process import CallResult
from pippin.workers.start import free_cores

_WORLDS = re.compile(r"\bworlds? \d+(?::\d+)?(?:, \d+(?::\d+)?)*\b")
_NUMBER = re.compile(r"\d+")


@attrs.frozen(kw_only=True)
class Shard:
    """Neighbouring worlds of a simulation, to be simulated by a process."""

    index: int
    """Number of the shard, from 0."""

    count: int
    """Number of shards."""

    worlds: range
    """The worlds, counted in the whole simulation."""

    config: SimulationConfig
    """The configuration of the shard. Its worlds are counted from 0 again; random draws and places are the same."""

    def __str__(self) -> str:
        return f"shard {self.index} of {self.count} (worlds {self.worlds.start}:{self.worlds.stop})"

    def local(self, worlds: Iterable[int]) -> tuple[int, ...]:
        """Return those of some worlds that are in the shard, in their order, counted from its first world."""
        return tuple(int(world) - self.worlds.start for world in worlds if world in self.worlds)


def shards_of(config: SimulationConfig, count: int) -> list[Shard]:
    """Return the shards of a simulation: a world in a shard gives the bits that it gives in the whole.

    Worlds are split evenly, the first shards are the larger ones. A recorder records in each shard the worlds that it
    chose there; a viewer shows worlds of one shard. Threads of the solver are divided. Capacities for all worlds
    together are those of each shard, so that none is too small.

    Args:
        config: The configuration of the whole simulation.
        count: Number of shards.

    Raises:
        ConfigError: There are more shards than worlds or GPUs, or shards would choose different substeps.
    """
    if whole_number(count, "shards") < 1 or count > config.scene.worlds:
        raise ConfigError(
            f"shards: expected 1 to {config.scene.worlds}, the number of worlds, got {count}; choose fewer shards, or"
            " raise scene.worlds"
        )
    devices = _devices(config.simulation.device, count)
    size, larger = divmod(config.scene.worlds, count)
    starts = [index * size + min(index, larger) for index in range(count + 1)]
    shards = [
        Shard(index=index, count=count, worlds=range(*starts[index : index + 2]), config=config)
        for index in range(count)
    ]
    if count == 1:
        return shards
    _refuse_unlike_substeps(config)
    recorders, viewers = _recorders(config, shards), _viewers(config, shards)
    return [
        attrs.evolve(
            shard,
            config=attrs.evolve(
                config,
                simulation=attrs.evolve(config.simulation, device=devices[shard.index]),
                scene=_scene(config.scene, shard),
            ).with_tables(
                solver=_solver(config.solver, count), recorders=recorders[shard.index], viewers=viewers[shard.index]
            ),
        )
        for shard in shards
    ]


def _refuse_unlike_substeps(config: SimulationConfig) -> None:
    """Refuse to let shards choose substeps: as many as contacts need, if shapes in the worlds of one can touch."""
    if config.solver is None or config.simulation.substeps != "auto" or config.scene.has_equal_worlds:
        return
    name = config.solver.type
    solver = Catalog.installed().find("solver", name).load()
    if Declaration.of(solver, name).longest_contact_step is not None:
        raise ConfigError(
            f"simulation.substeps: the worlds differ, and each shard would choose what contacts in its own worlds need"
            f" on {name!r}; set a number"
        )


def shard_count(config: SimulationConfig, count: int | Literal["auto"]) -> int:
    """Return the number of shards: as given, or for "auto" the cores that this process may use if the memory is enough.

    On GPUs "auto" is their number, and 1 for a solver that uses all cores itself.

    Args:
        config: The configuration of the whole simulation.
        count: A number, or "auto".

    Raises:
        ConfigError: It is neither a number nor "auto".
    """
    if count != "auto":
        return whole_number(count, "shards")
    if hasattr(getattr(config.solver, "config", None), "threads"):
        return 1
    name = config.simulation.device
    if name != "cpu" and kind_of(find_device(name)) == "cuda":
        return min(config.scene.worlds, _gpus(name))
    return min(config.scene.worlds, usable_cores("shards"))


def config_of_worlds(config: SimulationConfig, worlds: range) -> SimulationConfig:
    """Return the configuration of some neighbouring worlds alone, without recorders and viewers.

    Args:
        config: The configuration of all worlds.
        worlds: The worlds, counted in it.

    Raises:
        ConfigError: It has no such worlds.
    """
    if not worlds or worlds.start < 0 or worlds.stop > config.scene.worlds:
        raise ConfigError(
            f"worlds: {worlds.start}:{worlds.stop} are not among the {config.scene.worlds} worlds of the file; choose"
            " others, or set scene.worlds to the number of all worlds"
        )
    shard = Shard(index=0, count=1, worlds=worlds, config=config)
    return attrs.evolve(config.unobserved(), scene=_scene(config.scene, shard))


def renumber_worlds(text: str, first: int) -> str:
    """Return a text of a shard, such as `worlds 0:2, 4`, with the numbers of the run, given that of its first world."""
    return _WORLDS.sub(lambda found: _NUMBER.sub(lambda number: str(int(number[0]) + first), found[0]), text)


def _devices(name: str, count: int) -> list[str]:
    if count == 1 or name == "cpu" or kind_of(find_device(name)) == "cpu":
        return ["cpu" if count > 1 else name] * count
    gpus = _gpus(name)
    if gpus < count:
        raise ConfigError(
            f"shards: {count} shards would share {gpus} GPU{'s' if gpus > 1 else ''}, as simulation.device is {name!r};"
            " one process simulates all worlds of a GPU faster: use a shard for each GPU with 'auto', or 'cpu'"
        )
    return [f"cuda:{index}" for index in range(count)]


def _gpus(name: str) -> int:
    import warp as wp

    return wp.get_cuda_device_count() if name == "auto" else 1


def _scene(scene: SceneConfig, shard: Shard) -> SceneConfig:
    assets = [_part(asset, scene.worlds, f"assets[{index}]", shard) for index, asset in enumerate(scene.assets)]
    objects = [
        (chosen, _part(chosen.config, scene.worlds, f"objects[{index}]", shard))
        for index, chosen in enumerate(scene.objects)
    ]
    missing = {
        label
        for index, (chosen, part) in enumerate(objects)
        if part is None
        for label in placed_copies(chosen.config, f"scene.objects[{index}]")
    }
    sites = [site for site in scene.sites if site.body not in missing]
    missing_sites = {site.label for site in scene.sites if site not in sites}
    return attrs.evolve(
        scene,
        worlds=len(shard.worlds),
        first_world=scene.first_world + shard.worlds.start,
        total_worlds=scene.run_worlds,
        assets=tuple(asset for asset in assets if asset is not None),
        objects=tuple(attrs.evolve(chosen, config=part) for chosen, part in objects if part is not None),
        joints=tuple(joint for joint in scene.joints if not {joint.child, joint.parent} & missing),
        sites=tuple(sites),
        tendons=tuple(
            tendon
            for tendon in scene.tendons
            if not any(guide.body in missing or guide.site in missing_sites for guide in tendon.guides)
        ),
    )


def _part(part: Any, worlds: int, key: str, shard: Shard) -> Any:
    if part.worlds is None:
        return part
    local_worlds = shard.local(chosen_worlds(part.worlds, worlds, f"scene.{key}.worlds", "leave it out"))
    return attrs.evolve(part, worlds=local_worlds) if local_worlds else None


def _solver(solver: ComponentConfig | None, count: int) -> ComponentConfig | None:
    if solver is None or not hasattr(solver.config, "threads"):
        return solver
    threads = max(1, (solver.config.threads or free_cores()) // count)
    return attrs.evolve(solver, config=attrs.evolve(solver.config, threads=threads))


def _recorders(config: SimulationConfig, shards: Sequence[Shard]) -> list[dict[str, ComponentConfig]]:
    found: list[dict[str, ComponentConfig]] = [{} for _ in shards]
    for label, table in config.recorders.items():
        where = f"recorders.{label}"
        worlds, path = _worlds_of(table, config, where), getattr(table.config, "path", "")
        local_worlds = [shard.local(worlds) for shard in shards]
        if Path(path).is_absolute() and sum(map(bool, local_worlds)) > 1:
            raise ConfigError(f"{where}.path: {path!r} would be the file of several shards; give a relative path")
        for index, own in enumerate(local_worlds):
            if own:
                found[index][label] = _with_worlds(table, own)
    return found


def _viewers(config: SimulationConfig, shards: Sequence[Shard]) -> list[dict[str, ComponentConfig]]:
    found: list[dict[str, ComponentConfig]] = [{} for _ in shards]
    for label, table in config.viewers.items():
        worlds = _worlds_of(table, config, f"viewers.{label}")
        shard = next(shard for shard in shards if worlds[0] in shard.worlds)
        own = shard.local(worlds)
        if len(own) < len(worlds):
            raise ConfigError(
                f"viewers.{label}.worlds: {len(worlds)} worlds in several shards, and a viewer shows those of one;"
                f' choose some of them, such as "{shard.worlds.start}:{shard.worlds.stop}"'
            )
        found[shard.index][label] = _with_worlds(table, own)
    return found


def _worlds_of(table: ComponentConfig, config: SimulationConfig, where: str) -> list[int]:
    settings: Any = table.config
    if isinstance(settings, ViewerConfig):
        return settings.worlds_of(config.scene.worlds).tolist()
    if isinstance(settings, RecorderConfig):
        return chosen_worlds(settings.worlds, config.scene.worlds, f"{where}.worlds").tolist()
    raise ConfigError(f"{where}: {table.type!r} has no key 'worlds', so it cannot be split into shards; leave it out")


def _with_worlds(table: ComponentConfig, worlds: tuple[int, ...]) -> ComponentConfig:
    return attrs.evolve(table, config=attrs.evolve(table.config, worlds=worlds))


def shard_pool(
    shards: Sequence[Shard],
    make: Callable[..., Any],
    arguments: Sequence[tuple[Any, ...]],
    cure: str,
    heal: Callable[[int], CallResult] | None = None,
    on_event: Callable[[int, Any], None] | None = None,
) -> WorkerPool:
    """Return a worker for each shard; the cores are divided among them, and errors name the worlds of the run.

    Args:
        shards: The shards, of one simulation.
        make: Returns the object of a worker; importable by its name from its module.
        arguments: The arguments of `make` for each shard; plain data.
        cure: What a user can do if a worker is lost, for the error.
        heal: As for `WorkerPool`.
        on_event: As for `WorkerPool`.

    Raises:
        PippinError: An object cannot be made.
    """
    requires_grad = shards[0].config.simulation.requires_grad
    return WorkerPool(
        [str(shard) for shard in shards],
        make,
        arguments,
        cure=cure,
        requires_grad=requires_grad,
        preload=None if requires_grad else modules_of(getattr(shards[0].config.solver, "config", None)),
        threads=max(1, free_cores() // len(shards)),
        restate=lambda index, fault: renumber_worlds(fault, shards[index].worlds.start),
        heal=heal,
        on_event=on_event,
    )
