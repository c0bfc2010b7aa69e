"""Check of the installed solvers against a configuration file: they are built if their declarations suit it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import attrs
import newton
import warp as wp
from pippin.assembly.faults import refuse_undeterministic
from pippin.assembly.model import build_model, features_of, reads_dimensions
from pippin.assembly.solver import SolverBuilding
from pippin.assets.actuators.asset_actuators import replaced_actuators
from pippin.assets.actuators.prims import find_prim_actuators
from pippin.assets.report import report_imports
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.config import SimulationConfig, load
from pippin.devices import find_device, kind_of, leave_out_backward_kernels
from pippin.errors import ConfigError, PluginError, SimulationError
from pippin.measuring.figures import with_solver
from pippin.runs.loop import start_notes
from pippin.simulation import Simulation
from pippin.spelling import listed
from pippin.support.requirements import find_gaps, unmet_needs


@attrs.frozen(kw_only=True)
class Verdict:
    """Result of checking one solver against a file."""

    solver: str

    faults: tuple[str, ...] = ()
    """Errors of the file with this solver."""

    missing: Mapping[str, str] = attrs.field(factory=dict)
    """Features and observables that the file needs and the solver lacks, with the parts that use them."""

    ignored_features: Mapping[str, str] = attrs.field(factory=dict)
    """Features that the solver would ignore, with the parts that use them: `accept_unsupported` permits it, or a robot
    file merely states them."""

    notes: tuple[str, ...] = ()
    """What it is not given of the settings of the file; facts about the start, if it was tried."""

    is_tried: bool = False
    """Whether the solver took a step; otherwise, it was built at most."""

    @property
    def is_able(self) -> bool:
        """Whether the solver can run the file."""
        return not self.faults and not self.missing


def check_solvers(
    file: Path, overrides: Sequence[str], solvers: Iterable[str], tried: Collection[str] = ()
) -> list[Verdict]:
    """Return the verdict of each solver: those whose declaration suits the scene are built, and `tried` take a step.

    A solver that the file does not name gets what `with_solver` gives it.
    """
    catalog = Catalog.installed()
    config = load(file, overrides, catalog)
    leave_out_backward_kernels()
    trials = {name: _trial(file, overrides, name) for name in tried}
    built = [trial.scene for trial in trials.values() if trial.scene is not None]
    scene = built[0] if built else _scene(config, catalog)  # its features are the same with every solver
    return [_verdict(file, overrides, name, scene, catalog, trials.get(name)) for name in solvers]


@attrs.frozen(eq=False)
class _Scene:
    """A model and its actuators, without the attributes of a solver."""

    model: newton.Model
    actuators: Sequence[RuntimeAttributes]


@attrs.frozen(kw_only=True, eq=False)
class _Trial:
    scene: _Scene | None = None
    """What was built; it suits every solver, since features do not depend on the solver's attributes."""

    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _trial(file: Path, overrides: Sequence[str], solver: str) -> _Trial:
    scene, notes = None, list[str]()
    try:
        config = _with_solver(file, overrides, solver)[0]
        eager = attrs.evolve(config, simulation=attrs.evolve(config.simulation, capture="off"))
        with Simulation(eager) as simulation:
            scene = _Scene(simulation.model, [RuntimeAttributes(each, "") for each in simulation.actuators.values()])
            notes += [text for report in simulation.import_reports for text in report.designed()]
            notes += [f"{name}: {text}" for name, texts in simulation.notes.items() for text in texts]
            notes += start_notes(simulation)
            simulation.step()
            simulation.raise_errors()
    except (ConfigError, PluginError, SimulationError) as error:
        return _Trial(scene=scene, faults=tuple(str(error).splitlines()), notes=tuple(notes))
    return _Trial(scene=scene, notes=tuple(notes))


def _with_solver(file: Path, overrides: Sequence[str], solver: str) -> tuple[SimulationConfig, tuple[str, ...]]:
    with warnings.catch_warnings(record=True, action="always") as noted:
        return with_solver(file, overrides, solver), tuple(str(each.message) for each in noted)


def _scene(config: SimulationConfig, catalog: Catalog) -> _Scene | tuple[str, ...]:
    catalog = config.catalog.restrict(catalog)
    try:
        components = Components(config, (), catalog, of_stages={"actuators": find_prim_actuators(config, catalog)})
        with closing(components), wp.ScopedDevice(find_device(config.simulation.device)) as device:
            model = build_model(components, config, None, device)[0]
            return _Scene(model, list(components.attributes.values()))
    except (ConfigError, PluginError) as error:
        return tuple(str(error).splitlines())


def _verdict(
    file: Path,
    overrides: Sequence[str],
    solver: str,
    scene: _Scene | tuple[str, ...],
    catalog: Catalog,
    trial: _Trial | None,
) -> Verdict:
    try:
        config, left_out = _with_solver(file, overrides, solver)
        catalog = config.catalog.restrict(catalog)
        components = Components(config, (), catalog, of_stages={"actuators": find_prim_actuators(config, catalog)})
        with closing(components):
            refuse_undeterministic(components, config, kind_of(find_device(config.simulation.device)), catalog)
            verdict = attrs.evolve(_compared(solver, config, components, scene), notes=left_out)
            if trial is None and verdict.is_able:
                verdict = attrs.evolve(verdict, notes=(*left_out, *_build(config, components, catalog)))
    except (ConfigError, PluginError) as error:
        return Verdict(solver=solver, faults=tuple(str(error).splitlines()))
    if trial is None or not verdict.is_able:
        return verdict
    return attrs.evolve(verdict, faults=trial.faults, notes=(*left_out, *trial.notes), is_tried=True)


def _build(config: SimulationConfig, components: Components, catalog: Catalog) -> list[str]:
    """Build a solver as a run does, from a model of its own components; return its warnings, and notes on assets."""
    building = SolverBuilding(components, config, config.collision, catalog)
    device = find_device(config.simulation.device)
    with wp.ScopedDevice(device), warnings.catch_warnings(record=True, action="always") as noted:
        model, _, imports = build_model(components, config, None, device)
        building.refuse_gaps(model, are_stated=True)
        building.refuse_faults(model)
        building.find_contacts(model, building.build(model))
    warned = list(dict.fromkeys(str(each.message) for each in noted))
    if reads_dimensions(components):  # to compare what MuJoCo's solvers get takes their kernels
        return warned
    reports = report_imports(imports, config.scene, is_for_mujoco=False, replaced=replaced_actuators(model))
    return [*warned, *(note for report in reports for note in report.notes())]


def _compared(
    solver: str, config: SimulationConfig, components: Components, scene: _Scene | tuple[str, ...]
) -> Verdict:
    """Compare the features of the scene, and the observables that the file needs, with a solver's declaration."""
    if isinstance(scene, tuple):
        return Verdict(solver=solver, faults=scene)
    declared = components.declarations[components.solver_name]
    observables, supported = config.simulation.observables, declared.supported_observables or frozenset()
    unmet = unmet_needs(components.declarations, observables, supported)
    accepted, used = config.simulation.accept_unsupported, features_of(scene.model, config.collision)
    found = find_gaps(used, declared, accepted, scene.actuators, are_stated=True)
    refused, ignored = (
        {name: listed(labels) for name, labels in each.items()} for each in (found.refused, found.ignored)
    )
    missing = {kind: sensor for sensor, kind in unmet}
    return Verdict(solver=solver, missing=missing | refused, ignored_features=ignored)
