"""What a run says about its matter: in the summary, in the report, and on the terminal."""

import json

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.recording.reading import Recording

SCENE = """
simulation = { dt = 0.01, device = "cpu", accept_unsupported = ["triangles", "bending"] }
solver = { type = "xpbd", disable_particle_contacts = true }
scene.worlds = 2

[[scene.objects]]
type = "cloth-grid"
label = "flag"
position = [1.0, 0.0, 5.0]
velocity = [0.5, 0.0, 0.0]
cells = [4, 2]
cell = [0.1, 0.1]
particle_mass = 0.01
particle_radius = 0.02
spring_ke = 1.0

[[scene.objects]]
type = "body"
label = "ball"
shapes = [{ type = "sphere", radius = 0.1 }]
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "flag.toml").write_text(SCENE)
    return tmp_path / "flag.toml"


def test_the_summary_says_where_matter_went(file, tmp_path):
    result = pippin.run(file, steps=20, out=tmp_path / "run")

    [(label, flag)] = json.loads((tmp_path / "run/summary.json").read_text())["matter"].items()
    assert flag == result.summary["matter"][label]
    assert (label, flag["kind"], flag["count"], flag["mass"]) == ("flag", "surface", 15, pytest.approx(0.15))
    np.testing.assert_allclose(flag["start"], [1.2, 0.1, 5.0], atol=1e-5)
    fall = 9.81 * 0.01**2 * 20 * 21 / 2  # the springs do not act on the centre
    np.testing.assert_allclose(flag["end"], [1.2 + 0.5 * 0.2, 0.1, 5.0 - fall], atol=1e-3)
    np.testing.assert_allclose(flag["extent"], [0.4, 0.2, 0.0], atol=1e-3)
    assert flag["largest_speed"] == pytest.approx(np.hypot(0.5, 9.81 * 0.2), rel=1e-2)


def test_the_report_has_a_table_and_charts_of_matter(file, tmp_path):
    pippin.run(file, steps=5, out=tmp_path / "run")

    page = (tmp_path / "run/report.html").read_text()
    assert "<h2" in page.split('id="matter"')[1][:200] or "Matter" in page
    assert "fastest at the end" in page
    assert "centroid" in page
    with Recording(tmp_path / "run/series.npz") as recording:
        assert recording["objects/flag/centroid"].shape[1:] == (1, 3)


def test_the_command_prints_a_line_for_each_object(file, tmp_path):
    result = CliRunner().invoke(main, ["run", str(file), "--steps", "2", "--out", str(tmp_path / "run")])

    assert result.exit_code == 0
    assert "flag: 15 particles, 0.15 kg, centre at (1.21, 0.1, 5) m, fastest 0.53" in result.output


@pytest.mark.slow
def test_a_run_in_two_processes_says_the_same_of_the_first_world(file, tmp_path):
    alone = pippin.run(file, steps=3, out=tmp_path / "alone")
    shared = pippin.run(file, steps=3, out=tmp_path / "shared", processes=2)

    assert shared.summary["matter"] == alone.summary["matter"]
