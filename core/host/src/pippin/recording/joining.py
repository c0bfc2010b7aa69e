"""Joining: the files that several processes recorded become one file, in the format of their recorder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pippin.errors import ConfigError
from pippin.files import refuse_unwritable

from .files import is_full, refuse_locked, room_for
from .npz.file import spool_of
from .reading import Recording, is_readable
from .recorder import Recorder

_MARGIN = 1_000_000
"""Free bytes beside the size of the files, for joining."""


def refuse_unjoinable(suffix: str, target: Path, *, is_split: bool) -> None:
    """Refuse a file of a run that the files of its processes, which end with `suffix`, could not become.

    A format without a suffix is a folder.
    """
    if suffix and target.suffix != suffix:
        raise ConfigError(f"path: '{target}' must end with {suffix}, by which readers know the format")
    refuse_unwritable(target)
    for path in (target, spool_of(target)):
        if path.exists():
            refuse_locked(path, "path: ")
    if is_split and not is_readable(target):
        what = f"files that end with {suffix}" if suffix else "folders"
        raise ConfigError(
            f"worlds: {what} cannot be read back, so those of several processes cannot become"
            " one; record worlds of one process, or simulate all worlds in one"
        )


def join(recorder: Recorder, files: Sequence[Path], target: Path) -> tuple[Path, str | None]:
    """Write one file of the rows that all files have, and remove them; a single file is moved.

    The recorder of the format is not bound to a simulation. The name of a complete file of a process may also stand for
    the rows that had no room in an npz file. Without room for the target, return the first of the files and a note.
    """
    found = [path if path.exists() else spool_of(path) for path in files]
    target.parent.mkdir(parents=True, exist_ok=True)
    if len(found) == 1:
        target = target if found[0] == files[0] else spool_of(target)
        shutil.move(found[0], target)
        return target, None
    partial = target.with_name(f"{target.name}.part")
    try:
        if room_for(partial) < sum(path.stat().st_size for path in found) + _MARGIN:
            return found[0], _no_room(found, target)
        with Recording(*found) as whole:
            assert whole.partial_files is not None
            recorder.join(whole.partial_files, partial)
        os.replace(partial, target)
    except OSError as error:
        if not is_full(error):
            raise
        return found[0], _no_room(found, target)
    finally:
        partial.unlink(missing_ok=True)
    for path in found:
        path.unlink()
    return target, None


def _no_room(files: Sequence[Path], target: Path) -> str:
    listing = ", ".join(f"'{path}'" for path in files)
    return f"the rows stay in {listing}, as there is no room for '{target}'; pippin.Run reads them as one"
