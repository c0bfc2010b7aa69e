"""What statements of a robot file mean on each solver: `python -m tests.fidelity.meanings [--page FILE] [PATTERN...]`.

A row of `meanings/*.toml` is a small file with a statement, and the same file without it. Each solver moves both, and a
reference does: plain MuJoCo, or a formula. A solver may move as the reference does, note the statement, or refuse it.
"""

from __future__ import annotations

import argparse
import collections
import functools
import re
import tempfile
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import mujoco
import numpy as np
import pippin
import warp as wp
from pippin.errors import ConfigError, SimulationError

from .sections import replace_section, section

FOLDER = Path(__file__).parent / "meanings"

SOLVERS = ("mujoco-native", "mujoco", "featherstone", "steel", "xpbd", "semi-implicit", "kamino", "vbd")

KEYS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "mujoco-native": {"solver": {"threads": 1}},
    "semi-implicit": {"simulation": {"substeps": 10}},
    "steel": {"solver": {"enable_joint_limits": True}},
}
"""Keys of the configuration that solvers get: options without which most files are refused, and short steps."""

SHARE = 0.2
"""Part of the effect of a statement that a solver may miss, and still have it."""

FLOOR = 1e-3
"""Distance [m] or angle [rad] below which two motions are the same, and an effect is none."""

LARGE = 1e3
"""Distance from which on a motion has burst [m, rad]."""


@attrs.frozen(kw_only=True)
class Row:
    """A statement of a file."""

    name: str
    """Its element, attribute and value: `joint hinge: damping`."""

    base: str
    """Name of the base: the file with places for statements."""

    put: Mapping[str, str]
    """What is put into the places of the base, by place."""

    without: Mapping[str, str] = attrs.field(factory=dict)
    """What is put there in the file without the statement."""

    means: Mapping[str, str] = attrs.field(factory=dict)
    """What is put into the twin of the base, so that plain MuJoCo moves as the statement says."""

    means_without: Mapping[str, str] = attrs.field(factory=dict)
    """What is put into the twin without the statement."""

    formula: Sequence[float] = ()
    """Where the watched body is at the end [m], as a formula says it; else plain MuJoCo says it."""

    tolerance: float = 0.0
    """Distance that solvers with soft contacts or joints may be off [m, rad]."""

    fails: Mapping[str, str] = attrs.field(factory=dict)
    """Reasons why a solver has another verdict than it should, by solver."""


@attrs.frozen(kw_only=True)
class Base:
    """A file with places for statements."""

    name: str
    suffix: str
    """That of the file: `.xml`."""

    text: str
    """The file, with places such as `{joint}`."""

    seconds: float
    """Length of the motion [s]."""

    dt: float = 0.001
    """Length of a step [s]."""

    twin: str = ""
    """The same in MJCF, with places; it starts at its first keyframe. Empty if the file is MJCF itself."""

    usual: Mapping[str, str] = attrs.field(factory=dict)
    """What is put into places, by place, if a row has nothing for them."""

    keyframe: str | None = None
    scene: Mapping[str, Any] = attrs.field(factory=dict)
    """Further keys of `[scene]`."""

    asset: Mapping[str, Any] = attrs.field(factory=dict)
    """Further keys of the asset."""


@attrs.frozen
class Motion:
    """Where the bodies of a file end on a solver."""

    poses: Mapping[str, np.ndarray] | None = None
    """Position [m] and rotation vector [rad] of each body by name, shape [6]; None if the file is refused."""

    words: frozenset[str] = frozenset()
    """Notes, or the faults of a refusal."""

    has_burst: bool = False
    """Whether the run ends with an error, since the motion is too fast."""


@attrs.frozen(kw_only=True)
class Verdict:
    """What a statement means on a solver."""

    word: str
    """`equal`, `noted`, `refused`, `burst` if the run ends with an error, or `SILENT`."""

    error: float = 0.0
    """Largest distance to the reference [m, rad]."""

    effect: float = 0.0
    """What the statement changes of the reference [m, rad]."""

    words: Sequence[str] = ()
    """Notes or faults that the statement causes."""


