"""Kinds of labelled objects."""

from __future__ import annotations

from enum import Enum


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
