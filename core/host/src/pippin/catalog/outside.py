"""Plugins that no distribution installs: a class of a file, `path/to/file.py:Name`, or of a module, `module:Name`."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
from pippin.errors import PluginError
from pippin.workers.modules import file_spec

from .entry import Entry, spec_of
from .kind import Kind

ANYWHERE = r"(\.py|^[A-Za-z_][A-Za-z0-9_.]*):[A-Za-z_][A-Za-z0-9_]*$"
"""Pattern of the references to classes that need no installation, for the schema of the file."""

_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)", re.DOTALL)
_MODULE = re.compile(r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


def is_file_reference(name: str) -> bool:
    """Tell whether the `type` of a plugin names a class of a file: `path/to/file.py:Name`."""
    return _FILE.fullmatch(name) is not None


def is_module_reference(name: str) -> bool:
    """Tell whether a name can mean a class of a module that Python finds: `module:Name`. Nothing is imported."""
    found = _MODULE.fullmatch(name)
    return found is not None and _finds(found["module"])


def located(name: str) -> str:
    """Return the name of a plugin; a class of a file gets an absolute path, from the current folder on."""
    return str(Path(name).expanduser().absolute()) if is_file_reference(name) else name


def digest_of(name: str) -> str | None:
    """Return a digest of the file that the `type` of a plugin names; None if it names none, or none that is there.

    Args:
        name: The value of `type`, such as `path/to/file.py:Name`.
    """
    found = _FILE.fullmatch(name)
    with suppress(OSError):
        return None if found is None else _digest_of(Path(found["file"]).expanduser().absolute())
    return None


def outside_entry(kind: Kind, name: str) -> Entry | None:
    """Return the entry of a class of a file or of a module; None if the name means neither."""
    if found := _FILE.fullmatch(name):
        return _file_entry(kind, Path(found["file"]).expanduser().absolute(), found["name"])
    found = _MODULE.fullmatch(name)
    if found is None or not _finds(found["module"]):
        return None
    return ModuleEntry(**_of_kind(kind), name=found["name"], distribution=found["module"], version="", value=name)


def _of_kind(kind: Kind) -> dict[str, Any]:
    return {"kind": kind.name, "provides": kind.provides, "base": kind.base}


_PLACE = re.compile(r"""[^\s"'=,\[\]{}:]+(?=:[^\W\d]\w*)|(?<=environment=)[^\s"',}]+|(?<=environment=["'])[^"']+""")
"""A file or a module in a text that names one of its classes, and the environment of an engine."""

_TRUSTED: ContextVar[frozenset[str] | None] = ContextVar("trusted", default=None)
"""The files and modules whose code may run; None for all."""

_IS_KEPT: ContextVar[bool] = ContextVar("kept", default=False)
"""Whether the table of another one stays unread; else it is refused."""


@contextmanager
def untrusted(*trusted: str, is_trusted: bool = False, is_kept: bool = False) -> Iterator[None]:
    """Run no code that a file names while the block runs.

    Args:
        *trusted: Texts of the user, such as `plugins.x.type="file.py:Name"`: what they name may run.
        is_trusted: Whether all code may run.
        is_kept: Whether a table whose code must not run stays as it is written until it has to act, or is refused.
    """
    found = [place for text in trusted for place in _PLACE.findall(text)]
    places = frozenset([*found, *(str(Path(place).expanduser().absolute()) for place in found)])
    tokens = _TRUSTED.set(None if is_trusted else places), _IS_KEPT.set(is_kept)
    try:
        yield
    finally:
        _TRUSTED.reset(tokens[0])
        _IS_KEPT.reset(tokens[1])


def is_trusted(place: str) -> bool:
    """Tell whether the code of a file, of a module or of the environment of an engine may run."""
    trusted = _TRUSTED.get()
    return trusted is None or place in trusted


@attrs.frozen(kw_only=True)
class _OutsideEntry(Entry):
    is_outside = True
    _cure = "name one of its classes"

    @property
    def is_unread(self) -> bool:
        """Whether its code must not run, and its table stays as it is written."""
        return _IS_KEPT.get() and not is_trusted(self.distribution)

    def _imported(self) -> Any:
        if not is_trusted(self.distribution):
            raise PluginError(f"{self}: its code would run, and the file may be somebody else's: read it; add --trust")
        return super()._imported()


@attrs.frozen(kw_only=True)
class ModuleEntry(_OutsideEntry):
    """A class of a module that Python finds. Its `distribution` is the module, and it has no version."""

    _repair = "repair it"

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of module {self.distribution}"

    def is_called(self, name: str) -> bool:
        """Return whether a name means this class: `module:Name`, or the module."""
        return name in (self.value, self.distribution)


@attrs.frozen(kw_only=True)
class FileEntry(_OutsideEntry):
    """A class of a file. Its `distribution` is the path of the file, and its version is a digest of the contents."""

    _holder = "the file"
    _repair = "correct the file; it can import what is installed, and not the files beside it"

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution}"

    def is_called(self, name: str) -> bool:
        """Return whether a name means this class: `file.py:Name` or `file.py`, with as much of the path as it gives."""
        place, _, plain = name.rpartition(":") if is_file_reference(name) else (name, "", self.name)
        parts = Path(place).expanduser().parts
        return plain == self.name and bool(parts) and Path(self.distribution).parts[-len(parts) :] == parts

    def _fault(self) -> str | None:
        return self.problem

    def _import(self, name: str) -> ModuleType:
        path = Path(self.distribution)
        place = hashlib.blake2b(bytes(path), digest_size=4).hexdigest()
        unique = f"{re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}_{place}_{self.version}"
        if unique in sys.modules:
            return sys.modules[unique]
        module = sys.modules[unique] = importlib.util.module_from_spec(file_spec(unique, str(path)))
        try:
            exec(compile(path.read_bytes(), path, "exec"), vars(module))  # no stale bytecode of a file that changed
        except BaseException:
            del sys.modules[unique]
            raise
        return module


def _file_entry(kind: Kind, path: Path, name: str) -> FileEntry:
    try:
        version, problem = _digest_of(path), None
    except FileNotFoundError:
        version, problem = "", "there is no such file; correct the path, which is relative to the file that names it"
    except OSError as error:
        version, problem = "", f"the file cannot be read ({error.strerror}); correct the path"
    return FileEntry(
        **_of_kind(kind),
        name=name,
        distribution=str(path),
        value=f"{path}:{name}",
        version=version,
        state="broken" if problem else "ok",
        problem=problem,
    )


def _digest_of(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=4).hexdigest()


def _finds(module: str) -> bool:
    return spec_of(module.partition(".")[0]) is not None
