"""The base class of controllers: tools, their goals, and the targets of the group that they write."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Binding, Host, refuse_closed
from pippin.errors import ConfigError
from pippin.hookspecs import hookimpl
from pippin.indices import IndexRange
from pippin.labels import match
from pippin.sensing.sites import add_sites
from pippin.spelling import did_you_mean
from pippin.state.shaped_array import ShapedArray

from . import kernels
from .configs import ControllerConfig


class Tools:
    """Frames on links of robots, and their goals in all worlds that have them.

    Args:
        binding: The place of the component that has them.
        sites: Their sites in each prototype, as `pippin.sensing.add_sites` returns them.
    """

    goals: wp.array
    """Goals in the world [m, quaternion], shape [worlds that have the tools, tools] of transforms, to be written in
    place."""

    def __init__(self, binding: Binding, sites: Mapping[int, Sequence[int]]) -> None:
        model = binding.simulation.model
        device = model.device
        #: Frames of the tools, by index among the shapes of the model, shape [worlds, tools].
        self.sites: np.ndarray = binding.indices("shape", sites)
        #: Links that carry them, by index in the model, of the same shape.
        self.links: np.ndarray = on_host(model.shape_body)[self.sites]
        #: Labels of the tools of the first world, along the second axis of `goals`.
        self.labels: tuple[str, ...] = tuple(model.shape_label[site] for site in self.sites[0].tolist())
        self.goals, self._poses = (wp.zeros(self.sites.shape, dtype=wp.transform, device=device) for _ in range(2))
        ShapedArray.name(self.goals, f"{binding.label.replace(':', '.')}.goals")
        worlds = np.repeat(binding.worlds, self.sites.shape[1])
        self._worlds, self._bodies = (wp.array(each.ravel(), dtype=int, device=device) for each in (worlds, self.links))
        frames = on_host(model.shape_transform)[self.sites.ravel()]
        self._frames = wp.array(frames, dtype=wp.transform, device=device)

    @staticmethod
    def owners(host: Host) -> dict[str, Any]:
        """Return what has goals of tools by label: actuator groups such as `operational-space`, and all controllers.

        Args:
            host: The simulation.
        """
        groups = {label: group for label, group in host.actuators.items() if hasattr(group, "goals")}
        return {**groups, **host.controllers}

    def hold(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Let the goals of masked worlds be where the tools are. May be recorded.

        Args:
            state: The state that says so.
            world_mask: The worlds, shape [world_count + 1].
        """
        inputs = [self._worlds, world_mask, self._bodies, self._frames, state.body_q, self.goals.flatten()]
        wp.launch(kernels.hold_tools, self.goals.size, inputs, device=self.goals.device)

    def poses(self, state: newton.State) -> wp.array:
        """Return where the tools are in the world, of the shape of `goals`, in the same array each time. May be
        recorded.
        """
        inputs = [self._bodies, self._frames, state.body_q, self._poses.flatten()]
        wp.launch(kernels.write_tool_poses, self._poses.size, inputs, device=self._poses.device)
        return self._poses


