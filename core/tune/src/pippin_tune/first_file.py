"""The first configuration of a robot file: one that stands, or holds its pose, as a trial of it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import newton
import numpy as np
from pippin import AssetContents, Simulation, SimulationError, inspect, structure
from pippin.arrays import on_host
from pippin.assembly import first_world, lacking_features, overlaps
from pippin.axes import axis_labels
from pippin.config import toml_text
from pippin.quaternions import rotated

from .gain_tables import gain_notes, group_table, limit_table, pattern_of
from .stances import Stance
from .tuning import NEW_GROUP as GROUP
from .tuning import dofs_of, tune

_LEGS = re.compile(r"(?i)(^|[\W_\d])(foot|ankle|knee|calf|shank|thigh|leg|haa|hfe|kfe)([\W_\d]|$)")
"""Names of links and joints of a robot that walks; a URDF does not say whether its root is free."""

_SERVOS = {"position", "intvelocity", "velocity"}
"""Types of actuators of an MJCF file that hold a joint by themselves."""

_KEYFRAMES = re.compile(r"(?i)home|stand|init|rest")

_FREQUENCIES = (5.0, 10.0, 15.0, 25.0)
"""Natural frequencies of the drives that are tried [Hz], until the robot holds its pose."""

_CONTROL_DT = 0.02
"""Length of a control step [s]."""

_DURATION = 2.0
"""Length of a trial [s]."""

_DROP, _TILT, _ERROR = 0.15, 0.4, 0.2
"""Bounds of a pose that is held: the share of the base's height by which it sinks, its tilt [rad], and the distance of
a joint of a fixed robot from its target [rad or m]."""

_CLEARANCE = 0.01
"""Height of the lowest point above the ground at the start [m]."""

_SOLVER = 'Physics: "mujoco-native" is MuJoCo on the cores of a CPU; "mujoco" also runs on a GPU.'

_SUGGESTIONS = """\
# Sensors, for example acceleration and angular velocity of the base:
# [sensors.imu]
# type = "imu"
# body = "{base}"

# A task makes the file one to learn in: `pippin train`. See docs/tutorials/robot-to-walking.md.
"""
"""Tables that a user may add."""


@attrs.frozen(kw_only=True)
class Trial:
    """The end of a trial: how far the robot is from where it started."""

    height: float
    """Height of the base at the start [m]."""

    drop: float
    """Distance by which the base sank [m]; 0 if it is fixed."""

    tilt: float
    """Angle between the base's upright axis and the vertical [rad]."""

    error: float
    """Largest distance of a driven joint from its target [rad or m]."""

    is_floating: bool

    @property
    def holds(self) -> bool:
        """Whether the robot held its pose."""
        if self.is_floating:
            return self.drop < _DROP * max(self.height, 0.05) and self.tilt < _TILT
        return self.error < _ERROR

    def __str__(self) -> str:
        verb = "holds" if self.holds else "does not hold"
        if self.is_floating:
            after = f"base at {self.height:.3g} m, {self.height - self.drop:.3g} m after {_DURATION:g} s"
            return f"it {'stands' if self.holds else 'does not stand'}: {after}, tilted by {np.degrees(self.tilt):.2g}°"
        pose = f"{verb} its pose for {_DURATION:g} s, its base fixed (--floating frees it)"
        return f"it {pose}: no joint is farther from its target than {self.error:.2g}"


def first_file(
    robot: str,
    written: str,
    *,
    solver: str,
    is_floating: bool | None = None,
    dt: float = 0.002,
    armature: float | None = None,
) -> tuple[str, Trial]:
    """Return a configuration of a robot file, in TOML with a comment for each table, and its simulation of two seconds.

    Args:
        robot: The robot file, from here.
        written: Its path in the configuration.
        solver: Name of the solver.
        is_floating: Whether the root is free to move; by default as the file says, and a URDF with legs is free.
        dt: Length of a physics step [s]; a control step takes about 20 ms.
        armature: Rotor inertia of joints for which the file states none [kg·m²].

    Raises:
        ConfigError: The robot cannot be read, has no joint to drive, or the solver cannot simulate it.
    """
    asset: dict[str, Any] = {"path": robot, **({} if armature is None else {"armature": armature})}
    tables: dict[str, Any] = {
        "simulation": {"device": "cpu", "dt": dt, "decimation": max(1, round(_CONTROL_DT / dt))},
        "scene": {"ground": False, "assets": [asset]},
        "solver": {"type": solver},
    }
    contents = inspect(robot)[0]
    if is_floating is None and contents.format == "urdf":
        is_floating = any(_LEGS.search(row.name) for row in (*contents.bodies, *contents.joints)) or None
    if is_floating is not None:
        asset["floating"] = is_floating
    planes = [row.name for row in contents.shapes if row.type == "plane"]
    if planes and contents.format == "mjcf":
        asset["ignore"] = planes
    keyframe = _keyframe(contents)
    if keyframe is not None:
        asset["keyframe"] = keyframe
    tables["actuators"] = {GROUP: _drives(contents)}
    # The file says which features of the robot the solver does not have.
    if lacking := lacking_features(first_world(structure(tables)), solver):
        tables["simulation"]["accept_unsupported"] = list(lacking)
    model = _pose(tables, asset)
    trial, notes = _try(tables, asset, model)
    asset["path"] = written
    return _text(tables, contents, trial, notes), trial


