"""The picture of a run: what it draws, and that it is a file which programs can open."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
from pippin.analysis.plot import panels_of, plot_series
from pippin.analysis.recorder import Series
from pippin.analysis.run_folder import RunFolder

SERIES = {
    "time": Series(values=np.linspace(0.1, 1.0, 10), units=("s",)),
    "joint_q": Series(values=np.zeros((10, 2, 3)), labels=("rail", "elbow", "ball[0]"), units=("m", "rad", "1")),
    "sensors/torso/linear_acceleration": Series(values=np.ones((10, 2, 1, 3)), units=("m/s²",)),
    "sensors/feet/net_force": Series(values=np.full((10, 2, 4, 3), 2.0), units=("N",)),
}
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_an_svg(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_picture(SERIES)

    assert ElementTree.parse(tmp_path / "series.svg").getroot().tag == f"{SVG}svg"


def test_each_unit_has_its_own_axis_and_quaternions_have_none() -> None:
    assert [panel.unit for panel in panels_of(SERIES)] == ["m", "rad", "m/s²", "N"]


def test_several_vectors_are_drawn_as_their_lengths() -> None:
    curves = panels_of(SERIES)[-1].curves

    assert len(curves) == 4
    np.testing.assert_allclose(curves[0].y, np.sqrt(12.0))


def test_names_are_written_as_text_whatever_they_hold() -> None:
    series = {name: SERIES[name] for name in ("time",)}
    series["joint_q"] = Series(values=np.zeros((10, 1, 2)), labels=("<arm>", "a & b"), units=("rad", "rad"))

    texts = [element.text for element in ElementTree.fromstring(plot_series(series)).iter(f"{SVG}text")]

    assert {"<arm>", "a & b", "[rad]", "time [s]"} <= set(texts)


def test_a_run_without_steps_has_a_picture_too() -> None:
    empty = {name: Series(values=one.values[:0], labels=one.labels, units=one.units) for name, one in SERIES.items()}

    assert ElementTree.fromstring(plot_series(empty)).tag == f"{SVG}svg"
