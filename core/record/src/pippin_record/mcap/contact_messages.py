"""Messages of contacts for viewers of logs: an arrow for each force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import foxglove
import newton
import numpy as np
from foxglove.messages import (
    ArrowPrimitive,
    Color,
    Pose,
    Quaternion,
    SceneEntity,
    SceneEntityDeletion,
    SceneEntityDeletionType,
    SceneUpdate,
    Timestamp,
    Vector3,
)
from pippin import Host
from pippin.arrays import on_host

from .matter_messages import channel_of

COLUMNS = ("contacts/bodies", "contacts/point", "contacts/force")
"""The columns that arrows are drawn of."""

_BLUE = Color(r=0.0, g=0.27, b=1.0, a=1.0)
_SHORTEST = 0.02
"""The shortest arrow that is drawn, relative to the size of the world's contents."""


class ContactMessages:
    """Logs `/world_<k>/contact_forces` from the columns of contacts; an arrow as long as the robot is its weight.

    The force is that on the body that moves, or on the first of two.

    Args:
        worlds: Indices of the recorded worlds in it.
        numbers: Numbers of these worlds in the run.
        offsets: Position at which each of them is drawn [m], shape [worlds, 3].
    """

    def __init__(
        self,
        simulation: Host,
        worlds: Sequence[int],
        numbers: Sequence[int],
        offsets: np.ndarray,
        context: foxglove.Context,
    ) -> None:
        model, state = simulation.model, simulation.state
        self._offsets = offsets
        self._size = _size_of(model, state, worlds[0])
        weight = 9.81 * float(on_host(model.body_mass)[on_host(model.body_world) == worlds[0]].sum())
        self._scale = self._size / (weight or 1.0)
        metadata = {"scale": f"{self._scale:.6g} m/N"}
        self._channels = [
            channel_of(f"/world_{number}/contact_forces", SceneUpdate, context, metadata) for number in numbers
        ]

    def log(self, row: np.void, nanoseconds: int) -> None:
        """Log the messages of a row."""
        stamp = Timestamp(*divmod(nanoseconds, 1_000_000_000))
        every = zip(self._channels, self._offsets, *(row[name] for name in COLUMNS), strict=True)
        for channel, offset, bodies, points, forces in every:
            on_moved = np.where(bodies[:, :1] < 0, -forces, forces)  # the first of them may be the ground
            arrows = list(self._arrows(points + offset, on_moved))
            entity = SceneEntity(timestamp=stamp, frame_id="world", id="forces", arrows=arrows)
            before = SceneEntityDeletion(timestamp=stamp, type=SceneEntityDeletionType.All)
            update = SceneUpdate(deletions=[before], entities=[entity] if arrows else [])
            channel.log(update.encode(), log_time=nanoseconds)

    def _arrows(self, points: np.ndarray, forces: np.ndarray) -> Iterator[ArrowPrimitive]:
        lengths = self._scale * np.linalg.norm(forces, axis=-1)
        for index in np.flatnonzero(lengths > _SHORTEST * self._size):
            x, y, z = points[index].tolist()
            thickness, length = 0.03 * self._size, float(lengths[index])
            head = min(2.0 * thickness, 0.5 * length)
            yield ArrowPrimitive(
                pose=Pose(position=Vector3(x=x, y=y, z=z), orientation=_turned_to(forces[index])),
                shaft_length=length - head,
                shaft_diameter=thickness,
                head_length=head,
                head_diameter=2.0 * thickness,
                color=_BLUE,
            )


def _size_of(model: newton.Model, state: newton.State, world: int) -> float:
    """Return the size of what moves in a world [m]; 1 without shapes."""
    bodies, radii = on_host(model.shape_body), on_host(model.shape_collision_radius)
    own = (on_host(model.shape_world) == world) & (bodies >= 0)
    if not own.any():
        return 1.0
    places = on_host(state.body_q)[bodies[own], :3]
    return float((np.linalg.norm(places - places.mean(axis=0), axis=1) + radii[own]).max())


def _turned_to(direction: np.ndarray) -> Quaternion:
    """Return the shortest rotation that turns +x to a direction."""
    x, y, z = (direction / np.linalg.norm(direction)).tolist()
    if x < -0.999999:
        return Quaternion(x=0.0, y=0.0, z=1.0, w=0.0)
    w = np.sqrt((1.0 + x) / 2.0)
    return Quaternion(x=0.0, y=-z / (2.0 * w), z=y / (2.0 * w), w=w)