def _keyframe(contents: AssetContents) -> str | None:
    """Return the keyframe to start from: one whose name speaks of a start, if there are several."""
    names = [row.name for row in contents.keyframes if not row.name.isdecimal()]
    return next(filter(_KEYFRAMES.search, names), names[0] if len(names) == 1 else None)


def _drives(contents: AssetContents) -> dict[str, Any]:
    """Return the table of a group: the file's own servos, or PD control of the joints that it drives, else of all."""
    if contents.format == "mjcf" and any(row.type in _SERVOS for row in contents.actuators):
        return {"type": "control", "actuators": [".*"]}
    targets = {row.target.removeprefix("joint ").replace("-", "_") for row in contents.actuators}
    axes = [row.name for row in contents.joints if "revolute" in row.type or "prismatic" in row.type]
    driven = [name for name in axes if name in targets] or axes
    return {"type": "pd", "joints": [".*"] if driven == axes else driven, "kp": 1.0}


def _pose(tables: dict[str, Any], asset: dict[str, Any]) -> newton.Model:
    """Set the start positions of the joints, the height and the ground; return the model in this pose."""
    model = first_world(structure(tables))
    patterns = tables["actuators"][GROUP].get("joints", [".*"])
    dofs = dofs_of(model, patterns, f"actuators.{GROUP}.joints")
    labels, stance, is_free = [axis_labels(model)[dof] for dof in dofs], Stance(model, dofs), _root(model)[1]
    chosen = stance.within_limits()
    if is_free and "keyframe" not in asset:
        chosen = stance.balanced(chosen)
    alike: dict[float, list[str]] = {}
    for label, position, start in zip(labels, chosen.tolist(), stance.start, strict=True):
        if abs(position - start) > 0.02:
            alike.setdefault(round(position, 2), []).append(label)
    if alike:
        asset["joint_positions"] = {pattern_of(own, labels): position for position, own in alike.items()}
        model = first_world(structure(tables))
        stance = Stance(model, dofs)
    lowest = stance.lowest(stance.start)
    if is_free and np.isfinite(lowest):
        asset["position"] = [0.0, 0.0, round(float(_CLEARANCE - lowest), 3)]
    tables["scene"]["ground"] = bool(is_free or lowest > -1e-3)
    return model


def _try(tables: dict[str, Any], asset: dict[str, Any], model: newton.Model) -> tuple[Trial, list[str]]:
    """Set the gains with which the robot holds its pose, or else those with which it comes closest.

    A robot that falls is tried with rotor inertias, if its file states none, and with a shorter step: stiff drives of
    light feet need both.
    """
    tried = list[tuple[Trial, dict[str, Any], dict[str, Any], list[str]]]()
    mass, height = on_host(model.body_mass).sum(), on_host(model.body_q)[_root(model)[0], 2]
    dt = tables["simulation"]["dt"]
    armature = asset.get("armature") or round(
        float(1.5 * mass * 9.81 * height) / (2.0 * np.pi * _FREQUENCIES[-1]) ** 2, 4
    )
    for change in ({}, {"armature": armature}, {"dt": dt / 2, "decimation": 2 * tables["simulation"]["decimation"]}):
        for key, value in change.items():
            (asset if key == "armature" else tables["simulation"])[key] = value
        model = first_world(structure(tables)) if change else model
        for frequency in _FREQUENCIES[2 if change else 0 :]:
            table, notes = _group(tables, model, frequency)
            trial = _simulated({**tables, "actuators": {GROUP: table}}, asset)
            tried.append((trial, table, {**asset, **tables["simulation"]}, notes))
            if trial.holds or table["type"] != "pd":
                break
        if tried[-1][0].holds or not tried[-1][0].is_floating or tried[-1][1]["type"] != "pd":
            break
    trial, table, settings, notes = min(tried, key=lambda each: (not each[0].holds, each[0].drop, each[0].error))
    tables["actuators"] = {GROUP: table}
    for part in (asset, tables["simulation"]):
        part |= {key: settings[key] for key in part if key in settings}
    if "armature" in asset and "armature" not in settings:
        del asset["armature"]
    return trial, notes


