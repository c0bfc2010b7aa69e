"""A page of a run for others: one file with all poses, which plays in a browser without a server."""

import base64
import re
import shutil

import msgspec.msgpack
import numpy as np
import pippin
import pytest
import zstandard
from click.testing import CliRunner
from pippin.cli import main
from pippin_view import share, sharing

from .viser.chromium import Chromium, until

HINGE = """
[simulation]
device = "cpu"
dt = 0.01
[scene]
worlds = 3
spacing = [1.0, 0.0, 0.0]
[[scene.assets]]
path = "hinge.xml"
joint_positions = { hinge = 1.0 }
[solver]
type = "featherstone"
"""

RATE = 20.0


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a second of two pendulums of three."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "hinge.xml").write_text(
        '<mujoco><worldbody><body name="rod"><joint type="hinge" name="hinge" axis="0 1 0"/>'
        '<geom type="capsule" size=".05 .2" pos="0 0 -.3"/></body></worldbody></mujoco>'
    )
    (folder / "hinge.toml").write_text(HINGE)
    pippin.run(folder / "hinge.toml", duration=1.0, out=folder / "<run>", record_worlds=2)
    return folder / "<run>"


def recording_of(html):
    """Return what the page plays: its length [s], its messages, and its numbers."""
    packed = base64.b64decode(re.search(r'__VISER_EMBED_DATA__="([^"]*)"', html)[1])
    inner = zstandard.ZstdDecompressor().decompress(packed[8:])
    size = int.from_bytes(inner[:8], "little")
    told = msgspec.msgpack.decode(inner[8 : 8 + size])
    buffers, place = [], 8 + size
    for length in told["binaryBufferLengths"]:
        place = -(-place // 8) * 8
        buffers.append(inner[place : place + length])
        place += length
    return told["durationSeconds"], told["messages"], buffers


def test_the_command_writes_a_page_with_a_frame_for_each_time(run):
    result = CliRunner().invoke(main, ["share", str(run), "--rate", str(RATE), "--dark"])

    assert result.exit_code == 0, result.output
    html = (run / "share.html").read_text(encoding="utf-8")
    assert re.search(r"page: \S+share.html, 20 frames, 0\.\d MB", result.output.replace("<run>", "run"))
    assert "darkMode:true" in html
    assert "&lt;run&gt; · featherstone · 1 s · 2 of 3 worlds" in html
    assert "<run>" not in html
    duration, messages, _ = recording_of(html)
    assert duration == pytest.approx(20 / RATE)
    times = sorted({moment for moment, _ in messages if moment})
    assert np.allclose(times, np.arange(1, 20) / RATE)


def test_the_poses_are_those_of_the_recording(run):
    """The orientation of the rod of the first world, frame by frame."""
    page = share(run, rate=RATE, worlds=[0])
    _, messages, buffers = recording_of(page.html)
    angles = pippin.Run(run)["joint_q"][:][:, 0, 0]

    moves = [
        (moment, message["updates"]["batched_wxyzs"])
        for moment, message in messages
        if "batched_wxyzs" in message.get("updates", {})
    ]
    assert len(moves) == 19  # and the first one
    for moment, numbers in moves:
        turned = np.frombuffer(buffers[numbers["__binary_index"]], dtype=numbers["dtype"])[:4]
        row = round(moment * 100)  # the first row is that of the first step
        assert 2.0 * np.arctan2(turned[2], turned[0]) == pytest.approx(angles[row], abs=1e-4)


def test_slow_motion_has_more_frames(run):
    assert share(run, rate=10.0, speed=0.5).frame_count == 20


def test_a_notebook_shows_it_in_a_frame(run):
    shown = share(run, rate=10.0)._repr_html_()

    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert shown.count('"') == len(re.findall(r'\w+="', shown)) * 2  # nothing ends the attribute early


@pytest.mark.parametrize(
    ("options", "cure"),
    [
        ({"worlds": "2:3"}, "world 2 is not in"),
        ({"worlds": [7]}, "worlds"),
    ],
)
def test_a_world_that_was_not_recorded_is_refused(run, options, cure):
    with pytest.raises(pippin.ConfigError, match=cure):
        share(run, **options)


def test_a_page_that_is_too_large_is_refused_with_its_cure(run, monkeypatch):
    monkeypatch.setattr(sharing, "_LIMIT", 500_000)  # viser itself has 0.8 MB

    with pytest.raises(pippin.ConfigError, match=r"would have 0\.\d MB, .* fewer --worlds, or at a lower --rate"):
        share(run)


def test_a_folder_without_poses_is_refused(run, tmp_path):
    (tmp_path / "config.toml").write_text((run / "config.toml").read_text())

    result = CliRunner().invoke(main, ["share", str(tmp_path)])

    assert result.exit_code == 2
    assert "no recording with rows of body_q or joint_q" in result.output
    bare = shutil.copytree(run, tmp_path / "bare", ignore=shutil.ignore_patterns("config.toml"))
    assert "has no config.toml" in CliRunner().invoke(main, ["share", str(bare)]).output


@pytest.mark.skipif(not Chromium.is_installed(), reason="Chromium is not installed")
def test_a_browser_plays_the_file_without_a_network(run, tmp_path):
    page = share(run, rate=RATE)
    page.write(tmp_path / "share.html")
    browser = Chromium(tmp_path / "profile", size=(320, 240))
    try:
        tab = browser.open("about:blank")
        for domain in ("Log", "Network", "Runtime"):
            tab.call(f"{domain}.enable")
        tab.call("Page.navigate", url=(tmp_path / "share.html").as_uri())
        until(lambda: tab.instance_count() >= 2, "two rods")
        time_of = "document.querySelector('input')?.value"
        first = tab.evaluate(time_of)
        until(lambda: tab.evaluate(time_of) != first, "another time")
        urls = [event["params"]["request"]["url"] for event in tab.events if "request" in event["params"]]
        faults = [event for event in tab.events if event["method"] == "Runtime.exceptionThrown"]
    finally:
        browser.close()
    assert {url.partition(":")[0] for url in urls} <= {"file", "data", "blob", "about"}
    assert faults == []
