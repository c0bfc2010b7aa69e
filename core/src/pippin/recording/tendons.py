"""Tendons by world: the length of each, along its straight parts and around its rollers."""

from __future__ import annotations

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host

from .kernels import Guides, measure_tendons


class TendonTable:
    """Lengths of the tendons in some worlds, which have the same tendons.

    Args:
        model: The model of all worlds.
        state: The state of the simulation.
        worlds: Indices of the worlds.
    """

    def __init__(self, model: newton.Model, state: newton.State, worlds: np.ndarray) -> None:
        of_worlds = on_host(model.tendon_world)
        rows = [np.flatnonzero(of_worlds == world) for world in worlds]
        #: Labels of the tendons of a world.
        self.labels = [model.tendon_label[tendon] for tendon in rows[0]]
        self._tendons = wp.array(np.array(rows).T.reshape(-1, len(worlds)), dtype=int, ndim=2, device=model.device)
        self._guides, self._state, self._start = Guides(), state, model.tendon_start
        for name in ("body", "type", "radius", "orientation", "offset", "axis"):
            setattr(self._guides, name, getattr(model, f"tendon_guide_{name}"))
        #: Length of each tendon in each world [m], shape [labels, worlds].
        self.lengths: wp.array = wp.zeros(self._tendons.shape, dtype=float, device=model.device)

    def update(self) -> None:
        """Measure the lengths."""
        state = self._state
        inputs = [self._tendons, self._start, self._guides, state.body_q, state.tendon_guide_active]
        wp.launch(measure_tendons, self.lengths.shape, inputs, [self.lengths], device=self.lengths.device)
