"""Tendons by world: the length of each, along its straight parts and around its rollers, and its tensions."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels import Guides, Spans, measure_tendons


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
