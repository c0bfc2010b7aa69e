"""HTML and Markdown as text: plain strings are escaped, and only `Markup` and `Markdown` are taken as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from pippin.spelling import printable

_INTERPRETED = re.compile(r"[!-+\-/:-@\[-`{-~]")
"""Signs of ASCII but the full stop and the comma: each may mean something to Markdown or HTML."""

_VOID = ("meta", "img")
"""Elements without an end tag."""


class Markup(str):
    """Text that is HTML already, and the charts that stand in it."""

    #: For the core: the charts, in their order.
    charts: tuple[Any, ...] = ()


class Markdown(str):
    """Markdown or HTML that only `markdown` makes, so that nobody else's text is in it."""


def markdown(template: str, *values: object) -> Markdown:
    """Return Markdown or HTML with values that are shown as they are.

    Args:
        template: The text of the program, with `{}` for each value.
        *values: Names, numbers, errors; what is `Markdown` already stays so.
    """
    texts = (_INTERPRETED.sub(lambda found: f"&#{ord(found[0])};", printable(str(each))) for each in values)
    shown = (each if isinstance(each, Markdown) else text for each, text in zip(values, texts, strict=True))
    return Markdown(template.format(*shown))


def code(name: str) -> Markdown:
    """Return a name as code of Markdown, or as text if it has signs that end code or a cell of a table."""
    return Markdown(f"`{name}`") if re.fullmatch(r"[\w./:~ -]+", name) else markdown("{}", name)


def element(tag: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element. Children that are neither `Markup` nor charts are escaped.

    Args:
        tag: The element's name.
        *children: Its content; None is left out, and a `Chart` becomes a figure.
        **attributes: Its attributes; `class_` stands for `class`, True for an attribute without a value, and an
            attribute that is None or False is left out.
    """
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    shown = [
        f" {names[name]}" if value is True else f' {names[name]}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    ]
    start, inner = f"<{tag}{''.join(shown)}>", joined(children)
    return marked(start if tag in _VOID else f"{start}{inner}</{tag}>", inner.charts)


def joined(parts: Iterable[object]) -> Markup:
    """Return the parts one after the other, escaped except for `Markup` and charts; None is left out."""
    found = [_markup(part) for part in parts if part is not None]
    return marked("".join(found), (chart for part in found for chart in part.charts))


def marked(text: str, charts: Iterable[Any]) -> Markup:
    """Return text that is HTML already, with the charts that stand in it."""
    found = Markup(text)
    found.charts = tuple(charts)
    return found


def _markup(part: Any) -> Markup:
    if isinstance(part, Markup):
        return part
    return part.figure() if hasattr(part, "figure") else Markup(escape(str(part)))


def table(head: Sequence[object], rows: Iterable[Sequence[object]], *, numeric: int = 0) -> Markup:
    """Return a table.

    Args:
        head: The head of each column.
        rows: The cells of each row.
        numeric: Number of columns, the last ones, that are aligned to the right.
    """
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
    """Return the head of a page.

    Args:
        title: Its title.
        command: The command that repeats what it shows, or plays it.
        tiles: The main numbers by name.
    """
    shown = (element("div", element("b", value), element("span", name)) for name, value in tiles.items())
    title = title if isinstance(title, Markup) else element("h1", title)
    return element("header", title, element("code", command, class_="command"), element("div", *shown, class_="tiles"))


def noted(texts: Mapping[str, Sequence[str]]) -> Markup | None:
    """Return a box with the texts of each name; None if there is no text.

    Args:
        texts: The texts by name, such as that of a component.
    """
    rows = [
        joined([element("dt", name), element("dd", *(element("p", line) for line in lines))])
        for name, lines in texts.items()
        if lines
    ]
    return element("div", element("dl", *rows, class_="notes"), class_="box note") if rows else None


def bars(lengths: Mapping[str, float], texts: Mapping[str, str], colors: Mapping[str, str] | None = None) -> Markup:
    """Return a bar for each name, as long as its share of the largest length, with its text behind it.

    Args:
        lengths: The lengths by name.
        texts: The text of each.
        colors: The colour of each, as CSS; by default that of the page.
    """
    largest = max(lengths.values(), default=0.0) or 1.0
    rows = []
    for name, length in lengths.items():
        color = f"; background: {colors[name]}" if colors else ""
        bar = element("i", style=f"width: {100 * length / largest:.2f}%{color}")
        rows += [element("span", name), element("div", bar, element("b", texts[name]))]
    return element("div", *rows, class_="bars")


def section(title: object, *content: object, id: str | None = None) -> Markup:
    """Return a section with a heading; an empty text if there is no content.

    Args:
        title: The heading.
        *content: Markup and texts; a list of charts is shown side by side, if the window is wide enough.
        id: The name of the section in the address of the page.
    """
    shown = [element("div", *part, class_="charts") if isinstance(part, list) else part for part in content if part]
    return element("section", element("h2", title), *shown, id=id) if shown else Markup()


def folded(title: object, *content: object) -> Markup:
    """Return content that a click on the title shows.

    Args:
        title: The title.
        *content: Markup and texts.
    """
    return element("details", element("summary", title), *content)
