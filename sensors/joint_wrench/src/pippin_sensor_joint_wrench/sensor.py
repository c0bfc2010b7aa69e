"""Force and torque through joints, as a Pippin sensor."""

from __future__ import annotations

from collections.abc import Mapping

import newton
import pippin
import warp as wp
from pippin import sensing
from pippin.arrays import present
from pippin.axes import choose_joints

from . import JointWrenchConfig, kernels

__all__ = ["SensorJointWrench"]


class SensorJointWrench(sensing.Sensor):
    """Force and torque of the parent link on the child link through a joint, from constraints and actuators together.

    Both are given at the origin and along the axes of the joint's frame on the child link, which moves with that link.
    In a chain that hangs at rest, a joint carries the weight of everything below it.

    Outputs, of shape [worlds that have such joints, joints that match]; `worlds` lists these worlds:

    - `force` [N]
    - `torque` [N·m]: about the origin of the joint's frame

    A reset sets both to zero.
    """

    observables = frozenset({"body_parent_f"})

    def __init__(self, config: JointWrenchConfig) -> None:
        super().__init__(config)
        self.notes: tuple[str, ...] = ()
        self._local: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints."""
        joints, note = choose_joints(
            builder, self.config.joints, where="joints", without={"free"}, fit="that transmits anything"
        )
        if note is not None and note not in self.notes:
            self.notes = (*self.notes, note)
        faults = [fault for fault in (_refusal(builder, joint) for joint in joints) if fault is not None]
        if faults:
            raise pippin.ConfigError(*faults)
        self._local[prototype] = joints

    def build_outputs(self, binding: pippin.Binding) -> Mapping[str, sensing.Output]:
        """Return the outputs of all worlds that have such joints."""
        simulation = binding.simulation
        model = self._model = simulation.model
        joints = binding.indices("joint", self._local)
        self._joints = wp.array(joints.ravel(), dtype=int, device=model.device)
        self._force, self._torque = (wp.zeros(joints.size, dtype=wp.vec3, device=model.device) for _ in range(2))
        names = tuple(model.joint_label[joint] for joint in joints[0])
        return {
            name: sensing.Output(data=sensing.per_world(values, joints), unit=unit, frame="joint", labels=names)
            for name, values, unit in (("force", self._force, "N"), ("torque", self._torque, "N·m"))
        }

    def measure(
        self,
        state: newton.State,
        contacts: newton.Contacts | None,
        observables: newton.solvers.SolverBase.Observables | None,
        dt: float,
    ) -> None:
        """Transform the solver's report of the last substep to the joints' frames. May be recorded."""
        model = self._model
        inputs = [self._joints, model.joint_child, model.joint_X_c, model.body_com, state.body_q]
        reported = present(observables).body_parent_f
        outputs = [self._force, self._torque]
        wp.launch(kernels.measure, len(self._joints), [*inputs, reported], outputs, device=model.device)


def _refusal(builder: newton.ModelBuilder, joint: int) -> str | None:
    """Return the reason why no solver can report the wrench of a joint; None if solvers can."""
    label, child = builder.joint_label[joint], builder.joint_child[joint]
    others = [builder.joint_label[i] for i, other in enumerate(builder.joint_child) if other == child and i != joint]
    if others:
        return (
            f"joints: joint {label!r} leads to body {builder.body_label[child]!r}, and so does {others[0]!r};"
            " solvers report their sum alone, so choose joints of other bodies"
        )
    return None
