"""The plugin under test: its name, its configuration, and the simulations that test it."""

from __future__ import annotations

import functools
import inspect
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import newton
from pippin import CaptureWarning, ComponentConfig, Simulation, structure
from pippin.catalog import Catalog, Entry, Kind
from pippin.components import Declaration, load_plugin, make_component
from pippin.config import structure_choice

from . import scenes
from .kinds import LABEL, KindChecks, PlainSolver, kind_checks, merged, tables_of
from .outcomes import check_name

HALVED = " at half the step"
"""End of the name of a bench."""

Scene = Callable[["newton.ModelBuilder"], None]
"""Adds one world's content to a builder, on which the solver's custom attributes are registered."""


@attrs.frozen(kw_only=True, eq=False)
class PluginUnderTest:
    """An installed plugin, and the settings of its tests, which `Conformance` explains."""

    kind: str
    name: str
    config: Mapping[str, Any] = attrs.field(factory=dict)
    prototype: Scene | None = None
    """It replaces the kit's scene; its motion has to depend on the solver from the first step."""

    beside: Scene | None = None
    tables: Mapping[str, Any] = attrs.field(factory=dict)
    solver: str | None = None
    world_count: int = 3
    dt: float = 0.002
    file: Path | None = None
    chosen: frozenset[str] | None = None
    """Names of the checks that run, which need no mechanisms of others beside; None means all."""

    steps: tuple[str, ...] = ("", HALVED)
    """The steps with which benches move."""

    def __str__(self) -> str:
        """Return kind and name, as in error messages."""
        return f"{self.kind} {self.name!r}"

    @property
    def record(self) -> Kind:
        """Record of the kind."""
        return Catalog.installed().kind(self.kind)

    @functools.cached_property
    def of_kind(self) -> KindChecks:
        """What the kit knows of the kind."""
        return kind_checks(self.record)

    @property
    def builds_solver(self) -> bool:
        """Whether the plugin is the solver of its simulations."""
        return self.record.place == "solver"

    @functools.cached_property
    def entry(self) -> Entry:
        """Entry point of the plugin.

        Raises:
            PluginError: No distribution installs the plugin, or several do.
        """
        return Catalog.installed().find(self.kind, self.name)

    @functools.cached_property
    def table(self) -> dict[str, Any]:
        """Table of the plugin: the author's keys, and default values for other required keys."""
        needed = self.of_kind.settings(self.entry.load_config(), self.config)
        return {"type": self.name, **needed, **self.config}

    @functools.cached_property
    def plugin(self) -> Any:
        """Class of the plugin, its hooks checked if it makes a component.

        Raises:
            PluginError: It cannot be loaded, or has an unknown hook or a misspelt declaration.
        """
        return load_plugin(self.entry) if self.record.is_component else self.entry.load()

    def component(self) -> Any:
        """Return a component as the host makes it, without a simulation."""
        return make_component(self.kind, self.structured())

    def structured(self, table: Mapping[str, Any] | None = None) -> ComponentConfig:
        """Return the configuration of a table, by default of the plugin's own table.

        Raises:
            ConfigError: The table is wrong.
        """
        return structure_choice(self.kind, self.table if table is None else table)

    def content(self, **keys: Any) -> dict[str, Any]:
        """Return the keys of `[scene]` with the asset that an importer reads, or with the object, and further keys."""
        if self.of_kind.content is not None:
            return self.of_kind.content({**self.table, **keys})
        return {"assets": [{"path": str(self.file), "importer": self.table, **keys}]}

    def scene(self) -> Scene:
        """Return the content of each world: the author's prototype, or the kit's scene for the declared features."""
        return self.prototype or scenes.suited_to(self.features)

    @functools.cached_property
    def declaration(self) -> Declaration:
        """Declaration of the plugin.

        Raises:
            PluginError: The plugin declares something unknown.
        """
        return Declaration.of(self.component() if self.record.is_component else self.plugin, str(self))

    @functools.cached_property
    def features(self) -> Mapping[str, str] | None:
        """The features that the solver declares, "live" or "build"; None if it declares none, and for other kinds."""
        return self.declaration.supported_features if self.builds_solver else None

    def asks(self, family: str, name: str) -> bool:
        """Return whether the check of a feature, a tree, an observable or a change is among those that run."""
        return self.chosen is None or check_name(family, name) in self.chosen

    def build(
        self,
        *,
        count: int = 3,
        capture: str = "auto",
        scene: Scene | Sequence[tuple[Scene, int]] | None = None,
        is_on_ground: bool = True,
        world_count: int | None = None,
        plugins: Mapping[str, Any] | None = None,
        is_present: bool = True,
        settable_joints: bool = False,
        has_folder: bool = True,
        observables: Iterable[str] = (),
    ) -> Simulation:
        """Build a simulation with the plugin.

        Args:
            count: Parts of a control step: physics steps for an actuator or a clamping, else substeps.
            capture: Value of `simulation.capture`.
            scene: Content of each world, or several scenes with their numbers of worlds; by default `scene()`.
            is_on_ground: Whether there is a ground.
            world_count: Number of worlds, by default the subject's.
            plugins: More components, by label.
            is_present: Whether the simulation contains the plugin at all, if it is not a solver.
            settable_joints: Value of `scene.settable_joints`.
            has_folder: Whether the simulation has a folder for files.
            observables: Value of `simulation.observables`.
        """
        chosen = scene or self.scene()
        worlds = self.world_count if world_count is None else world_count
        prototype: Any = self._filled(chosen) if callable(chosen) else [(self._filled(one), n) for one, n in chosen]
        is_inner = self.of_kind.acts_each_substep
        steps = {"dt": self.dt * count, "substeps": count} if is_inner else {"dt": self.dt, "decimation": count}
        tables: dict[str, Any] = {
            "simulation": {"device": "cpu", "capture": capture, "observables": sorted(observables), **steps},
            "scene": {
                "worlds": worlds if callable(chosen) else sum(n for _, n in chosen),
                "ground": is_on_ground,
                "settable_joints": settable_joints,
            },
        }
        solver = {} if self.solver is None else {"solver": {"type": self.solver}}
        of_plugin = merged(self.of_kind.tables, tables_of(self.record, self.table)) if is_present else {}
        own = merged(tables, merged(merged(solver, of_plugin), self.tables))
        own = merged({"catalog": {"block": _solvers_besides(own)}}, own)
        with warnings.catch_warnings(action="ignore", category=CaptureWarning):
            components = {**self._plugins(is_present), **(plugins or {})}
            folder = self.new_folder() if has_folder else None
            return Simulation(structure(own), components, prototype, folder=folder)

    def simulate(self, scene: Mapping[str, Any], **plugins: Any) -> Simulation:
        """Build an eager simulation of a table `[scene]`, which has the plugin, with the solver of the tests."""
        options = {"device": "cpu", "capture": "off", "dt": self.dt}
        solver = {} if self.solver is None else {"solver": {"type": self.solver}}
        tables = structure({"simulation": options, "scene": scene, **solver})
        return Simulation(tables, {**self.plain_solver(), **plugins})

    def load(self, path: Any) -> Simulation:
        """Build a simulation as `build` does, and resume it from a file."""
        with warnings.catch_warnings(action="ignore", category=CaptureWarning):
            return Simulation.load(path, self._plugins(), self._filled(self.scene()), folder=self.new_folder())

    def new_folder(self) -> Path | None:
        """Return the folder for the files of a viewer or a recorder; None for plugins that write none.

        It does not exist, as that of a run at its start: the first who writes makes it.
        """
        if not self.record.is_observer:
            return None
        return Path(tempfile.mkdtemp(dir=self._folder), "run")

    @functools.cached_property
    def _folder(self) -> str:
        folder = tempfile.mkdtemp(prefix="pippin-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _plugins(self, is_present: bool = True) -> dict[str, Any]:
        parts = self.plain_solver()
        if self.of_kind.carrier is not None:
            parts[LABEL] = self.of_kind.carrier(self.structured() if is_present else None)
        return parts

    def plain_solver(self) -> dict[str, Any]:
        """Return the kit's solver by label; nothing if a solver is tested, or named."""
        if self.builds_solver or self.solver is not None or "solver" in self.tables:
            return {}
        return {"solver": PlainSolver()}

    def _filled(self, scene: Scene) -> newton.ModelBuilder:
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        solver = self if self.builds_solver else self.solver and PluginUnderTest(kind="solver", name=self.solver)
        component = solver.component() if solver else None
        if hasattr(component, "configure_builder"):
            takes_builder = "builder" in inspect.signature(component.configure_builder).parameters
            component.configure_builder(**({"builder": builder} if takes_builder else {}))
        scene(builder)
        if self.beside is not None:
            self.beside(builder)
        return builder


def _solvers_besides(tables: Mapping[str, Any]) -> list[str]:
    """Return the installed solvers that no table names: a refusal names those that could, and would import them all.

    A name that a plugin of another kind has too is left out, since it would block that one as well.
    """
    catalog = Catalog.installed()
    kept = {*_types(tables), *(entry.name for entry in catalog.entries if entry.kind != "solver")}
    return [name for name in catalog.names("solver") if name not in kept]


def _types(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(kind := value.get("type"), str):
            yield kind.rpartition(":")[2]
        value = value.values()
    if not isinstance(value, str) and isinstance(value, Iterable):
        for part in value:
            yield from _types(part)
