"""Pages of runs for others: one HTML file with the scene in three dimensions, which needs no server and no network."""

from __future__ import annotations

import html
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, Run
from pippin.files import refuse_unwritable

from .configs import ViserConfig
from .viser.page import Page
from .viser.playback import played_back
from .viser.ports import free_port

_LIMIT = 10_000_000
"""Largest page, which most mail servers and websites take [bytes]."""

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; worker-src blob: data:;"
    " style-src 'unsafe-inline'; img-src data: blob:; font-src data:; connect-src data: blob:; base-uri 'none';"
    " form-action 'none'"
)
"""What the browser may do with the page: nothing that needs a network."""

_CAPTION = "position:fixed;right:12px;top:8px;z-index:9;margin:0;font:13px system-ui,sans-serif;color:#888"


@attrs.frozen
class SharedPage:
    """The page of a run: a notebook shows it, and `write` makes it a file."""

    html: str = attrs.field(repr=False)
    """The text of the file."""

    frame_count: int
    """Number of frames."""

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file.

        Args:
            path: The file, which is replaced if it is there.

        Raises:
            ConfigError: It cannot be written.
        """
        refuse_unwritable(Path(path), "--out")
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        text = html.escape(self.html)
        return f'<iframe srcdoc="{text}" width="100%" height="480" style="border:1px solid #ddd"></iframe>'


def share(
    run: Run | str | os.PathLike[str],
    *,
    worlds: str | Sequence[int] | None = None,
    rate: float = 30.0,
    speed: float = 1.0,
    dark: bool = False,
) -> SharedPage:
    """Return a page that plays a run back, made by the viewer of viser.

    Args:
        run: The run, or its folder; it recorded `body_q` or `joint_q`, or matter.
        worlds: Worlds to show, a slice such as `"0:4"` or indices; by default the first 16.
        rate: Frames per second [Hz].
        speed: Simulated time per time of the page.
        dark: Whether the page is dark.

    Raises:
        ConfigError: The run has no poses, a world was not recorded, or the page would have more than 10 MB.
    """
    run = run if isinstance(run, Run) else Run(run)
    config = run.config
    if config is None:
        raise ConfigError(f"{run.path}: has no config.toml; name the folder of a run")
    settings = ViserConfig(worlds=worlds if worlds is None or isinstance(worlds, str) else tuple(worlds), rate=rate)
    with played_back(run, config, settings) as playback, _without_displays():
        page = Page(playback, playback.worlds, free_port(None, "port"), "Pippin")
        try:
            page.is_dark = dark
            page.show(playback, playback.time)
            scene = page.server.get_scene_serializer()
            times = np.arange(playback.times[0], playback.times[-1] + 1e-9, speed / rate)
            for time in times[1:]:
                scene.insert_sleep(1.0 / rate)
                playback.seek(float(time))
                page.show(playback, float(time))
            scene.insert_sleep(1.0 / rate)
            text = scene.as_html(dark_mode=dark)
        finally:
            page.close()
        solver = config.solver.type if config.solver else "no solver"
        worlds_text = f"{len(playback.worlds)} of {config.scene.worlds} worlds"
        caption = f"{run.path.resolve().name} · {solver} · {playback.times[-1]:.3g} s · {worlds_text}"
    shared = SharedPage(_with_caption(text, caption), len(times))
    size = len(shared.html.encode())
    if size > _LIMIT:
        raise ConfigError(
            f"{run.path}: the page would have {size / 1e6:.1f} MB, and {_LIMIT / 1e6:.0f} are the most; show fewer"
            " --worlds, or at a lower --rate"
        )
    return shared


def _without_displays() -> AbstractContextManager[Any]:
    """Show no address in a notebook, where viser does not write it to the standard output."""
    notebook = sys.modules.get("IPython")
    if notebook is None or notebook.get_ipython() is None:
        return nullcontext()
    return import_module("IPython.utils.capture").capture_output()


def _with_caption(text: str, caption: str) -> str:
    """Return the page of viser with a title, a caption, and a policy that allows no network."""
    title = html.escape(caption)
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />'
    text = text.replace("<head>", f"<head>{policy}", 1).replace("<title>Viser</title>", f"<title>{title}</title>", 1)
    end = text.rindex("</body>")
    return f'{text[:end]}<p style="{_CAPTION}">{title}</p>{text[end:]}'
