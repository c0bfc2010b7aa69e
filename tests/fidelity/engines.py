"""Contacts of whole files in three engines: `python -m tests.fidelity.engines [--page FILE] [PATTERN...]`.

Each chosen file takes the poses of the survey on `mujoco-native`, on `mujoco`, and with Newton's own collision, whose
contacts go to MuJoCo Warp. Each engine is compared with plain MuJoCo as in the survey.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pippin
import warp as wp
from pippin.assets.fidelity.matching import Match, match_models

from .contacts import POSES, ContactFinding, Touch, compare_contacts
from .finding import NATIVE, build, files, load, one_line
from .kinds import of_newton, of_warp
from .sections import replace_section
from .urdf import fill_in

ENGINES = {
    "mujoco-native": NATIVE,
    "mujoco": {"type": "mujoco"},
    "Newton's collision": {"type": "mujoco", "use_mujoco_contacts": False},
}

CHOSEN = (
    "gymnasium/.*/(ant|half_cheetah|humanoid|walker2d|reacher).xml",
    "newton/examples/assets/quadruped.urdf",
    "newton/tests/assets/humanoid.urdf",
    "mjlab/.*/go1.xml",
    "dm_control/suite/(dog|quadruped|stacker|manipulator).xml",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "so_arm_description/urdf/so100.urdf",
    "z1_description/urdf/z1.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "a1_description/urdf/a1.urdf",
)
"""Files of the page: robots and hands with spheres, capsules, cylinders, boxes and meshes."""


def compare_engines(path: Path) -> dict[str, ContactFinding | str | None]:
    """Return what differs from plain MuJoCo in each engine, or the reason why it gives no answer."""
    theirs, found = load(path), dict[str, ContactFinding | str | None]()
    for engine, solver in ENGINES.items():
        try:
            with build(path, theirs, solver, 1 if solver is NATIVE else POSES, 1) as simulation:
                match = match_models(theirs, simulation.solver.mj_model)
                if path.suffix == ".urdf" and solver is NATIVE:
                    fill_in(match)
                found[engine] = _compare(simulation, match, engine)
        except Exception as error:
            found[engine] = one_line(error)
    return found


def _compare(simulation: pippin.Simulation, match: Match, engine: str) -> ContactFinding | None:
    if engine == "mujoco-native":
        return compare_contacts(match)

    def found_in(poses: np.ndarray) -> list[tuple[dict[tuple[int, int], Touch], np.ndarray]]:
        _place(simulation, poses)
        if engine == "mujoco":
            contacts = of_warp(simulation, {geom: geom for geom in range(match.ours.ngeom)})
        else:
            contacts = of_newton(simulation, _geoms(simulation).__getitem__)
            simulation.step()
        accelerations = simulation.solver.mjw_data.qacc.numpy()
        return list(zip(contacts, accelerations.astype(float), strict=True))[: len(poses)]

    return compare_contacts(match, found_in)


def _place(simulation: pippin.Simulation, poses: np.ndarray) -> None:
    """Put each pose of MuJoCo's model into a world of its own, at rest."""
    solver: Any = simulation.solver
    state, worlds = simulation.state, simulation.model.world_count
    solver.mjw_model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_EULER)  # RK4 leaves the contacts of its last stage
    solver.mjw_data.qpos.assign(np.resize(poses, (worlds, poses.shape[1])).astype(np.float32))
    solver.mjw_data.qvel.zero_()
    solver._update_newton_state(simulation.model, state, solver.mjw_data, state_prev=state)
    state.joint_qd.zero_()
    simulation.invalidate("joints")


def _geoms(simulation: pippin.Simulation) -> dict[int, int]:
    """Return the geom of each shape of a world."""
    shapes = simulation.solver.mjc_geom_to_newton_shape.numpy()[0]
    per_world = simulation.model.shape_count // simulation.model.world_count
    return {int(shape) % per_world: geom for geom, shape in enumerate(shapes) if shape >= 0}


def cell(found: ContactFinding | str | None) -> str:
    """Return a finding as a cell of a table."""
    if not isinstance(found, ContactFinding):
        return found or "no contacts"
    lost = f", {found.lost} lost" * bool(found.lost) + f", {found.added} added" * bool(found.added)
    figures = f"{1e3 * found.depth:.2g} mm, {np.degrees(found.turn):.2g}°, {100 * found.push:.2g} %"
    return ("as MuJoCo" if not found.faults else figures + lost).replace("|", "/")


def main() -> None:
    """Print a row for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", default=CHOSEN, help="expressions found in the names of files")
    parser.add_argument("--page", type=Path, help="page whose table is replaced")
    arguments = parser.parse_args()
    wp.config.log_level = wp.LOG_WARNING
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda _: None)
    rows = []
    for name, path in files().items():
        if any(re.search(pattern, name) for pattern in arguments.patterns):
            start, found = time.perf_counter(), compare_engines(path)
            pairs = next((str(each.pairs) for each in found.values() if isinstance(each, ContactFinding)), "-")
            short = "/".join(name.split("/")[-2:])
            rows.append(f"| `{short}` | {pairs} | {' | '.join(cell(each) for each in found.values())} |")
            print(f"{time.perf_counter() - start:.0f} s {rows[-1]}", flush=True)
    if arguments.page:
        header = f"| File | Contacts | {' | '.join(ENGINES)} |\n|{' --- |' * (2 + len(ENGINES))}\n"
        replace_section(arguments.page, "engines", header + "\n".join(rows))


if __name__ == "__main__":
    main()
