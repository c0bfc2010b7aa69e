"""Elements of MJCF and URDF files with their lines, so that errors name the place that an importer cannot read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers import expat

import attrs
from pippin.errors import ConfigError

_DEPTH_MAX, _COPIES_MAX = 500, 10**6
"""The deepest nesting, which is that of MuJoCo's reader, and the most copies of an element that a file asks for."""

_COPIERS = ("replicate", "composite", "flexcomp")
"""Elements of MJCF whose `count` copies what is in them."""


@attrs.frozen
class Element:
    """One start tag of a file."""

    file: Path
    line: int
    tag: str
    attributes: Mapping[str, str]

    def text(self, attribute: str) -> str:
        """Return the element with one attribute and its place: `<geom size="abc"> (ant.xml, line 7)`."""
        return f'<{self.tag} {attribute}="{self.attributes[attribute]}"> ({self.file.name}, line {self.line})'


def read_elements(file: Path, where: str) -> list[Element]:
    """Return the elements of a file in document order, then those of the files it includes or attaches."""
    elements: list[Element] = []
    pending, seen = [file], {file.resolve()}
    while pending:
        found = _parse(pending.pop(0), where)
        elements += found
        for included in _included(found, where):
            if included.resolve() not in seen:
                seen.add(included.resolve())
                pending.append(included)
    return elements


def find_culprits(elements: Sequence[Element], message: str) -> list[str]:
    """Return the attributes whose value is in an importer's message, each as `Element.text`.

    Importers name the value that they cannot read (`could not convert string to float: 'abc'`, `unsupported joint type:
    wobbly`), but no element or line. Some change the case of the value.
    """
    named = re.findall(r"'([^']+)'", message) or message.split()[-1:]
    values = {value.casefold() for value in named}
    return [
        element.text(attribute)
        for element in elements
        for attribute, value in element.attributes.items()
        if not values.isdisjoint([value.casefold(), *value.casefold().split()])
    ]


def find_missing_files(elements: Sequence[Element]) -> list[str]:
    """Return the meshes and height fields whose file no importer would find, each as `Element.text`."""
    compilers = [element.attributes for element in elements if element.tag == "compiler"]
    folders = {"", *(compiler.get(name, "") for compiler in compilers for name in ("assetdir", "meshdir"))}
    roots = {element.file.parent / folder for element in elements for folder in folders}
    return [
        element.text(attribute)
        for element in elements
        if element.tag in ("mesh", "hfield")
        for attribute in element.attributes.keys() & {"file", "filename"}
        # A URI begins with at least two letters: one letter is a drive.
        if not re.match(r"\w\w+:", name := element.attributes[attribute])
        and not any((root / name).is_file() for root in roots)
    ]


def read_xml(file: Path) -> bytes:
    """Return the text of an XML file without what other readers overlook, in the same lines.

    These are blank lines or comments before the declaration, which stays out, and null characters at the end.
    """
    text = file.read_bytes().rstrip(b"\0")
    late = re.match(rb"\s+(?:<!--.*?-->\s*)*(<\?xml\b.*?\?>)|(?:<!--.*?-->\s*)+(<\?xml\b.*?\?>)", text, re.DOTALL)
    if late is None:
        return text
    start, end = late.span(late.lastindex or 0)
    return text[:start] + b" " * (end - start) + text[end:]


def _parse(file: Path, where: str, text: bytes | None = None) -> list[Element]:
    elements: list[Element] = []
    copies = [1]  # of each element around the present one
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(file, parser.CurrentLineNumber, tag, attributes)
        elements.append(element)
        copies.append(copies[-1] * _count(element))
        if copies[-1] > _COPIES_MAX:
            what = f"{element.text('count')} makes {copies[-1]:,} copies, more than {_COPIES_MAX:,}"
            raise ConfigError(f"{where}: {what}; state a smaller count")
        if len(copies) > _DEPTH_MAX:
            what = f"<{tag}> ({file.name}, line {element.line}) is nested in more than {_DEPTH_MAX} others"
            raise ConfigError(f"{where}: {what}; correct the file")

    parser.StartElementHandler, parser.EndElementHandler = start, lambda _: copies.pop()
    text = read_xml(file) if text is None else text
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        mended = _repaired(text)
        if mended != text:
            return _parse(file, where, mended)
        line = text.splitlines()[error.lineno - 1 : error.lineno]
        near = "".join(part.decode(errors="replace")[max(error.offset - 20, 0) :][:40] for part in line).strip()
        what = f"{str(file)!r} is not well-formed XML ({error}, near {near!r})"
        raise ConfigError(f"{where}: {what}; correct the file") from error
    return elements


def _count(element: Element) -> int:
    """Return the copies that an element makes of what is in it; 1 if it has no readable count."""
    words = element.attributes.get("count", "").split() if element.tag in _COPIERS else []
    return math.prod(int(word) for word in words if word.isdecimal())


def _repaired(text: bytes) -> bytes:
    """Return the text of an XML file without what MuJoCo's reader overlooks, in the same lines: hyphens in comments,
    characters that are not UTF-8, unescaped `&` or `<`, and missing blanks.
    """
    text = text.decode(errors="replace").encode()
    text = re.sub(rb"(?s)<!--(.*?)-->", lambda found: b"<!--" + found[1].replace(b"-", b" ") + b"-->", text)
    text = re.sub(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", b" ", text)
    text = re.sub(rb"&(?!#?\w+;)", b"&amp;", text)
    text = re.sub(rb"""=\s*("[^"]*"|'[^']*')""", lambda found: found[0].replace(b"<", b"&lt;"), text)
    return re.sub(rb"""(=\s*(?:"[^"]*"|'[^']*'))(?=\w)""", rb"\1 ", text)


def _included(elements: Sequence[Element], where: str) -> list[Path]:
    included = []
    for element in elements:
        if element.tag in ("include", "model") and "file" in element.attributes:
            included.append(element.file.parent / element.attributes["file"])
            if not included[-1].is_file():
                raise ConfigError(f"{where}: {element.text('file')} names no file; correct the path")
    return included
