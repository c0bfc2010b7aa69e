"""Draw the gallery of robots: `uv run --group dev --group robots python docs/draw_gallery.py`.

Each robot runs in a process of its own: its picture is drawn, the solvers are checked, and drives with the gains of
`pippin tune` hold its start pose for two seconds. Then the page is written. Names of robots draw these again, and keep
the results of the others.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
PAGE = DOCS / "reference" / "gallery.md"
PICTURES = DOCS / "images" / "gallery"
RESULTS = PICTURES / "results.json"
PACKAGES = Path(sysconfig.get_path("purelib"))

WORKERS = 3
TIMEOUT = 150
"""Time for one robot [s]."""

DURATION, DT = 2.0, 0.002
"""Time for which the pose is held, and length of a step [s]."""

HELD = 0.1
"""Largest distance of a joint from its target that counts as held [rad or m]."""

WIDTH, HEIGHT, FOV = 240, 180, 0.7
"""Size of a picture [pixels], and its vertical field of view [rad]."""

DATA = "cmeel.prefix/share/example-robot-data/robots/"
SUITE, ROBOSUITE = "dm_control/suite/", "robosuite/models/assets/"
GYMNASIUM, ROBOTICS = "gymnasium/envs/mujoco/assets/", "gymnasium_robotics/envs/assets/"
ROBOTS = {
    "mjlab_go1": "mjlab/asset_zoo/robots/unitree_go1/xmls/go1.xml",
    "mjlab_g1": "mjlab/asset_zoo/robots/unitree_g1/xmls/g1.xml",
    "mjlab_yam": "mjlab/asset_zoo/robots/i2rt_yam/xmls/yam.xml",
    **{f"robosuite_{name}": f"{ROBOSUITE}robots/{name}/robot.xml" for name in (
        "panda", "ur5e", "iiwa", "sawyer", "jaco", "kinova3", "xarm7", "baxter", "tiago", "gr1", "spot", "spot_arm",
    )},
    **{f"robosuite_{name}": f"{ROBOSUITE}grippers/{name}.xml" for name in (
        "robotiq_gripper_140", "inspire_right_hand", "jaco_three_finger_gripper",
    )},
    "mjx_shadow_hand": "mujoco/mjx/test_data/shadow_hand/right_hand.xml",
    "mjx_barkour": "mujoco/mjx/test_data/barkour_v0/assets/barkour_v0_mjx.xml",
    **{f"dm_control_{name}": f"{SUITE}{name}.xml" for name in (
        "cheetah", "dog", "fish", "humanoid", "humanoid_CMU", "quadruped", "walker", "swimmer", "hopper", "manipulator",
    )},
    "dm_control_jaco": "dm_control/third_party/kinova/jaco_arm.xml",
    "dm_control_rodent": "dm_control/locomotion/walkers/assets/rodent.xml",
    "dm_control_fruitfly": "dm_control/locomotion/walkers/assets/fruitfly_v2/fruitfly.xml",
    **{f"gymnasium_{name}": f"{GYMNASIUM}{name}.xml" for name in ("ant", "half_cheetah", "humanoid", "pusher_v5")},
    "gymnasium_robotics_adroit": f"{ROBOTICS}adroit_hand/adroit_door.xml",
    "gymnasium_robotics_hand": f"{ROBOTICS}hand/reach.xml",
    "gymnasium_robotics_fetch": f"{ROBOTICS}fetch/reach.xml",
    "metaworld_sawyer": "metaworld/assets/sawyer_xyz/sawyer_reach_v3.xml",
    "openarm_bimanual": "../../../share/openarm_mujoco/v2/openarm_bimanual.xml",
    "icub_models_icub": "../../../share/iCub/robots/iCubGazeboV2_5/model.urdf",
    "newton_quadruped": "newton/examples/assets/quadruped.urdf",
    "newton_humanoid": "newton/examples/assets/nv_humanoid.xml",
    "newton_ant_usd": "newton/examples/assets/ant.usda",
    **{f"data_{Path(path).stem}": DATA + path for path in (
        "a1_description/urdf/a1.urdf", "go1_description/urdf/go1.urdf", "go2_description/urdf/go2.urdf",
        "b1_description/urdf/b1-z1.urdf", "laikago_description/urdf/laikago.urdf",
        "anymal_c_simple_description/urdf/anymal.urdf", "hyq_description/robots/hyq_no_sensors.urdf",
        "solo_description/robots/solo12.urdf", "bolt_description/robots/bolt.urdf",
        "panda_description/urdf/panda.urdf", "ur_description/urdf/ur5_robot.urdf", "xarm_description/urdf/xarm7.urdf",
        "kinova_description/robots/kinova.urdf", "z1_description/urdf/z1.urdf", "so_arm_description/urdf/so101.urdf",
        "allegro_hand_description/urdf/allegro_right_hand.urdf", "talos_data/robots/talos_full_v2.urdf",
        "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", "simple_humanoid_description/urdf/simple_humanoid.urdf",
        "romeo_description/urdf/romeo.urdf", "tiago_description/robots/tiago.urdf", "pr2_description/urdf/pr2.urdf",
        "icub_description/robots/icub.urdf", "alex_description/urdf/alex_nub_hands.urdf",
        "borinot_description/urdf/borinot_flying_arm_2.urdf", "double_pendulum_description/urdf/double_pendulum.urdf",
    )},
}  # fmt: skip
"""Robot files below the folder of packages, by name."""


INTRODUCTION = """\
# Gallery of robots

