"""Tests of this importer's file."""

from pathlib import Path

import pippin
import pytest

FILE = Path(__file__).parents[1] / "tower.demo"


def simulate(file):
    scene = {"assets": [{"path": str(file), "importer": "demo"}]}
    tables = {"simulation": {"device": "cpu"}, "scene": scene, "solver": {"type": "semi-implicit"}}
    return pippin.Simulation(pippin.structure(tables))


def test_boxes_stand_on_each_other():
    with simulate(FILE) as simulation:
        heights, masses = simulation.state.body_q.numpy()[:, 2], simulation.model.body_mass.numpy()

    assert heights == pytest.approx([0.2, 0.51])
    assert masses == pytest.approx([2.0, 1.0])


def test_a_wrong_file_is_told(tmp_path):
    wrong = tmp_path / "tower.demo"
    wrong.write_text('{"boxes": [{"name": "low"}]}')

    with pytest.raises(pippin.ConfigError, match="has no boxes with name, size and mass"):
        simulate(wrong)
