"""Contacts of all worlds, copied from MuJoCo to Newton's buffer, with their forces."""

from __future__ import annotations

from typing import Any

import mujoco as _mujoco
import newton
import numpy as np
import pippin
import warp as wp
from mujoco.batch import Batch

from .batch_engine import contacts_of
from .joints import on_host

__all__ = ["ContactExport", "room_for"]

mujoco: Any = _mujoco
"""MuJoCo; most of it is an extension without type stubs."""

_ROOM, _PER_PAIR = 128, 8
"""Contacts of a world, or of a pair of shapes, that there is room for by default."""


def room_for(model: newton.Model, nconmax: int | None) -> int:
    """Return the number of contacts of all worlds that there is room for."""
    worlds = model.world_count
    return worlds * nconmax if nconmax else min(worlds * _ROOM, _PER_PAIR * model.shape_contact_pair_count)


class ContactExport:
    """A copy of the contacts that the last substep of each world leaves in MuJoCo's memory.

    Args:
        batch: MuJoCo's worlds, which keep their memory from one call to the next.
        shapes: Newton's shape of each geom, shape [1 or world_count, geoms]; -1 if it has none.
    """

    def __init__(self, batch: Batch, shapes: np.ndarray) -> None:
        self._batch, self._body_of, self._data = batch, batch.model.geom_bodyid, mujoco.MjData(batch.model)
        self._shapes = np.broadcast_to(shapes, (batch.nsim, shapes.shape[1]))
        self._places, self._turns = batch.bind("xpos"), batch.bind("xmat")

    def write(self, contacts: newton.Contacts, forces: wp.array) -> None:
        """Write the contacts and the wrenches on their first shapes [N, N·m], in world axes at the contacts.

        Args:
            contacts: Newton's buffer.
            forces: The observable `contact_f`, one row per contact.

        Raises:
            SimulationError: There are more contacts than rows.
        """
        worlds, geoms, frames, places, depths, wrenches = self._read(contacts.rigid_contact_max)
        count = len(worlds)
        normals = frames[:, 0]
        on_host(contacts.rigid_contact_count)[0] = count
        on_host(contacts.rigid_contact_normal)[:count] = normals
        for side, half in ((0, -0.5), (1, 0.5)):
            body = self._body_of[geoms[:, side]]
            offsets = places + half * depths[:, None] * normals - self._places[worlds, body]
            points = np.einsum("cij,ci->cj", self._turns[worlds, body].reshape(-1, 3, 3), offsets)
            on_host(getattr(contacts, f"rigid_contact_point{side}"))[:count] = points
            on_host(getattr(contacts, f"rigid_contact_shape{side}"))[:count] = self._shapes[worlds, geoms[:, side]]
        # MuJoCo gives the wrench on the second shape, in the frame of the contact, whose rows are the axes.
        own = on_host(forces)
        own[:count] = -np.einsum("ckj,cji->cki", wrenches, frames).reshape(count, 6)
        own[count:] = 0.0

    def _read(self, room: int) -> tuple[np.ndarray, ...]:
        """Return world, geoms, axes, place, distance and wrench of each contact."""
        found = contacts_of(self._batch, self._data)
        self._refuse_more(len(found[0]), room)
        return found

    def _refuse_more(self, count: int, room: int) -> None:
        if count > room:
            raise pippin.SimulationError(
                f"solver: {count} contacts of {self._batch.nsim} worlds, and room for {room} that sensors, views and"
                f" recorders read; set solver.nconmax = {-(-count // self._batch.nsim) * 2}"
            )
