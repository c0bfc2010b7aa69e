"""Draw the ant that walks by a trained policy: `python docs/draw_ant.py`."""

from __future__ import annotations

from pathlib import Path

from pippin import Simulation

DOCS = Path(__file__).parent
DURATION = 5.0  # [s]


def main() -> None:
    """Write a video of the first seconds of an episode."""
    video = {
        "type": "video",
        "path": str(DOCS / "images" / "ant_walking.gif"),
        "rate": 15.0,
        "size": [320, 208],
        "follow": "torso",
    }
    overrides = {"scene.worlds": 1, "simulation.device": "cpu", "viewers.video": video}
    with Simulation.from_file(DOCS / "examples" / "policies" / "ant.toml", overrides) as simulation:
        simulation.reset()
        simulation.step(round(DURATION / simulation.control_dt))


if __name__ == "__main__":
    main()
