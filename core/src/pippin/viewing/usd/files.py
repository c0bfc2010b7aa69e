"""Files of USD layers, each written in one piece."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from pippin import SimulationError
from pxr import Tf


def write_layer(layer: Any, path: Path) -> None:
    """Write an `Sdf.Layer` and replace the file before.

    Raises:
        SimulationError: The file cannot be written; the one before stays.
    """
    partial = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not layer.Export(str(partial)):
            raise OSError(0, "OpenUSD does not say why")
        os.replace(partial, path)
    except (OSError, Tf.ErrorException) as error:
        with suppress(OSError):
            partial.unlink()
        reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())[:200]
        raise SimulationError(
            f"'{path}' cannot be written ({reason}); free some space, or choose another path"
        ) from error
