"""Survey of the robot files of the installed packages: `python -m tests.fidelity.survey [--page FILE] [PATTERN...]`.

Each MJCF or URDF file that MuJoCo loads and that can move is imported as a scene of one world on `mujoco-native`.
MuJoCo's model of the file is compared with ours, field by field; then both move for half a second, and touch.
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

from .finding import Finding, files, one_line, survey
from .kinds import table
from .sections import section

LIMIT = 60
"""Time after which a file is given up [s]."""


FAULTY = ("differs", "refused", "failed")

PAGE = """\
# Fidelity of robot files

<!-- Written by tests/fidelity/survey.py --page. -->

The survey reads the MJCF and URDF files of the packages below, as far as MuJoCo reads them and something can move.
Each model is compared with the one that MuJoCo compiles from the file, field by field. Then both move for half a
second without contacts and controls, from random speeds; "as MuJoCo" means within 1e-6 m, RMS over the bodies, or
within five times what MuJoCo's own model moves when its numbers are rounded to single precision otherwise. Last, both
take random poses, up to eight in which shapes overlap, and the contacts are compared: which shapes touch, depth
(20 µm), normal (0.6°), and the accelerations that follow (0.2 %). Some poses decide nothing: there, MuJoCo's own answer
changes if the numbers of the file are rounded to single precision. Pairs that the import report names are left out.

