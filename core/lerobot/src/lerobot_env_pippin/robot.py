"""A simulation as a robot of LeRobot: `--robot.type=pippin`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lerobot.robots import Robot, RobotConfig

from .body import RobotBody


@RobotConfig.register_subclass("pippin")
@dataclass(kw_only=True)
class PippinRobotConfig(RobotConfig):
    """A robot that is a simulation in this process. Motions, policies and tasks of the file do not act."""

    file: str
    """Configuration file of one world with one robot."""

    rate: int = 0
    """Actions in a second of the simulation [Hz]; 0 lets it keep up with the clock."""

    unit: str = "degrees"
    """Unit of all joints: degrees, radians, range_m100_100 or range_0_100."""

    units: dict[str, str] = field(default_factory=dict)
    """Units of joints that have another one, such as `{"gripper": "range_0_100"}`."""

    zero: str = "joint"
    """Where an angle is zero: at that of the joint, or in the `middle` of its range, as after LeRobot's calibration."""

    sensors: list[str] | None = None
    """Labels of cameras with the output `color`; by default all of the file."""

    overrides: dict[str, str] = field(default_factory=dict)
    """Values that replace those of the file, by key path, as TOML."""


class PippinRobot(Robot):
    """A simulation that observes, acts and keeps time as a robot does.

    Args:
        config: The settings.

    Raises:
        ConfigError: The file is wrong, or does not fit.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    config_class = PippinRobotConfig
    name = "pippin"

    def __init__(self, config: PippinRobotConfig) -> None:
        super().__init__(config)
        self.config = config
        self._body: RobotBody | None = self._built()
        self._is_connected = False
        #: The names of the cameras, which LeRobot counts.
        self.cameras: dict[str, Any] = {name: array for name, array, _ in self._body.images}
        self._keys = list(self._body.keys)
        self._shapes = {name: (*array.shape[2:4], 3) for name, array, _ in self._body.images}

    def _built(self) -> RobotBody:
        config = self.config
        return RobotBody(
            config.file,
            rate=config.rate,
            unit=config.unit,
            units=config.units,
            zero=config.zero,
            cameras=config.sensors,
            overrides=config.overrides,
        )

    @cached_property
    def observation_features(self) -> dict[str, Any]:
        """Positions of the joints, and the shapes of images."""
        return {**dict.fromkeys(self._keys, float), **self._shapes}

    @cached_property
    def action_features(self) -> dict[str, Any]:
        """Targets of the joints."""
        return dict.fromkeys(self._keys, float)

    @property
    def is_connected(self) -> bool:
        """Whether it is."""
        return self._is_connected

    def connect(self, calibrate: bool = True) -> None:
        """Begin at the start of the file.

        Args:
            calibrate: Without effect: a simulation knows where its joints are.

        Raises:
            ConnectionError: It is connected already.
        """
        if self._is_connected:
            raise ConnectionError(f"{self} is connected already")
        self._body = self._body or self._built()
        self._body.begin()
        self._is_connected = True

    @property
    def is_calibrated(self) -> bool:
        """It always is."""
        return True

    def calibrate(self) -> None:
        """Do nothing."""

    def configure(self) -> None:
        """Do nothing."""

    def get_observation(self) -> dict[str, Any]:
        """Return positions by `JOINT.pos`, and images.

        Raises:
            ConnectionError: It is not connected.
        """
        body = self._connected()
        body.advance(is_action=False)
        return body.observed()

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Set the targets, and return them as the limits of the joints leave them.

        Args:
            action: A target for each `JOINT.pos`.

        Raises:
            ConfigError: A joint is missing or unknown, or its target is no number.
            ConnectionError: It is not connected.
        """
        body = self._connected()
        sent = body.command(action)
        body.advance(is_action=True)
        return sent

    def disconnect(self) -> None:
        """End the simulation.

        Raises:
            ConnectionError: It is not connected.
        """
        self._connected().close()
        self._body, self._is_connected = None, False

    def _connected(self) -> RobotBody:
        if self._body is None or not self._is_connected:
            raise ConnectionError(f"{self} is not connected; call connect")
        return self._body
