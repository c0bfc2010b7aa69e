"""Joint encoders, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping

import newton
import pippin
import warp as wp
from pippin import sensing
from pippin.actuation import Axes, Lanes
from pippin.arrays import present

from . import JointStateConfig
from .kernels import measure_joints

__all__ = ["SensorJointState"]

LINEAR = {"position": "m", "velocity": "m/s", "effort": "N"}

ANGULAR = {"position": "rad", "velocity": "rad/s", "effort": "N·m"}


class SensorJointState(sensing.Sensor):
    """Position and velocity of joints, and the effort that was applied to them.

    Outputs, of shape [worlds that have such joints, degrees of freedom], in the order of the model; `worlds` lists
    these worlds:

    - `position` [m, rad]: coordinate of the joint
    - `velocity` [m/s, rad/s]
    - `effort` [N, N·m]: `control.joint_f` of the last physics step, from actuators and the user; zero after a reset.
      Drives, limits, friction and springs that the solver computes itself are not included
    """

    deterministic_on = frozenset({"cpu", "cuda"})

    def __init__(self, config: JointStateConfig) -> None:
        super().__init__(config)
        self.notes: tuple[str, ...] = ()
        self._axes: dict[int, Axes] = {}
        self._units: list[Mapping[str, str]] = []

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints."""
        axes = self._axes[prototype] = Axes.of(builder, self.config.joints)
        self.notes = axes.noted_after(self.notes)
        is_linear = [axis < builder.joint_dof_dim[joint][0] for joint, axis in axes.pairs]
        self._units += [LINEAR if each else ANGULAR for each in is_linear]

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such joints."""
        simulation = binding.simulation
        self._control, device = simulation.control, simulation.device
        lanes = Lanes.of(binding, self._axes)
        self._coordinates = wp.array(lanes.coordinates.ravel(), dtype=int, device=device)
        self._dofs = wp.array(lanes.dofs.ravel(), dtype=int, device=device)
        self._arrays = {name: wp.zeros(lanes.dofs.size, dtype=float, device=device) for name in LINEAR}
        return {
            name: sensing.Output(
                data=sensing.per_world(array, lanes.dofs),
                unit=", ".join(dict.fromkeys(units[name] for units in self._units)),
                frame="none",
                labels=lanes.labels,
            )
            for name, array in self._arrays.items()
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Read every encoder. May be recorded."""
        position, velocity, effort = self._arrays.values()
        joints = [present(state.joint_q), present(state.joint_qd), present(self._control.joint_f)]
        # A reset applies no effort, and `control` may already hold the next step's.
        inputs = [self._coordinates, self._dofs, *joints, dt > 0.0, position, velocity, effort]
        wp.launch(measure_joints, len(position), inputs, device=position.device)
