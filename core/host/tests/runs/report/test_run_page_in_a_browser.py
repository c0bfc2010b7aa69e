"""A page in a real browser."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from pippin.recording.series import Series
from pippin.report import Chart, section
from pippin.report.whole_page import page
from pippin.runs.report.run_page import run_page

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

PROBE = """<script>
addEventListener("error", event => document.body.dataset.error = event.message);
const drawn = () => [...document.querySelectorAll("path[data-color]")].map(path => path.getAttribute("d"));
const outputs = () => [...document.querySelectorAll(".legend output")].map(output => output.textContent);
const first = drawn(), box = document.querySelector(".chart > svg").getBoundingClientRect();
document.querySelector(".chart > svg").dispatchEvent(
  new PointerEvent("pointermove", { clientX: box.left + box.width / 2 + 21, clientY: box.top + 9 }));
setTimeout(() => {
  const read = outputs(), choice = document.getElementById("world");
  choice.value = "1";
  choice.dispatchEvent(new Event("change"));
  const second = drawn();
  document.querySelector(".legend button").click();
  document.body.dataset.probe = JSON.stringify({ first, second, read, left: drawn().length });
}, 200);
</script></html>"""


CAPTIONS = """<script>
const captions = [...document.querySelectorAll("figcaption")];
const lines = each => each.getClientRects().length && Math.round(each.offsetHeight / 18);
document.body.dataset.probe = JSON.stringify({
  wide: captions.filter(each => each.scrollWidth > each.clientWidth).map(each => each.textContent),
  units: captions.map(each => lines(each.querySelector("small:not(.key)"))) });
</script></html>"""


def shown(file, width=1280):
    """Return the document that Chromium makes of a page."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"]
    command += [f"--window-size={width},800", f"--user-data-dir={file.parent / 'profile'}", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def probed(text):
    (probe,) = re.findall(r'data-probe="([^"]*)"', text)
    return json.loads(probe.replace("&quot;", '"').replace("&amp;", "&"))


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1280, 520])
def test_a_long_note_stays_within_its_chart(width, tmp_path):
    times, note = np.linspace(0.0, 1.0, 9), "a_log_with_a_rather_long_name_episode_0041.csv; validation from 12.4 s"
    charts = [
        Chart.of(f"shoulder_pan: {name}", {"found": times}, times, unit, note=note)
        for name, unit in {"position": "rad or m", "velocity": "rad/s or m/s", "effort": "N·m or N"}.items()
    ]
    file = tmp_path / "page.html"
    file.write_text(page("Notes", [section("Signals", charts)]).replace("</html>", CAPTIONS), encoding="utf-8")

    found = probed(shown(file, width))

    assert found["wide"] == []
    assert found["units"] == [1, 1, 1]


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_charts_are_drawn_read_and_change_with_the_world(summary, tmp_path):
    values = np.linspace([[0.0, 1.0], [5.0, 5.0]], [[2.0, 0.0], [5.0, np.nan]], 3001)
    labels = ("arm/rail", "arm/elbow")
    series = {
        "time": Series(values=np.linspace(0.0, 4.0, 3001)),
        "joint_q": Series(values=values, labels=labels, units=("m", "rad")),
        "actuators/arm/position_targets": Series(values=values[..., 1:], labels=labels[1:], units=("rad",)),
    }
    file = tmp_path / "report.html"
    text = run_page("arm.toml", summary, series, "", folder=tmp_path)
    file.write_text(text.replace("</html>", PROBE), encoding="utf-8")

    text = shown(file)

    assert "data-error" not in text
    found = probed(text)
    assert len(found["first"]) == 3  # two joints and a target
    assert all(len(path) > 1000 for path in found["first"])
    assert found["first"][0] != found["second"][0]
    assert len(found["second"]) == 1  # the second world's elbow has no finite value
    assert "no finite value to draw" in text
    at_half = [[float(number) for number in re.findall(r"[\d.]+", read)] for read in found["read"]]
    np.testing.assert_allclose(at_half[0], 1.0, atol=0.01)
    np.testing.assert_allclose(at_half[1], 0.5, atol=0.01)
    assert found["left"] == 0
    assert "every line is hidden" in text
