"""The page of a sweep: each figure against each key, videos side by side, and the table."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from pippin.report import page
from pippin_sweep.results_page import results_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
KEYS = ["motor.kd", "solver.type"]


def row(kd, solver, drift, **more):
    facts = {"outcome": "ok", "reason": None, "notes": None, "ignores": None, "seconds": 0.5, "shared": True}
    name = f"{kd}-{solver}"
    return {"id": name, "motor.kd": kd, "solver.type": solver, **facts, "worlds": 4, "energy_drift": drift, **more}


ROWS = [
    row(0.1, "xpbd", 2.0, ignores="armature"),
    row(0.1, "mujoco", 4.0),
    row(10.0, "xpbd", 6.0),
    row(10.0, "mujoco", None, outcome="failed", reason="it <fell>"),
    row(100.0, "xpbd", 8.0, notes="recorders:log: slow"),
]


@pytest.fixture
def text(tmp_path):
    video = tmp_path / "variants" / "0.1-xpbd"
    video.mkdir(parents=True)
    (video / "video.mp4").write_bytes(b"video")
    return page("arm: sweep", results_page("arm.toml", ROWS, KEYS, tmp_path / "variants"))


@pytest.fixture
def charts(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["charts"]


def test_each_key_has_a_chart_of_each_figure_with_a_line_for_each_other_value(text, charts):
    by_kd, by_solver = charts

    assert re.findall(r"<h2>By (.*?)</h2>", text) == KEYS
    assert [line["name"] for line in by_kd["lines"]] == ["type = xpbd", "type = mujoco"]
    numbers = {"places": [-1.0, 1.0, 2.0], "labels": ["0.1", "10", "100"], "is_ordered": True, "is_bridged": False}
    assert by_kd["axis"] == numbers
    assert (by_kd["low"][0][0], by_kd["high"][0][0]) == (2.0, 8.0)
    assert [line["name"] for line in by_solver["lines"]] == ["kd = 0.1", "kd = 10.0", "kd = 100.0"]
    unordered = {"is_ordered": False, "is_bridged": False}
    assert by_solver["axis"] == {"places": [0.0, 1.0], "labels": ["xpbd", "mujoco"], **unordered}


def test_many_lines_become_their_median_and_their_range(tmp_path):
    rows = [{**row(kd, "xpbd", float(kd + seed)), "seed": seed} for kd in (1, 2) for seed in range(11)]

    text = page("arm: sweep", results_page("arm.toml", rows, ["motor.kd", "seed"], tmp_path))

    first = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["charts"][0]
    assert [line["name"] for line in first["lines"]] == ["smallest", "median", "largest"]
    np.testing.assert_allclose(first["low"], [[1.0, 6.0, 11.0]])
    np.testing.assert_allclose(first["high"], [[2.0, 7.0, 12.0]])


def test_films_table_and_reasons_name_their_variants(text):
    assert 'src="variants/0.1-xpbd/video.mp4"' in text
    assert "<figcaption>motor.kd = 0.1, solver.type = xpbd</figcaption>" in text
    assert text.count("<td>armature</td>") == 1
    assert "<dt>motor.kd = 10, solver.type = mujoco</dt><dd><p>it &lt;fell&gt;</p></dd>" in text
    assert "<p>recorders:log: slow</p>" in text
    assert "the same in all: worlds: 4" in text
    assert "4 of 5 ok" in text


PROBE = """<script>
addEventListener("error", event => document.body.dataset.error = event.message);
const box = document.querySelector(".chart > svg").getBoundingClientRect();
document.querySelector(".chart > svg").dispatchEvent(
  new PointerEvent("pointermove", { clientX: box.right - 30, clientY: box.top + 9 }));
setTimeout(() => {
  const texts = name => [...document.querySelectorAll(name)].map(each => each.textContent);
  document.body.dataset.probe = JSON.stringify({
    dots: document.querySelectorAll("circle").length,
    read: texts(".legend output"),
    labels: texts(".chart svg text"),
  });
}, 200);
</script></html>"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_browser_draws_the_values_and_reads_them_under_the_cursor(text, tmp_path):
    file = tmp_path / "results.html"
    file.write_text(text.replace("</html>", PROBE), encoding="utf-8")
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", file.as_uri()]

    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    assert "data-error" not in shown
    found = json.loads(re.search(r'data-probe="([^"]*)"', shown)[1].replace("&quot;", '"').replace("&amp;", "&"))
    assert found["dots"] == 8  # four values in each of two charts
    assert found["read"] == ["8.000", "\u2013", "", "", ""]  # of the chart under the cursor alone
    assert {"0.1", "10", "100", "xpbd", "mujoco"} <= set(found["labels"])
