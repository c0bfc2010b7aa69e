"""The parts of a built simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import newton
import numpy as np
import warp as wp
from pippin.assets.report import ImportReport
from pippin.catalog.entries import Catalog
from pippin.components.registry import Components
from pippin.config import SimulationConfig
from pippin.solving.contact_source import ContactSource
from pippin.spelling import listed
from pippin.state.draws import WorldSeeds
from pippin.state.kinematics import ModifiedWorlds, WrittenWorlds
from pippin.state.model_changes import ModelChanges
from pippin.state.observables import Reports
from pippin.state.world_layout import WorldLayout
from pippin.state.world_rows import WorldReset
from pippin.support.features import FEATURES
from pippin.support.solver_support import SolverSupport

from .callbacks import Callbacks, CurrentState
from .owners import DisabledActuators


@attrs.frozen(kw_only=True, eq=False)
class Built:
    """The parts of a built simulation: model, solver, arrays, and the components that act on them."""

    config: SimulationConfig
    catalog: Catalog
    device: wp.Device
    components: Components
    callbacks: Callbacks
    model: newton.Model
    layout: WorldLayout
    actuator_notes: Sequence[str]
    """Notes on the asset's own actuators."""
    ignored_features: Mapping[str, Sequence[str]]
    """Users of each feature of the scene that nothing honours: accepted by the user, or merely stated by a file."""
    world_offsets: np.ndarray
    """Position at which each world is drawn [m], shape [world_count, 3]."""
    solver: newton.solvers.SolverBase
    support: SolverSupport
    source: ContactSource
    states: tuple[newton.State, newton.State]
    """The state that users see, and a second one. Substeps read and write the two in turn."""
    control: newton.Control
    disabled: DisabledActuators
    reports: Reports | None
    import_reports: tuple[ImportReport, ...]
    """Differences between MuJoCo's models of the assets and ours."""
    written: WrittenWorlds
    modified: ModifiedWorlds
    model_changes: ModelChanges
    reset: WorldReset
    periods: Mapping[str, int]
    """Control steps between two readings, for each component that declares a period."""
    step_counter: wp.array[wp.int64]
    """Control steps so far, shape [1]."""
    seeds: WorldSeeds
    """The seeds of all random draws."""
    current: CurrentState = attrs.field(factory=CurrentState)
    """The state of the hook or callback that runs now."""

    @property
    def notes(self) -> list[str]:
        """Notes on the scene: the import of the assets, their own actuators, and what the solver ignores of them."""
        imported = [note for report in self.import_reports for note in report.notes()]
        options = self.components.declarations[self.components.solver_name].optional_features
        ignored = [
            f"the solver ignores {name}, used by {listed(users)}{_cure(name, options)}"
            for name, users in self.ignored_features.items()
        ]
        return [*imported, *self.actuator_notes, *ignored]


def _cure(feature: str, options: Mapping[str, str]) -> str:
    option, own = options.get(feature), FEATURES[feature].cure
    cures = [*([f"set solver.{option} = true"] if option else []), *([own] if own else [])]
    return f"; {', or '.join(cures)}" if cures else ""
