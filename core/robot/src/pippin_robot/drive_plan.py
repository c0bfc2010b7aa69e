"""Preparation of a drive by a simulation: joints, targets, gains, facts for the summary."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from pippin import ConfigError, Simulation, SimulationConfig, load
from pippin.arrays import on_host, present
from pippin.recording import Recording
from pippin.studies import DEFAULT_DURATION, what_ran

from .config import ACTING
from .contract import RobotPlugin
from .emulating import plugin_of
from .plan import RobotPlan
from .robot_page import PageSource, RobotPage
from .shadow import Shadow
from .sources import DriveSource, HoldSource, LeaderSource, PolicySource, TableSource, TargetSource


@attrs.define(kw_only=True, eq=False)
class DrivePlan:
    """All that the loop needs."""

    robot: RobotPlugin
    plan: RobotPlan
    source: TargetSource
    gains: np.ndarray
    """Gains of the positions that the robot gets, shape [joints]; NaN leaves its own."""
    damping: np.ndarray
    """Gains of the velocities, likewise."""
    shadow: Shadow | None
    facts: Mapping[str, Any]
    """What ran, as in the summary of a run."""
    notes: list[str]
    what: str
    """What moves the robot, in words."""
    simulation: Simulation
    """The simulation; closed without a shadow."""
    page: RobotPage | None = None
    """The page that shows the robot."""

    def close(self) -> None:
        """Let go of everything."""
        if self.page is not None:
            self.page.close()
        self.source.close()
        self.simulation.close()


def plan_drive(
    config: SimulationConfig,
    source: DriveSource,
    duration: float | None,
    *,
    is_shadowed: bool,
    has_page: bool,
    resync: float,
) -> DrivePlan:
    """Build the simulation of a file, and return what a drive needs of it.

    Args:
        config: The file.
        source: What the robot is told.
        duration: Time of the targets [s].
        is_shadowed: Whether the simulation runs beside the robot.
        has_page: Whether a page shows the robot.
        resync: Time after which it is set to what the robot measures [s].

    Raises:
        ConfigError: Something does not fit.
    """
    robot = plugin_of(config)
    rate, has_motions = robot.config.rate, bool(getattr(config, "motions", None))
    if robot.max_rate is not None and rate > robot.max_rate:
        raise ConfigError(f"robot.rate: this robot takes at most {robot.max_rate:g} Hz, got {rate:g}")
    moved = has_motions and source.is_empty
    dropped = [name for name in ACTING if getattr(config, name, None) and not (moved and name == "motions")]
    simulation = Simulation(config.with_tables(**dict.fromkeys((*dropped, "recorders", "viewers"))))
    try:
        plan = RobotPlan.of(simulation, robot.config)
        steps = _steps(simulation, rate) if moved or is_shadowed else 0
        table = _of_motions(simulation, plan, steps, duration, rate) if moved else None
        notes = [f"left out, as something else drives: {', '.join(dropped)}"] if dropped else []
        gains, damping = (_gains(simulation, plan, name) for name in ("kp", "kd"))
        if not (written := _kinds(simulation, plan) <= set(robot.gain_types)):
            notes.append("the robot keeps its own gains: those of these actuators are not in its unit")
        found = DrivePlan(
            robot=robot,
            plan=plan,
            source=_source(source, robot, plan, table, {"kp": gains, "kd": damping}),
            gains=gains if written else np.nan * gains,
            damping=damping if written else np.nan * damping,
            shadow=None,
            facts=what_ran(simulation),
            notes=notes,
            what=_what(source, moved),
            simulation=simulation,
        )
        if is_shadowed:
            bare = Simulation(config.with_tables(**dict.fromkeys((*ACTING, "recorders", "viewers"))))
            simulation.close()
            found.simulation = bare
            found.shadow = Shadow(bare, plan, steps, max(1, round(resync * rate)))
        else:
            simulation.close()
        if has_page or source.teleoperate:
            found.page = RobotPage(config, len(plan.joints))
        if source.teleoperate:
            found.source = PageSource(present(found.page))
    except BaseException:
        simulation.close()
        raise
    return found


def _steps(simulation: Simulation, rate: float) -> int:
    steps = round(1.0 / (rate * simulation.control_dt))
    if steps < 1 or not np.isclose(steps * simulation.control_dt * rate, 1.0, rtol=1e-6):
        raise ConfigError(
            f"robot.rate: a period of {1.0 / rate:g} s is no whole number of control steps of"
            f" {simulation.control_dt:g} s; change the rate, or simulation.dt and decimation"
        )
    return steps


def _of_motions(simulation: Simulation, plan: RobotPlan, steps: int, duration: float | None, rate: float) -> np.ndarray:
    """Return the targets that the file's motions give in each period, shape [periods, joints], from a simulation."""
    count = max(1, round((duration or DEFAULT_DURATION) * rate))
    table = np.zeros((count, len(plan.joints)))
    for row in table:
        simulation.step(steps)
        for label, (rows, columns) in plan.groups.items():
            row[rows] = on_host(simulation.actuators[label].position_targets)[0][columns]
    return table


