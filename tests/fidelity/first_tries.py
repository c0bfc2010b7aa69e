"""Run bare URDF files with five solvers: `python -m tests.fidelity.first_tries --write [--solver NAME] [FILE...]`.

Each file runs as it is for one second, in a process of its own, with the defaults of the solver and without an
actuator. Legged robots and vehicles get a floating base above the ground, others stay where the file puts them. Without
names, the files of the group `robots` that are listed below run. `--write` stores what was found in `tries.jsonl` and
writes the table of the page docs/reference/fidelity.md from all that is stored there.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .sections import replace_section

SOLVERS = ("mujoco-native", "mujoco", "featherstone", "xpbd", "kamino")

STORE, PAGE = Path(__file__).parent / "tries.jsonl", Path(__file__).parents[2] / "docs/reference/fidelity.md"

STEPS, STRIDE = 200, 5
"""Steps of 5 ms, and those between two looks at the speeds."""

ENOUGH, LIMIT = 240, 600
"""Time of steps after which a run that goes well ends [s], and of a build and its steps after which it is given up."""

GRAVITY = 9.81

SURPLUS, SPEED, DEPTH, DROP = 1.5, 30.0, 0.05, 0.005
"""A robot explodes if its speed, RMS by mass, exceeds that of a free fall by so much, or that of a body is so high
[m/s]: gravity alone makes no mechanism faster than a free fall. It falls through if a body's origin is so deep [m], and
hangs in the air if its bodies, as a mean by mass, were never so far below their start [m]."""

ERD = "cmeel.prefix/share/example-robot-data/robots"
FILES: dict[str, float | None] = {
    f"{ERD}/panda_description/urdf/panda.urdf": None,
    f"{ERD}/ur_description/urdf/ur5_robot.urdf": None,
    f"{ERD}/kinova_description/robots/kinova.urdf": None,
    f"{ERD}/so_arm_description/urdf/so100.urdf": None,
    f"{ERD}/so_arm_description/urdf/so101.urdf": None,
    f"{ERD}/xarm_description/urdf/xarm7.urdf": None,
    f"{ERD}/z1_description/urdf/z1.urdf": None,
    f"{ERD}/tiago_description/robots/tiago.urdf": None,
    f"{ERD}/baxter_description/urdf/baxter.urdf": None,
    f"{ERD}/allegro_hand_description/urdf/allegro_right_hand.urdf": None,
    f"{ERD}/double_pendulum_description/urdf/double_pendulum.urdf": None,
    f"{ERD}/asr_twodof_description/urdf/TwoDofs.urdf": None,
    "newton/examples/assets/cartpole.urdf": None,
    "pybullet_data/kuka_iiwa/model.urdf": None,
    f"{ERD}/a1_description/urdf/a1.urdf": 0.5,
    f"{ERD}/go2_description/urdf/go2.urdf": 0.5,
    f"{ERD}/anymal_c_simple_description/urdf/anymal.urdf": 0.75,
    f"{ERD}/solo_description/robots/solo12.urdf": 0.45,
    f"{ERD}/hyq_description/robots/hyq_no_sensors.urdf": 0.9,
    f"{ERD}/laikago_description/urdf/laikago.urdf": 0.6,
    f"{ERD}/g1_description/urdf/g1_29dof_rev_1_0.urdf": 0.9,
    f"{ERD}/talos_data/robots/talos_reduced.urdf": 1.2,
    f"{ERD}/icub_description/robots/icub_reduced.urdf": 0.8,
    "newton/examples/assets/quadruped.urdf": 0.8,
    "pybullet_data/r2d2.urdf": 0.6,
    "pybullet_data/mini_cheetah/mini_cheetah.urdf": 0.5,
}
"""Files of packages, with the height of the root of those that float [m]."""


def paths() -> dict[str, Path]:
    """Return the listed files that are installed."""
    root = Path(sysconfig.get_path("purelib"))
    return {name: root / name for name in FILES if (root / name).is_file()}


CURES = (
    {"self_collisions": False},
    {"collapse_fixed_joints": True},
    {"self_collisions": False, "collapse_fixed_joints": True},
    {"substeps": 10},
    {"iterations": 10},
)
"""Keys of the asset, of the simulation or of the solver that a robot which does not run gets in turn."""


def first_try(path: str, height: float | None, solver: str, **keys: Any) -> dict[str, Any]:
    """Return what happens to a file: `said` is `runs`, or what went wrong, with figures beside it."""
    import pippin

    warnings.simplefilter("ignore")
    simulated = {"device": "cpu", **{name: keys.pop(name) for name in keys.keys() & {"substeps"}}}
    solved = {"type": solver, **{name: keys.pop(name) for name in keys.keys() & {"iterations"}}}
    asset: dict[str, Any] = {"path": path, **keys}
    if height is not None:
        asset |= {"floating": True, "position": [0.0, 0.0, height]}
    scene = {"ground": height is not None, "assets": [asset]}
    tables = {"simulation": simulated, "scene": scene, "solver": solved}
    start = time.perf_counter()
    try:
        with pippin.Simulation(pippin.structure(tables)) as simulation:
            built = time.perf_counter() - start
            return {"built": round(built, 1), **_run(simulation, has_ground=height is not None)}
    except pippin.PippinError as error:
        return {"said": f"refused: {' '.join(str(error).split())}"}
    except TimeoutError:
        return {"said": f"slow: a build and first steps of more than {LIMIT} s"}


def _run(simulation: Any, *, has_ground: bool) -> dict[str, Any]:
    import numpy as np

    start, warm = time.perf_counter(), STRIDE * simulation.control_dt
    fastest, surplus, lowest = 0.0, 0.0, np.inf
    moving = simulation.model.body_inv_mass.numpy() > 0.0
    mass = simulation.model.body_mass.numpy()[moving]
    height, drop = simulation.state.body_q.numpy()[moving, 2], -np.inf
    for _ in range(STEPS // STRIDE):
        simulation.step(STRIDE)
        if simulation.step_count == STRIDE:
            start = time.perf_counter()  # kernels are compiled now
        poses, speeds = simulation.state.body_q.numpy()[moving], simulation.state.body_qd.numpy()[moving, :3]
        if not (np.isfinite(poses).all() and np.isfinite(speeds).all()):
            simulation.raise_errors()
            return {"said": "diverges"}
        fastest = max(fastest, float(np.linalg.norm(speeds, axis=1).max(initial=0.0)))
        mean = float(np.sqrt(np.sum(mass * np.sum(speeds**2, axis=1)) / mass.sum()))
        surplus = max(surplus, mean - GRAVITY * simulation.time)
        drop = max(drop, float(mass @ (height - poses[:, 2]) / mass.sum()))
        lowest = min(lowest, float(poses[:, 2].min(initial=np.inf)))
        if time.perf_counter() - start > ENOUGH:
            break
    simulation.raise_errors()
    is_fast = fastest > SPEED or surplus > SURPLUS
    is_short = simulation.step_count < STEPS
    faults = {"explodes": is_fast, "falls through": has_ground and lowest < -DEPTH}
    faults |= {"hangs": has_ground and drop < DROP, "slow": is_short}
    said = next((name for name, is_so in faults.items() if is_so), "runs")
    pace = (time.perf_counter() - start) / max(simulation.time - warm, warm)
    figures = {"speed": fastest, "surplus": surplus, "lowest": lowest, "time": simulation.time, "pace": pace}
    rounded = {name: round(value, 2) for name, value in figures.items()}
    return {"said": said, "without": list(simulation.ignored_features), **rounded}


def _give_up(*_: object) -> None:
    raise TimeoutError


def stored() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the stored tries by file and solver, in the order of the lists above."""
    lines = map(json.loads, STORE.read_text(encoding="utf-8").splitlines()) if STORE.exists() else ()
    found = {(line["file"], line["solver"]): line for line in lines}
    return {key: found[key] for key in ((name, solver) for name in FILES for solver in SOLVERS) if key in found}


