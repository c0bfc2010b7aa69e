"""Assets that Newton's examples download, in Newton's own cache on this machine. Nothing is downloaded here."""

from __future__ import annotations

from pathlib import Path

import newton.config
from pippin.errors import ConfigError

REVISION = "ac1f172b6f53915f9b81aa9ccd765ae792cc264c"
"""Revision of the assets that Newton's package asks for."""


def find_newton_asset(path: str, where: str) -> Path:
    """Return the file of a path `newton:folder/path/inside`, or `newton:folder@revision/path/inside`.

    Raises:
        ConfigError: The cache has no such file of this revision; tells how to download the folder.
    """
    first, _, inside = path.partition(":")[2].partition("/")
    folder, _, stated = first.partition("@")
    revision = stated or REVISION
    if not folder or not inside or len(revision) < 8:
        raise ConfigError(
            f"{where}: not of the form 'newton:folder/path/inside', got {path!r}; name a file in a folder"
        )
    cache = newton.config.cache_dir_assets  # None if Newton keeps nothing
    # A folder of the cache ends with the first eight digits of its revision, and holds the paths of the repository.
    folders = [] if cache is None else sorted(Path(cache).glob(f"newton-assets_*_{revision[:8]}"))
    found = next((each / folder / inside for each in folders if (each / folder / inside).is_file()), None)
    if found is not None:
        return found
    call = f"newton.utils.download_asset({folder!r}{f', ref={stated!r}' if stated else ''})"
    raise ConfigError(
        f"{where}: {str(cache)!r} has no file {inside!r} of the folder {folder!r} of newton-assets, revision"
        f' {revision[:8]}; download it by `python -c "import newton.utils; {call}"`, which needs GitPython, or let'
        " NEWTON_CACHE_PATH name another cache"
    )
