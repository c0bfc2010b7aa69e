"""Play each trained policy on each solver of robots: `python docs/play_policies.py [NAME…] [--solvers A,B [--add]]`.

A solver `NAME@FOLDER` has its engine in the environment of a folder, whose name stands in the table; an engine that is
never beside Pippin has one in envs.

The scores go to `docs/images/playing.json`, from which `docs/write_reference.py` writes the page *Trained policies*.
Scores of a policy replace all that it had, which may be of an earlier training, unless `--add` keeps those on other
solvers. With `--videos`, videos of the policies are drawn instead, on the solver that they were trained on.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import av
from pippin import Simulation
from reference_pages import measured

DOCS = Path(__file__).parent
POLICIES = DOCS / "examples" / "policies"
SCORES = DOCS / "images" / "playing.json"
SOLVERS = (
    *("mujoco-native", "mujoco", "featherstone", "semi-implicit", "xpbd", "vbd", "kamino", "steel"),
    *("mujoco-native@envs/mujoco-4.0", "motrix", "physx@envs/physx", "drake", "pinocchio"),
)
VIDEOS = DOCS / "images" / "policies"
FRAME_RATE = 12.0
"""Frames of a video in a second [Hz]."""

DURATION = 4.0
"""Length of a video [s]."""

VIEWS: dict[str, dict[str, Any]] = {
    "half_cheetah": {"eye": [0.6, -4.0, 1.2], "target": [0.6, 0.0, 0.5], "follow": "torso"},
    "hopper": {"eye": [0.0, -2.6, 1.1], "target": [0.0, 0.0, 0.75], "follow": "torso"},
    "reacher": {"eye": [0.0, -0.3, 0.5], "target": [0.0, 0.0, 0.0]},
    "swing_up": {"eye": [0.0, -3.8, 1.4], "target": [0.0, 0.0, 1.0]},
    "walker2d": {"eye": [0.0, -2.6, 1.1], "target": [0.0, 0.0, 0.75], "follow": "torso"},
}
"""Cameras of videos, where that of a video would see too little [m]."""

EPISODES = 16
"""Episodes of each policy on each solver."""

FEW = {"featherstone": 4, "kamino": 4}
"""Episodes on solvers that take long for legs on the ground."""

PATIENCE = 600.0
"""Longest time for them [s]."""


def main() -> None:
    """Play the policies, and write each video, or each score when it is known."""
    parser = argparse.ArgumentParser(description="Play the trained policies.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="policies, by default all")
    parser.add_argument("--videos", action="store_true", help="draw videos instead")
    parser.add_argument("--solvers", default=",".join(SOLVERS), help="solvers, separated by commas")
    parser.add_argument("--add", action="store_true", help="keep the scores on other solvers")
    arguments = parser.parse_args()
    for name in arguments.names or sorted(path.stem for path in POLICIES.glob("*.toml")):
        if arguments.videos:
            draw(name)
            continue
        row: dict[str, Any] = known().get(name, {}) if arguments.add else {}
        for solver in arguments.solvers.split(","):
            row[measured.short_name(solver)] = played(name, solver)
            write(known() | {name: row})


def known() -> dict[str, Any]:
    """Return the scores so far."""
    return json.loads(SCORES.read_text(encoding="utf-8"))["scores"] if SCORES.is_file() else {}


def draw(name: str) -> None:
    """Write a video of the first seconds of an episode, in a loop."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "video.mp4"
        video = {"type": "video", "path": str(path), "rate": FRAME_RATE, "size": [192, 128], "quality": "high"}
        video |= VIEWS.get(name, {})
        overrides = {"scene.worlds": 1, "simulation.device": "cpu", "viewers.video": video}
        with Simulation.from_file(POLICIES / f"{name}.toml", overrides) as simulation:
            simulation.reset()
            simulation.step(round(DURATION / simulation.control_dt))
        with av.open(str(path)) as container:
            first, *others = (frame.to_image() for frame in container.decode(video=0))
    VIDEOS.mkdir(exist_ok=True)
    looks = {"duration": round(1000.0 / FRAME_RATE), "loop": 0, "quality": 60, "method": 6}
    first.save(VIDEOS / f"{name}.webp", save_all=True, append_images=others, **looks)


def write(scores: dict[str, Any]) -> None:
    """Write the scores with a line for each, the date and the number of episodes."""
    rows = []
    for name, row in sorted(scores.items()):
        lines = ",\n".join(f"  {json.dumps(solver)}: {json.dumps(score)}" for solver, score in row.items())
        rows.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    facts = f'"date": "{date.today()}"'
    SCORES.write_text(f'{{{facts}, "scores": {{\n{",".join(rows)}\n}}}}\n', encoding="utf-8")


def played(name: str, solver: str) -> dict[str, Any]:
    """Return the score of a policy on a solver, or the reason for which the solver refused it or stopped."""
    episodes, (plain, _, environment) = FEW.get(solver, EPISODES), solver.partition("@")
    with tempfile.TemporaryDirectory() as folder:
        words = ["--solver", plain, "--episodes", str(episodes), "--device", "cpu", "--json", "--out", f"{folder}/run"]
        words += ["--set", f"solver.environment={Path(environment).absolute()}"] if environment else []
        try:
            done = subprocess.run(
                ["pippin", "play", str(POLICIES / f"{name}.toml"), *words],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return {"stopped": f"not done after {PATIENCE:g} s"}
    if done.returncode == 0:
        score = json.loads(done.stdout)["task"]
        keys = ("mean_return", "mean_return_half_width", "mean_length", "terminated", "diverged")
        return {"episodes": episodes, **{key: float(f"{score[key]:.4g}") for key in keys}}
    error = next(line for line in done.stderr.splitlines() if line.startswith("error: "))
    return {"refused" if done.returncode == 2 else "stopped": shortened(error)}


def shortened(error: str) -> str:
    """Return the reason that an error of a solver gives, without place and cure."""
    if lacks := re.search(r"does not support (.*?) \(", error):
        return f"no `{lacks[1]}`"
    if failed := re.match(r"error: (step \d+)", error):
        return failed[1]
    return re.sub(r"^error: (\S+: )*", "", error).partition(";")[0]


if __name__ == "__main__":
    main()
