"""Pages of results: sections, tables and charts as one HTML file, which opens in any browser without a network."""

from .chart import Axis, Chart, Line
from .markup import Markdown, Markup, bars, code, element, folded, heading, markdown, noted, section, table
from .whole_page import page, videos

__all__ = [
    "Axis",
    "Chart",
    "Line",
    "Markdown",
    "Markup",
    "bars",
    "code",
    "element",
    "folded",
    "heading",
    "markdown",
    "noted",
    "page",
    "section",
    "table",
    "videos",
]
