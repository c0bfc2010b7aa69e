"""Laws judged by a public log: `uv run --extra parquet python tests/benchmarks/judge_public_log.py FOLDER`.

FOLDER has the dataset of LeRobot that `fit_public_log.py` reads, and the file, the units and the bar are those of its
fit. Three episodes are fitted, and the fourth one judges. Goal: the error of the winner in it, divided by that of the
file as it is, is at most 0.25.
"""

from __future__ import annotations

import argparse
import runpy
import tempfile
from pathlib import Path
from typing import Any

import pippin_judge
from pippin.config import toml_text
from pippin_judge.judge_page import HEADS, answer, rows

FIT = runpy.run_path(str(Path(__file__).with_name("fit_public_log.py")))
LAWS = ("servo-m1", "servo-m3", "pd")
"""The law of the example, one whose friction grows with the load, and a spring and a damper."""


def tables(folder: Path, episode: int) -> dict[str, Any]:
    """Return the file of the arm with its table `[fit]`; one episode judges."""
    units = FIT["units_of"](folder)
    looks = {"joints": list(units)}
    parameters = {
        f"actuators.arm.{name}": {"range": list(ends), **looks, **({"each": "group"} if name == "kp" else {})}
        for name, ends in FIT["RANGES"].items()
    }
    return {
        "extends": [str(FIT["ARM"])],
        "motions": {"extends": False},
        "simulation": {"device": "cpu"},
        "solver": {"type": "mujoco-native"},
        "actuators": {"arm": {"offset": 0.0}},
        "fit": {
            "logs": [str(folder.resolve())],
            "reader": "lerobot",
            "units": units,
            "leave_out": [FIT["GRIPPER"]],
            "validation": [f"*, episode {episode}"],
            "window": 2.0,
            "burn_in": 0.3,
            "tolerance": 1e-3,
            "parameters": parameters | {"signals.delay": {"range": [0.0, 0.15]}},
        },
    }


def main() -> None:
    """Print the table of candidates, the answer, and the ratio of the errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a dataset of LeRobot")
    parser.add_argument("--episode", type=int, default=3, help="the episode that judges")
    parser.add_argument("--law", action="append", help="a law; by default three")
    parser.add_argument("--out", type=Path, help="the folder of the judgement, in which it continues")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = options.out or Path(folder)
        out.mkdir(exist_ok=True)
        file = out / "so101.toml"
        file.write_text(toml_text(tables(options.folder, options.episode)), encoding="utf-8")
        laws = options.law or LAWS
        found = pippin_judge.judge(file, laws=laws, noise=FIT["NOISE"], out=out / "judged")
        print("| " + " | ".join(HEADS) + " |\n" + "|---" * len(HEADS) + "|")
        for row in rows(found):
            print("| " + " | ".join(row) + " |")
        print("", *answer(found), sep="\n")
        assert found.nominal is not None, "the file was simulated"
        nominal, winner = (1e3 * FIT["NOISE"] * each for each in (found.nominal.error, found.winner.error))
        print(f"\n{winner:.1f} mrad in place of {nominal:.1f}: {winner / nominal:.2f}")


if __name__ == "__main__":
    main()