def bases_and_rows() -> tuple[dict[str, Base], list[Row]]:
    """Return the bases by name and all rows."""
    bases, rows = dict[str, Base](), list[Row]()
    for file in sorted(FOLDER.glob("*.toml")):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        bases |= {each["name"]: Base(**each) for each in table.get("bases", ())}
        rows += [Row(**each) for each in table.get("rows", ())]
    return bases, rows


BASES, ROWS = bases_and_rows()


def verdict(row: Row, solver: str) -> Verdict:
    """Return what the statement of a row means on a solver."""
    base = BASES[row.base]
    with_it, without = (_text(base, put) for put in (row.put, row.without))
    meant, meant_without = (with_it, without)
    if base.twin:
        meant, meant_without = (_filled(base.twin, {**base.usual, **put}) for put in (row.means, row.means_without))
    has_reference = base.suffix == ".xml" or bool(base.twin)
    true, plain = _reference(base, row, meant), _reference(base, row, meant_without) if has_reference else None
    ours, bare = move(base.name, with_it, solver), move(base.name, without, solver)
    if broken := [each for each in bare.words if "importer failed" in each]:
        raise AssertionError(f"the file without the statement is none: {broken}")
    effect = _apart(true, plain) if plain is not None and not row.formula else np.inf
    new = sorted(ours.words - bare.words)
    if ours.poses is None:
        return Verdict(word="burst" if ours.has_burst else "refused", effect=effect, words=new or sorted(ours.words))
    error = _apart(true, ours.poses)
    allowed = max(FLOOR, row.tolerance, SHARE * effect if np.isfinite(effect) else 0.0)
    if error > allowed and plain is not None and not row.formula:
        # What the solver has wrong in the file without the statement is no fault of the statement.
        empty = _text(base, {place: text for place, text in row.put.items() if place == "key"})
        for text in (without,) if base.twin else (without, empty):
            reference = meant_without if base.twin else text
            if _holds(reference) and (own := move(base.name, text, solver)).poses is not None:
                theirs = plain_motion(base.name, reference)
                error = min(error, _apart(_change(true, theirs), _change(ours.poses, own.poses)))
    word = "equal" if error <= allowed else "noted" if new else "SILENT"
    return Verdict(word=word, error=error, effect=effect, words=new)


def _holds(text: str) -> bool:
    """Tell whether MuJoCo reads a file: without its actuators, a keyframe may have too many controls."""
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return False
    return True


def _text(base: Base, put: Mapping[str, str]) -> str:
    return _filled(base.text, {**base.usual, **put})


def _filled(text: str, put: Mapping[str, str]) -> str:
    return text.format_map(collections.defaultdict(str, put))


def _reference(base: Base, row: Row, text: str) -> Mapping[str, np.ndarray]:
    if row.formula:
        return {"b": np.array(row.formula, dtype=float)}
    return plain_motion(base.name, text)


@functools.cache
def plain_motion(base: str, text: str) -> Mapping[str, np.ndarray]:
    """Return where plain MuJoCo moves the bodies of a file."""
    of = BASES[base]
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = of.dt
    data = mujoco.MjData(model)
    if of.keyframe is not None or (of.twin and model.nkey):
        mujoco.mj_resetDataKeyframe(model, data, model.key(of.keyframe or 0).id)
    mujoco.mj_step(model, data, round(of.seconds / of.dt))
    mujoco.mj_kinematics(model, data)
    return {
        model.body(index).name: np.r_[data.xpos[index], _rotation(data.xquat[index])] for index in range(1, model.nbody)
    }


