"""The built-in controllers: `differential-ik`, by the Jacobian of each tool, and `ik`, by a search for positions."""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from newton import ik
from newton.controllers import ControllerDifferentialIK, DifferentialIKMethod
from pippin import Binding, ConfigError
from pippin.arrays import on_host, present

from . import kernels
from .controller import Controller

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
            "ik_method": DifferentialIKMethod[config.method.upper().replace("-", "_")],
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


class OneRobot:
    """A model of one robot, whose base does not move, and where its parts lie in the model of all worlds.

    Args:
        model: The model of all worlds.
        joints: Joints of the robot in each world, shape [worlds, joints].
        links: Links that carry its tools in each world, shape [worlds, tools].

    Raises:
        ConfigError: They belong to several robots or to none, or the robots of the worlds differ.
    """

    def __init__(self, model: newton.Model, joints: np.ndarray, links: np.ndarray) -> None:
        of_joint, children = on_host(model.joint_articulation), on_host(model.joint_child)
        robots = of_joint[joints[:, 0]]
        if (of_joint[joints] != robots[:, None]).any() or (robots < 0).any():
            raise ConfigError("joints: they belong to several robots, or to none; make a controller for each robot")
        starts, ends = on_host(model.articulation_start)[robots], on_host(model.articulation_end)[robots]
        if len(np.unique(ends - starts)) > 1:
            raise ConfigError("joints: the robots of the worlds differ; use differential-ik, which takes any")
        #: Joints of the robot in each world, shape [worlds, joints of the robot].
        self.joints: np.ndarray = starts[:, None] + np.arange(ends[0] - starts[0])
        self._source = model
        self._refuse_differences()
        self._bodies = children[self.joints]
        own = [np.flatnonzero(self._bodies[0] == link) for link in links[0].tolist()]
        if any(not each.size for each in own):
            raise ConfigError("body: a tool is no link of the robot whose joints are commanded; name one of its links")
        #: Links that carry the tools, by index in `model`, shape [tools].
        self.links: np.ndarray = np.array([each[0] for each in own])
        root = int(self.joints[0, 0])
        parent = int(on_host(model.joint_parent)[root])
        kind = int(on_host(model.joint_type)[root])
        is_held = kind in (int(newton.JointType.FREE), int(newton.JointType.FIXED))
        #: Body in whose frame the robot of each world is, -1 for the world, shape [worlds].
        self.bases: np.ndarray = self._bodies[:, 0] if is_held else np.full(len(robots), -1)
        if parent >= 0 and not is_held:
            raise ConfigError("joints: the robot stands on a body of another one; use differential-ik, which takes it")
        self._is_held = is_held
        first = self.joints[:, 1:] if is_held else self.joints
        q_starts = on_host(model.joint_q_start)
        counts = (q_starts[first + 1] - q_starts[first])[0] if first.size else np.zeros(0, dtype=int)
        offsets = np.concatenate([np.arange(count) for count in counts.tolist()] or [np.zeros(0, dtype=int)])
        #: Coordinates of the robot in each world, by index in `joint_q`, shape [worlds, coordinates].
        self.coordinates: np.ndarray = np.repeat(q_starts[first], counts, axis=1) + offsets.astype(int)
        #: The model.
        self.model: newton.Model = self._build()

    def commanded(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the lane that commands each coordinate, -1 for none, shape [worlds, coordinates].

        `coordinates` has the one of each lane, shape [worlds, lanes].
        """
        is_same = self.coordinates[:, :, None] == coordinates[:, None, :]
        return np.where(is_same.any(axis=2), is_same.argmax(axis=2), -1)

    def commanded_dofs(self, dofs: np.ndarray) -> np.ndarray:
        """Return whether each degree of freedom of `model` is commanded.

        `dofs` are those of the first world, by index in the model of all worlds.
        """
        starts = on_host(self._source.joint_qd_start)
        first = self.joints[0, 1:] if self._is_held else self.joints[0]
        own = np.concatenate([np.arange(int(starts[joint]), int(starts[joint + 1])) for joint in first.tolist()])
        return np.isin(own, dofs)

    def _refuse_differences(self) -> None:
        model = self._source
        for name in ("joint_type", "joint_X_p", "joint_X_c"):
            rows = on_host(getattr(model, name))[self.joints]
            kept = rows if name == "joint_type" else rows[:, 1:]
            if (kept != kept[:1]).any():
                raise ConfigError("joints: the robots of the worlds differ; use differential-ik, which takes any")

    def _build(self) -> newton.Model:
        source, builder = self._source, newton.ModelBuilder()
        names = ("joint_type", "joint_parent", "joint_X_p", "joint_X_c", "joint_qd_start", "joint_dof_dim")
        kinds, parents, to_parent, to_child, starts, dims = (on_host(getattr(source, name)) for name in names)
        axes, lower, upper = (
            on_host(getattr(source, f"joint_{name}")) for name in ("axis", "limit_lower", "limit_upper")
        )
        number_of = {int(body): index for index, body in enumerate(self._bodies[0].tolist())}
        made: list[int] = []
        for index, joint in enumerate(self.joints[0].tolist()):
            link = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3)))
            if index == 0 and self._is_held:
                made.append(builder.add_joint_fixed(-1, link))
                continue
            dofs = [
                newton.ModelBuilder.JointDofConfig(
                    axis=wp.vec3(*axes[dof]), limit_lower=float(lower[dof]), limit_upper=float(upper[dof])
                )
                for dof in range(starts[joint], starts[joint] + int(dims[joint].sum()))
            ]
            linear = int(dims[joint, 0])
            has_axes = int(kinds[joint]) not in (int(newton.JointType.BALL), int(newton.JointType.FREE))
            made.append(
                builder.add_joint(
                    newton.JointType(int(kinds[joint])),
                    number_of.get(int(parents[joint]), -1),
                    link,
                    linear_axes=dofs[:linear] if has_axes else None,
                    angular_axes=dofs[linear:] if has_axes else None,
                    parent_xform=wp.transform(*to_parent[joint]),
                    child_xform=wp.transform(*to_child[joint]),
                )
            )
        builder.add_articulation(made)
        robot: Any = builder.finalize(device=source.device)
        return robot


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
