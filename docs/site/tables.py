"""Tables whose last column has sentences: a class for the style, which gives such a column room."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

SENTENCE = 40
"""Characters of a cell from which on it needs room."""


class WordyTables(SphinxTransform):
    """Marks tables with sentences in the last column by the class `wordy`."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        """Mark the tables of one page."""
        for table in self.document.findall(nodes.table):
            if any(len(row[-1].astext()) > SENTENCE for row in table.findall(nodes.row)):
                table["classes"].append("wordy")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_transform(WordyTables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
