"""HTML as text: plain strings are escaped, and only `Markup` is taken as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

_VOID = ("meta", "img")
"""Elements without an end tag."""


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element. Children that are not `Markup` are escaped.

    Args:
        tag: The element's name.
        children: Its content; None is left out.
        attributes: Its attributes; `class_` stands for `class`, True for an attribute without a value, and an
            attribute that is None or False is left out.
    """
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    shown = [
        f" {names[name]}" if value is True else f' {names[name]}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    ]
    start = f"<{tag}{''.join(shown)}>"
    return Markup(start if tag in _VOID else f"{start}{joined(children)}</{tag}>")


def joined(parts: Iterable[object]) -> Markup:
    """Return the parts one after the other, escaped except for `Markup`; None is left out."""
    texts = (part if isinstance(part, Markup) else escape(str(part)) for part in parts if part is not None)
    return Markup("".join(texts))


def table(head: Sequence[object], rows: Iterable[Sequence[object]], *, numeric: int = 0) -> Markup:
    """Return a table whose last `numeric` columns are aligned to the right."""
    first = len(head) - numeric

    def row(tag: str, cells: Sequence[object]) -> Markup:
        return element(
            "tr",
            *(element(tag, cell, class_="number" if column >= first else None) for column, cell in enumerate(cells)),
        )

    body = element("tbody", *(row("td", cells) for cells in rows))
    return element("div", element("table", element("thead", row("th", head)), body), class_="scroll")


def definitions(pairs: Mapping[str, object]) -> Markup:
    """Return names with their values, as a table without a head."""
    rows = (element("tr", element("th", name), element("td", value)) for name, value in pairs.items())
    return element("div", element("table", element("tbody", *rows), class_="pairs"), class_="scroll")


def heading(title: object, command: str, tiles: Mapping[str, object]) -> Markup:
    """Return the head of a page: its title, the command that repeats what it shows, and the main numbers by name."""
    shown = (element("div", element("b", value), element("span", name)) for name, value in tiles.items())
    title = title if isinstance(title, Markup) else element("h1", title)
    return element("header", title, element("code", command, class_="command"), element("div", *shown, class_="tiles"))


def noted(texts: Mapping[str, Sequence[str]]) -> Markup | None:
    """Return a box with the texts of each name; None if there is no text."""
    rows = [
        joined([element("dt", name), element("dd", *(element("p", line) for line in lines))])
        for name, lines in texts.items()
        if lines
    ]
    return element("div", element("dl", *rows, class_="notes"), class_="box note") if rows else None


def bars(lengths: Mapping[str, float], texts: Mapping[str, str], colors: Mapping[str, str] | None = None) -> Markup:
    """Return a bar for each name, as long as its share of the largest length, with its text behind it.

    Without colours, the style sheet has one.
    """
    largest = max(lengths.values(), default=0.0) or 1.0
    rows = []
    for name, length in lengths.items():
        color = f"; background: {colors[name]}" if colors else ""
        bar = element("i", style=f"width: {100 * length / largest:.2f}%{color}")
        rows += [element("span", name), element("div", bar, element("b", texts[name]))]
    return element("div", *rows, class_="bars")


def section(title: object, *content: object, id: str | None = None) -> Markup:
    """Return a section with a heading; an empty text if there is no content."""
    shown = [part for part in content if part]
    return element("section", element("h2", title), *shown, id=id) if shown else Markup()


def folded(title: object, *content: object) -> Markup:
    """Return content that a click on the title shows."""
    return element("details", element("summary", title), *content)