Links of a URDF that overlap in the start pose [do not collide](../how-to/robot-from-urdf.md#links-that-overlap) by
default, which MuJoCo has no rule for. The survey sets `self_collisions = true`, so that their contacts are compared.

A URDF says nothing about the stiffness of contacts and limits, friction and options of solvers: MuJoCo's model of it
gets ours. MuJoCo gets the [repairs](../how-to/robot-from-urdf.md#repairs), too, and each mesh under a name of its own,
since it tells the meshes of a URDF apart by the names of their files alone.

| Package | Files | Same model | Moves as MuJoCo | Touches as MuJoCo |
| --- | --- | --- | --- | --- |
{rows}

## Random files

[`pippin fuzz --files mjcf`](../how-to/fuzz-a-solver.md) draws MJCF files with joints, geoms, actuators, tendons,
equalities, defaults, flags and a medium, and moves each for 0.1 s beside plain MuJoCo. A file that is told or refused
is drawn again without what the note or the error names, until nothing is left to tell. Of 1 000 on `mujoco-native`, 98
do not count: MuJoCo refuses them, they diverge there, or nothing in them moves. Of the others, 847 end as in MuJoCo,
and notes of the run tell why the other 55 do not: margins of contacts, ellipsoids in a medium, or principal axes that
the medium acts along. Without these statements, they end as in MuJoCo, too. None parts without a word.

The other solvers move files without contacts; those with laws other than MuJoCo's also without reached limits. The
first four columns count the files as they are drawn first, the next two as they are drawn last. A silent one moves
otherwise, without a word; the remarks state why.

| Solver | Files | Equal | Told | Refused | Equal at last | Silent | Remarks |
| --- | --- | --- | --- | --- | --- | --- | --- |
| `mujoco-native` | 1 000 | 847 | 55 | 0 | 897 | 0 | with contacts |
| `mujoco` | 73 | 52 | 9 | 0 | 59 | 4 | 6e-4 m at most; one is a note now |
| `featherstone` | 300 | 25 | 10 | 237 | 267 | 0 | |
| `steel` | 300 | 20 | 4 | 248 | 256 | 0 | 11 refused at last, for joints that follow others of another tree |
| `xpbd` | 300 | 14 | 4 | 254 | 259 | 6 | welded bodies yield, less with shorter steps |
| `vbd` | 114 | 3 | 0 | 102 | 91 | 9 | joints yield, by up to 28 mm |
| `semi-implicit` | 39 | 1 | 0 | 35 | 30 | 3 | joints yield; 3 runs end with an error |
| `kamino` | 33 | 1 | 0 | 29 | 27 | 2 | dry friction is not soft, as MuJoCo's is; and one that is a note now |

On `mujoco`, two files have a `damper` whose control is out of its range, and one holds a body twice. On `xpbd`,
`collapse_fixed_joints` cures the welds. Of five files on `vbd`, four converge with ten times `rigid_joint_linear_ke`.
An error is allowed up to 1 mm or mrad, on `xpbd` and `vbd`, which hold joints by springs or by few iterations, up to
5, and on `semi-implicit`, with 10 substeps, up to 50. `xpbd` had been meters off in 124 of its files before its bodies
were split by the gain of their joints, which is [told with the other errors of engines](../explanation/upstream.md).

Of random mechanisms with all that a solver claims, 200 on `featherstone`, 100 on `mujoco-native`, 60 each on `kamino`
and `vbd`, and 30 on `steel` converge to MuJoCo's motion, and so do 59 of 60 on `xpbd`. On `semi-implicit`, 44 of 60 do:
its joints are springs, and the error falls as they get stiffer.

## Random URDF and USD files

[`pippin fuzz --files urdf,usd`](../how-to/fuzz-a-solver.md#robot-files) draws trees of up to five links, with skew
axes, turned frames, masses off the joints, several shapes and what each format has besides, such as mimics, names that
need escapes, scales, instances, drives and joints of several axes. Each file has a twin in MJCF, which plain MuJoCo
moves for 0.1 s. "Not counted" are files in which nothing moves, or whose twin diverges. The columns count the files as
they are drawn first.

| Files | Solver | Drawn | As the twin | Told | Refused | Not counted | Without a word |
| --- | --- | --- | --- | --- | --- | --- | --- |
| URDF | `mujoco-native` | 300 | 284 | 0 | 7 | 9 | 0 |
| USD | `mujoco-native` | 200 | 168 | 5 | 8 | 19 | 0 |
| URDF | `featherstone` | 100 | 87 | 5 | 5 | 3 | 0 |
| USD | `featherstone` | 60 | 45 | 8 | 2 | 5 | 0 |
| URDF | `kamino` | 100 | 72 | 1 | 23 | 2 | 2 |
| USD | `kamino` | 60 | 44 | 4 | 8 | 4 | 0 |

Told are start velocities of joints of several axes, and what a solver lacks, such as friction of joints; without these
statements, the same files end as their twins. Contacts of `featherstone` are springs of its own: it pushes apart what
overlaps by a millimetre, where gravity parts it anyway in MuJoCo. The two on `kamino`, which were judged by positions
alone, are other laws: its limits are hard where the twin has Newton's springs, and its friction
holds where that of MuJoCo creeps. Refused are apostrophes in names of links, joints whose bodies are in reverse order,
several mechanisms below one articulation root, kinematic bodies, and on `kamino` mimics and planar joints.

## Contacts of each engine

Two shapes at ten random poses, which overlap by 0.2 to 4 mm: the largest difference to what plain MuJoCo finds, in
the depth of the deepest contact and in its normal. The last column is Newton's own collision, which all solvers but
these two use.

| Shapes | `mujoco-native` | `mujoco` | Newton's collision |
| --- | --- | --- | --- |
{kinds}

## Contacts of whole files in each engine

The poses of the survey, again compared with plain MuJoCo: the largest difference of a depth, of a normal, and of the
accelerations with contacts, as far as rounding does not explain it. For the last column, MuJoCo Warp gets the contacts
of Newton's collision. Many of these overlaps are centimetres deep.

{engines}

In `manipulator.xml` and `stacker.xml`, the links are capsules in one plane, and their axes cross in each pose that
differs. Then no direction is the shortest way out. MuJoCo pushes the two out of their plane, along the normal of both
axes; MuJoCo Warp and Newton push along x of the world. The depth is the same. If the axes miss each other by more than
rounding, the engines agree.

## Bare URDF files on five solvers

Files of packages, as they are, for a second: with a fixed base, or floating above the ground. A file runs if nothing is
NaN, no body is faster than 30 m/s, the robot is never 1.5 m/s faster than a free fall (RMS by mass), and nothing falls
through the ground or hangs in the air. It is slow if a busy core reaches less than a second in a minute, compilation
apart; the time in brackets is what it reached. The cures are those that the error names. On `mujoco-native`, `mujoco`
and `kamino`, the runs are from before links that overlap at the start stopped colliding. Only `go2`, `solo12` and `hyq`
on `xpbd`, and `baxter` and `solo12` on `featherstone`, were run again.

{tries}

## Files that differ

| File | Difference |
| --- | --- |
{others}

## Differences by design

{reasons}

## Run the survey

```sh
uv run --group dev --group robots python -m tests.fidelity.survey --page docs/reference/fidelity.md
uv run --group dev --group robots python -m tests.fidelity.engines --page docs/reference/fidelity.md
uv run --group dev --group robots python -m tests.fidelity.first_tries --write
PIPPIN_FIDELITY=all uv run --group dev --group robots pytest -m "" tests/fidelity
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
    moves = {f.name: f"{f.distance:.0e} m" for f in findings if not f.is_moved_alike}
    contacts = {f.name: "; ".join(f.contacts.faults) for f in findings if f.contacts and f.contacts.faults}
    tables = {"differs": differs, "moves": moves, "contacts": contacts}
    return "\n".join(
        f"[{kind}]\n" + "".join(f"{json.dumps(name)} = {json.dumps(why)}\n" for name, why in table.items())
        for kind, table in tables.items()
    )


def page(findings: Sequence[Finding], old: Path) -> str:
    """Return the page with the outcome of every package and of every file that differs, and sections of the old one."""
    counted = [finding for finding in findings if finding.outcome != "not counted"]
    rows = []
    for package in dict.fromkeys(_package(finding) for finding in counted):
        own = [finding for finding in counted if _package(finding) == package]
        moved = [finding for finding in own if finding.distance is not None]
        same = sum(finding.outcome == "same" for finding in own)
        near = sum(finding.is_moved_alike for finding in moved)
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
    kept = {name: section(old, name) for name in ("engines", "tries")}
    others = "\n".join(others) or "| none | |"
    return PAGE.format(rows="\n".join(rows), others=others, reasons=_reasons(), kinds=kinds, **kept)


def _package(finding: Finding) -> str:
    return finding.name.split("/")[0] + " (URDF)" * finding.name.endswith(".urdf")


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
        arguments.page.write_text(page(findings, arguments.page), encoding="utf-8")


if __name__ == "__main__":
    main()
