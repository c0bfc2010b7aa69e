"""Charts as the script of a page reads them."""

import base64
import json

import numpy as np
import pytest
from pippin.report import Axis, Chart, Line


def chart(values, **options) -> Chart:
    """Return a chart of one line in one world."""
    values = np.asarray(values, float).reshape(1, 1, -1, 1)
    line = Line(name="elbow", color=0)
    gaps = np.isnan(values).sum(axis=(2, 3))
    return Chart(
        title="t", unit="rad", lines=[line], times=np.arange(values.shape[2]), values=values, gaps=gaps, **options
    )


def unpacked(packed) -> np.ndarray:
    codes = np.frombuffer(base64.b64decode(packed["codes"]), "<u2").astype(float)
    low, high = packed["low"][0][0], packed["high"][0][0]
    return np.where(codes == 65535, np.nan, low + (high - low) * codes / 65534)


@pytest.mark.parametrize("values", [[0.0, 0.5, 1.0], [-3e-7, 2e-7], [5.0, 5.0], [1e30, -1e30, 0.0]])
def test_a_value_is_packed_to_a_65000th_of_the_line(values):
    found = unpacked(chart(values).packed())

    np.testing.assert_allclose(found, values, atol=(max(values) - min(values)) / 60_000, rtol=1e-8)


def test_a_gap_stays_a_gap_and_is_json():
    packed = chart([1.0, np.nan, 2.0]).packed()

    assert np.isnan(unpacked(packed)).tolist() == [False, True, False]
    assert packed["gaps"] == [[1]]
    assert unpacked(chart([np.nan, np.nan]).packed()).tolist() == pytest.approx([np.nan, np.nan], nan_ok=True)
    json.dumps(packed, allow_nan=False)


def test_a_logarithmic_line_has_no_zero():
    found = unpacked(chart([0.0, 1e-9, 1e3], is_logarithmic=True).packed())

    assert np.isnan(found[0])
    np.testing.assert_allclose(10.0 ** found[1:], [1e-9, 1e3], rtol=1e-3)


def test_points_share_columns_at_the_powers_of_ten_and_lines_lead_over_the_others():
    drawn = Chart.of_points("error", {"a": [(0.02, 1e-3), (0.5, 1e-4)], "b": [(1.0, 1e-2)]}, "m")

    assert [label for label in drawn.axis.labels if label] == ["0.01", "0.1", "1"]
    np.testing.assert_allclose(drawn.axis.places, [-2.0, np.log10(0.02), -1.0, np.log10(0.5), 0.0])
    np.testing.assert_allclose(drawn.values[0, 0, :, 0], [np.nan, 1e-3, np.nan, 1e-4, np.nan])
    np.testing.assert_allclose(drawn.values[0, 1, :, 0], [np.nan] * 4 + [1e-2])
    assert drawn.axis.is_bridged
    json.dumps(drawn.packed(), allow_nan=False)


def test_at_most_ten_columns_have_a_label():
    axis = Axis.of([str(number) for number in range(25)])

    assert [label for label in axis.labels if label] == ["0", "3", "6", "9", "12", "15", "18", "21", "24"]
