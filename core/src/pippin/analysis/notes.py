"""Notes on a run: facts about its start and its steps that a reader of the results should know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pippin.simulation import Simulation
from pippin.state.start_pose import limit_notes, overlap_notes, overlaps

from .limit_note import with_limits

__all__ = ["component_notes", "notes_of", "start_notes"]


def start_notes(simulation: Simulation) -> list[str]:
    """Return one line about joints that start outside their limits, and one about each kind of overlap at the start.

    The start is that of the model; steps do not change the answer, and the answer changes no step.
    """
    model = simulation.model
    found = overlaps(model, simulation.solver, simulation.contact_source)
    return [*limit_notes(model), *overlap_notes(model, found)]


def notes_of(simulation: Simulation, start: Sequence[str] = ()) -> Mapping[str, Sequence[str]]:
    """Return the notes of the components, of the start and of the steps. Synchronises with the device.

    Args:
        simulation: The simulation.
        start: The notes on its start.
    """
    return with_limits(component_notes(simulation, start), simulation.limit_count)


def component_notes(simulation: Simulation, start: Sequence[str] = ()) -> dict[str, Sequence[str]]:
    """Return the notes of the components and of the start.

    Args:
        simulation: The simulation.
        start: The notes on its start.
    """
    return {name: texts for name, texts in {**simulation.notes, "start": start}.items() if texts}
