"""Words by which others look for a page: those of keywords.toml, and its own words in American spelling."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["keywords", "with_keywords"]

FILE = Path(__file__).with_name("keywords.toml")

AMERICAN = (
    (r"\b(optim|random|normal|initial|parallel|visual|quant|general|minim|maxim)is", r"\1iz"),
    (r"\b(discret|linear|character|organ|summar)is", r"\1iz"),
    (r"\b(anal)ys(e[ds]?|ing)\b", r"\1yz\2"),
    (r"\b(col|behavi|neighb|fav|hon)our", r"\1or"),
    (r"\b(cen|(?:milli|centi|kilo)?me|fib|theat)tr(es?)\b", r"\1ter"),
    (r"\b(licen)ce", r"\1se"),
    (r"\b(label|model|travel|cancel)l(ed|ing)", r"\1\2"),
    (r"\b(gr)ey", r"\1ay"),
)
"""British spellings in the pages, and what they are in American ones."""


def keywords() -> dict[str, list[str]]:
    """Return the phrases of each page, by its place in the site."""

    def flat(table: dict[str, Any], folder: str) -> Iterator[tuple[str, list[str]]]:
        for name, value in table.items():
            yield from flat(value, f"{folder}{name}/") if isinstance(value, dict) else [(f"{folder}{name}.md", value)]

    return dict(flat(tomllib.loads(FILE.read_text(encoding="utf-8")), ""))


def with_keywords(text: str, phrases: list[str]) -> str:
    """Return a page that the search finds by phrases, and by the American spelling of its words.

    A phrase is an entry of the index, which comes first if what one types is that or half of it; and its words are of
    the page, as far as the search goes.
    """
    words = {word.lower() for phrase in phrases for word in re.findall(r"\w+", phrase)} | set(american(text))
    meta = f"```{{eval-rst}}\n.. meta::\n   :keywords: {', '.join(sorted(words))}\n```\n" if words else ""
    entries = f"```{{index}} {', '.join(f'! {each}' for each in phrases)}\n```\n" if phrases else ""
    title, newline, rest = text.partition("\n")
    return f"{title}\n\n{meta}{entries}{newline}{rest}" if words else text


def american(text: str) -> Iterator[str]:
    """Yield the words of a text that are spelled otherwise in American English, as they are there."""
    for word in {each.lower() for each in re.findall(r"[A-Za-z]+", text)}:
        for british, spelling in AMERICAN:
            if re.search(british, word):
                yield re.sub(british, spelling, word)
