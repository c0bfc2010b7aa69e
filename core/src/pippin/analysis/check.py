"""Which of the installed solvers can take on what a file describes, found out without compiling any of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs
import warp as wp
from pippin.assembly.determinism import refuse_undeterministic
from pippin.assembly.model import build_model
from pippin.assembly.requirements import gaps, listed, unmet_needs
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig, load
from pippin.devices import find_device, kind_of, leave_out_backward_kernels
from pippin.errors import ConfigError, PluginError
from pippin.features import FEATURES

__all__ = ["Verdict", "check_solver", "check_solvers", "with_solver"]


@attrs.frozen(kw_only=True)
class Verdict:
    """What one solver makes of a file."""

    solver: str
    """The solver's name."""

    faults: tuple[str, ...] = ()
    """Errors of the file with this solver."""

    missing: Mapping[str, str] = attrs.field(factory=dict)
    """What it cannot run the file without: features and observables, with what uses them."""

    left_out: Mapping[str, str] = attrs.field(factory=dict)
    """What it would run without: parameters it does not know, and features that the file accepts to miss."""

    @property
    def is_able(self) -> bool:
        """Whether it can run the file."""
        return not self.faults and not self.missing


def check_solvers(file: Path, overrides: Sequence[str], solvers: Iterable[str]) -> list[Verdict]:
    """Return the verdict of each solver.

    Args:
        file: A configuration file.
        overrides: Values on top of it, as on the command line.
        solvers: Names of solvers. One that the file does not name has its defaults.

    Raises:
        ConfigError: The file is wrong with any solver.
    """
    catalog = Catalog.installed()
    load(file, overrides, catalog)
    verdicts = []
    for name in solvers:
        try:
            config = with_solver(file, overrides, name)
            verdicts.append(check_solver(config, name, catalog))
        except (ConfigError, PluginError) as error:
            verdicts.append(Verdict(solver=name, faults=tuple(str(error).splitlines())))
    return verdicts


def with_solver(file: Path, overrides: Sequence[str], solver: str) -> SimulationConfig:
    """Return a file's configuration under a solver, with its defaults unless the file itself names it.

    Raises:
        ConfigError: The file is wrong with that solver.
        PluginError: There is no such solver, or it is broken.
    """
    config = load(file, overrides)
    if config.solver is not None and config.solver.type == solver:
        return config
    return load(file, [*overrides, f'solver.type="{solver}"'])


def check_solver(config: SimulationConfig, solver: str, catalog: Catalog) -> Verdict:
    """Build the model as the solver prepares it, and hold it against what the solver declares.

    Args:
        config: What to build, with that solver.
        solver: What to call it.
        catalog: Where plugins are found.

    Raises:
        ConfigError: The model cannot be built.
        PluginError: A plugin is broken.
    """
    leave_out_backward_kernels()
    catalog = config.catalog.restrict(catalog)
    components = Components(config, (), catalog)
    try:
        device = find_device(config.simulation.device)
        refuse_undeterministic(components, config, kind_of(device), catalog)
        declared = components.declarations[components.solver_name]
        unmet = unmet_needs(components, config.simulation.observables, declared.supported_observables or frozenset())
        with wp.ScopedDevice(device):
            model, _ = build_model(components, config, None, device)
            found = gaps(model, declared)
    finally:
        components.close()
    accepted = config.simulation.accept_unsupported
    refused = {name for name in found if FEATURES[name].is_structural and name not in accepted}
    return Verdict(
        solver=solver,
        missing={kind: sensor for sensor, kind in unmet}
        | {name: listed(found[name]) for name in found if name in refused},
        left_out={name: listed(users) for name, users in found.items() if name not in refused},
    )
