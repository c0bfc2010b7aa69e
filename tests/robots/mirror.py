"""A robot that needs no bus: motors that are where they were told to be, one period later."""

import attrs
import numpy as np
from pippin_robot import RobotConfig, RobotDriver, RobotPlugin, RobotReadings


@attrs.frozen(kw_only=True)
class MirrorConfig(RobotConfig):
    """A robot that goes where it is told."""

    implementation = "tests.robots.mirror:Mirror"


class MirrorDriver(RobotDriver):
    """Motors without a body; what they were told is in `told`."""

    stops = ("hold", "damp", "limp")

    def __init__(self, joints):
        self.position = np.array([joint.start for joint in joints])
        self.told, self.is_on = [], False

    def read(self, readings: RobotReadings) -> None:
        readings.position[:] = self.position
        readings.velocity[:] = 0.0

    def write(self, commands) -> None:
        self.position = np.where(np.isnan(commands.position), self.position, commands.position)
        self.told.append(self.position.copy())

    def set_torque(self, is_on) -> None:
        self.is_on = is_on

    def has_torque(self) -> bool:
        return self.is_on

    def stop(self, how, position) -> None:
        self.is_on = how != "limp"

    def close(self) -> None:
        pass


class Mirror(RobotPlugin):
    """The plugin; its last driver is kept, for tests."""

    last = None

    def connect(self, joints):
        Mirror.last = MirrorDriver(joints)
        return Mirror.last
