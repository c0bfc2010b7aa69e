"""Names in an image, with lines to the points that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pippin.extras import import_library

_SIZE, _MARGIN = 13, 2
"""Height of a line of text, and the margin around it [pixels]."""

_INK, _PAPER, _POINT = (32, 36, 44), (250, 250, 252), (0, 70, 255)
"""Colours of letters, of the box behind them, and of points and lines."""

_GAP = 14
"""Distance of a name from its point [pixels]."""


def add_names(image: Any, names: Sequence[str], points: np.ndarray) -> None:
    """Write names into an image of Pillow beside points (column, row), without overlaps."""
    font = import_library("PIL.ImageFont", "draw").load_default(_SIZE)
    draw: Any = import_library("PIL.ImageDraw", "draw").Draw(image)
    height = _SIZE + 2 * _MARGIN
    taken = np.zeros((image.height, image.width), dtype=bool)
    for name, (column, row) in sorted(zip(names, points.tolist(), strict=True), key=lambda each: each[1][1]):
        if not (0 <= column < image.width and 0 <= row < image.height):
            continue
        width = round(font.getlength(name)) + 2 * _MARGIN
        left = max(0, min(round(column) + _GAP, image.width - width))
        top = _free_row(taken[:, left : left + width], round(row) - height // 2, height)
        draw.line((column, row, left, top + height // 2), fill=_POINT)
        draw.circle((column, row), 2, fill=_POINT)
        draw.rectangle((left, top, left + width - 1, top + height - 1), fill=_PAPER)
        draw.text((left + _MARGIN, top + height // 2), name, fill=_INK, font=font, anchor="lm")
        taken[top : top + height, left : left + width] = True


def _free_row(taken: np.ndarray, wanted: int, height: int) -> int:
    """Return the row nearest to the wanted one at which a box covers no other; the wanted one if there is none."""
    last = max(0, taken.shape[0] - height)
    for top in sorted(range(last + 1), key=lambda row: abs(row - wanted)):
        if not taken[top : top + height].any():
            return top
    return min(max(wanted, 0), last)
