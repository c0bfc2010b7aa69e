"""Draw the picture of the page in a browser: `python docs/draw_page.py`. Needs a Chromium on the machine."""

from __future__ import annotations

import io
import runpy
import tempfile
import time
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


def main() -> None:
    """Show four ants that move their legs, and write what the browser shows."""
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        browser = CHROMIUM["Chromium"](Path(folder), SIZE)
        try:
            with Simulation.from_file(DOCS / "examples" / "ant.toml", OVERRIDES) as simulation:
                tab = browser.open(simulation.viewers["page"].url)
                while not tab.shows("real time"):
                    move(simulation, 1.0)
                tab.evaluate("document.querySelector('.mantine-Notification-closeButton')?.click()")
                tab.press("Contact forces")
                move(simulation, 4.0)
                picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        finally:
            browser.close()
    picture.quantize(96).save(DOCS / "images" / "page.png", optimize=True)


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