def _group(tables: Mapping[str, Any], model: newton.Model, frequency: float) -> tuple[dict[str, Any], list[str]]:
    group = tables["actuators"][GROUP]
    if group["type"] != "pd":
        return group, []
    (proposal,) = tune(structure(tables), frequency=frequency, model=model)
    return {**group, **group_table(proposal), **limit_table(proposal)}, gain_notes(proposal, tables["simulation"]["dt"])


def _simulated(tables: dict[str, Any], asset: dict[str, Any]) -> Trial:
    """Simulate for two seconds; a robot that overlaps with itself at the start gets no collisions with itself."""
    with Simulation(structure(tables)) as simulation:
        model, state = simulation.model, simulation.state
        found = overlaps(model, simulation.solver, simulation.contact_source)
        if any(each.is_own for each in found) and asset.get("self_collisions", True):
            asset["self_collisions"] = False
            return _simulated(tables, asset)
        group, (root, is_free) = simulation.actuators[GROUP], _root(model)
        dofs = on_host(group.actuated_dofs) if hasattr(group, "actuated_dofs") else np.arange(0)
        stance = Stance(model, dofs.ravel().tolist())
        before = on_host(state.body_q)[root].copy()
        simulation.step(round(_DURATION / simulation.control_dt))
        try:
            simulation.raise_errors()
        except SimulationError:
            return Trial(height=0.0, drop=np.inf, tilt=np.inf, error=np.inf, is_floating=is_free)
        after, positions = on_host(state.body_q)[root], on_host(state.joint_q)[stance.columns]
    upright = rotated(after[3:], rotated(before[3:] * (-1.0, -1.0, -1.0, 1.0), np.array([0.0, 0.0, 1.0])))
    return Trial(
        height=float(before[2]),
        drop=float(before[2] - after[2]),
        tilt=float(np.arccos(np.clip(upright[2], -1.0, 1.0))),
        error=float(np.abs(positions - stance.start).max(initial=0.0)),
        is_floating=is_free,
    )


def _root(model: newton.Model) -> tuple[int, bool]:
    free = np.flatnonzero(on_host(model.joint_type) == int(newton.JointType.FREE))
    return int(on_host(model.joint_child)[free[0]]) if free.size else 0, bool(free.size)


def _text(tables: Mapping[str, Any], contents: AssetContents, trial: Trial, notes: Sequence[str]) -> str:
    simulation = {key: value for key, value in tables["simulation"].items() if key != "device"}
    actuators = tables["actuators"][GROUP]
    of = "the servos of the robot's own file" if actuators["type"] == "control" else "PD control: kp (q* - q) - kd q̇"
    base = next((row.body for row in contents.joints if row.type == "free"), contents.bodies[0].name)
    parts = [
        f"# {contents.file.rpartition('/')[2]}: {contents.total_mass:.4g} kg, {contents.dof_count} degrees of freedom."
        f" Tried with the solver {tables['solver']['type']!r}:\n# {trial}.\n"
        + "".join(f"# Note: {note}\n" for note in notes),
        _section("Time: a physics step is dt [s]; policies act every `decimation` steps.", simulation=simulation),
        _section("Worlds: copies of the robot, side by side. Ground at height zero.", scene=tables["scene"]),
        _section(_SOLVER, solver=tables["solver"]),
        _section(f"Actuators: {of}. Targets are the start pose.", actuators=tables["actuators"]),
        _SUGGESTIONS.format(base=json.dumps(base, ensure_ascii=False)[1:-1]),
    ]
    return "\n".join(parts)


def _section(comment: str, **tables: Any) -> str:
    return f"# {comment}\n{toml_text(tables)}"
