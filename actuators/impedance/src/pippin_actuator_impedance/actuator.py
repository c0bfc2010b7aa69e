"""Impedance of joints and of tools by a model of the robot, as Pippin actuators."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from newton.actuators import DriveBase
from newton.controllers import ControllerJointImpedance, ControllerOperationalSpace
from pippin import Binding
from pippin.actuation import DriveActuator, Lanes
from pippin.arrays import on_host
from pippin.controllers import Tools
from pippin.sensing import add_sites

from .kernels import add_feedforward

__all__ = ["ActuatorJointImpedance", "ActuatorOperationalSpace"]


class _Law(DriveBase):
    """Newton's interface of drives around one of its controllers, whose outputs are the efforts of all lanes."""

    def __init__(self, controller: Any) -> None:
        self.controller = controller
        self.inputs, self._outputs = controller.input(), controller.output()

    def is_stateful(self) -> bool:
        """Return False: the law has no memory between steps."""
        return False

    def is_graphable(self) -> bool:
        """Whether the law may be recorded."""
        return self.controller.is_graphable()

    def compute(
        self,
        positions: wp.array[float],
        velocities: wp.array[float],
        target_pos: wp.array[float],
        target_vel: wp.array[float],
        feedforward: wp.array[float] | None,
        pos_indices: wp.array[wp.uint32],
        vel_indices: wp.array[wp.uint32],
        target_pos_indices: wp.array[wp.uint32],
        target_vel_indices: wp.array[wp.uint32],
        forces: wp.array[float],
        state: Any,
        dt: float,
        device: wp.Device | None = None,
        *,
        custom_inputs: dict[str, Any] | None = None,
    ) -> None:
        """Write the effort of one step [N or N·m]."""
        inputs = self.inputs
        inputs.joint_q, inputs.joint_qd = positions, velocities
        if hasattr(inputs, "joint_q_des"):
            inputs.joint_q_des, inputs.joint_qd_des = target_pos, target_vel
        self._outputs.joint_f = forces
        self.controller.step(inputs=inputs, outputs=self._outputs, dt=dt)
        wp.launch(add_feedforward, len(forces), [feedforward, target_vel_indices, forces], device=device)


class _ByModel(DriveActuator, abc.ABC):
    """An actuator whose law knows the model of the robot."""

    def build(self, binding: Binding, lanes: Lanes) -> Mapping[str, wp.array]:
        """Build the law over the joints of all worlds that have them; return the targets."""
        self._binding = binding
        return super().build(binding, lanes)

    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the law.

        Raises:
            ConfigError: A joint has several axes or belongs to no robot; or gravity would be compensated twice.
        """
        model = self._binding.simulation.model
        if self.config.gravity_compensation:
            self._refuse_compensated(model, lanes)
        joints = np.searchsorted(on_host(model.joint_qd_start), lanes.dofs.ravel(), side="right") - 1
        robots = on_host(model.joint_articulation)[joints]
        if (np.diff(robots) < 0).any():
            raise pippin.ConfigError("joints: those of one robot do not follow each other; make a group for each robot")
        try:
            controller = self.build_controller(model, joints.tolist(), lanes)
        except ValueError as error:
            raise pippin.ConfigError(f"joints: Newton's controller cannot take them: {error}") from error
        law = self._law = _Law(controller)
        return law

    @abc.abstractmethod
    def build_controller(self, model: newton.Model, joints: list[Any], lanes: Lanes) -> Any:
        """Return Newton's controller of some joints."""

    def _refuse_compensated(self, model: newton.Model, lanes: Lanes) -> None:
        """Refuse robots whose file has the solver compensate gravity already."""
        shares = getattr(getattr(model, "mujoco", None), "gravcomp", None)
        if shares is None:
            return
        joints = np.searchsorted(on_host(model.joint_qd_start), lanes.dofs[0], side="right") - 1
        robots = np.unique(on_host(model.joint_articulation)[joints])
        links = on_host(model.joint_child)[np.isin(on_host(model.joint_articulation), robots)]
        found = links[on_host(shares)[links] != 0.0]
        if found.size:
            raise pippin.ConfigError(
                f"gravity_compensation: the file compensates gravity of {model.body_label[found[0]]!r} by gravcomp"
                " already; set gravity_compensation = false, or take gravcomp out"
            )


