"""Smaller files with the same verdict: delta debugging of XML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree import ElementTree

import attrs

from .files import RandomFile
from .keyframes import Start, without_keyframe

_KEPT = frozenset({"mujoco", "option", "compiler", "worldbody"})
"""Elements that stay, with their attributes."""

_KEPT_ATTRIBUTES = frozenset({"name", "timestep", "gravity", "integrator", "diaginertia", "contype", "conaffinity"})
"""Attributes that stay: without them, shapes collide, and bodies have no inertia."""

Path = tuple[int, ...]
"""Place of an element: its index in each element on the way."""


@attrs.define
class _Shrinking:
    """A file on its way to a smaller one."""

    is_same: Callable[[RandomFile], bool]
    tries: int
    """Number of tries that are left."""

    root: ElementTree.Element
    start: Start

    def accepts(self, root: ElementTree.Element, start: Start | None = None) -> bool:
        """Take a candidate if its verdict is the same; tell whether it is."""
        if self.tries <= 0:
            return False
        start = start or self.start
        try:
            file = _file(root, start)
        except ValueError:  # MuJoCo refuses it, at no cost
            return False
        self.tries -= 1
        if not self.is_same(file):
            return False
        self.root, self.start = root, start
        return True


def shrink(file: RandomFile, is_same: Callable[[RandomFile], bool], *, tries: int = 250) -> RandomFile:
    """Return a smaller MJCF file of the same verdict.

    Args:
        file: The file, which is MJCF.
        is_same: Whether a file has the verdict.
        tries: Largest number of calls of `is_same`.
    """
    state = _Shrinking(is_same, tries, ElementTree.fromstring(without_keyframe(file.text)), Start.of(file.text))
    size = 0
    while size != (size := len(ElementTree.tostring(state.root)) + len(str(state.start))) and state.tries > 0:
        for step in (_elements, _bodies, _attributes, _starts, _numbers):
            step(state)
    ElementTree.indent(state.root)
    return _file(state.root, state.start)


def _file(root: ElementTree.Element, start: Start) -> RandomFile:
    text = start.put_into(ElementTree.tostring(root, encoding="unicode"))
    return RandomFile(suffix=".xml", text=text, reference=text)


def _places(root: ElementTree.Element, place: Path = ()) -> Iterator[Path]:
    """Yield the places of all elements, of large ones before the ones in them."""
    for index, child in enumerate(root):
        yield (*place, index)
        yield from _places(child, (*place, index))


def _copy(root: ElementTree.Element) -> ElementTree.Element:
    return ElementTree.fromstring(ElementTree.tostring(root))


def _at(root: ElementTree.Element, place: Path) -> ElementTree.Element:
    for index in place:
        root = root[index]
    return root


def _changed(
    state: _Shrinking, change: Callable[[ElementTree.Element, int], bool], where: Callable[[str], bool]
) -> None:
    """Try a change of each element, given its parent and index, the last ones first; it returns whether it is one."""
    for place in sorted(_places(state.root), key=lambda place: (len(place), [-each for each in place])):
        root = _copy(state.root)
        try:
            parent = _at(root, place[:-1])
            element = parent[place[-1]]
        except IndexError:  # an element before it has gone
            continue
        if where(element.tag) and change(parent, place[-1]):
            state.accepts(root)


def _elements(state: _Shrinking) -> None:
    """Remove elements."""

    def remove(parent: ElementTree.Element, index: int) -> bool:
        del parent[index]
        return True

    _changed(state, remove, lambda tag: tag not in _KEPT)


def _bodies(state: _Shrinking) -> None:
    """Put the bodies that a body carries into its place."""

    def lift(parent: ElementTree.Element, index: int) -> bool:
        carried = [child for child in parent[index] if child.tag == "body"]
        parent[index : index + 1] = carried
        return bool(carried)

    _changed(state, lift, lambda tag: tag == "body")


def _attributes(state: _Shrinking) -> None:
    """Remove attributes: a frame without one is not turned, and an axis is z."""
    for place in list(_places(state.root)):
        for name in list(_at(state.root, place).attrib):
            if _at(state.root, place).tag in _KEPT - {"option"} or name in _KEPT_ATTRIBUTES:
                continue
            root = _copy(state.root)
            del _at(root, place).attrib[name]
            state.accepts(root)


def _starts(state: _Shrinking) -> None:
    """Let joints start at rest, and actuators without a control."""
    for name in state.start.velocities:
        kept = {joint: each for joint, each in state.start.velocities.items() if joint != name}
        state.accepts(state.root, Start(kept, state.start.controls))
    for name in state.start.controls:
        kept = {actuator: each for actuator, each in state.start.controls.items() if actuator != name}
        state.accepts(state.root, Start(state.start.velocities, kept))


def _numbers(state: _Shrinking) -> None:
    """Round numbers to one digit, or to two."""
    for place in list(_places(state.root)):
        for name, text in list(_at(state.root, place).attrib.items()):
            for digits in (1, 2):
                try:
                    rounded = " ".join(f"{float(f'{float(each):.{digits}g}'):g}" for each in text.split())
                except ValueError:
                    break
                root = _copy(state.root)
                _at(root, place).set(name, rounded)
                if rounded == text or state.accepts(root):
                    break
