"""Completion of partial vectors in MJCF: MuJoCo's defaults fill what Newton's importer would fill with zeros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias
from xml.etree.ElementTree import Element

_SOLREF, _SOLIMP = "0.02 1", "0.9 0.95 0.001 0.5 2"

_FULL = {
    "solref": _SOLREF,
    "solreflimit": _SOLREF,
    "solreffriction": _SOLREF,
    "solreffix": _SOLREF,
    "solimp": _SOLIMP,
    "solimplimit": _SOLIMP,
    "solimpfriction": _SOLIMP,
    "solimpfix": _SOLIMP,
}
"""MuJoCo's default of each vector of which a file may give the first numbers only."""

_SHARED = ("equality", "tendon")
"""Sections whose elements have other tags than their default class."""

_Given: TypeAlias = frozenset[tuple[str, str]]
"""Vectors that a class gives: pairs of tag and attribute."""

_Classes: TypeAlias = dict[str | None, _Given]


def complete_vectors(root: Element) -> None:
    """Complete the vectors of elements and default classes that inherit no other numbers from their class."""
    inherited: _Classes = {}
    for default in root.findall("default"):
        inherited |= dict(_complete_class(default, frozenset()))
    main = inherited.get(None, frozenset())  # the class without a name
    for section in root:
        if section.tag != "default":
            _complete_elements(section, inherited, main, section.tag if section.tag in _SHARED else None)


def _complete_class(default: Element, given: _Given) -> Iterator[tuple[str | None, _Given]]:
    """Complete a default class and those below, and yield the vectors that each class gives, by tag and attribute."""
    own = set(given)
    for element in default:
        if element.tag != "default":
            own |= {(element.tag, key) for key in _fill(element, given, element.tag)}
    yield default.get("class"), frozenset(own)
    for child in default.findall("default"):
        yield from _complete_class(child, frozenset(own))


def _complete_elements(parent: Element, inherited: _Classes, ambient: _Given, tag: str | None) -> None:
    for element in parent:
        _fill(element, inherited.get(element.get("class"), ambient), tag or element.tag)
        _complete_elements(element, inherited, inherited.get(element.get("childclass"), ambient), tag)


def _fill(element: Element, given: _Given, tag: str) -> list[str]:
    """Complete the vectors of an element unless its class gives them for a tag; return the names of its vectors."""
    found = [key for key in _FULL if key in element.attrib]
    for key in found:
        if (tag, key) not in given:
            values, rest = element.attrib[key].split(), _FULL[key].split()
            element.set(key, " ".join(values + rest[len(values) :]))
    return found
