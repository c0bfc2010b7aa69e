"""Work of actuators, and what else does work: without both, a change of energy says nothing about a solver."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host, present
from pippin.assembly.model import features_of
from pippin.simulation import Simulation

from .kernels import add_work

_WORKLESS = frozenset(
    (
        *("rigid_bodies", "fixed_joints", "free_joints", "revolute_joints", "prismatic_joints", "ball_joints"),
        *("d6_joints", "loop_joints", "gravity", "light_links", "massless_bodies", "disabled_joints", "mimic_joints"),
        *("joint_limits", "limit_stiffness", "armature", "carried_sliders", "heterogeneous_worlds", "gradients"),
        *("different_meshes", "body_variants"),
    )
)
"""Features that do no work; limits do none while no coordinate is beyond them."""

_OF_CONTACTS = frozenset(
    (
        *("restitution", "contact_stiffness", "friction_damping", "adhesion", "torsional_friction"),
        *("rolling_friction", "effort_limits", "velocity_limits"),
    )
)
"""Numbers of contacts and drives, which do no work where there is neither."""


class ActuatorWork:
    """The work of the efforts of actuators since a simulation began, in each world.

    An effort is constant during a physics step, and its work is the effort times the mean of the speeds at both ends.
    """

    def __init__(self, simulation: Simulation) -> None:
        model = simulation.model
        count, device = model.joint_dof_count, model.device
        self._model, self._dt = model, simulation.config.simulation.dt
        self._efforts = wp.zeros(count, dtype=float, device=device)
        self._speeds = wp.zeros(count, dtype=float, device=device)
        self._work = wp.zeros(count, dtype=wp.float64, device=device)
        simulation.callbacks.add("after_actuators", self._note, order=2**31, name="measured work")

    def _note(self, state: newton.State, control: newton.Control, dt: float) -> None:
        arrays = [present(control.joint_f), present(state.joint_qd), dt, self._efforts, self._speeds, self._work]
        wp.launch(add_work, len(self._work), arrays, device=self._work.device)

    def until(self, state: newton.State) -> np.ndarray:
        """Return the work until a state between two control steps [J], shape [world_count]."""
        last, speeds = self._speeds.numpy().astype(float), present(state.joint_qd).numpy().astype(float)
        efforts = self._efforts.numpy().astype(float)
        of_dof = self._work.numpy() + efforts * 0.5 * (last + speeds) * self._dt
        joint_of_dof = np.repeat(np.arange(self._model.joint_count), np.diff(on_host(self._model.joint_qd_start)))
        worlds, sums = on_host(self._model.joint_world)[joint_of_dof], np.zeros(self._model.world_count)
        np.add.at(sums, worlds[worlds >= 0], of_dof[worlds >= 0])
        return sums


def unmeasured_work(simulation: Simulation) -> tuple[str, ...]:
    """Return what does work of an amount that nobody knows: features of the scene, and tables of the file."""
    config = simulation.config
    used = features_of(simulation.model, config.collision)
    idle = {*_WORKLESS, *_OF_CONTACTS, *simulation.ignored_features}
    if not simulation.model.shape_contact_pair_count:
        idle.add("rigid_contacts")
    left = [name for name in used if name not in idle]
    tables: dict[str, Any] = {
        "task": config.tables.get("task"),
        "plugins": config.plugins,
        "motions": config.motions,
        "controllers": config.controllers,
    }
    return (*left, *(name for name, table in tables.items() if table))
