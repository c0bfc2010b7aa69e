"""The controller `differential-ik`: joint velocities by the Jacobian of each tool."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from newton.controllers import ControllerDifferentialIK, DifferentialIKMethod
from pippin import Binding, ConfigError
from pippin.arrays import on_host, present

from . import kernels
from .configs import Method
from .controller import Controller

_METHODS: dict[Method, DifferentialIKMethod] = {
    "damped-least-squares": DifferentialIKMethod.DAMPED_LEAST_SQUARES,
    "adaptive-damping": DifferentialIKMethod.ADAPTIVE_DAMPING,
    "pseudo-inverse": DifferentialIKMethod.PSEUDO_INVERSE,
    "truncated-svd": DifferentialIKMethod.TRUNCATED_SVD,
    "transpose": DifferentialIKMethod.TRANSPOSE,
}

_NULL_SPACE_DAMPING = 0.02
"""Damping of the projection into motions that move no tool; it keeps the projection defined at singular poses."""


class DifferentialIK(Controller):
    """Newton's `ControllerDifferentialIK` over the robots of all worlds."""

    def build(self, binding: Binding) -> None:
        """Make Newton's controller of the commanded joints.

        Raises:
            ConfigError: The law is not stable with this control step, or Newton refuses joints or tools.
        """
        host, config = binding.simulation, self.config
        if config.bandwidth * host.control_dt >= 1.0:
            raise ConfigError(
                f"bandwidth: {config.bandwidth:g} 1/s overshoots within a control step of {host.control_dt:g} s; use"
                f" less than {1.0 / host.control_dt:g}"
            )
        model = host.model
        self._refuse_other_robots(model)
        self._postures = wp.array(on_host(model.joint_q)[self.coordinates.ravel()], dtype=float, device=model.device)
        joints, sites = self.joints.ravel().tolist(), self.sites.ravel().tolist()
        try:
            self._law = ControllerDifferentialIK(model, joints=joints, tool_sites=sites, **self._options(model))
        except ValueError as error:
            raise ConfigError(f"joints: Newton's differential IK cannot take them: {error}") from error
        self._inputs, self._outputs = self._law.input(), self._law.output()
        self._inputs.desired_tool_pose_world = self.goals.flatten()
        if config.posture_stiffness:
            self._inputs.q_des_null = self._postures
        self._outputs.joint_q_target = self.positions.flatten()
        self._outputs.joint_qd_target = self.velocities.flatten()

    def compute(self, state: newton.State, dt: float) -> None:
        """Take one step of the law from the commanded positions, or from those of the joints. May be recorded."""
        inputs: Any = self._inputs
        device = self.positions.device
        if self.config.feedback == "commanded":
            wp.copy(inputs.joint_q, present(state.joint_q))
            spread = [self._lane_coordinates, self.positions.flatten(), inputs.joint_q]
            wp.launch(kernels.spread_positions, self.positions.size, spread, device=device)
        else:
            inputs.joint_q = state.joint_q
        self._law.step(inputs=inputs, outputs=self._outputs, dt=dt)

    def _options(self, model: newton.Model) -> dict[str, Any]:
        config = self.config
        options: dict[str, Any] = {
            "axis_weight": wp.spatial_vector(*config.axis_weights),
            "bandwidth": config.bandwidth,
            "damping": config.damping if config.method == "damped-least-squares" else None,
            "ik_method": _METHODS[config.method],
        }
        if config.method == "adaptive-damping":
            options |= {"adaptive_damping_min": config.damping_min, "adaptive_damping_max": config.damping_max}
            options |= {"adaptive_damping_threshold": config.threshold}
        if config.method == "truncated-svd":
            options |= {"truncated_svd_threshold": config.threshold}
        if config.posture_stiffness or config.limit_gain:
            options |= {"null_space_damping": _NULL_SPACE_DAMPING}
        if config.posture_stiffness:
            options |= {"use_null_space_posture_control": True, "null_space_stiffness": config.posture_stiffness}
        if config.limit_gain:
            dofs = on_host(model.joint_qd_start)[self.joints]
            lower, upper = (
                wp.array(on_host(each)[dofs.ravel()], dtype=float, device=model.device)
                for each in (model.joint_limit_lower, model.joint_limit_upper)
            )
            options |= {"use_joint_limit_avoidance": True, "joint_limit_avoidance_gain": config.limit_gain}
            options |= {"joint_limit_avoidance_margin": config.limit_margin}
            options |= {"joint_pos_lower": lower, "joint_pos_upper": upper}
        return options

    def _refuse_other_robots(self, model: newton.Model) -> None:
        """Refuse what Newton's controller would take for another order: joints and tools of different robots."""
        robots = on_host(model.joint_articulation)[self.joints]
        if (np.diff(robots, axis=1) < 0).any():
            raise ConfigError("joints: those of one robot do not follow each other; make a controller for each robot")
        wanted, found = (len(np.unique(robots[0])), self.sites.shape[1])
        if wanted != found:
            raise ConfigError(
                f"body: {found} tools, {', '.join(self.tool_labels)}, for {wanted} robots, but each robot has one; name"
                " one link of each, or make a controller for each tool"
            )
