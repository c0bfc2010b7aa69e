"""`pippin drive`: a file's targets, a policy, a recording or another robot, on a robot."""

from __future__ import annotations

import contextlib
import select
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from pippin import SimulationConfig
from pippin.config import dump_toml
from pippin.studies import RunFolder, current_progress, versions

from .contract import RobotFault
from .drive_log import DriveLog, header_of
from .drive_loop import DriveLoop
from .drive_plan import DrivePlan, plan_drive
from .limits import TargetLimits
from .pace import Deadlines, RealTime, before_others, percentiles
from .sources import DriveSource

_LEAST_RATE = 0.99
"""Share of the rate below which a drive warns."""

_DISTRIBUTIONS = {"pippin": "pippin", "newton": "newton", "warp-lang": "warp"}


@attrs.frozen(kw_only=True, eq=False)
class DriveResult:
    """What a drive did."""

    folder: Path | None
    """The run folder; None without a recording."""
    what: str
    """What moved the robot, in words."""
    fault: str | None
    """What ended it early; None if nothing did."""
    kind: str | None
    """The kind of the fault; `stop` if the user stopped it."""
    left: str
    """How the robot was left: as `robot.safety.on_fault` says, `as found`, or `untouched` by a dry run."""
    seconds: float
    """Time of the loop [s]."""
    rate: float
    """Frequency that was reached [Hz]."""
    late: Mapping[str, float]
    """How late periods began, by percentile [s]."""
    round_trip: Mapping[str, float]
    """Times of reading and writing, by percentile [s]."""
    dropped: int
    """Periods that were left out, as they were too late."""
    lost: int
    """Periods without a reading."""
    limited: Mapping[str, Mapping[str, int]]
    """How often each limit acted, by its kind and joint."""
    scheduler: str
    """What the system granted."""
    counts: Mapping[str, int]
    """Numbers of the driver, such as of packets."""
    residual: Mapping[str, float]
    """Root mean square of what was measured less what the shadow expected, by joint [rad or m]; empty without one."""
    notes: Sequence[str]
    """Facts that a reader should know."""

    @property
    def is_stopped_by_safety(self) -> bool:
        """Whether a fault ended it, and not the user."""
        return self.fault is not None and self.kind != "interrupt"

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data, for JSON."""
        return attrs.asdict(self) | {"folder": None if self.folder is None else str(self.folder)}


def drive(
    config: SimulationConfig,
    source: DriveSource = DriveSource(),
    *,
    name: str = "robot",
    duration: float | None = None,
    dry_run: bool = False,
    shadow: bool = False,
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
        resync: Time after which the shadow is set to what the robot measures [s].
        realtime: Whether the system is asked to run it before other programs.
        out: The run folder, new or empty.
        is_recorded: Whether there is one.
        confirm: Called with what will happen, before a robot is reached; it raises if the user says no.

    Raises:
        ConfigError: The file or an argument does not fit; nothing has moved.
        RobotFault: The robot does not answer, or is where it cannot be; nothing has moved.
    """
    with contextlib.closing(plan_drive(config, source, duration, is_shadowed=shadow, resync=resync)) as plan:
        limits = TargetLimits(plan.robot.config, plan.plan.joints, 1.0 / plan.robot.config.rate)
        if confirm is not None and not dry_run:
            joints = ", ".join(joint.name for joint in plan.plan.joints)
            confirm(f"{plan.what} will move {joints} of the robot")
        folder = RunFolder.chosen(out, name) if is_recorded else None
        with contextlib.closing(plan.robot.connect(plan.plan.joints)) as driver, _stop_key() as stop_key:
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
                stop_key=stop_key,
                show=current_progress().note,
            )
            try:
                with before_others(realtime) as scheduler:
                    end = loop.run(duration)
            finally:
                if log is not None:
                    log.close()
            result = _result(plan, loop, end, scheduler, folder)
    if folder is not None:
        from .drive_page import write_drive

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


@contextlib.contextmanager
def _stop_key() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether the space bar was pressed in the terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        yield lambda: False
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def is_pressed() -> bool:
        return bool(select.select([sys.stdin], [], [], 0.0)[0]) and sys.stdin.read(1) == " "

    try:
        tty.setcbreak(sys.stdin.fileno())
        yield is_pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def shown(result: DriveResult) -> Iterator[str]:
    """Yield what a drive did, in lines."""
    yield f"{result.seconds:.1f} s at {result.rate:.2f} Hz; {result.dropped} left out, {result.lost} without a reading"
    for what, numbers in (("late", result.late), ("read and write", result.round_trip)):
        texts = ", ".join(f"{name} {1e3 * value:.3f}" for name, value in numbers.items())
        yield f"{what} [ms]: {texts or 'nothing'}"
    yield f"scheduler: {result.scheduler}"
    yield "driver: " + ", ".join(f"{name} {value}" for name, value in result.counts.items())
    for kind, joints in result.limited.items():
        yield f"limit on {kind}: " + ", ".join(f"{name} {count} times" for name, count in joints.items())
    if result.residual:
        texts = ", ".join(f"{name} {value:.4f}" for name, value in result.residual.items())
        yield f"measured less expected, root mean square: {texts}"
    yield from result.notes

