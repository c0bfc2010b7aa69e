"""Tools: frames on links of robots, and the goals that they have in each world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin.arrays import on_host
from pippin.binding import Binding, Host
from pippin.state.shaped_array import ShapedArray

from . import kernels


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
