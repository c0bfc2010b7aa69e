"""Run bare URDF files with five solvers: `python -m tests.fidelity.first_tries [--solver NAME] [FILE...]`.

Each file runs as it is for one second, with the defaults of the solver and without an actuator. Legged robots and
vehicles get a floating base above the ground, others stay where the file puts them. Without names, the files of the
group `robots` that are listed below run. `--page FILE` writes the table of the page docs/reference/fidelity.md.
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
from pathlib import Path
from typing import Any

SOLVERS = ("mujoco", "mujoco-native", "xpbd", "featherstone", "kamino")

STEPS, STRIDE = 200, 5
"""Steps of 5 ms, and those between two looks at the speeds."""

ENOUGH, LIMIT = 25, 150
"""Time of steps after which a run that goes well ends [s], and of a build and its steps after which it is given up."""

GRAVITY = 9.81

SURPLUS, SPEED, DEPTH = 1.5, 30.0, 0.05
"""A robot explodes if its speed, RMS by mass, exceeds that of a free fall by so much, or that of a body is so high
[m/s]: gravity alone makes no mechanism faster than a free fall. It falls through if a body's origin is so deep [m]."""

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


def first_try(path: str, height: float | None, solver: str) -> dict[str, Any]:
    """Return what happens to a file: `said` is `runs`, or what went wrong, with figures beside it."""
    import pippin

    warnings.simplefilter("ignore")
    asset: dict[str, Any] = {"path": path}
    if height is not None:
        asset |= {"floating": True, "position": [0.0, 0.0, height]}
    scene = {"ground": height is not None, "assets": [asset]}
    tables = {"simulation": {"device": "cpu"}, "scene": scene, "solver": {"type": solver}}
    start = time.perf_counter()
    try:
        with pippin.Simulation(pippin.structure(tables)) as simulation:
            built = time.perf_counter() - start
            return {"built": round(built, 1), **_run(simulation, has_ground=height is not None)}
    except pippin.PippinError as error:
        return {"said": f"refused: {' '.join(str(error).split())}"}
    except TimeoutError:
        return {"said": f"not finished in {LIMIT} s"}


def _run(simulation: Any, *, has_ground: bool) -> dict[str, Any]:
    import numpy as np

    start, fastest, surplus, lowest = time.perf_counter(), 0.0, 0.0, np.inf
    moving = simulation.model.body_inv_mass.numpy() > 0.0
    mass = simulation.model.body_mass.numpy()[moving]
    for _ in range(STEPS // STRIDE):
        simulation.step(STRIDE)
        poses, speeds = simulation.state.body_q.numpy()[moving], simulation.state.body_qd.numpy()[moving, :3]
        if not (np.isfinite(poses).all() and np.isfinite(speeds).all()):
            simulation.raise_errors()
            return {"said": "diverges"}
        fastest = max(fastest, float(np.linalg.norm(speeds, axis=1).max(initial=0.0)))
        mean = float(np.sqrt(np.sum(mass * np.sum(speeds**2, axis=1)) / mass.sum()))
        surplus = max(surplus, mean - GRAVITY * simulation.time)
        lowest = min(lowest, float(poses[:, 2].min(initial=np.inf)))
        if time.perf_counter() - start > ENOUGH:
            break
    simulation.raise_errors()
    is_fast = fastest > SPEED or surplus > SURPLUS
    said = "explodes" if is_fast else "falls through" if has_ground and lowest < -DEPTH else "runs"
    figures = {"speed": fastest, "surplus": surplus, "lowest": lowest, "time": simulation.time}
    rounded = {name: round(value, 2) for name, value in figures.items()}
    return {"said": said, "without": list(simulation.ignored_features), **rounded}


def _give_up(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    """Print one line for each file and solver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="paths, or expressions found in the names of listed files")
    parser.add_argument("--solver", action="append", help="solvers; all five by default")
    parser.add_argument("--out", type=Path, help="file for a line of JSON for each try")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.child:
        for solver in arguments.solver or SOLVERS:
            rest = [f"--out={arguments.out}"] if arguments.out else []
            subprocess.run(
                [sys.executable, "-m", __spec__.name, "--child", f"--solver={solver}", *rest, *arguments.files],
                check=False,
            )
        return
    chosen = {name: path for name, path in paths().items() if any(re.search(p, name) for p in arguments.files or [""])}
    chosen |= {file: Path(file) for file in arguments.files if Path(file).is_file()}
    signal.signal(signal.SIGALRM, _give_up)
    [solver] = arguments.solver
    for name, path in chosen.items():
        signal.alarm(LIMIT)
        try:
            found = first_try(str(path), FILES.get(name), solver)
        except Exception as error:
            found = {"said": f"failed: {type(error).__name__}: {error}"}
        finally:
            signal.alarm(0)
        line = {"file": name, "solver": solver, **found}
        print(json.dumps(line), flush=True)
        if arguments.out:
            with arguments.out.open("a") as out:
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
