"""The robots of the page "Simulate your first robots" stand, or hold their pose. Needs the group `robots`."""

import re
import sysconfig
from pathlib import Path

import numpy as np
import pippin
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "first-robots.md"
FILES = dict(re.findall(r"^```toml\n# (\w+)\.toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S))

PACKAGES = Path(sysconfig.get_path("purelib"))
DATA = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data"

HEIGHTS = {"go1": (0.25, 0.29), "a1": (0.23, 0.27), "g1": (0.74, 0.76)}
"""Bounds on the height of the base of those that stand [m]."""

ERROR = 0.15
"""Largest distance of a joint from its target [rad or m]: a leg gives way by 0.11 under the weight of the body."""


def test_the_page_has_six_robots():
    assert set(FILES) == {"go1", "a1", "g1", "panda", "ur5", "shadow_hand"}


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_robot_stands_or_holds_its_pose_for_two_seconds(name, tmp_path):
    path = re.search(r'^path = "(.*)"$', FILES[name], re.M)[1]
    inside = PACKAGES / path.removeprefix("pkg:") if path.startswith("pkg:") else DATA.parent / path
    if not inside.exists():
        pytest.skip("needs the group 'robots'")
    (tmp_path / "example-robot-data").symlink_to(DATA)
    (tmp_path / "robot.toml").write_text(FILES[name])

    with pippin.Simulation.from_file(tmp_path / "robot.toml", {"simulation.device": "cpu"}) as simulation:
        (group,) = simulation.actuators.values()
        targets = group.position_targets.numpy().ravel()
        simulation.step(1000)
        simulation.raise_errors()
        positions = positions_of(simulation.model, group, simulation.state)
        height = simulation.state.joint_q.numpy()[2]

    low, high = HEIGHTS.get(name, (-np.inf, np.inf))
    assert np.abs(positions - targets).max() < ERROR
    assert low < height < high


def positions_of(model, group, state):
    """Return the position of each driven axis, shape [axes]."""
    starts, dofs = model.joint_qd_start.numpy(), group.actuated_dofs.numpy()
    joints = np.searchsorted(starts, dofs, side="right") - 1
    return state.joint_q.numpy()[model.joint_q_start.numpy()[joints] + dofs - starts[joints]]
