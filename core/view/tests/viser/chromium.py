"""A headless Chromium, driven through its DevTools protocol over a websocket."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

__all__ = ["Chromium", "Tab"]

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    "--disable-gpu-vsync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--mute-audio",
    "--remote-debugging-port=0",
)
_KEYS = {"Home": 36, "End": 35}
_FIND = """label => {
    const labels = [...document.querySelectorAll('label')].filter(each => each.innerText.trim() === label);
    const inputs = labels.map(each => document.getElementById(each.htmlFor)).filter(each => each);
    return inputs[0] ?? [...document.querySelectorAll('button')].find(each => each.innerText.trim() === label);
}"""
_INSTANCES = """(() => {
    let count = 0;
    window.__viserMutable?.scene?.traverse(each => { count += each.isInstancedMesh2 ? each.instancesCount : 0; });
    return count;
})()"""
_SLOW = """{
    const frame = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = draw => setTimeout(() => frame(draw), 200);
}"""  # images are drawn by the CPU: without this, the browser would take all cores
_PATIENCE = 60.0  # for the browser, and for what a page shows [s]


def until(holds, what: str, patience: float = _PATIENCE) -> Any:
    """Return the first true value of a function; fail after some time."""
    end = time.monotonic() + patience
    while not (value := holds()):
        assert time.monotonic() < end, f"waited {patience:g} s for {what}"
        time.sleep(0.02)
    return value


class Chromium:
    """A browser without a window; its profile is in `folder`."""

    def __init__(self, folder: Path, size: tuple[int, int] = (640, 480)) -> None:
        program = next(filter(None, map(shutil.which, _NAMES)))
        size_flag = f"--window-size={size[0]},{size[1]}"
        self._process = subprocess.Popen(
            [program, *_FLAGS, size_flag, f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        port_file = folder / "DevToolsActivePort"
        until(lambda: port_file.exists() and len(port_file.read_text().split()) == 2, "Chromium")
        self._address = f"http://127.0.0.1:{port_file.read_text().split()[0]}"

    @staticmethod
    def is_installed() -> bool:
        return any(map(shutil.which, _NAMES))

    def open(self, url: str) -> Tab:
        """Open a page in a new tab."""
        request = urllib.request.Request(f"{self._address}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request) as answer:
            tab = Tab(json.load(answer)["webSocketDebuggerUrl"])
        tab.call("Page.enable")
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SLOW)
        tab.call("Page.navigate", url=url)
        return tab

    def freeze(self) -> None:
        """Stop all processes of the browser, as a laptop does that is closed."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let them continue."""
        os.killpg(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        os.killpg(self._process.pid, 15)
        self._process.wait(10)


class Tab:
    """A page in the browser."""

    def __init__(self, address: str) -> None:
        self._socket = connect(address, max_size=None)
        self._count = 0
        #: Events between the answers, of the enabled domains.
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv(_PATIENCE))).get("id") != self._count:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, label: str) -> None:
        """Click the button, or the checkbox, with a label."""
        assert self.evaluate(f"!!({_FIND})({json.dumps(label)})"), f"the page has no control {label!r}"
        self.evaluate(f"({_FIND})({json.dumps(label)}).click()")

    def choose(self, label: str, option: str) -> None:
        """Choose an option of the list with a label."""
        self.press(label)
        find = f"[...document.querySelectorAll('[role=option]')].find(o => o.innerText.trim() === {json.dumps(option)})"
        until(lambda: self.evaluate(f"!!{find}"), f"the option {option!r}")
        self.evaluate(f"{find}.click()")

    def key(self, slider: int, name: str) -> None:
        """Press a key on a slider, counted from 0."""
        self.evaluate(f"document.querySelectorAll('[role=slider]')[{slider}].focus()")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=_KEYS[name])

    def move(self, x: float, y: float) -> None:
        """Move the pointer to a place of the window [px]."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def shows(self, text: str) -> bool:
        """Tell whether the page contains a text."""
        return text in self.evaluate("document.body?.innerText ?? ''")

    def instance_count(self) -> int:
        """Return the number of instances in viser's scene, in the image or outside."""
        return self.evaluate(_INSTANCES)

    def screenshot(self) -> bytes:
        """Return a PNG of the page."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        self.call("Page.close")
        self._socket.close()
