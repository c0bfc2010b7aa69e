"""Names in an image: letters of 3 × 5 pixels, enlarged, with lines to the points that they name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FONT = (
    "a25755b65656c34443d65556e74647f74644g34553h55755i72227j11152k55655l44447m57755n65555o25552p65644q25563"
    "r65655s34216t72222u55557v55552w55775x55255y55222z71247075557126227261247361216455711574616634757771122"
    "875757975716_00007-00700.00002/11244:02020,00024[64446]31113?61202"
)
"""Each letter with its five rows of three pixels, as octal digits."""

_LETTERS = {
    _FONT[at]: np.array([[int(row) >> bit & 1 for bit in (2, 1, 0)] for row in _FONT[at + 1 : at + 6]], dtype=bool)
    for at in range(0, len(_FONT), 6)
}

_SCALE = 2
"""Pixels of the image for one of a letter."""

_INK, _PAPER, _POINT = (32, 36, 44), (250, 250, 252), (0, 70, 255)
"""Colours of letters, of the box behind them, and of points and lines."""

_GAP = 14
"""Distance of a name from its point [pixels]."""


def add_names(image: np.ndarray, names: Sequence[str], points: np.ndarray) -> None:
    """Write names into an image, shape [height, width, 3], beside points (column, row), without overlaps."""
    height, width, _ = image.shape
    taken = np.zeros((height, width), dtype=bool)
    for name, (column, row) in sorted(zip(names, points, strict=True), key=lambda each: each[1][1]):
        if not (0 <= column < width and 0 <= row < height):
            continue
        ink = _drawn(name)
        left = int(min(column + _GAP, width - ink.shape[1]))
        top = _free_row(taken, int(row) - ink.shape[0] // 2, left, ink.shape)
        _line(image, (column, row), (left, top + ink.shape[0] // 2))
        image[max(0, int(row) - 2) : int(row) + 3, max(0, int(column) - 2) : int(column) + 3] = _POINT
        box = np.s_[top : top + ink.shape[0], left : left + ink.shape[1]]
        image[box], taken[box] = np.where(ink[..., None], _INK, _PAPER), True


def _drawn(text: str) -> np.ndarray:
    """Return where a text has ink, shape [height, width], with a margin."""
    letters = [np.pad(_LETTERS.get(letter, _LETTERS["?"]), ((1, 1), (1, 0))) for letter in text.lower()]
    return np.pad(np.hstack(letters), ((0, 0), (0, 1))).repeat(_SCALE, axis=0).repeat(_SCALE, axis=1)


def _free_row(taken: np.ndarray, wanted: int, left: int, shape: tuple[int, ...]) -> int:
    """Return the row nearest to the wanted one at which a box covers no other; the wanted one if there is none."""
    last = taken.shape[0] - shape[0]
    for top in sorted(range(max(last, 0) + 1), key=lambda row: abs(row - wanted)):
        if not taken[top : top + shape[0], left : left + shape[1]].any():
            return top
    return min(max(wanted, 0), max(last, 0))


def _line(image: np.ndarray, start: Sequence[float], end: Sequence[float]) -> None:
    columns, rows = np.linspace(start, end, 4 * _GAP + image.shape[0]).round().astype(int).T
    is_inside = (rows >= 0) & (rows < image.shape[0]) & (columns >= 0) & (columns < image.shape[1])
    image[rows[is_inside], columns[is_inside]] = _POINT
