"""Draw the pictures of the page in a browser: `python docs/draw_page.py`. Needs a Chromium on the machine."""

from __future__ import annotations

import io
import runpy
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pippin import Simulation

DOCS = Path(__file__).parent
CHROMIUM = runpy.run_path(str(DOCS.parent / "tests" / "viewing" / "viser" / "chromium.py"))
SIZE = (1200, 820)  # of the window [pixels]
OVERRIDES = {
    "scene.worlds": 4,
    "simulation.device": "cpu",
    "simulation.observables": ["contact_f"],
    "viewers.page.type": "viser",
    "viewers.page.speed": 1.0,
}


ARMS = {
    "scene.worlds": 4,
    "simulation.device": "cpu",
    "viewers.page.type": "viser",
    "viewers.page.speed": 1.0,
}


def main() -> None:
    """Draw four ants that move their legs, four arms that have placed cubes, and an arm that a handle leads."""
    draw("page.png", "ant.toml", OVERRIDES, move, "Contact forces")
    draw("arms.png", "arm_pick.toml", ARMS, finish, "Collision shapes")
    alone = {**ARMS, "scene.worlds": 1, "motions": {"extends": False}, "task": {"events": {"extends": False}}}
    draw("handles.png", "arm_pick.toml", alone, lead, "Collision shapes")


def draw(
    name: str, file: str, overrides: dict[str, Any], play: Callable[[Simulation, float], None], *buttons: str
) -> None:
    """Let a simulation play, press some buttons of its page, and write what the browser shows."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        browser = CHROMIUM["Chromium"](Path(folder), SIZE)
        try:
            with Simulation.from_file(DOCS / "examples" / file, overrides) as simulation:
                tab = browser.open(simulation.viewers["page"].url)
                while not tab.shows("real time"):
                    simulation.step(5)
                tab.evaluate("document.querySelector('.mantine-Notification-closeButton')?.click()")
                for button in buttons:
                    tab.press(button)
                play(simulation, 4.0)
                picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        finally:
            browser.close()
    picture.quantize(96).save(DOCS / "images" / name, optimize=True)


def finish(simulation: Simulation, _: float) -> None:
    """Go on until the cubes lie on the trays."""
    simulation.step(max(0, 560 - simulation.step_count))


def lead(simulation: Simulation, duration: float) -> None:
    """Move the goal of the hand aside."""
    hand = simulation.controllers["hand"]
    goals = hand.goals.numpy().copy()
    goals[0, 0, :3] += [0.0, 0.15, 0.1]
    hand.goals.assign(goals)
    simulation.step(round(duration / simulation.control_dt))


def move(simulation: Simulation, duration: float) -> None:
    """Let each ant lift other legs for some time [s]."""
    targets: Any = simulation.actuators["legs"].position_targets
    rest = targets.numpy().copy()
    end = time.monotonic() + duration
    while time.monotonic() < end:
        values = rest.copy()
        for world in range(simulation.world_count):
            leg = (round(0.5 * simulation.time) + world) % 4
            values[world, 2 * leg + 1] *= 0.7
        targets.assign(values)
        simulation.step(5)
    targets.assign(rest)


if __name__ == "__main__":
    main()
