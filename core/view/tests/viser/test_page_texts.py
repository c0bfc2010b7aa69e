"""Names and errors of others on a page: they are shown, and a browser never interprets them."""

import html
import re
import threading
from types import SimpleNamespace
from xml.sax.saxutils import quoteattr

import pippin
import pytest
from pippin.report import markdown
from pippin_view.viser.page import TextBox

from .chromium import Chromium, until

HOSTILE = (
    "<iframe srcdoc='<img src=x onerror=parent.pwned=1>'></iframe><img src=x onerror=pwned=1><script>pwned=1</script>",
    "**bold** _slanted_ `code` ~~struck~~ [link](javascript:pwned=1) ![image](http://127.0.0.1:1/x) # | > 1) - +",
    "{} {0.__class__} &lt;b&gt; \\ \" ' $",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_value_is_the_text_that_a_browser_shows(name):
    shown = markdown("**{}**", name)

    assert html.unescape(shown) == f"**{name}**"
    assert not re.search(r"[<>`*_\[\]()!#|~\\\"'{}]", shown[2:-2].replace("&#", ""))


def test_a_value_stays_on_its_line_and_commands_no_terminal():
    assert markdown("{}", "a\n\n# b\x1b[31m\u202ec") == "a  &#35; b &#91;31m c"


def test_what_is_escaped_is_not_escaped_again():
    assert markdown("<i>{}</i>", markdown("<b>{}</b>", "<")) == "<i><b>&#60;</b></i>"


def test_a_text_that_was_not_escaped_is_refused():
    box = TextBox(lambda text: SimpleNamespace(content=text, visible=True))
    box.show(markdown("{}", "<"))

    assert box.text == "&#60;"
    with pytest.raises(TypeError, match="make it by markdown"):
        box.show("<b>")


def robot(name):
    """Return a robot whose every element has one name."""
    name = quoteattr(name)
    return f"""<mujoco model={name}><worldbody><body name={name}><joint name={name} type="hinge"/>
        <geom name={name} type="box" size="1 1 1" mass="1"/><site name={name}/></body></worldbody>
        <sensor><jointpos name={name} joint={name}/></sensor></mujoco>"""


@pytest.mark.slow
@pytest.mark.skipif(not Chromium.is_installed(), reason="there is no Chromium on this machine")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_runs_nothing_of_a_robot_whose_every_name_is_hostile(name, tmp_path):
    (tmp_path / "robot.xml").write_text(robot(name))
    label = name.replace("/", "|").replace("\\", "|")  # no label of a component has them
    tables = {
        "simulation": {"device": "cpu"},
        "scene": {"assets": [{"path": str(tmp_path / "robot.xml")}]},
        "solver": {"type": "featherstone"},
        "actuators": {label: {"type": "pd", "joints": [".*"], "kp": 1.0, "kd": 0.1}},
        "viewers": {"page": {"type": "viser", "speed": 1.0}},
    }
    browser, is_over = Chromium(tmp_path / "chromium", (900, 700)), threading.Event()
    with pippin.Simulation(pippin.structure(tables)) as simulation:
        page = simulation.viewers["page"]
        thread = threading.Thread(target=lambda: [simulation.step() for _ in iter(is_over.is_set, True)])
        thread.start()
        try:
            tab = browser.open(page.url)
            until(lambda: tab.shows("real time"), "the page")
            page.show_fault(f"of {name}")
            until(lambda: tab.shows("of " + name[:10]), "the fault")
            until(lambda: tab.instance_count() == 1, "the box")
            for each in ("Names of bodies", "Names of joints"):
                tab.press(each)
            for kind in ("mousePressed", "mouseReleased"):
                tab.call("Input.dispatchMouseEvent", type=kind, x=330, y=350, button="left", clickCount=1)
            until(lambda: tab.shows("of world 0, moved by"), "the name of the body")
            made = "[...document.querySelectorAll('iframe, img[src=x], img[src^=http], em, code, del, [href^=java]')]"

            assert tab.evaluate("window.pwned ?? null") is None
            assert tab.evaluate(f"{made}.map(each => each.outerHTML.slice(0, 200))") == []

            # If a text were interpreted all the same: the browser runs no script of it.
            tab.evaluate(f"document.body.insertAdjacentHTML('beforeend', {HOSTILE[0]!r})")
            until(lambda: tab.evaluate("document.querySelectorAll('iframe').length") == 1, "the frame")
            assert tab.evaluate("new Promise(done => setTimeout(() => done(window.pwned ?? null), 1000))") is None
        finally:
            is_over.set()
            page.pause(False)
            thread.join()
            browser.close()
