"""Kinds of objects that a label may be of."""

from __future__ import annotations

from enum import Enum

__all__ = ["ObjectType"]


class ObjectType(Enum):
    """The kinds of objects that views tell apart."""

    INVALID = "invalid"
    """Nothing that moves has this label."""

    RIGID_BODY = "rigid_body"
    """A body on its own, free or of no articulation."""

    ARTICULATION = "articulation"

    ARTICULATION_ROOT_LINK = "articulation_root_link"

    ARTICULATION_LINK = "articulation_link"

    ARTICULATION_JOINT = "articulation_joint"
