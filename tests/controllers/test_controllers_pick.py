"""Phases of motions let arms pick up cubes and place them, in worlds with other starts."""

import re
import sysconfig
from pathlib import Path

import numpy as np
import pippin
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "move-tools.md"
DATA = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data")
SHARE = 0.95
"""Least share of the worlds in which the cube must be lifted and placed."""


def succeed(file):
    """Run a file for an episode; return the shares of worlds in which the cube was lifted, and lies on the tray."""
    with pippin.Simulation.from_file(file, {"simulation.device": "cpu"}) as simulation:
        labels = np.array([label.rpartition("/")[2] for label in simulation.model.body_label])
        cubes, trays = (np.flatnonzero(labels == name) for name in ("cube", "tray"))
        starts = simulation.state.body_q.numpy()[cubes, :2]
        simulation.step(300)
        is_lifted = simulation.state.body_q.numpy()[cubes, 2] > 0.15
        simulation.step(290)
        simulation.raise_errors()
        away = simulation.state.body_q.numpy()[cubes, :3] - simulation.state.body_q.numpy()[trays, :3]
    is_placed = (np.abs(away[:, :2]) < 0.05).all(axis=1) & (np.abs(away[:, 2] - 0.035) < 0.005)
    assert np.ptp(starts, axis=0).min() > 0.15, "the cubes lie elsewhere in each world"
    print(f"lifted {is_lifted.mean():.3f}, placed {is_placed.mean():.3f}")
    return is_lifted.mean(), is_placed.mean()


@pytest.mark.slow
def test_arms_pick_up_cubes_and_place_them():
    lifted, placed = succeed(ROOT / "docs" / "examples" / "arm_pick.toml")

    assert lifted >= SHARE
    assert placed >= SHARE


@pytest.mark.slow
def test_suction_cups_pick_up_boxes_and_place_them():
    lifted, placed = succeed(ROOT / "docs" / "examples" / "suction.toml")

    assert lifted >= SHARE
    assert placed >= SHARE


@pytest.mark.slow
def test_pandas_pick_up_cubes_and_place_them(tmp_path):
    if not DATA.exists():
        pytest.skip("needs the group 'robots'")
    [text] = re.findall(r"^```toml\n# panda_pick\.toml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "example-robot-data").symlink_to(DATA)
    (tmp_path / "panda_pick.toml").write_text(text)

    lifted, placed = succeed(tmp_path / "panda_pick.toml")

    assert lifted >= SHARE
    assert placed >= SHARE
