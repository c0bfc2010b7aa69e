"""Reduction of series to the columns of a chart."""

import numpy as np
from pippin.runs.report.chart_contents import COLUMNS, column_times, extremes


def test_every_peak_of_a_long_series_is_kept():
    rows = 50 * COLUMNS + 7
    values = np.random.default_rng(0).normal(size=(rows, 2, 3)).astype(np.float32)
    values[rows // 3, 1, 2] = 40.0
    values[rows - 1, 0, 0] = -50.0

    found = extremes(lambda chosen: values[chosen], rows, 6)

    assert found.values.shape == (2, 3, COLUMNS, 2)
    np.testing.assert_array_equal(found.values[..., 0].min(axis=-1), values.min(axis=0))
    np.testing.assert_array_equal(found.values[..., 1].max(axis=-1), values.max(axis=0))
    assert found.values[1, 2, (rows // 3) * COLUMNS // rows, 1] == 40.0


def test_a_wide_series_is_read_in_blocks():
    read = []

    def block(chosen: slice) -> np.ndarray:
        read.append(chosen.stop - chosen.start)
        return np.full((chosen.stop - chosen.start, 1, 2000), 3.0)

    found = extremes(block, 4 * COLUMNS, 2000)

    assert sum(read[1:]) == 4 * COLUMNS
    assert max(read) * 2000 <= 1 << 20
    assert (found.values == 3.0).all()


def test_a_short_series_is_kept_as_it_is():
    values = np.arange(24.0).reshape(12, 1, 2)

    found = extremes(lambda chosen: values[chosen], 12, 2)

    np.testing.assert_array_equal(found.values[..., 0], values.transpose(1, 2, 0))


def test_values_that_are_not_finite_are_counted_and_leave_their_column():
    values = np.zeros((10 * COLUMNS, 1, 1))
    values[5], values[7], values[9] = np.nan, np.inf, 2.0

    found = extremes(lambda chosen: values[chosen], len(values), 1)

    assert found.gaps.tolist() == [[2]]
    assert found.values[0, 0, 0].tolist() == [0.0, 2.0]


def test_the_time_of_a_column_is_in_its_middle():
    time = np.arange(10.0 * COLUMNS)

    assert column_times(time)[:2].tolist() == [4.5, 14.5]
    assert column_times(time[:5]).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