def table(tries: Iterable[dict[str, Any]]) -> str:
    """Return the section of the page: a row for each file, and what was refused or did not run."""
    found = {(line["file"], line["solver"]): line for line in tries}
    rows = [f"| File | Base | {' | '.join(f'`{solver}`' for solver in SOLVERS)} |", f"|{' --- |' * (2 + len(SOLVERS))}"]
    for name, height in FILES.items():
        base = "fixed" if height is None else "floating"
        rows.append(f"| `{_short(name)}` | {base} | {' | '.join(_cell(found.get((name, s))) for s in SOLVERS)} |")
    counts = [sum(found.get((name, solver), {}).get("said") == "runs" for name in FILES) for solver in SOLVERS]
    rows.append(f"| **run** | | {' | '.join(f'{count} of {len(FILES)}' for count in counts)} |")
    return "\n".join([*rows, "", *(f"- {line}" for line in _faults(found.values()))]).strip()


def _short(name: str) -> str:
    own = "/".join(name.split("/")[-2:])
    return own if name.count("/") < 5 else name.split("/")[-1]


def _cell(line: dict[str, Any] | None) -> str:
    """Return `runs` or what went wrong in a word; with the simulated time of a file that is slow."""
    if line is None:
        return ""
    said = line["said"].split(":")[0]
    return f"slow ({line.get('time', 0.0):.2f} s)" if said == "slow" else said


