"""The driver of `type = "lerobot"`: a robot class of LeRobot, in this process."""

from __future__ import annotations

import contextlib
import pkgutil
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from pippin import ConfigError, PippinError

from .configs import RANGES, LeRobotRobotConfig
from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings, Stop


class LeRobotRobot(RobotPlugin):
    """A robot of LeRobot; it has a driver alone."""

    config: LeRobotRobotConfig

    def connect(self, joints: Sequence[DrivenJoint]) -> LeRobotDriver:
        """Return the driver, connected."""
        for joint in joints:
            unit = self.config.joints[joint.name].unit
            if not joint.is_angle and unit not in RANGES:
                raise ConfigError(
                    f"robot.joints.{joint.name}.unit: it slides, and {unit} are an angle; use range_0_100 or"
                    " range_m100_100"
                )
        robot = _make(self.config)
        return (LeRobotDriver if getattr(robot, "bus", None) is None else LeRobotBusDriver)(self.config, robot)


class LeRobotDriver(RobotDriver):
    """A connection by a class of LeRobot, which gives and takes torque as it likes: it can only be held.

    Args:
        config: The settings.
        robot: The robot of LeRobot, not connected yet.

    Raises:
        ConfigError: LeRobot refuses the settings, or the robot has no calibration.
        RobotFault: The robot does not answer.
    """

    stops = ("hold",)
    notes = ("LeRobot's class has no bus of motors: torque is as the class sets it",)

    def __init__(self, config: LeRobotRobotConfig, robot: Any) -> None:
        self.robot = robot
        self._keys = [f"{each.name or name}.pos" for name, each in config.joints.items()]
        self._factor, self._zero = np.array([each.scale for each in config.joints.values()]).T
        self._counts = {"reads": 0, "writes": 0}
        self._last: np.ndarray = np.full(len(self._keys), np.nan)
        observed, commanded = (
            {key for key in features if key.endswith(".pos")}
            for features in (robot.observation_features, robot.action_features)
        )
        if odd := sorted((set(self._keys) ^ commanded) | (set(self._keys) - observed)):
            raise ConfigError(
                f"robot.joints: LeRobot's {config.robot['type']} and this table differ in {', '.join(odd)}; it commands"
                f" {', '.join(sorted(commanded))}; a joint's 'name' is that before .pos"
            )
        with _faults("it was connected"):
            self.begin()

    def begin(self) -> None:
        """Connect."""
        if not self.robot.is_calibrated:
            raise ConfigError("robot.robot: LeRobot says that it is not calibrated; run lerobot-calibrate first")
        self.robot.connect(calibrate=False)

    def read(self, readings: RobotReadings) -> None:
        """Measure the positions; LeRobot tells nothing else."""
        self._counts["reads"] += 1
        with _faults("positions were read"):
            observed = self.robot.get_observation()
        readings.time = time.monotonic()
        numbers = np.array([float(observed[key]) for key in self._keys])
        readings.position[:] = (numbers - self._zero) / self._factor
        self._last[:] = np.where(np.isnan(self._last), numbers, self._last)

    def write(self, commands: RobotCommands) -> None:
        """Send all positions; a joint without a new one gets its last one again."""
        for name in ("velocity", "effort", "kp", "kd", "effort_share"):
            if not np.isnan(getattr(commands, name)).all():
                raise RobotFault(f"LeRobot sends positions alone, and the drive wants to set {name}", "unsupported")
        numbers = commands.position * self._factor + self._zero
        self._last[:] = np.where(np.isnan(numbers), self._last, numbers)
        if np.isnan(self._last).any():
            raise RobotFault("LeRobot sends all positions at once, and some are not known yet", "target")
        self._counts["writes"] += 1
        with _faults("positions were sent"):
            self.robot.send_action(dict(zip(self._keys, self._last.tolist(), strict=True)))

    def set_torque(self, is_on: bool) -> None:
        """Refuse to take the torque."""
        if not is_on:
            raise RobotFault("LeRobot's class has no bus of motors, whose torque could be taken", "unsupported")

    def has_torque(self) -> bool:
        """Return that it has."""
        return True

    def stop(self, how: Stop, position: np.ndarray) -> None:
        """Hold the measured positions, or be free."""
        if how == "limp":
            self.set_torque(False)
            return
        commands = RobotCommands(len(self._keys))
        commands.position[:] = position
        self.write(commands)

    def counts(self) -> dict[str, int]:
        """Return the numbers of readings and commands."""
        return dict(self._counts)

    def close(self) -> None:
        """Disconnect, as LeRobot's class does it."""
        if self.robot.is_connected:
            with contextlib.suppress(OSError):
                self.robot.disconnect()


class LeRobotBusDriver(LeRobotDriver):
    """A connection by a class of LeRobot with a bus of motors, whose torque can be given and taken."""

    stops = ("hold", "limp")
    notes = ()

    def begin(self) -> None:
        """Connect at the measured positions: classes give torque then, at the goals of before."""
        bus = self.robot.bus
        bus.connect()
        try:
            if not self.robot.is_calibrated:
                raise ConfigError(
                    f"robot.robot: the motors have no calibration like that in '{self.robot.calibration_fpath}'; run"
                    " lerobot-calibrate with the same id first"
                )
            found = bus.sync_read("Present_Position", normalize=False, num_retry=5)
            bus.sync_write("Goal_Position", found, normalize=False, num_retry=5)
            had_torque = self.has_torque()
        finally:
            bus.disconnect(disable_torque=False)
        self.robot.connect(calibrate=False)
        if not had_torque:
            self.set_torque(False)

    def set_torque(self, is_on: bool) -> None:
        """Give or take the torque."""
        bus = self.robot.bus
        with _faults("torque was set"):
            (bus.enable_torque if is_on else bus.disable_torque)(num_retry=5)

    def has_torque(self) -> bool:
        """Return whether all motors say that they have torque."""
        with _faults("torque was read"):
            return all(value == 1 for value in self.robot.bus.sync_read("Torque_Enable", num_retry=5).values())


def _make(config: LeRobotRobotConfig) -> Any:
    """Return the robot of LeRobot, not connected; torque stays when it disconnects, unless its settings say else."""
    try:
        import draccus
        import lerobot.robots
        from lerobot.utils.import_utils import register_third_party_plugins
    except ImportError as error:
        raise ConfigError(
            f"robot.type: LeRobot cannot be imported ({error}); install Pippin into LeRobot's environment"
        ) from error
    for module in pkgutil.iter_modules(lerobot.robots.__path__, "lerobot.robots."):
        with contextlib.suppress(ImportError):  # each registers its kinds; some need libraries of their own
            import_module(module.name)
    register_third_party_plugins()
    choice, settings, kind = lerobot.robots.RobotConfig, dict(config.robot), str(config.robot.get("type", ""))
    if kind not in (known := choice.get_known_choices()):
        raise ConfigError(f"robot.robot.type: LeRobot knows no {kind!r}; it knows: {', '.join(sorted(known))}")
    if hasattr(choice.get_choice_class(kind), "disable_torque_on_disconnect"):
        settings.setdefault("disable_torque_on_disconnect", False)
    try:
        return lerobot.robots.make_robot_from_config(draccus.decode(choice, settings))
    except Exception as error:
        raise ConfigError(f"robot.robot: LeRobot refuses these settings: {error}") from error


@contextlib.contextmanager
def _faults(what: str) -> Iterator[None]:
    """Let errors of LeRobot be faults: classes of others raise what they like for silence and lost ports."""
    try:
        yield
    except PippinError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise RobotFault(f"LeRobot's class failed while {what}: {lines[0]}", "silence") from error