@functools.cache
def move(base: str, text: str, solver: str) -> Motion:
    """Return where a solver moves the bodies of a file."""
    of = BASES[base]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        path = Path(folder) / f"robot{of.suffix}"
        path.write_text(text, encoding="utf-8")
        asset = {"path": str(path), **of.asset, **({"keyframe": of.keyframe} if of.keyframe else {})}
        keys = KEYS.get(solver, {})
        table = {
            "simulation": {"device": "cpu", "dt": of.dt, "max_speed": 1e6, **keys.get("simulation", {})},
            "scene": {"assets": [asset], **of.scene},
            "solver": {"type": solver, **keys.get("solver", {})},
        }
        try:
            with pippin.Simulation(pippin.structure(table)) as simulation:
                notes = {note for notes in simulation.notes.values() for note in notes}
                simulation.step(round(of.seconds / of.dt))
                simulation.raise_errors()
                state, labels = simulation.state.body_q.numpy(), simulation.model.body_label
        except ConfigError as error:
            return Motion(words=frozenset(str(each) for each in error.faults))
        except SimulationError as error:
            return Motion(words=frozenset({str(error)}), has_burst=True)
    poses = {
        label.rpartition("/")[2]: np.r_[pose[:3], _rotation(np.roll(pose[3:], 1).astype(float))]
        for label, pose in zip(labels, state, strict=True)
    }
    notes |= {str(each.message) for each in warned}
    return Motion(poses=poses, words=frozenset(note.replace(folder, "") for note in notes))


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation vector [rad] of a quaternion of MuJoCo."""
    vector = np.zeros(3)
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


def _change(of: Mapping[str, np.ndarray], before: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: pose - before[name] for name, pose in of.items() if name in before}


def _apart(first: Mapping[str, np.ndarray], second: Mapping[str, np.ndarray]) -> float:
    """Return the largest distance [m] or angle [rad] between bodies of one name."""
    largest = 0.0
    for name in first.keys() & second.keys():
        size = min(len(first[name]), len(second[name]))
        gap = first[name][:size] - second[name][:size]
        if size > 3 and np.linalg.norm(gap[3:]) > np.pi:  # the same rotation has two vectors
            gap[3:] *= (np.linalg.norm(gap[3:]) - 2 * np.pi) / np.linalg.norm(gap[3:])
        largest = max(largest, float(np.abs(gap).max()))
    return largest if np.isfinite(largest) else np.inf


def cell(found: Verdict) -> str:
    """Return a verdict as a cell of a table: of notes with the distance to MuJoCo, and the effect of the statement."""
    if found.word in ("equal", "refused", "burst"):
        return found.word
    return f"{found.word}: {found.error:.2g} of {found.effect:.2g}"


def write_page(page: Path, cells: Mapping[str, Mapping[str, str]]) -> None:
    """Write the table of a page, by row and solver. Other rows of the page and columns of other solvers stay."""
    known: dict[str, dict[str, str]] = {}
    lines = [line.strip("| \n").split(" | ") for line in section(page, "meanings").splitlines() if line.startswith("|")]
    for line in lines[2:]:
        known[line[0]] = dict(zip(lines[0][1:], line[1:], strict=True))
    solvers = [each for each in SOLVERS if any(each in row for row in (*known.values(), *cells.values()))]
    chosen = [row for row in ROWS if row.name in known or row.name in cells]
    rows = [{**known.get(row.name, {}), **cells.get(row.name, {})} for row in chosen]
    header = f"| statement | {' | '.join(solvers)} |\n|{' --- |' * (1 + len(solvers))}\n"
    texts = [
        f"| {row.name} | {' | '.join(found.get(each, '-') for each in solvers)} |"
        for row, found in zip(chosen, rows, strict=True)
    ]
    replace_section(page, "meanings", header + "\n".join(texts))


def main() -> None:
    """Print a line for each row, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=[""], help="expressions found in the names of rows")
    parser.add_argument("--solvers", nargs="*", default=SOLVERS)
    parser.add_argument("--words", action="store_true", help="print notes and faults, too")
    parser.add_argument("--page", type=Path, help="page whose columns of these solvers are replaced")
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_WARNING
    mujoco.set_mju_user_warning(lambda _: None)
    cells = {}
    for row in ROWS:
        if not any(re.search(pattern, row.name) for pattern in arguments.patterns):
            continue
        found = {}
        for solver in arguments.solvers:
            try:
                found[solver] = verdict(row, solver)
            except Exception as error:
                found[solver] = Verdict(word=f"FAILS {type(error).__name__} {str(error)[:200]}")
        cells[row.name] = {solver: cell(each) for solver, each in found.items()}
        print(f"| {row.name} | {' | '.join(cells[row.name].values())} |", flush=True)
        for solver, each in found.items():
            for words in each.words if arguments.words else ():
                print(f"    {solver}: {words[:300]}", flush=True)
    if arguments.page:
        write_page(arguments.page, cells)


if __name__ == "__main__":
    main()
