"""Notes on a run: facts about its start and its steps that a reader of the results should know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pippin.simulation import Simulation
from pippin.state.start_pose import limit_notes, overlap_notes, overlaps

__all__ = ["notes_of", "start_notes"]


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
    notes = {**simulation.notes, "start": start}
    if count := simulation.limit_count:
        limit = "reached its limit of iterations, and went on with what it had"
        times = "once" if count == 1 else f"{count:,} times"
        notes["solver"] = [*notes.get("solver", ()), f"{limit}, {times} (substeps of all worlds)"]
    return {name: texts for name, texts in notes.items() if texts}
