"""The base class of objects, and the place at which one copy of an object stands."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from pippin.config.joints import JointConfig
from pippin.config.shapes import ShapeConfig
from pippin.quaternions import rotated

if TYPE_CHECKING:
    import newton


@attrs.frozen(kw_only=True, eq=False)
class Place:
    """One copy of an object: its label and its pose, and what the scene says about all objects."""

    label: str
    """Label of this copy, which no other object has."""

    pose: Any
    """A `wp.transform`: position [m] and orientation of the object's origin in the world."""

    where: str
    """Key path of the object's table, for errors."""

    labels: Sequence[str]
    """Labels of all copies of the object in this world."""

    materials: Mapping[str, ShapeConfig]
    """The materials of the scene by name."""

    joints: list[tuple[str, int, JointConfig]] = attrs.field(factory=list)
    """Joints to add, each with its key path and the body that it moves. A body without a joint gets a free one."""

    def in_world(self, points: np.ndarray) -> np.ndarray:
        """Return points of the object in the world [m], shape [points, 3].

        Args:
            points: The points in the frame of the object [m], shape [points, 3].
        """
        x, y, z, *rotation = self.pose
        return rotated(np.array(rotation, dtype=float), points) + np.array([x, y, z], dtype=float)


class SceneObject(abc.ABC):
    """A kind of objects. A plugin adds `add_object`.

    The host places copies, numbers their labels, and gives each new body its joint.

    Args:
        config: The table of the object, an `ObjectConfig`.
    """

    def __init__(self, config: Any) -> None:
        self.config = config

    @abc.abstractmethod
    def add_object(self, builder: newton.ModelBuilder, place: Place) -> None:
        """Add one copy of the object.

        Add bodies with `add_link`: the host adds their joints after all objects of the world are there, since joints of
        one tree must follow each other.

        Args:
            builder: The content of one world so far, with the defaults of the scene.
            place: The label and the pose of the copy.

        Raises:
            pippin.ConfigError: The object cannot be added. The error gets the place of the object in front.
        """
