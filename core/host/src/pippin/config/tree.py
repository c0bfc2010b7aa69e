"""Tree of a configuration, in which every value has its origin: source and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
from pippin.errors import ConfigError, PippinError

from .files import WrittenText

KeyPath = tuple[str | int, ...]
"""The keys and list positions that lead to a value: `("scene", "assets", 0, "path")`."""

_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|\[\d+\]""")
_PLACE = re.compile(r"""(?P<table>[A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_-]+|\."(?:\\.|[^"\\])*"|\[\d+\])*(?=:[ ])""")
"""What may be a place at the beginning of a fault: a key path, if it begins with a table."""

_OF_HOST = re.compile(
    "simulation|scene|solver|collision|actuators|sensors|controllers|motions|plugins|viewers|recorders|catalog"
)
"""Tables of the host; a fault also begins with one of these if the file does not have it."""

_DEEPEST = 64
"""Most levels of tables and lists; the walks over a tree are recursive."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def key_text(key: str | int) -> str:
    """Return a key as TOML writes it: quoted if it contains other characters than letters, digits, `_` and `-`."""
    text = str(key)
    return text if _BARE_KEY.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def path_text(path: KeyPath) -> str:
    """Return a key path in the notation of `--set`: `actuators.legs.kp.".*hip.*"`."""
    return ".".join(key_text(key) for key in path)


@attrs.frozen
class Origin:
    """Origin of a value: a line of a file, the command line, or plain Python data (no source)."""

    source: str = ""
    line: int | None = None
    folder: Path | None = None
    """Base folder of relative paths written there; None leaves relative paths unchanged."""

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}:{self.line}"


@attrs.frozen(eq=False)
class Node:
    """One value and its origin. Tables are dicts of nodes, lists are lists of nodes."""

    value: Any
    origin: Origin
    written_for: Any = None
    """The `type` of the table that the value was written in, if a layer above changes this type."""

    @classmethod
    def build(
        cls, data: Any, source: str = "", lines: Mapping[KeyPath, int] | None = None, folder: Path | None = None
    ) -> Node:
        """Return plain data as a tree; `lines` gives the line of `source` on which each key path begins."""
        return cls._grow(data, Origin(source, folder=folder), lines or {}, ())

    @classmethod
    def _grow(cls, data: Any, parent: Origin, lines: Mapping[KeyPath, int], path: KeyPath) -> Node:
        origin = Origin(parent.source, lines.get(path, parent.line), parent.folder)
        if len(path) > _DEEPEST:
            raise ConfigError(f"{str(origin) or path_text(path[:1])}: nested deeper than {_DEEPEST} levels; flatten it")
        if isinstance(data, Mapping):
            return cls({key: cls._grow(data[key], origin, lines, (*path, key)) for key in data}, origin)
        if isinstance(data, list | tuple):
            return cls([cls._grow(item, origin, lines, (*path, index)) for index, item in enumerate(data)], origin)
        return cls(data, origin)

    def plain(self) -> Any:
        """Return the tree as dicts, lists and scalars; a string from a file is a `WrittenText` with its folder."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        if isinstance(self.value, str) and self.origin.folder is not None:
            text = WrittenText(self.value)
            text.folder = self.origin.folder
            return text
        return self.value

    def find(self, path: KeyPath) -> Node | None:
        """Return the node at `path`, or None if nothing was written there."""
        node: Node | None = self
        for key in path:
            node = node.child(key) if node else None
        return node

    def nearest_origin(self, path: KeyPath) -> Origin:
        """Return the origin of the innermost node on the way to `path`."""
        node, key = self, None
        for key in path:
            child = node.child(key)
            if child is None:
                break
            node = child
        return node.origin

    def placed(self, fault: str) -> str:
        """Return a fault with file and line of the key that it begins with; unchanged if it begins with none.

        The fault has the form `where: what is wrong`, with a place such as `scene.assets[0].path` or `actuators.legs`.
        """
        where = _PLACE.match(fault)
        if where is None or not (_OF_HOST.fullmatch(where["table"]) or self.child(where["table"])):
            return fault
        origin = self.nearest_origin(tuple(map(_key_of, _PART.findall(where[0]))))
        is_placed = not origin.source or fault.startswith(f"{origin.source}:")
        return fault if is_placed else f"{origin}: {fault}"

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Let the errors that a block raises name file and line of the keys that they are about."""
        try:
            yield
        except PippinError as error:
            error.restate(self.placed)
            raise

    def child(self, key: str | int) -> Node | None:
        """Return the node under a key or at a list position, or None."""
        if isinstance(self.value, dict):
            return self.value.get(key)
        if isinstance(self.value, list) and isinstance(key, int) and 0 <= key < len(self.value):
            return self.value[key]
        return None


def _key_of(part: str) -> str | int:
    if part.startswith("["):
        return int(part[1:-1])
    return json.loads(part) if part.startswith('"') else part
