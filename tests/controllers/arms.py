"""Arms that others made: a Panda and a UR5, from the files of the group `robots`, without their meshes."""

import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import attrs
import pytest

DATA = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


@attrs.frozen
class Arm:
    """An arm: its file, its joints, the link of its tool, and a pose away from limits and singular ones."""

    file: str
    joints: list[str]
    tool: str
    start: dict[str, float]
    stretched: dict[str, float]
    """A pose near which the tool cannot move along a direction."""

    def asset(self, folder: Path, positions: dict[str, float] | None = None) -> dict:
        """Return the table of its asset; meshes, which take most of the time to read, are left out of the file."""
        if not DATA.exists():
            pytest.skip("needs the group 'robots'")
        tree = ElementTree.parse(DATA / self.file)
        for link in tree.iter("link"):
            for part in [each for each in link if each.tag in ("visual", "collision")]:
                link.remove(part)
        path = folder / Path(self.file).name
        tree.write(path)
        return {"path": str(path), "joint_positions": self.start if positions is None else positions}


PANDA = Arm(
    file="panda_description/urdf/panda.urdf",
    joints=["panda_joint[1-7]"],
    tool="panda_hand_tcp",
    start={"panda_joint2": -0.2, "panda_joint4": -2.0, "panda_joint6": 1.9, "panda_joint7": 0.8},
    stretched={"panda_joint4": -0.08, "panda_joint6": 0.1},
)
UR5 = Arm(
    file="ur_description/urdf/ur5_robot.urdf",
    joints=[".*_joint"],
    tool="tool0",
    start={
        "shoulder_lift_joint": -1.2,
        "elbow_joint": 1.6,
        "wrist_1_joint": -2.0,
        "wrist_2_joint": -1.57,
    },
    stretched={"elbow_joint": 0.0, "wrist_1_joint": -1.57},
)
ARMS = {"panda": PANDA, "ur5": UR5}
