"""Structure of articulations and kinds of objects: what views tell of a scene without its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    import newton


class DofType(IntEnum):
    """Type of a degree of freedom: rotation about an axis, or translation along it."""

    ROTATION = 0
    TRANSLATION = 1


class ObjectType(Enum):
    """The kinds of objects that views distinguish."""

    INVALID = "invalid"
    """No body, joint of an articulation or articulation has this label."""

    RIGID_BODY = "rigid_body"
    """A single body: free, or outside every articulation."""

    ARTICULATION = "articulation"
    ARTICULATION_ROOT_LINK = "articulation_root_link"
    ARTICULATION_LINK = "articulation_link"
    ARTICULATION_JOINT = "articulation_joint"


@attrs.frozen(kw_only=True)
class ArticulationMetatype:
    """The structure of an articulation, equal for all copies of a robot.

    Each joint of the tree moves one link. Links have the order of the joints; joints that close a loop move no link.
    The joints listed here have degrees of freedom of their own: fixed joints are left out, and so are free joints,
    whose degrees of freedom are the pose and velocity of the root. Offsets count within the articulation.
    """

    link_names: tuple[str, ...]
    """Last segment of each link's label."""

    link_parents: tuple[int, ...]
    """Index of the parent link of each link; -1 if the parent is the world or a body outside the articulation."""

    joint_names: tuple[str, ...]
    """Last segment of each joint's label."""

    joint_types: tuple[newton.JointType, ...]
    """Type of each joint."""

    joint_dof_offsets: tuple[int, ...]
    """First degree of freedom of each joint."""

    joint_dof_counts: tuple[int, ...]
    """Degrees of freedom of each joint."""

    joint_coord_offsets: tuple[int, ...]
    """First coordinate of each joint: a ball joint has four coordinates, a quaternion, and three degrees of freedom."""

    joint_coord_counts: tuple[int, ...]
    """Coordinates of each joint."""

    dof_names: tuple[str, ...]
    """Name of each degree of freedom: of the axis if it has one, else of the joint, with `:0`, `:1` and so on if the
    joint has several."""

    dof_types: tuple[DofType, ...]
    """Type of each degree of freedom."""

    is_fixed_base: bool
    """Whether the root is attached to the world by any joint but a free joint; a hinged root counts."""

    link_labels: tuple[str, ...] = attrs.field(eq=False)
    """Whole label of each link, in the first copy."""
    joint_labels: tuple[str, ...] = attrs.field(eq=False)
    """Whole label of each joint, in the first copy."""

    @property
    def link_count(self) -> int:
        """The number of links."""
        return len(self.link_names)

    @property
    def joint_count(self) -> int:
        """The number of joints with degrees of freedom, without a free root."""
        return len(self.joint_names)

    @property
    def dof_count(self) -> int:
        """The number of degrees of freedom of these joints."""
        return len(self.dof_names)

    @property
    def coord_count(self) -> int:
        """The number of coordinates of these joints."""
        return sum(self.joint_coord_counts)

    @property
    def link_indices(self) -> Mapping[str, int]:
        """Index of each link by its name and by its label."""
        return _indices(self.link_labels, self.link_names)

    @property
    def joint_indices(self) -> Mapping[str, int]:
        """Index of each joint by its name and by its label."""
        return _indices(self.joint_labels, self.joint_names)

    @property
    def dof_indices(self) -> Mapping[str, int]:
        """Index of each degree of freedom by its name."""
        return _indices(self.dof_names)

    @property
    def fixed_base(self) -> bool:
        """Isaac's name of `is_fixed_base`."""
        return self.is_fixed_base


def _indices(*namings: Sequence[str]) -> dict[str, int]:
    return {name: index for names in namings for index, name in reversed(list(enumerate(names)))}
