"""Every array, launch, stream and event of the core and of the plugins names its device: there is no default."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .kernels import ROOT, source_files

BY_KEYWORD = frozenset(["array", "empty", "from_numpy", "full", "launch", "launch_tiled", "ones", "zeros", "HashGrid"])
"""Functions of Warp that take Warp's default device unless the argument `device` or `stream` is given."""

FIRST = frozenset(
    [
        "Event",
        "ScopedCapture",
        "ScopedDevice",
        "Stream",
        "capture_begin",
        "get_device",
        "get_stream",
        "synchronize_device",
    ]
)
"""Functions of Warp whose first argument, or `device` or `stream`, is the device."""

FORBIDDEN = frozenset(["get_preferred_device", "set_device", "synchronize"])
"""Functions of Warp about the default device, or about all devices."""


def unnamed(path: Path, text: str) -> Iterator[str]:
    """Yield the line of each call of a file that would use Warp's default device."""
    tree = ast.parse(text)
    annotations = {
        id(node)
        for each in ast.walk(tree)
        if isinstance(each, ast.arg | ast.AnnAssign) and each.annotation is not None
        for node in ast.walk(each.annotation)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and id(node) not in annotations and _uses_default(node):
            yield f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def _uses_default(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(value=ast.Name(id="wp" | "warp"), attr=name):
            pass
        case _:
            return False
    is_named = any(each.arg in ("device", "stream", None) for each in call.keywords)  # None: `**options`
    return name in FORBIDDEN or (not is_named and (name in BY_KEYWORD or (name in FIRST and not call.args)))


def test_no_call_uses_the_default_device():
    found = [line for _, path in source_files() for line in unnamed(path, path.read_text(encoding="utf-8"))]

    assert not found


def taught() -> Iterator[tuple[Path, str]]:
    """Yield the plugins that people learn from: packages outside the workspace, and blocks of pages."""
    for path in sorted((ROOT / "tests" / "outside").rglob("src/**/*.py")):
        yield path, path.read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            yield page, block


def test_what_people_learn_from_launches_on_a_named_device():
    found = [line for path, text in taught() for line in unnamed(path, text) if ".launch(" in line]

    assert not found


def test_calls_without_a_device_are_found():
    faults = "wp.zeros(3)", "wp.launch(k, 1)", "wp.array([1], dtype=int)", "wp.Event()", "wp.set_device(d)"
    right = "wp.zeros(3, device=d)", "wp.launch(k, 1, stream=s)", "wp.array(x, **options)", "wp.Event(d)", "wp.clone(a)"

    assert all(any(unnamed(ROOT, fault)) for fault in faults)
    assert not any(any(unnamed(ROOT, line)) for line in right)
    assert not any(unnamed(ROOT, "def kernel(x: wp.array(dtype=int)): pass"))
