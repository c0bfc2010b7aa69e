"""Newton's coupling by constraints, whose masses stay those of the model when the model changes."""

from __future__ import annotations

import attrs
import warp as wp
from newton.solvers.experimental import coupled

from . import CoupledConfig

__all__ = ["SolverConstraints", "constraints"]


class SolverConstraints(coupled.SolverCoupledADMM):
    """Newton's coupling by constraints, which can be told of changes of the model.

    `gamma` adds masses to the bodies and particles in each entry's part of the model. After a change, Newton evaluates
    the masses of bodies that stand in other entries, and would take these for theirs: a load of 8 kg stood there with
    37 kg. So they are taken away until all masses are known.
    """

    def notify_model_changed(self, flags: int) -> None:
        """Tell the solvers of all entries. It allocates memory, so it must not be recorded."""
        if self._coupling.gamma <= 0.0 or not int(flags) & self._effective_mass_refresh_flags():
            super().notify_model_changed(flags)
            return
        added = [
            array
            for each in self._admm_buffers.values()
            for array in (each.body_proximal_mass, each.body_proximal_inertia, each.particle_proximal_mass)
            if array is not None
        ]
        kept = [wp.clone(array) for array in added]
        for array in added:
            array.zero_()
        self._add_masses()
        super().notify_model_changed(flags)
        for array, values in zip(added, kept, strict=True):
            wp.copy(array, values)
        self._add_masses()
        self._apply_cached_admm_joint_proxy_effective_masses()

    def _add_masses(self) -> None:
        """Write the masses of the model, and those that `gamma` adds, into the parts of all entries."""
        self._refresh_admm_proximal_view_overrides(refresh_supported_solvers=True, notify_unsupported_solvers=True)


def constraints(config: CoupledConfig) -> coupled.SolverCoupledADMM.Config:
    """Return the table `admm` as Newton takes it."""
    options = attrs.asdict(config.admm, recurse=False)
    pairs = [
        coupled.SolverCoupledADMM.ContactPair(source=one, destination=other) for one, other in options.pop("contacts")
    ]
    options["rigid_contact_matching"] = options.pop("contact_matching")
    return coupled.SolverCoupledADMM.Config(contact_pairs=pairs, **options)
