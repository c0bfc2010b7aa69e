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

from .contract import DrivenJoint, RobotCommands, RobotDriver, RobotFault, RobotPlugin, RobotReadings, Stop
from .lerobot import RANGES, LeRobotRobotConfig


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
        return LeRobotDriver(self.config)


class LeRobotDriver(RobotDriver):
    """A connection by a class of LeRobot.

    Robots with a bus of motors get torque at the measured positions, and it can be taken. Others give and take it as
    their classes do, when they connect and disconnect: they can only be held.

    Raises:
        ConfigError: LeRobot is not installed or refuses its settings, or the robot has no calibration.
        RobotFault: The robot does not answer.
    """

    def __init__(self, config: LeRobotRobotConfig) -> None:
        self._robot = _make(config)
        self._bus = getattr(self._robot, "bus", None)
        self.stops: Sequence[Stop] = ("hold",) if self._bus is None else ("hold", "limp")
        self.notes = () if self._bus else ("LeRobot's class has no bus of motors: torque is as the class sets it",)
        self._keys = [f"{each.name or name}.pos" for name, each in config.joints.items()]
        self._factor, self._zero = np.array([each.scale for each in config.joints.values()]).T
        self._counts = {"reads": 0, "writes": 0}
        self._last: np.ndarray | None = None
        for where, features in (("observe", "observation_features"), ("command", "action_features")):
            known = [key for key in getattr(self._robot, features) if key.endswith(".pos")]
            if odd := sorted(set(self._keys) ^ set(known) if where == "command" else set(self._keys) - set(known)):
                raise ConfigError(
                    f"robot.joints: LeRobot's {config.robot['type']} and this table differ in {', '.join(odd)}; what it"
                    f" can {where}: {', '.join(known)}; a joint's 'name' is that before .pos"
                )
        with _faults("it was connected"):
            had_torque = self._hold_where_it_is()
            self._robot.connect(calibrate=False)
            if not had_torque:
                self.set_torque(False)

    def _hold_where_it_is(self) -> bool:
        """Let the goals be the measured positions: classes give torque when they connect, at the goals of before.

        Returns whether the motors have torque.
        """
        if self._bus is None:
            if not self._robot.is_calibrated:
                raise ConfigError("robot.robot: LeRobot says that it is not calibrated; run lerobot-calibrate first")
            return True
        self._bus.connect()
        try:
            if not self._robot.is_calibrated:
                raise ConfigError(
                    f"robot.robot: the motors have no calibration like that in '{self._robot.calibration_fpath}'; run"
                    " lerobot-calibrate with the same id first"
                )
            found = self._bus.sync_read("Present_Position", normalize=False, num_retry=5)
            self._bus.sync_write("Goal_Position", found, normalize=False, num_retry=5)
            return self.has_torque()
        finally:
            self._bus.disconnect(disable_torque=False)

    def read(self, readings: RobotReadings) -> None:
        """Measure the positions; LeRobot tells nothing else."""
        self._counts["reads"] += 1
        with _faults("positions were read"):
            observed = self._robot.get_observation()
        readings.time = time.monotonic()
        numbers = np.array([float(observed[key]) for key in self._keys])
        readings.position[:] = (numbers - self._zero) / self._factor
        self._last = numbers if self._last is None else self._last

    def write(self, commands: RobotCommands) -> None:
        """Send all positions; a joint without a new one gets its last one again."""
        for name in ("velocity", "effort", "kp", "kd", "effort_share"):
            if not np.isnan(getattr(commands, name)).all():
                raise RobotFault(f"LeRobot sends positions alone, and the drive wants to set {name}", "unsupported")
        if self._last is None:
            self.read(RobotReadings(len(self._keys)))
        numbers = commands.position * self._factor + self._zero
        sent = self._last = np.asarray(np.where(np.isnan(numbers), self._last, numbers))
        self._counts["writes"] += 1
        with _faults("positions were sent"):
            self._robot.send_action(dict(zip(self._keys, sent.tolist(), strict=True)))

    def set_torque(self, is_on: bool) -> None:
        """Give or take the torque of a robot with a bus; others cannot take it."""
        if self._bus is None:
            if not is_on:
                raise RobotFault("LeRobot's class has no bus of motors, whose torque could be taken", "unsupported")
            return
        with _faults("torque was set"):
            (self._bus.enable_torque if is_on else self._bus.disable_torque)(num_retry=5)

    def has_torque(self) -> bool:
        """Return whether all motors of a bus say that they have torque; a robot without a bus has it."""
        if self._bus is None:
            return True
        with _faults("torque was read"):
            return all(value == 1 for value in self._bus.sync_read("Torque_Enable", num_retry=5).values())

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
        if self._robot.is_connected:
            with contextlib.suppress(OSError):
                self._robot.disconnect()


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