def _of_recording(path: Path, plan: RobotPlan, rate: float) -> np.ndarray:
    """Return the targets of a recording in each period, shape [periods, joints]; between rows, the last one holds."""
    with Recording(path) as recording:
        columns: dict[str, np.ndarray] = {}
        for name in recording:
            if name.startswith("actuators/") and name.endswith("/position_targets"):
                for number, label in enumerate(recording[name].labels):
                    columns[label.rpartition("/")[2]] = recording[name].values[:, 0, number]
        missing = [joint.name for joint in plan.joints if joint.name not in columns]
        if missing:
            known = ", ".join(columns) or "none"
            raise ConfigError(f"--replay: '{path}' has no targets of {', '.join(missing)}; it has those of: {known}")
        time = np.asarray(recording.time)
        whole = np.stack([columns[joint.name] for joint in plan.joints], axis=1)
    count = int(np.floor((time[-1] - time[0]) * rate + 1e-6)) + 1
    jitter = 0.5 * min(1.0 / rate, float(np.median(np.diff(time))) if len(time) > 1 else np.inf)
    places = np.searchsorted(time, time[0] + np.arange(count) / rate + jitter, side="right") - 1
    return whole[np.maximum(places, 0)].astype(np.float64)


def _gains(simulation: Simulation, plan: RobotPlan, name: str) -> np.ndarray:
    found = np.full(len(plan.joints), np.nan)
    for label, (rows, columns) in plan.groups.items():
        group = simulation.actuators[label]
        if name in group.parameters:
            found[rows] = on_host(group.get(name))[0][columns]
    return found


def _kinds(simulation: Simulation, plan: RobotPlan) -> set[str]:
    chosen = simulation.selected_plugins
    return {chosen[f"actuators:{label}"][1].type for label in plan.groups if f"actuators:{label}" in chosen}


def _source(
    source: DriveSource, robot: RobotPlugin, plan: RobotPlan, table: np.ndarray | None, gains: Mapping[str, np.ndarray]
) -> TargetSource:
    rate, joints = robot.config.rate, plan.joints
    if source.policy is not None:
        named = {
            name: {joint.name: float(value) for joint, value in zip(joints, values, strict=True)}
            for name, values in gains.items()
            if not np.isnan(values).any()
        }
        return PolicySource(source.policy, joints, rate, named, source.commands)
    if source.replay is not None:
        return TableSource(_of_recording(source.replay, plan, rate))
    if source.leader is not None:
        file = load(source.leader)
        other = plugin_of(file)
        bare = file.with_tables(**dict.fromkeys((*ACTING, "recorders", "viewers")))
        with Simulation(bare) as simulation:
            leaders = RobotPlan.of(simulation, other.config).joints
        return LeaderSource(other.connect(leaders), [joint.name for joint in leaders], joints)
    if source.moves is not None:
        return TableSource(np.array([joint.start for joint in joints]) + source.moves)
    return HoldSource() if table is None else TableSource(table)


def _what(source: DriveSource, is_moved: bool) -> str:
    if source.policy is not None:
        return f"the policy {source.policy}"
    if source.replay is not None:
        return f"the targets of {source.replay}"
    if source.leader is not None:
        return f"the robot of {source.leader}"
    if source.teleoperate:
        return "the sliders of a page"
    if source.moves is not None:
        return "steps and noise"
    return "the motions of the file" if is_moved else "nothing: it holds where it is"
