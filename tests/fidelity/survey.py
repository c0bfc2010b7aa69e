"""Survey of the MJCF files of the installed packages: `python -m tests.fidelity.survey [--page FILE] [PATTERN...]`.

Each file that MuJoCo loads and that can move is imported as a scene of one world on `mujoco-native`. MuJoCo's model of
the file is compared with ours, field by field; then both move for half a second.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import warp as wp
from pippin.assets.fidelity import worded
from pippin.assets.fidelity.difference import BY_DESIGN

from .finding import REACH, Finding, files, one_line, survey
from .kinds import table

LIMIT = 60
"""Time after which a file is given up [s]."""


FAULTY = ("differs", "refused", "failed")

PAGE = """\
# Fidelity of robot files

<!-- Written by tests/fidelity/survey.py --page. -->

The survey reads the MJCF files of the packages below, as far as MuJoCo reads them and something in them can move.
Each model is compared with the one that MuJoCo compiles from the file, field by field. Then both move for half a
second without contacts and controls, from random speeds; "as MuJoCo" means within 1e-6 m, RMS over the bodies. Last,
both take random poses, up to eight in which shapes overlap, and the contacts are compared: which shapes touch, depth
(20 µm), normal (0.6°), and the accelerations that follow (0.2 %). Some poses decide nothing: there, MuJoCo's own answer
changes if the numbers of the file are rounded to single precision. Pairs that the import report names are left out.

| Package | Files | Same model | Moves as MuJoCo | Touches as MuJoCo |
| --- | --- | --- | --- | --- |
{rows}

## Contacts of each engine

Two shapes at ten random poses, which overlap by 0.2 to 4 mm: the largest difference to what plain MuJoCo finds, in
the depth of the deepest contact and in its normal. The last column is Newton's own collision, which all solvers but
these two use. It collides meshes as they are, MuJoCo their convex hulls; this mesh is convex.

| Shapes | `mujoco-native` | `mujoco` | Newton's collision |
| --- | --- | --- | --- |
{kinds}

## Files that differ

| File | Difference |
| --- | --- |
{others}

## Differences by design

{reasons}

## Run the survey

```sh
uv run --group dev --group robots python -m tests.fidelity.survey --page docs/reference/fidelity.md
PIPPIN_FIDELITY=all uv run --group dev --group robots pytest tests/fidelity
```
"""


def survey_all(chosen: dict[str, Path], jobs: int = 1) -> Iterator[Finding]:
    """Yield the findings of files, in order, from processes of their own."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_survey_in_time, chosen, chosen.values())


def _survey_in_time(name: str, path: Path) -> Finding:
    """Return the finding of a file; `failed` after an error of the survey itself, or if it takes too long."""
    wp.config.log_level = wp.LOG_WARNING
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LIMIT)
    try:
        return survey(name, path)
    except Exception as error:
        return Finding(name=name, outcome="failed", reason=one_line(error))
    finally:
        signal.alarm(0)


def _give_up(*_: object) -> None:
    raise TimeoutError(f"took more than {LIMIT} s")


def text(finding: Finding) -> str:
    """Return a finding as lines for a terminal."""
    moved = "-" if finding.distance is None else f"{finding.distance:.0e} m"
    lines = [f"{finding.outcome:12} {moved:8} {finding.seconds:5.1f} s  {finding.name}"]
    touched = finding.contacts.faults if finding.contacts else []
    lines += [f"    {line}" for line in [finding.reason, *worded(finding.faults), *touched] if line]
    return "\n".join(lines)


def known(findings: Sequence[Finding]) -> str:
    """Return the tables of the files that differ or move otherwise, with the reasons, as TOML."""
    differs = {f.name: "; ".join([f.reason, *worded(f.faults)]).strip("; ") for f in findings if f.outcome in FAULTY}
    moves = {f.name: f"{f.distance:.0e} m" for f in findings if f.distance is not None and not f.distance <= REACH}
    contacts = {f.name: "; ".join(f.contacts.faults) for f in findings if f.contacts and f.contacts.faults}
    tables = {"differs": differs, "moves": moves, "contacts": contacts}
    return "\n".join(
        f"[{kind}]\n" + "".join(f"{json.dumps(name)} = {json.dumps(why)}\n" for name, why in table.items())
        for kind, table in tables.items()
    )


def page(findings: Sequence[Finding]) -> str:
    """Return the page with the outcome of every package and of every file that differs."""
    counted = [finding for finding in findings if finding.outcome != "not counted"]
    rows = []
    for package in dict.fromkeys(finding.name.split("/")[0] for finding in counted):
        own = [finding for finding in counted if finding.name.startswith(f"{package}/")]
        moved = [finding.distance for finding in own if finding.distance is not None]
        same = sum(finding.outcome == "same" for finding in own)
        near = sum(distance <= REACH for distance in moved)
        touched = [finding.contacts for finding in own if finding.contacts is not None]
        alike = sum(not contacts.faults for contacts in touched)
        rows.append(f"| {package} | {len(own)} | {same} | {near} of {len(moved)} | {alike} of {len(touched)} |")
    others = [
        f"| `{finding.name}` | {_faults(finding)} |".replace("<", "\\<")
        for finding in counted
        if finding.outcome != "same" or (finding.contacts and finding.contacts.faults)
    ]
    with tempfile.TemporaryDirectory() as folder:
        kinds = table(Path(folder), 10)
    return PAGE.format(rows="\n".join(rows), others="\n".join(others) or "| none | |", reasons=_reasons(), kinds=kinds)


def _faults(finding: Finding) -> str:
    touched = finding.contacts.faults if finding.contacts else []
    reason = re.sub(r"[^' ]*site-packages/", "", finding.reason)
    return "; ".join([reason, *worded(finding.faults, 4), *touched]).strip("; ")


def _reasons() -> str:
    return "\n".join(f"- {what}: {why}" for what, why in BY_DESIGN.items())


def main() -> None:
    """Print the findings of all files, or of those whose names match a pattern."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=[""], help="expressions found in the names of files")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--known", type=Path, help="file for a table of what differs, as in known.toml")
    parser.add_argument("--page", type=Path, help="file for the page docs/reference/fidelity.md")
    arguments = parser.parse_args()
    chosen = {
        name: path for name, path in files().items() if any(re.search(pattern, name) for pattern in arguments.patterns)
    }
    findings = []
    for finding in survey_all(chosen, arguments.jobs):
        findings.append(finding)
        print(text(finding), flush=True)
    print(", ".join(f"{outcome}: {count}" for outcome, count in Counter(f.outcome for f in findings).items()))
    if arguments.known:
        arguments.known.write_text(known(findings), encoding="utf-8")
    if arguments.page:
        arguments.page.write_text(page(findings), encoding="utf-8")


if __name__ == "__main__":
    main()