def _faults(lines: Iterable[dict[str, Any]]) -> list[str]:
    """Return what went wrong in words, a line for all solvers and files of which it is true."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if line["said"] not in ("runs", "slow"):
            what = line["said"].partition(": ")[2] or f"{line['said']}, {line['surplus']} m/s faster than a free fall"
            what = re.sub(r"^step .*?\(t = (.*?)\).*", r"diverges at \1", what)
            if "cure" in line:
                what += f"; runs with {line['cure']}" if line["cure"] else "; none of the cures makes it run"
            found.setdefault(what.replace("|", "/"), []).append(f"`{_short(line['file'])}` on `{line['solver']}`")
    return [f"{', '.join(names)}: {what}" for what, names in found.items()]


def write(tries: Iterable[dict[str, Any]]) -> None:
    """Store tries, and write the section of the page anew."""
    kept = stored() | {(line["file"], line["solver"]): line for line in tries}
    STORE.write_text("".join(json.dumps(line) + "\n" for line in kept.values()), encoding="utf-8")
    replace_section(PAGE, "tries", table(stored().values()))


def main() -> None:
    """Print one line for each file and solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="paths, or expressions found in the names of listed files")
    parser.add_argument("--solver", action="append", help="solvers; all five by default")
    parser.add_argument("--write", action="store_true", help="store what was found, and write the page")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(_try_in_time(*arguments.files, *arguments.solver)), flush=True)
        return
    chosen = [name for name in paths() if any(re.search(p, name) for p in arguments.files or [""])]
    chosen += [file for file in arguments.files if Path(file).is_file()]
    for solver in arguments.solver or SOLVERS:
        for name in chosen:
            command = [sys.executable, "-m", __spec__.name, "--child", f"--solver={solver}", name]
            out = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True).stdout.splitlines()
            line = json.loads(out[-1]) if out else {"file": name, "solver": solver, "said": "failed: no answer"}
            print(json.dumps(line), flush=True)
            if arguments.write:
                write([line])
    if arguments.write:
        write([])


def _try_in_time(name: str, solver: str) -> dict[str, Any]:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(LIMIT)
    try:
        found = first_try(str(paths().get(name, name)), FILES.get(name), solver)
    except Exception as error:
        found = {"said": f"failed: {type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)
    is_mechanical = not found["said"].startswith(("runs", "slow", "refused: solver", "failed"))
    for cure in CURES if is_mechanical else ():
        if first_try(str(paths().get(name, name)), FILES.get(name), solver, **cure)["said"] == "runs":
            words = (f"`{key} = {str(value).lower()}`" for key, value in cure.items())
            return {"file": name, "solver": solver, **found, "cure": " and ".join(words)}
    tried = {"cure": ""} if is_mechanical else {}
    return {"file": name, "solver": solver, **found, **tried}


if __name__ == "__main__":
    main()
