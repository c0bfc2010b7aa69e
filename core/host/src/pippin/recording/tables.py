"""Tables by world, measured for channels: contacts, episodes, objects of matter, and tendons."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.binding import Host
from pippin.matter import Matter
from pippin.state.spreads import Spread
from pippin.views.contacts.rows import contact_sources

from .kernels import Guides, Spans, Table, fill_table, measure_tendons, show_episodes

CONTACT_NAMES = tuple(f"contacts/{name}" for name in ("count", "bodies", "point", "normal", "force"))
"""The channels of contacts; `contacts/force` only if the solver reports forces."""


_ARRAYS = {
    "centroid": ("_places", "mean"),
    "extent": ("_places", "extent"),
    "largest_speed": ("_motions", "largest_length"),
}


def no_contacts(simulation: Host) -> str | None:
    """Return why a simulation has no contacts to record; None if it has."""
    if simulation.contacts is not None:
        return None
    return 'the solver keeps its contacts to itself; write simulation.observables = ["contact_f"]'


class ContactTable:
    """The contacts of the last detection, by world, with the forces of the last substep.

    The arrays hold `size` contacts of a world. On CUDA, their order may differ from run to run.
    """

    def __init__(self, simulation: Host, worlds: np.ndarray, size: int) -> None:
        self._simulation, model = simulation, simulation.model
        device, count = model.device, len(worlds)
        contacts: Any = present(simulation.contacts)
        force = None if simulation.observables is None else simulation.observables.contact_f
        #: The arrays by name: `count` [worlds], `bodies` [worlds, size, 2], the index of each body in its world and -1
        #: for static shapes; `point` [m], the unit vector `normal` from the first to the second body and `force` on the
        #: first [N], [worlds, size], in the world frame.
        self.arrays: dict[str, wp.array] = {
            "count": wp.zeros(count, dtype=int, device=device),
            "bodies": wp.zeros((count, size, 2), dtype=int, device=device),
            "point": wp.zeros((count, size), dtype=wp.vec3, device=device),
            "normal": wp.zeros((count, size), dtype=wp.vec3, device=device),
        }
        if force is not None:
            self.arrays["force"] = wp.zeros((count, size), dtype=wp.vec3, device=device)
        self._sources = contact_sources(contacts, force)
        self._table: Any = Table()
        row_of_world = np.full(model.world_count + 1, -1, dtype=np.int32)
        row_of_world[worlds] = np.arange(count)
        self._table.row_of_world = wp.array(row_of_world, dtype=int, device=device)
        self._table.first_body = wp.array(on_host(model.body_world_start), dtype=int, device=device)
        for name, array in self.arrays.items():
            setattr(self._table, name, array)

    def update(self) -> None:
        """Fill the arrays; unused rows have bodies of -1, and zeros."""
        simulation, model = self._simulation, self._simulation.model
        for name, array in self.arrays.items():
            array.fill_(-1 if name == "bodies" else 0)
        body_q = (simulation.stepped_state or simulation.state).body_q
        inputs = [self._sources, model.shape_world, model.shape_body, body_q, self._table]
        size = present(simulation.contacts).rigid_contact_max
        wp.launch(fill_table, size, inputs, device=model.device)


class EpisodeTable:
    """The terms of a task as they counted in the last control step, in the chosen worlds.

    The rewards have their weights, so that they sum to the reward. A step that ends an episode shows the return and the
    length of that episode.
    """

    def __init__(self, task: Any, worlds: np.ndarray) -> None:
        self._episodes = episodes = task.episodes
        count, device = len(worlds), episodes.device
        self._worlds = wp.array(worlds, dtype=int, device=device)
        #: The arrays by name: `rewards` [worlds, rewards], `terminations` [worlds, terminations], `return` and `length`
        #: [worlds].
        self.arrays: dict[str, wp.array] = {
            "rewards": wp.zeros((count, len(task.rewards)), dtype=float, device=device),
            "terminations": wp.zeros((count, len(task.terminations)), dtype=bool, device=device),
            "return": wp.zeros(count, dtype=float, device=device),
            "length": wp.zeros(count, dtype=int, device=device),
        }

    def update(self) -> None:
        """Fill the arrays."""
        of = self._episodes
        inputs = [self._worlds, of.weights, of.reward_terms, of.termination_terms, of.diverged, of.ended, of.finished]
        inputs += [of.episode_return, of.length, of.finished_return, of.finished_length, *self.arrays.values()]
        wp.launch(show_episodes, len(self._worlds), inputs, device=of.device)


class ObjectTable:
    """Mean position, extent and largest speed of each object of matter in some worlds, which have the same objects.

    `positions` and `velocities` are those of all particles; or, for cables, poses and velocities of all bodies.
    """

    def __init__(
        self, model: newton.Model, matter: Matter, worlds: np.ndarray, positions: wp.array, velocities: wp.array
    ) -> None:
        rows, here = matter.row_of, worlds.tolist()
        self._labels = [label for label, world in rows if world == here[0]]
        self._count = len(worlds)
        groups = matter.elements(np.array([rows[label, world] for label in self._labels for world in here], dtype=int))
        self._sources = positions, velocities
        self._places, self._motions = (Spread(groups, model) for _ in range(2))

    def of(self, name: str, label: str) -> wp.array:
        """Return a quantity of an object, shape [worlds]."""
        spread, array = _ARRAYS[name]
        values: Any = getattr(getattr(self, spread), array)
        first = self._labels.index(label) * self._count
        return values[first : first + self._count]

    def update(self) -> None:
        """Measure the objects."""
        for spread, source in zip((self._places, self._motions), self._sources, strict=True):
            spread.measure(source)


class TendonTable:
    """Lengths and tensions of the tendons in some worlds, which have the same tendons."""

    def __init__(self, model: newton.Model, state: newton.State, worlds: np.ndarray) -> None:
        of_worlds, device = on_host(model.tendon_world), model.device
        rows = np.array([np.flatnonzero(of_worlds == world) for world in worlds]).T.reshape(-1, len(worlds))
        #: Labels of the tendons of a world.
        self.labels = [model.tendon_label[tendon] for tendon in rows[:, 0]]
        self._tendons = wp.array(rows, dtype=int, ndim=2, device=device)
        self._guides, self._spans, self._model, self._state = Guides(), Spans(), model, state
        for name in ("body", "type", "radius", "orientation", "offset", "axis"):
            setattr(self._guides, name, getattr(model, f"tendon_guide_{name}"))
        self._spans.compliance, self._spans.damping = model.tendon_segment_compliance, model.tendon_segment_damping
        self._spans.rest_length = state.tendon_segment_rest_length
        #: Length of each tendon in each world [m], shape [labels, worlds].
        self.lengths: wp.array = wp.zeros(rows.shape, dtype=float, device=device)
        #: Tension of each span of each tendon [N], shape [worlds, spans]; None if one of them does not stretch.
        self.tensions: list[wp.array | None] = []
        counts = self._stretching(rows[:, 0])
        places = len(worlds) * np.cumsum([0, *counts])
        self._tensions = wp.zeros(int(places[-1]), dtype=float, device=device)
        for count, place in zip(counts.tolist(), places.tolist(), strict=False):
            part: Any = self._tensions[place : place + len(worlds) * count] if count else None
            self.tensions.append(None if part is None else part.reshape((len(worlds), count)))
        self._places = wp.array(np.where(counts, places[:-1], -1), dtype=int, device=device)

    def _stretching(self, tendons: np.ndarray) -> np.ndarray:
        """Return the number of spans of each tendon; 0 if one of them does not stretch, and has no law of tension."""
        starts, compliances = on_host(self._model.tendon_start), on_host(self._model.tendon_segment_compliance)
        counts = np.diff(starts)[tendons] - 1
        stretches = [
            bool((compliances[first:][:count] > 0.0).all())
            for first, count in zip(starts[tendons] - tendons, counts, strict=True)
        ]
        return np.where(stretches, counts, 0)

    def update(self) -> None:
        """Measure the lengths and the tensions."""
        state, model = self._state, self._model
        inputs = [self._tendons, model.tendon_start, self._guides, self._spans, state.body_q, state.body_qd]
        inputs += [model.body_com, state.tendon_guide_active, self._places]
        outputs = [self.lengths, self._tensions]
        wp.launch(measure_tendons, self.lengths.shape, inputs, outputs, device=self.lengths.device)
