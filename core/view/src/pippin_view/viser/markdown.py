"""Texts of a page that its browser interprets as Markdown or HTML: names and errors of others stand in them as text."""

from __future__ import annotations

import re
from typing import Any

from pippin.labels import printable

_INTERPRETED = re.compile(r"[!-+\-/:-@\[-`{-~]")
"""Signs of ASCII but the full stop and the comma: each may mean something to Markdown or HTML."""


class Markdown(str):
    """Markdown or HTML that only `markdown` makes, so that nobody else's text is in it."""


def markdown(template: str, *values: object) -> Markdown:
    """Return Markdown or HTML with values that are shown as they are.

    Args:
        template: The text of the program, with `{}` for each value.
        *values: Names, numbers, errors; what is `Markdown` already stays so.
    """
    return Markdown(template.format(*(each if isinstance(each, Markdown) else _plain(str(each)) for each in values)))


def _plain(text: str) -> str:
    return _INTERPRETED.sub(lambda found: f"&#{ord(found[0])};", printable(text))


class TextBox:
    """A text on a page, `add` being the function of its server that adds it, such as `gui.add_markdown`."""

    def __init__(self, add: Any, **options: Any) -> None:
        self._handle = add("", **options)

    @property
    def text(self) -> str:
        """The text as the browser gets it."""
        return self._handle.content

    def show(self, text: Markdown, *, visible: bool = True) -> None:
        """Show a text; nothing is sent if it is there already.

        Raises:
            TypeError: The text is not of `markdown`.
        """
        if not isinstance(text, Markdown):
            raise TypeError(f"{text!r} is interpreted by the browser; make it by markdown()")
        if self._handle.content != text:
            self._handle.content = str(text)
        if self._handle.visible != visible:
            self._handle.visible = visible
