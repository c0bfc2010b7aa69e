"""Page *Newton's examples*: which of them pass from a file, and what the others need."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .rows import named_row

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "newton_examples"

PASSES, EMPTY, CUDA = "passes", "passes, its check is empty", "has a file for CUDA"
ON_GPU, PATIENTLY = "passes on a GPU", "passes on a CPU in twenty minutes"
ASSET, DOWNLOAD = "has a file, and needs a download", "needs a download"

HEAD = """\
# Newton's examples

<!-- Written by docs/write_reference.py from tests/newton_examples. Change that, then run it. -->

Newton has {count} examples, each a program in Python. This page says which of them run in Pippin from a file alone.
[The tests](../../tests/newton_examples) run each file as long as Newton's own test runs the example, and then call the
example's own check, from the installed package, on the state of the simulation. So the criteria are Newton's.

The test also wants more than some of the checks. No pose may be infinite, and something must have moved, or everything
must have kept its pose if that is the point. An example whose own check is empty gets this alone, and is counted apart.
A few files have fewer cells or coarser sand than the example, so that a CPU runs them in a minute; they say so. Some
solvers need a GPU, and some runs take a CPU a quarter of an hour. "Passes on a GPU" means that the test passed on one,
an NVIDIA H100; "has a file for CUDA" would mean that it has passed nowhere yet. "Needs a download" means that files are
missing which Newton's package lacks. An example that has a file all the same has not been run: its test waits for
Newton's cache to hold the assets.

One policy of Newton's robots lies in its package, that of ANYmal, although no example plays it:
[it walks from a file](../how-to/play-a-foreign-policy.md).

| verdict | examples |
|---|---|
"""

TABLE = """
The column *beyond gravity* states what an example has beside robot files, gravity and a start state.

| example | verdict | beyond gravity |
|---|---|---|
"""


def needs() -> dict[str, tuple[str, ...]]:
    """Return what each example needs, by its path below Newton's folder of examples, such as `basic/basic_joints`."""
    groups = _data()["needs"]
    return {f"{group}/{name}": tuple(words) for group, rows in groups.items() for name, words in rows.items()}


def verdicts() -> Iterator[tuple[str, str, str]]:
    """Yield the path of each example, the verdict, and the reason for one that is out."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # the cases are tests, and no distribution has them
    cases = {case.name: case for case in importlib.import_module("tests.newton_examples.cases").CASES}
    out = _data()["out"]
    for path, words in needs().items():
        name = path.partition("/")[2]
        if name in cases:
            case = cases[name]
            here = ASSET if case.asset is not None else _on_gpu(case) if "cuda" in case.marks else PASSES
            yield path, EMPTY if case.is_empty and here == PASSES else here, ""
        elif name in out:
            yield path, "out", out[name]
        else:
            yield path, DOWNLOAD if "download" in words else "no file yet", ""


def page() -> str:
    """Return the number of examples with each verdict, and the table of all of them."""
    rows, wanted = list(verdicts()), needs()
    files = "../../tests/newton_examples/files"
    counts = Counter(verdict for _, verdict, _ in rows)
    text = HEAD.format(count=len(rows)) + "".join(
        f"| {verdict} | {count} |\n" for verdict, count in counts.most_common()
    )
    text += TABLE
    for path, verdict, reason in rows:
        name = path.partition("/")[2]
        link = (
            f"[{verdict}]({files}/{name}.toml)"
            if verdict in (PASSES, EMPTY, ON_GPU, PATIENTLY, CUDA, ASSET)
            else verdict
        )
        text += named_row(name, f"{link}: {reason}" if reason else link, ", ".join(wanted[path]) or "nothing")
    return text


def _on_gpu(case: Any) -> str:
    if not case.has_passed:
        return CUDA
    return PATIENTLY if case.has_passed == "a CPU" else ON_GPU


def _data() -> dict[str, dict]:
    return tomllib.loads((FOLDER / "needs.toml").read_text(encoding="utf-8"))
