"""The figures of run folders: where a curve goes on the page."""

import re

import numpy as np
import pytest
from pippin.analysis.figure import Curve, Panel, figure


def points_of(panel: Panel) -> np.ndarray:
    """Return the corners of the panel's only curve [px], shape [corners, 2]; y goes down."""
    drawn = next(line for line in panel.draw() if "stroke-dasharray" in line)
    return np.array([[float(x), float(y)] for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", drawn)])


def panel_of(y: np.ndarray, **options: object) -> Panel:
    curve = Curve(label="curve", x=np.arange(len(y), dtype=float), y=y, index=0)
    return Panel(title="title", unit="m", curves=(curve,), **options)


def test_a_straight_line_is_drawn_straight_and_upwards() -> None:
    points = points_of(panel_of(np.array([0.0, 1.0, 2.0])))

    np.testing.assert_allclose(np.diff(points, n=2, axis=0), 0.0, atol=0.11)  # coordinates have one digit
    assert (np.diff(points[:, 0]) > 0.0).all()
    assert (np.diff(points[:, 1]) < 0.0).all()


def test_decades_are_equally_far_apart_on_a_logarithmic_axis() -> None:
    points = points_of(panel_of(np.array([1e-3, 1e-2, 1e-1]), is_logarithmic=True))

    np.testing.assert_allclose(np.diff(points[:, 1], n=2), 0.0, atol=0.11)


@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_what_is_not_finite_leaves_a_gap(gap: float) -> None:
    panel = panel_of(np.array([0.0, 1.0, gap, 1.0, 0.0]))

    (drawn,) = (line for line in panel.draw() if 'd="M' in line and "stroke-dasharray" in line and "h18" not in line)
    assert drawn.count("M") == 2
    assert drawn.count("L") == 2


def test_a_spike_of_one_sample_among_very_many_is_drawn() -> None:
    values = np.zeros(200_000)
    values[123_456] = 1.0

    points = points_of(panel_of(values))

    assert len(points) < 10_000
    assert points[:, 1].min() < points[:, 1].max() - 100.0


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [-2.0, -2.0], [1e-12, 2e-12], [1e6, 1e6 + 1.0]])
def test_every_axis_has_ticks_inside_of_it(values: list[float]) -> None:
    text = figure([panel_of(np.array(values))], "time [s]")

    rows = [float(row) for row in re.findall(r'class="grid" d="M0 ([-\d.]+)H', text)]
    assert rows
    assert min(rows) >= 0.0
    assert max(rows) <= 200.0
