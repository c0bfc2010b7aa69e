"""Energies of bodies, added up by world."""

import numpy as np
import warp as wp
from pippin import sensing


class Energies:
    """What bodies of each world have together.

    Args:
        model: Whose bodies.
    """

    def __init__(self, model):
        self._model = model
        shape = (model.world_count, 1)
        self._kinetic, self._potential = (wp.zeros(shape, dtype=float, device=model.device) for _ in range(2))

    def outputs(self):
        """Return both as outputs."""
        energies = {"kinetic": self._kinetic, "potential": self._potential}
        return {name: sensing.Output(data=data, unit="J", frame="none") for name, data in energies.items()}

    def measure(self, state):
        """½ m v² + ½ ω·Iω, and −m g·x of the centre of mass."""
        model = self._model
        poses, velocities = state.body_q.numpy(), state.body_qd.numpy()
        turns = np.array([wp.quat_to_matrix(wp.quat(*pose[3:])) for pose in poses]).reshape(-1, 3, 3)
        masses, worlds = model.body_mass.numpy(), model.body_world.numpy()
        spins = np.einsum("bji,bj->bi", turns, velocities[:, 3:])
        turning = np.einsum("bi,bij,bj->b", spins, model.body_inertia.numpy(), spins)
        moving = masses * np.sum(velocities[:, :3] ** 2, axis=1)
        centres = poses[:, :3] + np.einsum("bij,bj->bi", turns, model.body_com.numpy())
        lifted = -masses * np.sum(model.gravity.numpy()[worlds] * centres, axis=1)
        for energy, values in ((self._kinetic, 0.5 * (moving + turning)), (self._potential, lifted)):
            energy.assign(np.bincount(worlds, values, model.world_count).astype(np.float32)[:, None])
