"""`pippin drive`: a file's targets, a policy, a recording or another robot, on a robot."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pippin import ConfigError, SimulationConfig
from pippin.config import dump_toml
from pippin.studies import RunFolder, current_progress, versions

from .contract import RobotFault
from .drive_log import DriveLog, header_of
from .drive_loop import DriveLoop
from .drive_page import write_drive
from .drive_plan import DrivePlan, plan_drive
from .drive_result import DriveResult
from .limits import TargetLimits
from .pace import Deadlines, RealTime, before_others, percentiles
from .sources import DriveSource
from .stop_key import stop_pressed

_LEAST_RATE = 0.99
"""Share of the rate below which a drive warns."""

_DISTRIBUTIONS = {"pippin": "pippin", "newton": "newton", "warp-lang": "warp"}


def drive(
    config: SimulationConfig,
    source: DriveSource | None = None,
    *,
    name: str = "robot",
    duration: float | None = None,
    dry_run: bool = False,
    shadow: bool = False,
    page: bool = False,
    resync: float = 1.0,
    realtime: RealTime = "try",
    out: Path | None = None,
    is_recorded: bool = True,
    confirm: Callable[[str], None] | None = None,
) -> DriveResult:
    """Drive the robot of a file.

    Args:
        config: The file, with a table `[robot]`.
        source: What the robot is told; by default the motions of the file, and without any, to hold where it is.
        name: Name of the file, for the run folder.
        duration: Time after the soft start [s]; by default 5 s of motions, a whole recording, else until Ctrl-C.
        dry_run: Whether everything is computed and nothing is written.
        shadow: Whether a simulation runs beside the robot.
        page: Whether a page in the browser shows the robot, with a button that stops it.
        resync: Time after which the shadow is set to what the robot measures [s].
        realtime: Whether the system is asked to run it before other programs.
        out: The run folder, new or empty.
        is_recorded: Whether there is one.
        confirm: Called with what will happen, before a robot is reached; it raises if the user says no.

    Raises:
        ConfigError: The file or an argument does not fit; nothing has moved.
        RobotFault: The robot does not answer, or is where it cannot be; nothing has moved.
    """
    with contextlib.closing(
        plan_drive(config, source or DriveSource(), duration, is_shadowed=shadow, has_page=page, resync=resync)
    ) as plan:
        limits = TargetLimits(plan.robot.config, plan.plan.joints, 1.0 / plan.robot.config.rate)
        if confirm is not None and not dry_run:
            joints = ", ".join(joint.name for joint in plan.plan.joints)
            confirm(f"{plan.what} will move {joints} of the robot")
        folder = RunFolder.chosen(out, name) if is_recorded else None
        with contextlib.closing(plan.robot.connect(plan.plan.joints)) as driver, stop_pressed() as stop_key:
            if (how := plan.robot.config.safety.on_fault) not in driver.stops:
                known = ", ".join(driver.stops)
                raise ConfigError(f"robot.safety.on_fault: this robot cannot be left {how!r}; it can: {known}")
            log = None if folder is None else _log(config, plan, folder)
            loop = DriveLoop(
                robot=plan.robot,
                joints=plan.plan.joints,
                driver=driver,
                source=plan.source,
                limits=limits,
                pace=Deadlines(1.0 / plan.robot.config.rate),
                groups={label: rows for label, (rows, _) in plan.plan.groups.items()},
                gains=plan.gains,
                damping=plan.damping,
                is_dry=dry_run,
                log=log,
                shadow=plan.shadow,
                page=plan.page,
                stop_key=stop_key,
                show=current_progress().note,
            )
            with contextlib.closing(log) if log else contextlib.nullcontext(), before_others(realtime) as scheduler:
                end = loop.run(duration)
            result = _result(plan, loop, end, scheduler, folder)
    if folder is not None:
        write_drive(folder, name, config, plan.facts, result)
    return result


def _log(config: SimulationConfig, plan: DrivePlan, folder: RunFolder) -> DriveLog:
    folder.write_config(config)
    own, found = plan.plan, versions()
    header = header_of(
        dump_toml(config),
        plan.robot.config.rate,
        own.labels,
        ["rad" if joint.is_angle else "m" for joint in own.joints],
        {label: [own.labels[row] for row in rows] for label, (rows, _) in own.groups.items()},
        {short: found[name] for name, short in _DISTRIBUTIONS.items() if name in found},
        has_unit=own.is_floating,
        is_shadowed=plan.shadow is not None,
    )
    return DriveLog(folder.path / "series.npz", header)


def _result(
    plan: DrivePlan, loop: DriveLoop, end: RobotFault | KeyboardInterrupt | None, scheduler: str, folder: Any
) -> DriveResult:
    safety, pace, notes = plan.robot.config.safety, loop.pace, list(plan.notes)
    wanted = plan.robot.config.rate
    if pace.late and pace.rate < _LEAST_RATE * wanted:
        notes.append(f"the rate was {pace.rate:.2f} Hz of {wanted:g}; close other programs, or ask for less")
    if end is None and not loop.is_dry and not loop.is_torque_found:
        notes.append("the motors had no torque before, and have none now: hold what would fall")
    left = "untouched" if loop.is_dry else "as found" if end is None else safety.on_fault
    return DriveResult(
        folder=None if folder is None else folder.path,
        what=plan.what,
        fault=None if end is None else str(end) or "stopped by the user",
        kind=None if end is None else end.kind if isinstance(end, RobotFault) else "interrupt",
        left=left,
        seconds=pace.seconds,
        rate=pace.rate,
        late=percentiles(pace.late),
        round_trip=percentiles(loop.round_trips),
        dropped=pace.dropped,
        lost=loop.lost,
        limited=loop.limits.summary(),
        scheduler=scheduler,
        counts=loop.driver.counts(),
        residual={} if plan.shadow is None else _residual(plan),
        notes=[*notes, *loop.driver.notes],
    )


def _residual(plan: DrivePlan) -> dict[str, float]:
    assert plan.shadow is not None
    names = [joint.name for joint in plan.plan.joints]
    return dict(zip(names, plan.shadow.root_mean_square().tolist(), strict=True))
