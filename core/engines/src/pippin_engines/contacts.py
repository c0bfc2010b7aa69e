"""Contacts that an engine tells of its last substep, in Newton's buffer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp
from pippin import SimulationError
from pippin.arrays import on_host
from pippin.quaternions import conjugate, cross, rotated

PER_PAIR = 16
"""Contacts of a pair of shapes that there is room for."""

_NONE: dict[str, Any] = dict.fromkeys(("worlds", "sides", "points", "anchors", "distances"), np.zeros(0, int))
_NONE |= dict.fromkeys(("places", "normals", "impulses", "anchor_places", "anchor_impulses"), np.zeros((0, 3)))
_NONE |= {"shapes": np.zeros((0, 2), int)}


class EngineContacts:
    """Newton's buffer of contacts, for an engine whose worlds hold the same.

    Args:
        model: Newton's model, on the CPU.
    """

    def __init__(self, model: newton.Model) -> None:
        #: The buffer.
        self.buffer: newton.Contacts = newton.Contacts(
            PER_PAIR * model.shape_contact_pair_count, 0, device=model.device
        )
        world = on_host(model.shape_world)
        self._bodies, self._rows = on_host(model.shape_body), np.tile(np.arange(len(world)), (model.world_count, 1))
        for index, rows in enumerate(self._rows):
            rows[world == 0] = np.flatnonzero(world == index)

    def write(self, found: Mapping[str, Any], forces: wp.array) -> None:
        """Write the contacts, and the wrenches on their first shapes [N, N·m], in world axes at the contacts.

        A pair may have its friction at anchors: each of its contacts gets the share of it that it has of the normal
        impulses, as a force and a torque, so that the wrench of the pair is that of the engine.

        Args:
            found: Of pairs: `worlds` [p]; `shapes` [p, 2], rows of the first world; `sides` [p], 1 for those that
                another row tells from the other side; and how many `points` and `anchors` each has, [p]. Of points, in
                the world: `places` [n, 3], half-way between the shapes; `normals` [n, 3], towards the first shape;
                `distances` [n], negative in depth; and `impulses` [n, 3] on the first shape [N s]. Of anchors:
                `anchor_places` [m, 3] and `anchor_impulses` [m, 3]. And `poses` [W, bodies, 7], positions [m] and
                quaternions xyzw, and the substep `dt` [s]. What is not there is empty.
            forces: The observable `contact_f`, one row per contact.

        Raises:
            SimulationError: There are more contacts than rows.
        """
        found = _NONE | {name: np.asarray(values) for name, values in found.items()}
        pairs, points, anchors, places = (found[name] for name in ("sides", "points", "anchors", "places"))
        pair = np.repeat(np.arange(len(pairs)), points)
        kept = np.flatnonzero(pairs[pair] == 0)
        count, room = len(kept), self.buffer.rigid_contact_max
        if count > room:
            raise SimulationError(
                f"solver: {count} contacts, and room for {room} that sensors, views and recorders read, {PER_PAIR} for"
                " each pair of shapes; let other shapes touch, such as boxes in place of meshes"
            )
        own = on_host(forces)
        own[:count], own[count:] = _wrenches(found, pair, np.repeat(np.arange(len(pairs)), anchors))[kept], 0.0
        pair, places, normals = pair[kept], places[kept], -found["normals"][kept].astype(float)
        on_host(self.buffer.rigid_contact_count)[0] = count
        on_host(self.buffer.rigid_contact_normal)[:count] = normals
        poses = np.vstack([found["poses"].reshape(-1, 7), np.eye(7)[6]])  # the last one is the world's
        for side, half in enumerate((-0.5, 0.5)):
            shapes = self._rows[found["worlds"][pair], found["shapes"][pair, side]]
            frames = poses[self._bodies[shapes]]
            local = places + half * found["distances"][kept, None] * normals - frames[:, :3]
            local = rotated(conjugate(frames[:, 3:]), local)
            on_host(getattr(self.buffer, f"rigid_contact_point{side}"))[:count] = local
            on_host(getattr(self.buffer, f"rigid_contact_shape{side}"))[:count] = shapes


def _wrenches(found: Mapping[str, np.ndarray], pair: np.ndarray, pulled: np.ndarray) -> np.ndarray:
    """Return the wrench of each point [n, 6], given the pair of each point, and of each anchor."""
    impulses, pulls = found["impulses"].astype(float), found["anchor_impulses"].astype(float)
    friction, sizes = np.zeros((len(found["sides"]), 6)), np.linalg.norm(impulses, axis=1) + 1e-30
    np.add.at(friction, pulled, np.hstack([pulls, cross(found["anchor_places"].astype(float), pulls)]))
    shares = sizes / np.bincount(pair, sizes, len(friction))[pair]
    wrenches = shares[:, None] * friction[pair]
    wrenches[:, 3:] -= cross(found["places"].astype(float), wrenches[:, :3])
    wrenches[:, :3] += impulses
    return wrenches / found["dt"]
