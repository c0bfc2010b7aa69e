"""Newton's builder with the right inertias of merged bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.quaternions import matrix


class Builder(newton.ModelBuilder):
    """Newton's builder, in which merged bodies have the inertia of their parts about their common centre of mass.

    Newton shifts the inertia of each merged body from its origin, and that of the body that stays not at all.
    """

    def collapse_fixed_joints(
        self, verbose: bool = False, joints_to_keep: Sequence[str | int] | None = None
    ) -> dict[str, Any]:
        """Merge bodies as Newton does, and set the inertias of those that have got others."""
        parts = [
            (mass, np.array(com, float), np.array(inertia, float).reshape(3, 3))
            for mass, com, inertia in zip(self.body_mass, self.body_com, self.body_inertia, strict=True)
        ]
        collapsed = super().collapse_fixed_joints(verbose=verbose, joints_to_keep=joints_to_keep)
        poses = collapsed["body_merged_transform"]
        for head, new in collapsed["body_remap"].items():
            merged = [part for part, other in collapsed["body_merged_parent"].items() if other == head >= 0]
            if not merged:
                continue
            com, inertia = np.array(self.body_com[new], float), np.zeros((3, 3))
            for part in (head, *merged):
                pose = wp.transform() if part == head else poses[part]
                mass, centre, own = parts[part]
                turn = matrix(np.array(pose.q, float))
                arm = turn @ centre + np.array(pose.p, float) - com
                inertia += turn @ own @ turn.T + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
            self.body_inertia[new] = wp.mat33(*inertia.ravel())
            is_regular = self.body_mass[new] > 0.0 and np.linalg.det(inertia) > 0.0
            self.body_inv_inertia[new] = wp.mat33(*np.linalg.inv(inertia).ravel()) if is_regular else wp.mat33(0.0)
        return collapsed
