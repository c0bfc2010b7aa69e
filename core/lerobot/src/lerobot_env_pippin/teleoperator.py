"""The motions of a file as a teleoperator of LeRobot: `--teleop.type=pippin`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lerobot.teleoperators import Teleoperator, TeleoperatorConfig

from .body import RobotBody


@TeleoperatorConfig.register_subclass("pippin")
@dataclass(kw_only=True)
class PippinTeleoperatorConfig(TeleoperatorConfig):
    """A leader whose targets are those of the motions of a file, in a simulation of its own."""

    file: str
    """Configuration file with motions of the driven joints."""

    rate: int = 0
    """Actions in a second of the motions [Hz]; 0 lets them keep up with the clock."""

    unit: str = "degrees"
    """Unit of all joints: degrees, radians, range_m100_100 or range_0_100."""

    units: dict[str, str] = field(default_factory=dict)
    """Units of joints that have another one."""

    zero: str = "joint"
    """Where an angle is zero: at that of the joint, or in the `middle` of its range."""

    overrides: dict[str, str] = field(default_factory=dict)
    """Values that replace those of the file, by key path, as TOML."""


class PippinTeleoperator(Teleoperator):
    """A leader that nobody holds: it moves as the motions of a file say.

    Args:
        config: The settings.

    Raises:
        ConfigError: The file is wrong, or has no motions.
        PluginError: A plugin cannot be loaded, or breaks its contract.
    """

    config_class = PippinTeleoperatorConfig
    name = "pippin"

    def __init__(self, config: PippinTeleoperatorConfig) -> None:
        super().__init__(config)
        self.config = config
        self._body: RobotBody | None = self._built()
        self._keys = list(self._body.keys)
        self._is_connected = False

    def _built(self) -> RobotBody:
        config = self.config
        return RobotBody(
            config.file,
            rate=config.rate,
            unit=config.unit,
            units=config.units,
            zero=config.zero,
            overrides=config.overrides,
            keeps_motions=True,
        )

    @cached_property
    def action_features(self) -> dict[str, Any]:
        """Targets of the joints."""
        return dict.fromkeys(self._keys, float)

    @property
    def feedback_features(self) -> dict[str, Any]:
        """It feels nothing."""
        return {}

    @property
    def is_connected(self) -> bool:
        """Whether it is."""
        return self._is_connected

    def connect(self, calibrate: bool = True) -> None:
        """Begin the motions.

        Args:
            calibrate: Without effect.

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

    def get_action(self) -> dict[str, Any]:
        """Return the targets by `JOINT.pos`.

        Raises:
            ConnectionError: It is not connected.
        """
        body = self._connected()
        body.advance(is_action=True)
        return body.targets()

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Refuse what it cannot feel.

        Args:
            feedback: Anything.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError("motions feel nothing; leave the feedback out")

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
