"""Page of a run."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from pippin.components.tracing import HookTrace
from pippin.recording.series import Series
from pippin.runs.report.run_page import run_page
from pippin_task.score import Score

ROWS = 2000


def changing(*shape):
    """Return values that differ from row to row and from entry to entry."""
    return np.sin(np.arange(ROWS * np.prod(shape, dtype=int))).reshape(ROWS, *shape)


SERIES = {
    "time": Series(values=np.linspace(0.004, 8.0, ROWS), units=("s",)),
    "joint_q": Series(values=changing(2, 2), labels=("arm/rail", "arm/elbow"), units=("m", "rad")),
    "actuators/arm/applied_effort": Series(values=changing(2, 1), labels=("arm/elbow",), units=("N·m",)),
}


class Text(HTMLParser):
    """The text of a page, its elements with their attributes, and the elements that were never closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words, self.open, self.links = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page_of(summary, series=SERIES, **options) -> str:
    return run_page("arm file.toml", summary, series, "[scene]\nworlds = 3", folder=Path("none"), **options)


def data_of(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    return json.loads(text)


def test_a_page_tells_what_ran_and_what_should_be_known(summary):
    parsed = Text(page_of(summary))
    text = " ".join(parsed.words)

    assert parsed.open == []
    for fact in (
        "arm file.toml",
        "pippin run 'arm file.toml'",
        "finished",
        "12,346",
        "accelerations are changes of velocity",
        "not captured: it writes <a file>",
        "step_solver(solver) × 2",
        "option: timestep 0.016 → 0.002",
        "4,096",
        "pippin-actuator-pd",
        "1.8.0",
        "not reported",
        "worlds = 3",
    ):
        assert fact in text, fact


def test_a_page_asks_the_network_for_nothing(summary):
    page = page_of(summary)

    assert Text(page).links == []
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}  # the name of SVG itself


def test_a_page_has_a_chart_for_each_unit_and_a_choice_of_world(summary):
    page = page_of(summary)
    charts = data_of(page)["charts"]

    assert [chart["unit"] for chart in charts] == ["m", "rad", "N·m"]
    assert [len(chart["low"]) for chart in charts] == [2, 2, 2]
    assert page.count("<option") == 2
    assert "<h3>actuators:arm<small>pd</small></h3>" in page


def test_worlds_have_their_own_numbers(summary):
    page = page_of(summary, worlds=[4, 7])

    assert '<option value="1">7</option>' in page


def test_more_worlds_than_fit_are_told_of(summary):
    series = {name: one if name == "time" else Series(values=np.zeros((ROWS, 20, 1))) for name, one in SERIES.items()}

    assert "8 of 20 recorded worlds are on this page" in page_of(summary, series)


@pytest.mark.parametrize(
    ("failure", "badge", "told"),
    [
        ("step 3: joint <x> is not finite", '<span class="badge bad">failed', "joint &lt;x&gt; is not finite</div>"),
        ("stopped", '<span class="badge">stopped', "Stopped by the user after 8 s."),
    ],
)
def test_an_early_end_stands_at_the_top(summary, failure, badge, told):
    page = page_of({**summary, "failure": failure})

    assert badge in page
    assert page.index(told) < page.index("<section")


@pytest.mark.parametrize("rows", [0, 1])
def test_a_run_without_steps_or_with_one_has_a_page_too(summary, rows):
    series = {
        name: Series(values=one.values[:rows], labels=one.labels, units=one.units) for name, one in SERIES.items()
    }

    page = page_of({**summary, "world_steps_per_second": None, "real_time_factor": None}, series)

    assert ("Nothing was recorded." in page) == (rows == 0)
    assert len(data_of(page)["charts"]) == 3 * rows


def test_calls_of_hooks_are_a_table(summary):
    trace = HookTrace()
    trace.timed("bind", "actuators:arm", lambda: None)()

    page = page_of(summary, trace=trace)

    assert "<td>build</td><td>bind</td><td>actuators:arm</td>" in page


def test_what_never_changes_is_told_in_words(summary):
    series = {**SERIES, "sensors/imu/tilt": Series(values=np.full((ROWS, 2, 3), 0.25), units=("rad",))}
    page = page_of(summary, series)

    assert "Without a chart, as they never change: tilt = 0.25 rad" in " ".join(Text(page).words)
    assert len(data_of(page)["charts"]) == len(data_of(page_of(summary))["charts"])


def test_equal_lines_share_a_row_of_the_legend(summary):
    values = np.repeat(changing(2, 1), 12, axis=2)
    values[..., 4] += 1.0
    series = {**SERIES, "sensors/feet/force": Series(values=values, labels=tuple(f"leg_{i}" for i in range(12)))}

    lines = data_of(page_of(summary, series))["charts"][-1]["lines"]

    assert [line["name"] for line in lines] == ["leg_0 and 10 equal ones", "leg_4"]


def test_an_axis_is_never_scaled_to_noise(summary):
    series = {**SERIES, "joint_qd": Series(values=1e-7 * changing(2, 2), units=("rad/s",))}

    assert [chart["least"] for chart in data_of(page_of(summary, series))["charts"]] == [1e-4, 1e-4, 1e-3, 1e-3]


def test_data_cannot_end_the_script(summary):
    series = {**SERIES, "a": Series(values=changing(1, 1), labels=("</script><b>",))}

    page = page_of(summary, series)

    assert data_of(page)["charts"][2]["lines"][0]["name"] == "script><b>"
    assert "</script><b>" not in page


def test_a_task_has_its_score_and_no_chart_of_what_never_changes(summary):
    count = np.zeros((ROWS, 2), dtype=np.int32)
    terms = {"labels": ("fast", "calm"), "units": ("1",)}
    rewards = np.linspace(0.0, 1.0, ROWS * 4, dtype=np.float32).reshape(ROWS, 2, 2)
    own = {"episode": Series(values=count, units=("1",)), "task/rewards": Series(values=rewards, **terms)}
    totals = np.array([4.0, 40, 8, 18, 10, -2, 3, 0, 1, 1, 3, 3])
    score = Score(("fast", "calm"), ("fallen",), ("reached",), totals, np.array([2.0, 6, 3]))

    text = " ".join(Text(page_of({**summary, "task": score.plain()}, SERIES | own)).words)

    assert "mean return 2 ± 0.71" in text  # of 4 episodes: squares 18/4 - 2² = 0.5
    assert "4 (time 1, fallen 3)" in text
    assert "that run on: 2 (mean return 1.5 so far" in text
    assert "fast 2.5 calm -0.5" in text
    assert "reached 0.75" in text
    assert "Without a chart, as they never change: resets since the start = 0" in text
