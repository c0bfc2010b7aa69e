"""The kind `robot`."""

from pippin.catalog import Kind

ROBOT = Kind(
    name="robot",
    plural="robots",
    meaning="Speaks the protocol of a robot, on both sides: as the robot, and as the program that drives it.",
    place="robot",
    order=200,
    base="pippin_robot.contract:RobotPlugin",
)
