"""The law of `diffsim_bear`: a network of one layer turns the angle of a wheel into activations of tetrahedra."""

from __future__ import annotations

from typing import Any

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from attrs.validators import gt


@attrs.frozen(kw_only=True)
class GaitConfig:
    """Activations of all tetrahedra: `strength` times the tanh of weighted sines of the first joint's angle."""

    implementation = "Gait"

    phases: int = attrs.field(default=8, validator=gt(0))
    """Number of sines, whose phases are equally far apart."""

    strength: float = 0.3
    """Largest activation."""


class Gait:
    """Lets soft bodies move. Its weights are drawn once, shape [tetrahedra, phases]."""

    is_differentiable = True

    def __init__(self, config: GaitConfig) -> None:
        self.config = config

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        """Draw the weights."""
        shape, bound = (simulation.model.tet_count, self.config.phases), self.config.phases**-0.5
        draws = np.random.default_rng(42).uniform(-bound, bound, shape)
        self.weights = wp.array(draws, dtype=float, device=simulation.device, requires_grad=True)

    @pippin.hookimpl
    def before_substep(self, state: newton.State, control: Any) -> None:
        """Give the control activations of its own, which a tape may read later."""
        control.tet_activations = wp.zeros_like(control.tet_activations, requires_grad=True)
        inputs = [state.joint_q, self.weights, self.config.strength]
        wp.launch(activate, len(self.weights), inputs, [control.tet_activations], device=self.weights.device)


@wp.kernel(enable_backward=True)
def activate(angle: wp.array[float], weights: wp.array2d[float], strength: float, activations: wp.array[float]):
    """Write the activation of each tetrahedron."""
    tet, total, count = wp.tid(), wp.float32(0.0), weights.shape[1]
    for phase in range(count):
        total += weights[tet, phase] * wp.sin(angle[0] + wp.TAU * float(phase) / float(count))
    activations[tet] = strength * wp.tanh(total)
