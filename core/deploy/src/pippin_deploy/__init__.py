"""Policies that leave the simulation: a folder with a policy, its passport in words, and a runner without Pippin."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .deploying import deploy

__all__ = ["deploy"]

__getattr__ = late(__name__)
