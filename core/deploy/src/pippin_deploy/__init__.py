"""Policies that leave the simulation, with a runner that needs no Pippin, and policies of other programs."""

from typing import TYPE_CHECKING

from pippin.late import late

if TYPE_CHECKING:
    from .deploying import deploy
    from .foreign import foreign_passport, task_text
    from .runner import RobotError, Runner

__all__ = ["RobotError", "Runner", "deploy", "foreign_passport", "task_text"]

__getattr__ = late(__name__)
