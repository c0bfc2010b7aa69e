"""Contents of robot files and scenes by name, and the memory of their simulation by owner."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
from pippin.config.loading import load, structure_robot
from pippin.studies import current_progress, import_newton

from .rows import AssetContents

__all__ = ["inspect"]

_CONFIGURATIONS = (".toml", ".yaml", ".yml", ".json")


def inspect(
    file: str | os.PathLike[str],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    *,
    draw: str | os.PathLike[str] | None = None,
    memory: bool = False,
) -> list[AssetContents]:
    """Return the contents of a robot file, or of each asset of a configuration and, at the end, of what its scene lists
    itself: objects, joints, sites, tendons, attachments and motions.

    No kernel of a step is compiled, except for the memory: then the simulation is built with a few numbers of worlds,
    and steps.

    Args:
        file: A robot file (MJCF, URDF, xacro, USD, or a format of an installed importer), or a configuration.
        overrides: Values on top of the file, as for `load`; `scene.assets.0.KEY` is an option of a robot file.
        draw: A .png file to write: an image of the start pose.
        memory: Whether to count the bytes of all arrays of the simulation; each of the contents has them as `memory`.

    Raises:
        ConfigError: The file is wrong, has nothing, or an asset cannot be read; or the image cannot be written; or
            the simulation cannot be built, or its assets or objects have `worlds` that do not repeat.
        PluginError: Pillow, of the extra `draw`, is missing for an image.
    """
    progress, path = current_progress(), Path(file)
    config = load(path, overrides) if path.suffix.lower() in _CONFIGURATIONS else structure_robot(path, overrides)
    import_newton(config, progress)
    from .contents import inspect_scene

    with progress.phase("read"):
        found = inspect_scene(config, path)
    if memory:
        from pippin.measuring.memory import measure

        with progress.phase("count"):
            use = measure(config)
        found = [attrs.evolve(contents, memory=use) for contents in found]
    if draw is not None:
        from pippin.inspection.image import draw_scene

        with progress.phase("draw"):
            notes = draw_scene(config, Path(draw))
        for note in notes:
            progress.note(f"note: {note}")
    return found
