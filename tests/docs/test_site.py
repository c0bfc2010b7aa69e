"""The documentation site in a browser: every page and link, the search, light and dark.

Skipped without Chromium or Sphinx: `uv run --group dev --group docs pytest tests/docs/test_site.py`.
"""

from __future__ import annotations

import base64
import functools
import http.server
import importlib.util
import io
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import attrs
import numpy as np
import pytest

from core.view.tests.viser.chromium import Chromium, until

ROOT = Path(__file__).parents[2]
PHONE, DESKTOP = 390, 1400  # widths [pixels]

pytestmark = [
    pytest.mark.skipif(not Chromium.is_installed(), reason="Chromium is not installed"),
    pytest.mark.skipif(
        importlib.util.find_spec("furo") is None, reason="the group `docs` is not installed: `uv run --group docs ...`"
    ),
]

FACTS = """({
    links: [...document.links].map(each => each.href),
    anchors: [...document.querySelectorAll('[id]')].map(each => each.id),
    broken: [...document.images].filter(each => !each.complete || !each.naturalWidth).map(each => each.src),
    loaded: performance.getEntriesByType('resource').map(each => each.name),
    title: document.querySelector('h1')?.innerText ?? '',
    width: document.documentElement.scrollWidth,
})"""


@attrs.frozen
class Visit:
    """One page as the browser has it."""

    links: list[str]
    anchors: list[str]
    broken: list[str]
    """Pictures that are not there."""
    loaded: list[str]
    """Files that the page loaded."""
    title: str
    width: int
    """Width of the content on a phone [pixels]."""
    wide: int
    """Width of the content on a desktop [pixels]."""
    errors: list[str]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files, and writes nothing about it."""

    def log_message(self, *_: Any) -> None:
        pass


class Reader:
    """A tab that goes from page to page and notes the errors of each."""

    def __init__(self, browser: Any) -> None:
        self.tab = browser.open("about:blank")
        for domain in ("Runtime", "Log", "Network"):
            self.tab.call(f"{domain}.enable")

    def go(self, url: str) -> None:
        self.tab.events.clear()
        self.tab.call("Page.navigate", url=url)
        until(lambda: self.tab.evaluate("document.readyState") == "complete" and self.is_at(url), url)

    def is_at(self, url: str) -> bool:
        return unquote(self.tab.evaluate("location.href")).startswith(unquote(url))

    def resize(self, width: int) -> None:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.tab.call("Emulation.setDeviceMetricsOverride", **size)

    def errors(self) -> list[str]:
        """Return what the page complains of since it was opened."""
        self.tab.evaluate("0")  # what was told until now
        told = []
        for event in self.tab.events:
            parameters = event.get("params", {})
            is_error = event["method"] == "Runtime.exceptionThrown" or "error" in (
                parameters.get("type"),
                parameters.get("entry", {}).get("level"),
            )
            told += [json.dumps(parameters)] if is_error else []
        return told

    def visit(self, url: str) -> Visit:
        self.resize(PHONE)
        self.go(url)
        facts = self.tab.evaluate(FACTS)
        self.resize(DESKTOP)
        return Visit(**facts, wide=self.tab.evaluate("document.documentElement.scrollWidth"), errors=self.errors())


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of the site, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "docs" / "site" / "build.py", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def address(site):
    """The address of a local server of the site."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    browser = Chromium(tmp_path_factory.mktemp("chromium"), (DESKTOP, 900))
    yield Reader(browser)
    browser.close()


