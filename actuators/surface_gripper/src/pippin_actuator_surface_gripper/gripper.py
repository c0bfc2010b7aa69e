"""Pads that hold bodies by suction, as a Pippin actuator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import pippin
import warp as wp
from newton import GeoType
from pippin import Binding, labels
from pippin.arrays import on_host
from pippin.sensing import add_sites

from . import SurfaceGripperConfig, kernels

__all__ = ["SurfaceGripper"]

_MESHES = (GeoType.MESH, GeoType.CONVEX_MESH)
_KINDS = (
    GeoType.BOX,
    GeoType.SPHERE,
    GeoType.CAPSULE,
    GeoType.CYLINDER,
    GeoType.CONE,
    *_MESHES,
)
"""Shapes from whose surface the distance of a point is known."""


class SurfaceGripper:
    """The actuator `surface-gripper`. A pad is driven like a joint of a gripper: its position target is its suction.

    Args:
        config: The pads.
    """

    deterministic_on = frozenset({"cpu"})
    """Pads that hold one body add their wrenches in any order on a GPU."""

    def __init__(self, config: SurfaceGripperConfig) -> None:
        self.config = config
        self._sites_of: dict[int, list[int]] = {}

    @pippin.hookimpl
    def extend_prototype(self, builder: newton.ModelBuilder, prototype: int) -> None:
        """Add the frames of the pads."""
        self._sites_of[prototype] = add_sites(builder, self.config, name="pad")

    @pippin.hookimpl
    def bind(self, binding: Binding) -> None:
        """Find the pads and what they can hold in all worlds.

        Raises:
            ConfigError: There is no body that they could hold, or the seal is not stable with this step.
        """
        host, config = binding.simulation, self.config
        self._model = model = host.model
        dt = host.config.simulation.solver_dt
        self._omega = 2.0 * math.pi * config.frequency
        if self._omega * dt >= 0.5:
            raise pippin.ConfigError(
                f"frequency: {config.frequency:g} Hz is not stable in substeps of {dt:g} s; use less than"
                f" {0.5 / (2.0 * math.pi * dt):.3g}, or more substeps"
            )
        sites = binding.indices("shape", self._sites_of)
        #: The worlds that have the pads, ascending, as on the first axis of all arrays.
        self.worlds: np.ndarray = binding.worlds
        #: Labels of the pads of the first world, along the second axis.
        self.joint_labels: tuple[str, ...] = tuple(model.shape_label[site] for site in sites[0].tolist())
        device = model.device
        #: Degrees of freedom that the pads drive: none.
        self.actuated_dofs = wp.zeros(0, dtype=int, device=device)
        shape = sites.shape
        #: Suction of each pad, on above one half, shape [len(worlds), pads], to be written in place.
        self.position_targets = wp.full(shape, config.suction, dtype=float, device=device)
        #: Pull and shear [N], peel and twist [N·m] of each pad, of the same shape.
        self.loads = wp.zeros(shape, dtype=wp.vec4, device=device)
        self._held = wp.full(shape, kernels.OPEN, dtype=int, device=device)
        self._anchors = wp.zeros(shape, dtype=wp.transform, device=device)
        self._candidates = self._found(sites)
        pads: Any = kernels.Pads()
        self._pads = pads
        pads.sites = wp.array(sites.ravel(), dtype=int, device=device)
        pads.pads_per_world = shape[1]
        pads.shapes = wp.array(self._candidates, dtype=int, device=device)
        pads.suction, pads.held, pads.anchors = (
            each.flatten() for each in (self.position_targets, self._held, self._anchors)
        )
        pads.loads = self.loads.flatten()

    @property
    def held_bodies(self) -> np.ndarray:
        """The bodies that the pads hold, by index in the model, -1 for none, shape [len(worlds), pads]; reads the
        device.
        """
        held = on_host(self._held)
        shapes = np.take_along_axis(self._candidates, np.maximum(held, 0), axis=1)
        return np.where(held >= 0, on_host(self._model.shape_body)[shapes], -1)

    def state_arrays(self) -> Mapping[str, wp.array]:
        """Return what each pad holds, and where."""
        return {"held": self._held, "anchors": self._anchors}

    @pippin.hookimpl(trylast=True)
    def start_step(self, state: newton.State) -> None:
        """Seal, or let go, after whatever has written the suction."""
        model, config = self._model, self.config
        shapes = [model.shape_body, model.shape_transform, model.shape_type, model.shape_scale, model.shape_source_ptr]
        inputs = [self._pads, config.radius, config.reach, state.body_q, *shapes]
        wp.launch(kernels.seal, len(self._pads.sites), inputs, device=model.device)

    @pippin.hookimpl
    def before_substep(self, state: newton.State, dt: float) -> None:
        """Add the wrenches of the seals."""
        model, config = self._model, self.config
        limits = (config.pull_limit, config.shear_limit, config.peel_limit, config.twist_limit)
        bodies = [state.body_q, state.body_qd, model.body_com, model.body_inv_mass, model.body_inv_inertia]
        at_most = wp.vec4(*(math.inf if limit is None else limit for limit in limits))
        inputs = [self._pads, self._omega, config.damping_ratio, at_most, dt, *bodies]
        inputs += [model.shape_body, model.shape_transform, state.body_f]
        wp.launch(kernels.strain, len(self._pads.sites), inputs, device=model.device)

    def _found(self, sites: np.ndarray) -> np.ndarray:
        """Return the shapes that the pads of each world can hold, -1 for none, shape [worlds, candidates]."""
        model = self._model
        bodies, worlds = on_host(model.shape_body), on_host(model.shape_world)
        robot_of = np.full(model.body_count, -1)
        robot_of[on_host(model.joint_child)] = on_host(model.joint_articulation)
        own = {int(robot_of[bodies[site]]) for site in sites.ravel()} - {-1}
        is_own = np.isin(robot_of, list(own))
        is_own[bodies[sites.ravel()]] = True
        names = list(dict.fromkeys(label for label, mine in zip(model.body_label, is_own, strict=True) if not mine))
        chosen = {names[index] for index in labels.match(self.config.bodies, names, "body", "bodies")}
        is_held = np.array([label in chosen for label in model.body_label]) & ~is_own & (on_host(model.body_mass) > 0.0)
        is_site = on_host(model.shape_flags) & newton.ShapeFlags.SITE != 0
        shapes = np.flatnonzero((bodies >= 0) & ~is_site)
        shapes = shapes[is_held[bodies[shapes]]]
        kinds, scales = on_host(model.shape_type)[shapes], on_host(model.shape_scale)[shapes]
        is_stretched = np.isin(kinds, [int(kind) for kind in _MESHES]) & (np.ptp(scales, axis=1) > 1e-6 * scales[:, 0])
        known = np.isin(kinds, [int(kind) for kind in _KINDS]) & ~is_stretched
        if not known.all():
            label = model.shape_label[shapes[~known][0]]
            raise pippin.ConfigError(
                f"bodies: shape {label!r} has a surface whose distance is not known; leave its body out, or make it a"
                " mesh with the same scale along x, y and z"
            )
        found = [shapes[worlds[shapes] == world] for world in self.worlds.tolist()]
        width = max(map(len, found))
        if not width:
            raise pippin.ConfigError("bodies: none that a pad could hold has a shape and a mass; name others")
        return np.array([np.pad(each, (0, width - len(each)), constant_values=-1) for each in found])
