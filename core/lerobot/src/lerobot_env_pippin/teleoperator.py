"""The motions of a file as a teleoperator of LeRobot: `--teleop.type=pippin`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lerobot.teleoperators import Teleoperator, TeleoperatorConfig

from .device import Device, DeviceSettings


@TeleoperatorConfig.register_subclass("pippin")
@dataclass(kw_only=True)
class PippinTeleoperatorConfig(DeviceSettings, TeleoperatorConfig):
    """A leader whose targets are those of the motions of a file, in a simulation of its own."""


class PippinTeleoperator(Device, Teleoperator):
    """A leader that nobody holds: it moves as the motions of a file say.

    Args:
        config: The settings.

    Raises:
        ConfigError: The file is wrong, or does not fit.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    config_class = PippinTeleoperatorConfig
    name = "pippin"
    action_features: Any = None  # LeRobot has an abstract property; `build` sets it

    def __init__(self, config: PippinTeleoperatorConfig) -> None:
        super().__init__(config)
        self.config = config
        self.build((), keeps_motions=True)

    @property
    def feedback_features(self) -> dict[str, Any]:
        """It feels nothing."""
        return {}

    def get_action(self) -> dict[str, Any]:
        """Return the targets by `JOINT.pos`.

        Raises:
            ConnectionError: It is not connected.
        """
        self.body.advance(is_action=True)
        return self.body.targets()

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Refuse what it cannot feel.

        Args:
            feedback: Anything.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("motions feel nothing; leave the feedback out")
