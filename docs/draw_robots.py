"""Draw the robots of the README: `python docs/draw_robots.py`. Each example runs by itself; the videos are joined."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
from pippin import Simulation
from pippin_view.video.file import VideoFile

DOCS = Path(__file__).parent
TARGET = DOCS / "images" / "robots.gif"
SECONDS = 4.0
RATE = 20.0  # frames per second
SIZE = (240, 250)  # of each video [pixels]
START = 0.5  # time until a gait has its full size [s]


def ant(joint: str, time: float) -> float:
    """Return the offset of a target of the ant [rad]: diagonal legs swing together, and lift while they swing."""
    leg = int(joint[-1])
    phase = 7.0 * time + (0.0 if leg in (1, 3) else math.pi)
    if "hip" in joint:
        return 0.35 * math.sin(phase) * (-1.0 if leg in (1, 2) else 1.0)
    return 0.35 * max(0.0, math.cos(phase)) * (-1.0 if leg in (1, 4) else 1.0)


def quadruped(joint: str, time: float) -> float:
    """Return the offset of a target of the quadruped [rad]: it sways, and bends its knees."""
    side, bend = (1.0 if joint[0] == "L" else -1.0), 0.5 - 0.5 * math.cos(5.0 * time)
    return {"HAA": 0.2 * math.sin(5.0 * time), "HFE": 0.35 * side * bend, "KFE": -0.7 * side * bend}[joint[-3:]]


def half_cheetah(joint: str, time: float) -> float:
    """Return the offset of a target of the half cheetah [rad]: it bounds."""
    size, phase = {
        "bthigh": (0.5, 0.0),
        "bshin": (0.5, 1.2),
        "bfoot": (0.3, 2.0),
        "fthigh": (0.5, 2.2),
        "fshin": (0.5, 3.2),
        "ffoot": (0.2, 4.0),
    }[joint]
    return size * math.sin(9.0 * time + phase)


def humanoid(joint: str, time: float) -> float:
    """Return the offset of a target of the humanoid [rad]: it holds still, and topples."""
    return 0.0


ROBOTS: dict[str, tuple[Callable[[str, float], float], dict[str, object]]] = {  # gaits, and keys of the viewer
    "ant": (ant, {"eye": (2.1, -2.5, 1.5), "target": (0.0, 0.0, 0.45), "follow": "torso"}),
    "quadruped": (quadruped, {"eye": (1.35, -1.75, 0.95), "target": (0.0, 0.0, 0.36), "follow": "base"}),
    "half_cheetah": (half_cheetah, {"eye": (1.0, -2.9, 0.95), "target": (0.0, 0.0, 0.35), "follow": "torso"}),
    "humanoid": (humanoid, {"eye": (2.5, -3.4, 1.5), "target": (0.6, 0.0, 0.6)}),
}


def video(robot: str, folder: Path) -> np.ndarray:
    """Record a robot as it moves, and return the frames, shape [frames, height, width, 3]."""
    gait, camera = ROBOTS[robot]
    viewer = {"type": "video", "path": f"{robot}.gif", "size": SIZE, "rate": RATE, "quality": "high", **camera}
    overrides = {"scene.worlds": 1, "simulation.device": "cpu", "viewers.video": viewer}
    example = DOCS / "examples" / f"{robot}.toml"
    with Simulation.from_file(example, overrides, folder=folder) as simulation:
        [group] = simulation.actuators.values()
        joints = [label.rpartition("/")[2] for label in group.joint_labels]
        start = group.position_targets.numpy().copy()
        while simulation.time < SECONDS:
            size = min(1.0, simulation.time / START)
            group.position_targets.assign(start + [size * gait(joint, simulation.time) for joint in joints])
            simulation.step()
        simulation.raise_errors()
    with av.open(str(folder / f"{robot}.gif")) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def main() -> None:
    """Write the videos side by side."""
    with tempfile.TemporaryDirectory() as folder:
        videos = [video(robot, Path(folder)) for robot in ROBOTS]
    count = min(len(each) for each in videos)
    frames = np.concatenate([each[:count] for each in videos], axis=2)
    file = VideoFile(TARGET, (SIZE[0] * len(videos), SIZE[1]), RATE, "high")
    for index, frame in enumerate(frames):
        file.write(frame, index)
    file.close()


if __name__ == "__main__":
    main()
