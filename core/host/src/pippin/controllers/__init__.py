"""Controllers: laws that turn goals of tools, such as the pose of a hand, into the targets of an actuator group.

Each kind of controller is a plugin, which derives from `Controller`, with settings that derive from `ControllerConfig`.
"""

from typing import TYPE_CHECKING

from pippin.late import late

from .configs import ControllerConfig

if TYPE_CHECKING:
    from .controller import Controller, Tools

__all__ = ["Controller", "ControllerConfig", "Tools"]

__getattr__ = late(__name__)
