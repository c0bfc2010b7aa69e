"""The controller `ik`: joint positions at which the tools are at their goals."""

from __future__ import annotations

from typing import Any

import newton
import warp as wp
from newton import ik
from pippin import Binding
from pippin.arrays import on_host, present

from . import kernels
from .controller import Controller
from .one_robot import OneRobot


class InverseKinematics(Controller):
    """Newton's `IKSolver` over the robot of each world."""

    writes_velocities = False

    def build(self, binding: Binding) -> None:
        """Make a model of the robot, and a search over the worlds.

        Raises:
            ConfigError: The joints or tools are of several robots, or the robots of the worlds differ.
        """
        model, config, count = binding.simulation.model, self.config, len(self.worlds)
        robot = OneRobot(model, self.joints, self._tools.links)
        device = model.device
        self._bases = self._ints(robot.bases)
        self._coordinates, self._commanded = (
            wp.array(each, dtype=int, device=device) for each in (robot.coordinates, robot.commanded(self.coordinates))
        )
        self._robot_q: Any = wp.zeros(robot.coordinates.shape, dtype=float, device=device)
        tools = range(self.sites.shape[1])
        self._places = [wp.zeros(count, dtype=wp.vec3, device=device) for _ in tools]
        self._turns = [wp.zeros(count, dtype=wp.vec4, device=device) for _ in tools]
        objectives: list[ik.IKObjective] = []
        frames = on_host(model.shape_transform)[self.sites[0]]
        for tool, link in enumerate(robot.links.tolist()):
            place, turn = wp.vec3(*frames[tool, :3]), wp.quat(*frames[tool, 3:])
            if config.position_weight:
                objectives.append(ik.IKObjectivePosition(link, place, self._places[tool], config.position_weight))
            if config.rotation_weight:
                to_goal = ik.IKObjectiveRotation(link, turn, self._turns[tool], weight=config.rotation_weight)
                objectives.append(to_goal)
        if config.limit_weight:
            limits = (present(robot.model.joint_limit_lower), present(robot.model.joint_limit_upper))
            objectives.append(ik.IKObjectiveJointLimit(*limits, weight=config.limit_weight))
        dofs = self._group.actuated_dofs.numpy().reshape(len(self.worlds), -1)[0, self._columns.numpy()]
        mask = wp.array(robot.commanded_dofs(dofs), dtype=bool, device=device)
        self._search = ik.IKSolver(
            robot.model,
            count,
            objectives,
            jacobian_mode=ik.IKJacobianType.ANALYTIC,
            joint_dof_mask=mask,
            lambda_initial=config.damping,
        )

    def compute(self, state: newton.State, dt: float) -> None:
        """Search from the last commanded positions. May be recorded."""
        device, shape = self.positions.device, self._robot_q.shape
        gather = [self._coordinates, self._commanded, present(state.joint_q), self.positions, self._robot_q]
        wp.launch(kernels.gather_robot, shape, gather, device=device)
        for tool, (places, turns) in enumerate(zip(self._places, self._turns, strict=True)):
            inputs = [self._bases, state.body_q, self.goals, tool, places, turns]
            wp.launch(kernels.place_goals_in_base, len(places), inputs, device=device)
        self._search.step(self._robot_q, self._robot_q, iterations=self.config.iterations)
        wp.launch(kernels.scatter_robot, shape, [self._commanded, self._robot_q, self.positions], device=device)
