"""An SO-101 fitted to a public log: `uv run --extra parquet python tests/benchmarks/fit_public_log.py FOLDER`.

FOLDER has a dataset of LeRobot, format v3, of an SO-100 or SO-101 with the servos STS3215; its videos are not needed.
The figures are those of the repository SamueleSandrini/record-test on GitHub: four episodes of 12 s at 30 Hz, in which
a hand at a leader arm lets the follower put a cube into a box. It has no licence, so it is not here.

The mapping from the log to the model:

- Positions are shares of the range of a joint, -100 to 100, whose ends only the robot's calibration file knows. The
  smallest step between two of them is one count of the encoder, 1/4096 of a turn: that gives the angle of a unit. In a
  dataset in degrees, it gives degrees.
- 0 is the middle of the range in both, and both count the same way round.
- The gripper is left out: it holds the cube.
- LeRobot writes the number of a frame for its time. So the delay is that from a frame to the next ones at best.

One episode judges the fit of the others. Before it, the servos have the numbers of the example, whose gain is that of
the library, or the gain that LeRobot sets. Goal: the error in the episode that the fit does not see falls by 30 %.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pippin_fit
from pippin.config import toml_text
from pippin_fit.readers.configs import LeRobotConfig
from pippin_fit.readers.lerobot import LeRobotReader

ARM = Path(__file__).parents[2] / "docs" / "examples" / "so101.toml"
COUNT = 2.0 * np.pi / 4096  # [rad]
GRIPPER = "gripper"
NOISE = 0.005
"""Error of a position that is good enough [rad], in whose units residuals are told."""

RANGES = {
    "armature": (0.003, 0.2),
    "friction.kc": (0.002, 0.5),
    "friction.kv": (0.0, 1.0),
    "offset": (-0.15, 0.15),
    "kp": (4.0, 64.0),
}
GAINS = {"that of the example": 32.0, "that of LeRobot": 16.0}
"""Gains of the servos before the fit, in their own units."""


def units_of(folder: Path) -> dict[str, float]:
    """Return the angle of a unit of each joint of a dataset but the gripper [rad]."""
    logs = list(LeRobotReader(LeRobotConfig()).read(folder, "position_targets"))
    positions = np.unique(np.round(np.concatenate([log["position"] for log in logs]), 4), axis=0)
    found = {}
    for joint, own in zip(logs[0]["joints"], positions.T, strict=True):
        found[joint] = COUNT / float(np.diff(np.unique(own)).min())
    return {joint: unit for joint, unit in found.items() if joint != GRIPPER}


def fit(folder: Path, episode: int, kp: float, out: Path) -> pippin_fit.FitResult:
    """Return the fit of servos that begin with a gain to all episodes but one, which judges it."""
    units = units_of(folder)
    joints = {"joints": list(units)}
    parameters: dict[str, Any] = {
        f"actuators.arm.{name}": {"range": list(ends), **joints, **({"each": "group"} if name == "kp" else {})}
        for name, ends in RANGES.items()
    }
    tables = {
        "extends": [str(ARM)],
        "motions": {"extends": False},
        "simulation": {"device": "cpu"},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": {"kp": kp, "offset": 0.0}},
        "fit": {
            "logs": [str(folder.resolve())],
            "reader": "lerobot",
            "units": units,
            "leave_out": [GRIPPER],
            "validation": [f"*, episode {episode}"],
            "window": 2.0,
            "burn_in": 0.3,
            "signals": {"position": {"std": NOISE}},
            "parameters": parameters | {"signals.delay": {"range": [0.0, 0.15]}},
        },
    }
    file = out / "so101.toml"
    file.write_text(toml_text(tables), encoding="utf-8")
    return pippin_fit.fit(file, out=out / "fitted")


def errors(result: pippin_fit.FitResult) -> dict[str, np.ndarray]:
    """Return the root mean squares of the errors of each joint in what the fit did not see [rad]: before and after."""
    found: dict[str, list[np.ndarray]] = {}
    for trace in result.traces:
        if trace.is_validation:
            found.setdefault(trace.joint.rpartition("/")[2], []).append(trace.values[:, 1:] - trace.values[:, :1])
    return {joint: np.sqrt((np.concatenate(own) ** 2).mean(axis=0)) for joint, own in found.items()}


def main() -> None:
    """Print the error of each joint before and after, and the values that were found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a dataset of LeRobot")
    parser.add_argument("--episode", type=int, default=3, help="the episode that judges")
    options = parser.parse_args()
    for name, kp in GAINS.items():
        with tempfile.TemporaryDirectory() as out:
            result = fit(options.folder, options.episode, kp, Path(out))
        print(f"\nGain before: {name}\n\n| joint | error before [mrad] | after [mrad] |\n" + "|---" * 3 + "|")
        for joint, (before, after) in errors(result).items():
            print(f"| {joint} | {1e3 * before:.1f} | {1e3 * after:.1f} |")
        assert result.validation is not None, "an episode judges"
        before, after = (1e3 * NOISE * each for each in result.validation)
        print(f"| all | {before:.1f} | {after:.1f}, {after / before - 1.0:+.0%} |\n")
        for verdict in result.verdicts:
            print(f"{verdict.key} {verdict.name}: {verdict.start:.3g} → {verdict.value:.3g}, {verdict.verdict}")


if __name__ == "__main__":
    main()