Written by `docs/draw_gallery.py` from the robot files of packages: the group `robots` of the repository.

{count} robots, {held} of which hold their start pose for {duration:g} seconds: no joint is more than {error:g} rad or m
from its target at any time. The drives have the gains of [`pippin tune`](cli.md#pippin-tune) with implicit efforts. The
solver is `mujoco-native` with a step of {step:g} ms, and gravity is 9.81 m/s² in every file. The base is fixed
(`floating = false`). A joint that starts outside its limits starts in their middle (`joint_positions`). A robot that
overlaps with itself gets `self_collisions = false`. *Solvers* lists those whose declarations have every mechanism of
the file; some of them ignore numbers, such as armature, if the file accepts that. Behind *yes* or *no* stand the number
of driven axes, and the largest distance with the joint's name.

| Robot | File | Held | Solvers | Notes |
|---|---|---|---|---|"""


def show(name: str, found: dict[str, Any]) -> None:
    """Draw a robot, and add what was found about it."""
    import pippin
    from pippin.runs.loop import start_notes
    from pippin_tune.gain_tables import group_table
    from pippin_tune.tuning import tune

    asset: dict[str, Any] = {"path": str(PACKAGES / ROBOTS[name])}
    tables = {
        "simulation": {"device": "cpu", "dt": DT},
        "scene": {"gravity": [0.0, 0.0, -9.81], "assets": [asset]},
        "solver": {"type": "mujoco-native"},
    }
    found["notes"] = []
    with build(tables, asset, found["notes"]) as simulation:
        found["notes"] += [note for notes in simulation.notes.values() for note in notes] + start_notes(simulation)
        draw(simulation, PICTURES / f"{name}.jpg")
        found["solvers"] = [solver for solver in solvers() if runs(simulation.model, tables, solver)]
        asset |= held_by_the_base(simulation)
        if any("self_collisions = false" in note for note in found["notes"]):
            asset["self_collisions"] = False
        found["changes"] = [key for key in asset if key != "path"]
        (proposal,) = tune(pippin.structure(tables), is_implicit=True, model=simulation.model)
    found["axes"], found["weak"] = len(proposal.gains), sum(gain.is_too_weak for gain in proposal.gains)
    with pippin.Simulation(pippin.structure({**tables, "actuators": {"joints": group_table(proposal)}})) as simulation:
        found["error"], found["joint"] = hold(simulation)


def build(tables: dict[str, Any], asset: dict[str, Any], notes: list[str]) -> Any:
    """Return the simulation of a robot; what differs from MuJoCo's own model is accepted and noted."""
    import pippin

    try:
        return pippin.Simulation(pippin.structure(tables))
    except pippin.ConfigError as error:
        accepted = re.search(r"(would be another mechanism.*); change the file.*accept_lost = \[(.*)\]", str(error))
        if accepted is None:
            raise
        asset["accept_lost"] = json.loads(f"[{accepted[2]}]")
        notes.append(accepted[1])
        return pippin.Simulation(pippin.structure(tables))


def solvers() -> list[str]:
    """Return the names of the installed solvers."""
    from pippin.catalog.entries import Catalog

    return list(Catalog.installed().names_without_settings("solver"))


def runs(model: Any, tables: dict[str, Any], solver: str) -> bool:
    """Return whether a solver's declaration has every mechanism of a model, as `pippin check` compares them."""
    from contextlib import closing

    import pippin
    from pippin.assembly.model import features_of
    from pippin.catalog.entries import Catalog
    from pippin.components.registry import Components
    from pippin.support.features import FEATURES
    from pippin.support.requirements import find_gaps

    config = pippin.structure({**tables, "solver": {"type": solver}})
    with closing(Components(config, (), Catalog.installed(), of_stages={})) as components:
        declared = components.declarations[components.solver_name]
        lacking = find_gaps(features_of(model), declared, (), (), are_stated=True).refused
    return not any(FEATURES[feature].is_structural for feature in lacking)


def held_by_the_base(simulation: Any) -> dict[str, Any]:
    """Return the keys of an asset with which its base is fixed, and no joint starts outside its limits.

    The joint positions of the model are changed likewise.
    """
    import newton
    from pippin.axes import axis_labels

    model = simulation.model
    kinds, starts = model.joint_type.numpy(), model.joint_qd_start.numpy()
    keys: dict[str, Any] = {}
    if kinds[0] == int(newton.JointType.FREE):
        keys["floating"] = False
    low, high, labels = model.joint_limit_lower.numpy(), model.joint_limit_upper.numpy(), axis_labels(model)
    positions, start = {}, model.joint_q.numpy()
    for joint, kind in enumerate(kinds):
        if kind in (int(newton.JointType.REVOLUTE), int(newton.JointType.PRISMATIC), int(newton.JointType.D6)):
            first = model.joint_q_start.numpy()[joint]
            for axis in range(starts[joint + 1] - starts[joint]):
                at, dof = start[first + axis], starts[joint] + axis
                if low[dof] < high[dof] and not low[dof] <= at <= high[dof]:
                    start[first + axis] = float(low[dof] + high[dof]) / 2.0
                    positions[re.escape(labels[dof].rpartition("/")[2])] = float(start[first + axis])
    model.joint_q.assign(start)
    return keys | ({"joint_positions": positions} if positions else {})


def hold(simulation: Any) -> tuple[float, str]:
    """Return the largest distance of a joint from its target in two seconds [rad or m], and the joint's name."""
    import numpy as np

    group = simulation.actuators["joints"]
    targets = group.position_targets.numpy().ravel()
    dofs = group.actuated_dofs.numpy()
    coordinates = coordinates_of(simulation.model, dofs)
    worst, joint = 0.0, ""
    for _ in range(20):
        simulation.step(round(DURATION / DT / 20))
        simulation.raise_errors()
        errors = np.abs(simulation.state.joint_q.numpy()[coordinates] - targets)
        if errors.max() > worst:
            worst, joint = float(errors.max()), group.joint_labels[int(errors.argmax())].rpartition("/")[2]
    return worst, joint


def coordinates_of(model: Any, dofs: Any) -> Any:
    """Return the coordinate of each degree of freedom of joints with axes."""
    import numpy as np

    starts = model.joint_qd_start.numpy()
    joints = np.searchsorted(starts, dofs, side="right") - 1
    return model.joint_q_start.numpy()[joints] + dofs - starts[joints]


def draw(simulation: Any, path: Path) -> None:
    """Draw the first state of a simulation."""
    import newton
    import numpy as np
    from PIL import Image
    from pippin.rendering.renderer import render_image

    model, state = simulation.model, simulation.state
    newton.eval_fk(model, model.joint_q, model.joint_qd, state)
    center, radius = bounds(model, state)
    eye = center + 0.85 * radius / np.tan(FOV / 2.0) * np.array([0.75, -0.55, 0.35])
    Image.fromarray(render_image(model, state, eye, center, (WIDTH, HEIGHT), FOV)).save(path, quality=80)


def bounds(model: Any, state: Any) -> tuple[Any, float]:
    """Return the centre [m] and the radius [m] of the shapes on bodies."""
    import numpy as np

    bodies = model.shape_body.numpy()
    moving = bodies >= 0
    places = state.body_q.numpy()[bodies[moving]]
    radii = np.minimum(model.shape_collision_radius.numpy()[moving], 0.15)[:, None]
    points = np.concatenate([places[:, :3] - radii, places[:, :3] + radii])
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2.0, float(np.linalg.norm(high - low)) / 2.0


def in_a_process(name: str) -> dict[str, Any]:
    """Return what was found about a robot, or why nothing was."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", __file__, "--one", name, f"{folder}/found.json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, cwd=folder)
            result = Path(folder) / "found.json"
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            found = json.loads(result.read_text()) if result.exists() else {"failure": lines[-1] if lines else "ended"}
        except subprocess.TimeoutExpired:
            found = {"failure": f"not finished after {TIMEOUT} s"}
    found = {"path": ROBOTS[name], **found, "seconds": round(time.perf_counter() - start)}
    print(name, found.get("failure", f"{found.get('error', 0.0):.3g}"), f"{found['seconds']} s", flush=True)
    return found


def write_one(name: str, target: Path) -> None:
    """Write what was found about a robot, or the error, as JSON."""
    found: dict[str, Any] = {}
    try:
        show(name, found)
    except Exception as error:
        found |= {"failure": " ".join(f"{error}".split())[:300], "kind": type(error).__name__}
    text = json.dumps(found)
    for folder in (PACKAGES, Path(sys.prefix)):
        text = text.replace(f"{folder}/", "")
    target.write_text(text, encoding="utf-8")


def write_page(results: dict[str, dict[str, Any]]) -> None:
    """Write the page of the gallery."""
    held = [name for name, each in results.items() if each.get("error", 1e9) <= HELD]
    lines = [INTRODUCTION.format(count=len(results), held=len(held), duration=DURATION, error=HELD, step=1e3 * DT)]
    lines += [_row(name, each) for name, each in results.items()]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(name: str, found: dict[str, Any]) -> str:
    picture = f"![{name}](../images/gallery/{name}.jpg)" if (PICTURES / f"{name}.jpg").exists() else ""
    file = (
        found["path"]
        .rpartition("site-packages/")[2]
        .removeprefix("cmeel.prefix/share/")
        .removeprefix("../../../share/")
    )
    if "failure" in found:
        return f"| {picture} {name} | `{file}` | **no**: {_cell(found['failure'])} | | |"
    is_held = found["error"] <= HELD
    answer = f"{'yes' if is_held else '**no**'}, {found['axes']} axes, {found['error']:.2g} ({found['joint']})"
    solvers = ", ".join(f"`{solver}`" for solver in found["solvers"])
    notes = [note[:160] + ("…" if len(note) > 160 else "") for note in found["notes"]]
    return f"| {picture} {name} | `{file}` | {answer} | {solvers} | {_cell('; '.join(notes[:3]))} |"


def _cell(text: str) -> str:
    for shown, hidden in (("|", "\\|"), ("<", "&lt;"), ("[", "\\["), ("*", "\\*")):
        text = text.replace(shown, hidden)
    return text


def main(names: list[str]) -> None:
    """Draw robots, by default all, and write the page."""
    os.nice(5)
    PICTURES.mkdir(parents=True, exist_ok=True)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    chosen = names or list(ROBOTS)
    with ThreadPoolExecutor(WORKERS) as pool:
        for name, found in zip(chosen, pool.map(in_a_process, chosen), strict=True):
            results[name] = found
            ordered = {name: results[name] for name in ROBOTS if name in results}
            RESULTS.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
            write_page(ordered)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        write_one(sys.argv[2], Path(sys.argv[3]))
    elif sys.argv[1:] == ["--page"]:
        write_page(json.loads(RESULTS.read_text(encoding="utf-8")))
    else:
        main(sys.argv[1:])