@pytest.fixture(scope="module")
def visits(site, address, reader) -> dict[str, Visit]:
    """Every page of the site, by its address."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return {f"{address}/{page}": reader.visit(f"{address}/{page}") for page in pages}


def test_every_link_leads_to_a_page_or_a_file_and_to_an_anchor(visits, site, address):
    dead = []
    for page, visit in visits.items():
        for link in filter(lambda each: each.startswith(address), visit.links):
            target, anchor = urldefrag(link)
            there = visits.get(target)
            exists = there is not None or (site / unquote(target.removeprefix(address)).strip("/")).is_file()
            if not exists or (anchor and there and unquote(anchor) not in there.anchors):
                dead.append(f"{page}: {link}")

    assert dead == []


def test_every_page_has_a_title_and_its_images_and_no_error(visits):
    assert len(visits) > 150
    assert {page: visit.errors for page, visit in visits.items() if visit.errors} == {}
    assert {page: visit.broken for page, visit in visits.items() if visit.broken} == {}
    assert [page for page, visit in visits.items() if not visit.title and not page.endswith("search.html")] == []


def test_no_page_loads_anything_from_elsewhere(visits, address):
    foreign = {each for visit in visits.values() for each in visit.loaded if not each.startswith((address, "data:"))}

    assert foreign == set()


def test_no_page_is_wider_than_a_phone_or_a_desktop(visits):
    assert {page: visit.width for page, visit in visits.items() if visit.width > PHONE} == {}
    assert {page: visit.wide for page, visit in visits.items() if visit.wide > DESKTOP} == {}


def searched(reader, base: str, query: str) -> list[str]:
    """Return the pages that the search finds, the best first."""
    reader.go(f"{base}/search.html?q={query}")
    summary = "document.querySelector('.search-summary')?.innerText ?? ''"
    until(lambda: "found" in reader.tab.evaluate(summary), "the end of the search")
    found = reader.tab.evaluate("[...document.querySelectorAll('ul.search li a')].map(each => each.pathname)")
    return [path.rpartition("/html/")[2].lstrip("/") for path in found]


@pytest.mark.parametrize("place", ["server", "disk"])
def test_the_search_finds_kp(reader, site, address, place):
    pages = searched(reader, address if place == "server" else site.as_uri(), "kp")

    assert pages[0] == "reference/configuration.html"
    assert {"reference/actuators/pd.html", "how-to/drive-joints.html"} <= set(pages)
    assert reader.errors() == []


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("train", "how-to/train-a-policy.html"),
        ("go1+walk", "tutorials/robot-to-walking.html"),
        ("headless", "how-to/watch-a-run.html"),
        ("headless", "how-to/record-a-video.html"),
        ("domain+randomization", "how-to/randomise.html"),
        ("sim2real", "how-to/randomise.html"),
    ],
)
def test_the_search_finds_first_what_people_do(reader, site, address, query, page):
    assert page in searched(reader, address, query)[: 1 if query == "train" else 3]


def test_a_block_is_copied_without_the_prompt_and_the_output(reader, address):
    reader.tab.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    reader.tab.call("Page.bringToFront")
    reader.go(f"{address}/tutorials/first-simulation.html")
    session = "[...document.querySelectorAll('div.highlight')].find(each => each.innerText.includes('world-steps/s'))"
    reader.tab.evaluate(f"{session}.querySelector('.copy').click()")
    until(lambda: reader.tab.evaluate(f"{session}.querySelector('.copy').innerText") == "copied", "the copy")

    assert reader.tab.evaluate("navigator.clipboard.readText()") == (
        "uv run pippin run docs/examples/ant.toml --steps 50 --set scene.worlds=4 --out runs/first"
    )


def in_scheme(reader, scheme: str) -> None:
    reader.tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])


def shown(tab: Any, selector: str) -> np.ndarray:
    """Return the pixels of an element, shape [height, width, 3], from 0 to 1."""
    from matplotlib import image

    box = f"(box => [box.x, box.y + scrollY, box.width, box.height])(document.querySelector('{selector}')"
    x, y, width, height = tab.evaluate(f"{box}.getBoundingClientRect())")
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    taken = tab.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    return image.imread(io.BytesIO(base64.b64decode(taken["data"])))[..., :3]


def test_light_and_dark_differ(reader, address):
    shades = []
    for scheme in ("light", "dark"):
        in_scheme(reader, scheme)
        reader.go(f"{address}/reference/configuration.html")
        colour = reader.tab.evaluate("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))) / (3 * 255))

    assert shades[0] > 0.9
    assert shades[1] < 0.2


def test_plots_have_the_ground_of_the_page_in_light_and_dark(reader, address):
    for scheme in ("light", "dark"):
        in_scheme(reader, scheme)
        reader.go(f"{address}/reference/actuators/pd.html")
        until(lambda: reader.tab.evaluate("document.querySelector('.content img').complete"), "the plot")
        plot, page = shown(reader.tab, ".content img"), shown(reader.tab, ".content p")

        assert np.abs(np.median(plot, axis=(0, 1)) - np.median(page, axis=(0, 1))).max() < 0.03
        assert np.ptp(plot.max(axis=2)) > 0.6  # axes and lettering stand out
