"""The common part of robots and teleoperators of LeRobot that are simulations: settings, connection, features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .body import RobotBody


@dataclass(kw_only=True)
class DeviceSettings:
    """Settings of both."""

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

    overrides: dict[str, str] = field(default_factory=dict)
    """Values that replace those of the file, by key path, as TOML."""


class Device:
    """A simulation that is built before it is connected, since LeRobot asks for its features then."""

    config: Any

    def build(self, cameras: Sequence[str] | None, *, keeps_motions: bool) -> None:
        """Build the simulation.

        Args:
            cameras: Labels of the cameras that are observed; None for all.
            keeps_motions: Whether the motions of the file act.

        Raises:
            ConfigError: The file is wrong, or does not fit.
            PluginError: A plugin cannot be loaded, or breaks its contract.
        """
        self._options: Mapping[str, Any] = {"cameras": cameras, "keeps_motions": keeps_motions}
        self._body: RobotBody | None = self._built()
        self._is_connected = False
        #: The shapes of images by the names of their cameras, which LeRobot counts.
        self.cameras: dict[str, Any] = {name: (*array.shape[2:4], 3) for name, array, _ in self._body.images}
        #: The features of an action.
        self.action_features: dict[str, Any] = dict.fromkeys(self._body.keys, float)

    def _built(self) -> RobotBody:
        config = self.config
        names = ("rate", "unit", "units", "zero", "overrides")
        return RobotBody(config.file, **{name: getattr(config, name) for name in names}, **self._options)

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

    def disconnect(self) -> None:
        """End the simulation.

        Raises:
            ConnectionError: It is not connected.
        """
        self.body.close()
        self._body, self._is_connected = None, False

    @property
    def body(self) -> RobotBody:
        """The simulation; a ConnectionError if it is not connected."""
        if self._body is None or not self._is_connected:
            raise ConnectionError(f"{self} is not connected; call connect")
        return self._body
