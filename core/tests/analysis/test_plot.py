"""The picture of a run, where Matplotlib is installed."""

from pathlib import Path

import numpy as np
import pytest
from pippin.analysis.run_folder import RunFolder
from pippin.recording.series import Series

pytest.importorskip("matplotlib")

SERIES = {
    "time": Series(values=np.linspace(0.1, 1.0, 10), units=("s",)),
    "joint_q": Series(values=np.zeros((10, 2, 3)), labels=("rail", "elbow", "ball[0]"), units=("m", "rad", "1")),
    "sensors/torso/linear_acceleration": Series(values=np.ones((10, 2, 1, 3)), units=("m/s²",)),
    "sensors/feet/net_force": Series(values=np.full((10, 2, 4, 3), 2.0), units=("N",)),
}


def test_the_picture_is_a_png(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).write_picture(SERIES)
    assert (tmp_path / "series.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_each_unit_has_its_own_axis_and_quaternions_have_none() -> None:
    from pippin.analysis.plot import plot_series

    figure = plot_series(SERIES)

    assert [axis.get_ylabel() for axis in figure.axes] == ["[m]", "[rad]", "[m/s²]", "[N]"]


def test_several_vectors_are_drawn_as_their_lengths() -> None:
    from pippin.analysis.plot import plot_series

    figure = plot_series(SERIES)

    lines = figure.axes[-1].lines
    assert len(lines) == 4
    np.testing.assert_allclose(lines[0].get_ydata(), np.sqrt(12.0))


def test_a_run_without_steps_has_a_picture_too(tmp_path: Path) -> None:
    empty = {name: Series(values=one.values[:0], labels=one.labels, units=one.units) for name, one in SERIES.items()}

    assert RunFolder(tmp_path).write_picture(empty)
