"""Write the clip that `docs/examples/tasks/quadruped_motion.toml` follows: `python docs/write_trot.py`.

The trot is ours, made from a rule and from no recording. The trunk moves forward evenly. Two diagonal legs stand while
the others swing, half of the time each. A foot lands where Raibert's rule has it for a steady speed: half of the way of
a stance in front of its hip. It lifts as far behind it. In the air it moves by a cycloid, which leaves and meets the
ground with the speed of the ground.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
from pippin_task import convert_motion

DOCS = Path(__file__).parent
TASKS = DOCS / "examples" / "tasks"
PACKAGED = DOCS.parent / "core" / "task" / "src" / "pippin_task" / "gym" / "tasks"

SPEED, PERIOD = 0.5, 0.6
"""Speed of the trunk along x [m/s]; time of a stance and a swing [s]."""

HEIGHT, FOOT, LIFT = 0.47, 0.01, 0.08
"""Height of the hips, and of a foot in its stance, and how far it rises [m]."""

LINK = 0.25
"""Length of a thigh, and of a shank [m]."""

FRAMES = 30
"""Frames of a period."""

AHEAD = {"LF": 0.0, "RF": 0.5, "LH": 0.5, "RH": 0.0}
"""Share of the period by which a leg is ahead."""


def main() -> None:
    """Write the clip beside the task, and where the package carries both."""
    times = np.arange(FRAMES + 1) * PERIOD / FRAMES
    root = np.zeros((len(times), 7))
    root[:, 0], root[:, 2], root[:, 6] = SPEED * times, HEIGHT, 1.0
    legs = [leg_angles((times / PERIOD + ahead) % 1.0, name) for name, ahead in AHEAD.items()]
    joints = [f"{name}_{axis}" for name in AHEAD for axis in ("HAA", "HFE", "KFE")]
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "trot.csv", TASKS / "trot.npz"
        np.savetxt(source, np.concatenate([root, *legs], axis=1), delimiter=",")
        convert_motion(source, target, TASKS / "quadruped_motion.toml", joints=joints, fps=FRAMES / PERIOD, loop=True)
    shutil.copyfile(target, PACKAGED / target.name)


def leg_angles(shares: np.ndarray, name: str) -> np.ndarray:
    """Return the angles of a leg of two equal links, the knee behind the hip [rad], shape [frames, 3].

    Args:
        shares: Shares of the period since the leg has landed, shape [frames].
        name: The leg; the joints of right ones turn the other way round.
    """
    ahead, height = foot_places(shares)
    down = HEIGHT - height
    knee = np.arccos(np.hypot(ahead, down) / (2.0 * LINK))
    hip = knee - np.arctan2(ahead, down)
    side = 1.0 if name.startswith("L") else -1.0
    return np.stack([0.0 * hip, side * hip, -2.0 * side * knee], axis=1)


def foot_places(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far a foot is in front of its hip, and its height [m], at shares of the period: stance, then swing."""
    step = 0.5 * SPEED * PERIOD  # the way of the trunk in a stance
    swing = np.clip(2.0 * shares - 1.0, 0.0, 1.0)
    angle = 2.0 * np.pi * swing
    # The ground moves back by a step in each half of the period; a cycloid begins and ends with that speed.
    ahead = np.where(shares < 0.5, step * (0.5 - 2.0 * shares), step * (swing - 0.5 - np.sin(angle) / np.pi))
    return ahead, FOOT + 0.5 * LIFT * (1.0 - np.cos(angle))


if __name__ == "__main__":
    main()
