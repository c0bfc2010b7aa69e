"""A simulation as a robot of LeRobot: `--robot.type=pippin`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lerobot.robots import Robot, RobotConfig

from .device import Device, DeviceSettings


@RobotConfig.register_subclass("pippin")
@dataclass(kw_only=True)
class PippinRobotConfig(DeviceSettings, RobotConfig):
    """A robot that is a simulation in this process. Motions, policies and tasks of the file do not act."""

    sensors: list[str] | None = None
    """Labels of cameras with the output `color`; by default all of the file."""


class PippinRobot(Device, Robot):
    """A simulation that observes, acts and keeps time as a robot does.

    Args:
        config: The settings.

    Raises:
        ConfigError: The file is wrong, or does not fit.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    config_class = PippinRobotConfig
    name = "pippin"
    action_features: Any = None  # LeRobot has an abstract property; `build` sets it

    def __init__(self, config: PippinRobotConfig) -> None:
        super().__init__(config)
        self.config = config
        self.build(config.sensors, keeps_motions=False)

    @property
    def observation_features(self) -> dict[str, Any]:
        """Positions of the joints, and the shapes of images."""
        return {**self.action_features, **self.cameras}

    def get_observation(self) -> dict[str, Any]:
        """Return positions by `JOINT.pos`, and images.

        Raises:
            ConnectionError: It is not connected.
        """
        self.body.advance(is_action=False)
        return self.body.observed()

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Set the targets, and return them as the limits of the joints leave them.

        Args:
            action: A target for each `JOINT.pos`.

        Raises:
            ConfigError: A joint is missing or unknown, or its target is no number.
            ConnectionError: It is not connected.
        """
        sent = self.body.command(action)
        self.body.advance(is_action=True)
        return sent