class Controller(abc.ABC):
    """A law that turns the goals of tools into targets of joints. A plugin adds `build` and `compute`.

    A tool is a frame on a link. After a reset, its goal is where it is; a motion, a task or a user writes another one.
    Commanded positions begin at those of the joints, and each control step changes them.

    Args:
        config: The table of the controller, a `ControllerConfig`.
    """

    writes_velocities: bool = True
    """Whether `velocities` go to the group too; otherwise its velocity targets stay as they are, as those of a group do
    that follows positions alone."""

    goals: wp.array
    """Goals of the tools in the world [m, quaternion], shape [len(worlds), tools] of transforms, to be written in
    place."""

    positions: wp.array
    """Commanded positions [m or rad], shape [len(worlds), joints]; `compute` writes them."""

    velocities: wp.array
    """Commanded velocities [m/s or rad/s], of the same shape."""

    sites: np.ndarray
    """Frames of the tools, by index among the shapes of the model, shape [len(worlds), tools]."""

    tool_labels: tuple[str, ...]
    """Labels of the tools along the second axis of `goals`, in the first world."""

    worlds: np.ndarray
    """The worlds that have the tools, ascending, as on the arrays' first axis, shape [worlds]."""

    def __init__(self, config: ControllerConfig) -> None:
        self.config: Any = config
        self._sites: dict[int, list[int]] = {}

    @abc.abstractmethod
    def build(self, binding: Binding) -> None:
        """Prepare the law. `joints`, `coordinates`, `sites` and the arrays are known.

        Args:
            binding: The controller's place in the simulation.
        """

    @abc.abstractmethod
    def compute(self, state: newton.State, dt: float) -> None:
        """Write `positions` and `velocities` for the goals. May be recorded.

        Args:
            state: The state at the start of the control step.
            dt: Length of the control step [s].
        """

    @hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the frames of the tools."""
        self._sites[prototype] = add_sites(builder, self.config, name="tool")

    @hookimpl
    def bind(self, binding: Binding) -> None:
        """Find joints and tools in all worlds, and let the tools hold their place.

        Raises:
            ConfigError: The group is not there, has no position targets, or its joints and the tools differ in worlds.
        """
        host = self._host = binding.simulation
        model, device = host.model, host.device
        if host.config.simulation.requires_grad:
            raise ConfigError("a controller has no derivatives; leave simulation.requires_grad out")
        group = self._group = self._found_group(host)
        self.worlds = binding.worlds
        labels = list(self._group.joint_labels)
        chosen = self.config.joints
        columns = np.array(match(chosen, labels, "axis", "joints") if chosen else range(len(labels)))
        #: Labels of the axes along the second axis of `positions`, in the first world.
        self.joint_labels: tuple[str, ...] = tuple(labels[column] for column in columns.tolist())
        if not np.array_equal(self.worlds, group.worlds):
            raise ConfigError(
                f"actuator: {self.config.actuator!r} drives joints of other worlds than those of the tools"
            )
        dofs = group.actuated_dofs.numpy().reshape(len(group.worlds), -1)[:, columns]
        self._refuse_commanded(host, columns)
        #: Joints that are commanded, by index in the model, shape [len(worlds), joints].
        self.joints: np.ndarray = np.searchsorted(on_host(model.joint_qd_start), dofs, side="right") - 1
        axes = dofs - on_host(model.joint_qd_start)[self.joints]
        #: Their coordinates, by index in `joint_q`, of the same shape.
        self.coordinates: np.ndarray = on_host(model.joint_q_start)[self.joints] + axes
        tools = self._tools = Tools(binding, self._sites)
        self.goals, self.sites, self.tool_labels = tools.goals, tools.sites, tools.labels
        self.positions, self.velocities = (wp.zeros(dofs.shape, dtype=float, device=device) for _ in range(2))
        self._columns, self._lane_coordinates = self._ints(columns), self._ints(self.coordinates)
        self._lane_world = self._ints(np.repeat(self.worlds, dofs.shape[1]))
        self.build(binding)
        everywhere = wp.full(host.world_count + 1, value=True, dtype=bool, device=device)
        self._hold(host.state, everywhere)

    @hookimpl(trylast=True)
    def start_step(self, state: newton.State, dt: float) -> None:
        """Write the targets, after whatever has written goals."""
        self.compute(state, dt)
        group, arrays = self._group, (self.positions, self.velocities)
        targets = (group.position_targets, group.velocity_targets if self.writes_velocities else group.position_targets)
        inputs = [self._columns, *arrays, self.writes_velocities, *targets]
        wp.launch(kernels.write_group_targets, self.positions.shape, inputs, device=self.positions.device)

    @hookimpl
    def reset_worlds(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        """Let the tools of the masked worlds hold their place."""
        self._hold(state, world_mask)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return goals and commands, each with its shape."""
        return {"goals": self.goals, "positions": self.positions, "velocities": self.velocities}

    def hold(self, worlds: Any = None) -> None:
        """Let the tools hold their present place: goals and commands are what the state says.

        Args:
            worlds: Indices of worlds, or a mask of shape [world_count]; by default all.
        """
        refuse_closed(self._host, "hold")
        chosen = np.append(IndexRange(self._host.world_count).mask(worlds, "hold: worlds"), False)
        self._hold(self._host.state, wp.array(chosen, dtype=bool, device=self.goals.device))

    def poses(self) -> wp.array:
        """Return the present poses of the tools in the world, shape [len(worlds), tools] of transforms. May be recorded
        in `compute`.
        """
        return self._tools.poses(self._host.state)

    def _found_group(self, host: Host) -> Any:
        label = self.config.actuator
        if label not in host.actuators:
            raise ConfigError(f"actuator: no group {label!r} in [actuators]{did_you_mean(label, host.actuators)}")
        group = host.actuators[label]
        if "velocity_targets" in getattr(group, "unread_targets", {}):
            self.writes_velocities = False
        for name in self._written:
            try:
                getattr(group, name)
            except AttributeError as error:
                raise ConfigError(f"actuator: {label!r} has no {name}: {error}; choose a group that has") from error
        return group

    @property
    def _written(self) -> tuple[str, ...]:
        return ("position_targets", "velocity_targets")[: 1 + self.writes_velocities]

    def writes(self, group: str, target: str) -> np.ndarray:
        """Return the columns of a group's targets that the controller writes, shape [columns].

        Args:
            group: Label of the group.
            target: `position_targets` or `velocity_targets`.
        """
        is_written = group == self.config.actuator and target in self._written
        return self._columns.numpy() if is_written else np.zeros(0, dtype=int)

    def _refuse_commanded(self, host: Host, columns: np.ndarray) -> None:
        for label, other in host.controllers.items():
            if other is self:
                return
            both = np.intersect1d(columns, other.writes(self.config.actuator, "position_targets"))
            if both.size:
                name = self._group.joint_labels[both[0]]
                raise ConfigError(f"joints: {name!r} is commanded by controllers.{label} already; leave it out of one")

    def _hold(self, state: newton.State, world_mask: wp.array[wp.bool]) -> None:
        device, commands = self.goals.device, (self.positions.flatten(), self.velocities.flatten())
        inputs = [self._lane_world, world_mask, self._lane_coordinates, state.joint_q, *commands]
        wp.launch(kernels.hold_joints, self.positions.size, inputs, device=device)
        self._tools.hold(state, world_mask)

    def _ints(self, numbers: Any) -> wp.array:
        return wp.array(np.asarray(numbers).ravel(), dtype=int, device=self._host.device)
