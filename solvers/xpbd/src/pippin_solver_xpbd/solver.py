"""Newton's XPBD solver with the options of the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import attrs
import newton
import numpy as np
import pippin
from pippin.arrays import on_host
from pippin.solving import RIGID_TREES, deterministic_mode

from . import XPBDConfig
from .grid import EmptyGrid
from .steady import SteadyXPBD
from .yielding import yielding_joint

__all__ = ["SolverXPBD"]

_SKEW = 1e-5
"""Cosine of the angle of axes at right angles but for rounding, and what that of parallel ones lacks to 1."""


class SolverXPBD:
    """Newton's `SolverXPBD`, over contacts from Newton's pipeline."""

    coordinates = "maximal"
    supported_features = RIGID_TREES | {
        "body_variants": "live",
        "activations": "live",
        "bending": "live",
        "bending_damping": "live",
        "disabled_joints": "live",
        "distance_joints": "live",
        "heterogeneous_worlds": "live",
        "inactive_equalities": "live",
        "kinematic_bodies": "live",
        "loop_joints": "live",
        "mimic_joints": "live",
        "particle_adhesion": "live",
        "particle_cohesion": "live",
        "particle_contacts": "live",
        "particle_friction": "live",
        "particles": "live",
        "rest_angles": "live",
        "rolling_friction": "live",
        "soft_contact_friction": "live",
        "springs": "live",
        "tendons": "live",
        "tetrahedra": "live",
        "tetrahedron_damping": "live",
        "torsional_friction": "live",
    }
    optional_features: ClassVar = {
        "particle_worlds": "disable_particle_contacts",
        "restitution": "enable_restitution",
        "soft_contact_restitution": "enable_restitution",
    }
    deterministic_on = frozenset({"cpu", "cuda"})
    supported_observables = frozenset({"body_parent_f", "contact_f"})

    def __init__(self, config: XPBDConfig) -> None:
        self.config = config
        self.notes: tuple[str, ...] = ()
        self.supported_features = type(self).supported_features | {
            feature: "live" for feature, option in self.optional_features.items() if getattr(config, option)
        }
        if config.disable_particle_contacts:
            touching = ("particle_cohesion", "particle_contacts", "particle_friction")
            self.supported_features |= dict.fromkeys(touching, "no")

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> Iterator[str]:
        """Yield the joints whose slides no turn of their frames lets Newton hold, and those with limits that it widens.

        Newton bounds each coordinate of a joint's frame; the bounds of several slides begin with 0.
        """
        if not model.joint_count:
            return
        names = ("dof_dim", "qd_start", "axis", "limit_lower", "limit_upper", "type")
        dims, starts, axes, lower, upper, kinds = (on_host(getattr(model, f"joint_{name}")) for name in names)
        for joint in np.flatnonzero((dims[:, 0] > 0) & (dims.sum(axis=1) > 1) & (kinds == int(newton.JointType.D6))):
            (linear, angular), first, label = dims[joint], starts[joint], model.joint_label[joint]
            slides = slice(first, first + linear)
            both = axes[first : first + linear + (angular == 1)]
            apart = np.abs(both @ both.T)
            if np.any((apart > _SKEW) & (apart < 1.0 - _SKEW)) or np.triu(apart[:linear, :linear], 1).max() > _SKEW:
                yield (
                    f"type: 'xpbd' has no joint with axes that are neither along nor at right angles to slides, as"
                    f" {label!r} has; put a body between two joints, or choose another solver"
                )
            if linear > 1 and np.any((lower[slides] > 0.0) | (upper[slides] < 0.0)):
                yield (
                    f"type: 'xpbd' has no limits that leave 0 out for several slides of one joint, as {label!r} has;"
                    " move the origin of the joint between them, or choose another solver"
                )

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> newton.solvers.SolverXPBD:
        """Return the solver with all options of the configuration; note how far its joints give way."""
        label, gap, turn = yielding_joint(model, self.config, dt)
        if label:
            self.notes = (
                f"joints are held by {self.config.iterations} iterations of a substep, which let them give way:"
                f" {label!r} by up to {1e3 * gap:.3g} mm and {1e3 * turn:.3g} mrad under the weight that it carries;"
                " raise solver.iterations or simulation.substeps, or set collapse_fixed_joints of the asset if it is a"
                " weld",
            )
        options = attrs.asdict(self.config)
        if options.pop("disable_particle_contacts") and model.particle_grid is not None:
            model.particle_grid = EmptyGrid(model.device)
        options["deterministic"] = deterministic_mode(self.config.deterministic)
        return SteadyXPBD(model, **options)