class ActuatorJointImpedance(_ByModel):
    """The actuator `joint-impedance`."""

    def build_controller(self, model: newton.Model, joints: list[Any], lanes: Lanes) -> ControllerJointImpedance:
        """Return Newton's controller, which reads the gains at each step."""
        config = self.config
        return ControllerJointImpedance(
            model,
            joints=joints,
            stiffness=None,
            damping=None,
            use_inertia_decoupling=config.inertia_decoupling,
            use_gravity_compensation=config.gravity_compensation,
            use_coriolis_compensation=config.coriolis_compensation,
        )

    def build_drive(self, lanes: Lanes) -> DriveBase:
        """Return the law, which reads the gains at each step."""
        law = super().build_drive(lanes)
        self._law.inputs.stiffness = lanes.per_lane(self.config.kp, "kp", minimum=0.0)
        self._law.inputs.damping = lanes.per_lane(self.config.kd, "kd", minimum=0.0)
        return law


class ActuatorOperationalSpace(_ByModel):
    """The actuator `operational-space`: its goals are those of a tool for each robot."""

    unread_targets = dict.fromkeys(
        ("position_targets", "velocity_targets"), "operational-space follows `goals` of a tool, and no joint"
    )

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self._sites: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Resolve the joints, and add the frames of the tools."""
        super().extend_prototype(builder, prototype)
        self._sites[prototype] = add_sites(builder, self.config, name="tool")

    @property
    def goals(self) -> wp.array:
        """Goals of the tools in the world [m, quaternion], shape [len(worlds), tools] of transforms, to be written."""
        return self.tools.goals

    @property
    def tool_labels(self) -> tuple[str, ...]:
        """Labels of the tools along the second axis of `goals`, in the first world."""
        return self.tools.labels

    @property
    def wrenches(self) -> wp.array:
        """Force and torque that each tool exerts along `wrench_axes` [N, N·m], shape [len(worlds), tools] of vectors of
        six numbers, to be written in place.
        """
        if not any(self.config.wrench_axes):
            raise AttributeError("wrenches: wrench_axes has no axis with 1, so that the tool exerts none")
        return self._law.inputs.desired_wrench_world.reshape(self.goals.shape)

    def build_controller(self, model: newton.Model, joints: list[Any], lanes: Lanes) -> ControllerOperationalSpace:
        """Return Newton's controller of the tools."""
        config = self.config
        #: The tools, and their goals.
        self.tools = Tools(self._binding, self._sites)
        robots = np.unique(on_host(model.joint_articulation)[joints[: lanes.dofs.shape[1]]])
        if len(robots) != self.tools.sites.shape[1]:
            raise pippin.ConfigError(
                f"body: {self.tools.sites.shape[1]} tools, {', '.join(self.tools.labels)}, for {len(robots)} robots,"
                " but each robot has one; name one link of each"
            )
        options: dict[str, Any] = {}
        if any(config.wrench_axes):
            options |= {"use_wrench_feedforward": True, "wrench_selection_axes": wp.spatial_vector(*config.wrench_axes)}
            motion = wp.spatial_vector(*(1.0 - axis for axis in config.wrench_axes))
            options |= {"motion_selection_axes": motion, "use_motion_wrench_projection": True}
        if config.posture_kp:
            options |= {"use_null_space_control": True, "null_space_stiffness": config.posture_kp}
            options |= {"null_space_damping": config.posture_kd}
        return ControllerOperationalSpace(
            model,
            joints=joints,
            tool_sites=self.tools.sites.ravel().tolist(),
            motion_stiffness=_six(config.kp),
            motion_damping=_six(config.kd),
            use_inertia_decoupling=config.inertia_decoupling,
            use_gravity_compensation=config.gravity_compensation,
            **options,
        )

    @pippin.hookimpl
    def bind(self, binding: Binding) -> None:
        """Let the tools hold their place."""
        super().bind(binding)
        host, inputs = binding.simulation, self._law.inputs
        inputs.desired_tool_pose_operational = self.goals.flatten()
        if self.config.posture_kp:
            inputs.joint_q_des_null.assign(on_host(host.model.joint_q)[self._lanes.coordinates.ravel()])
        if any(self.config.wrench_axes):
            inputs.desired_wrench_world.assign(np.tile(self.config.wrench, (self.goals.size, 1)))
        self.tools.hold(host.state, wp.full(host.world_count + 1, value=True, dtype=bool, device=host.device))

    @pippin.hookimpl
    def reset_worlds(self, world_mask: wp.array) -> None:
        """Let the tools of the masked worlds hold their place; draw random parameters anew."""
        super().reset_worlds(world_mask)
        self.tools.hold(self._host.state, world_mask)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return goals and wrenches, each with its shape."""
        has_wrenches = any(self.config.wrench_axes)
        return {"goals": self.goals, **({"wrenches": self.wrenches} if has_wrenches else {})}


def _six(gains: float | tuple[float, ...]) -> Any:
    return wp.spatial_vector(*(gains if isinstance(gains, tuple) else (gains,) * 6))
