"""The groups of a self-test, each in a process of its own: a crash or a fault of the device ends one check alone."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import attrs
from pippin import ConfigError, PippinError, did_you_mean
from pippin.catalog import Catalog
from pippin.workers import WorkerProcess

from pippin_conformance.outcomes import NotApplicableError

from .rows import Case, Row, WrongResult
from .scenes import ROBOTS, SENSORS

_PRELOAD = ("pippin_conformance.selftest.checks",)
_PREFERRED = ("mujoco", "xpbd", "featherstone", "semi-implicit")
"""Solvers for robots, the first installed one is taken."""


def groups(device: str, chosen: Sequence[str], solvers: Sequence[str], *, is_quick: bool) -> list[Case]:
    """Return the groups, in order.

    Args:
        device: Name of the device.
        chosen: Names of groups or patterns of them; empty for all.
        solvers: Solvers to test in place of the installed ones.
        is_quick: Whether to leave out what takes long.

    Raises:
        ConfigError: A pattern matches no group, or no solver is installed.
    """
    installed = Catalog.installed().names_without_settings("solver")
    if not (solvers or installed):
        raise ConfigError("selftest: no solver is installed; install one, such as pippin-solver-mujoco")
    of_robots = next((name for name in (*solvers, *_PREFERRED) if name in installed), None)
    found = [Case(group="device", checks=("device",), device=device, is_quick=is_quick)]

    def add(group: str, checks: Sequence[str], solver: str, robot: str = "") -> None:
        found.append(attrs.evolve(found[0], group=group, checks=tuple(checks), solver=solver, robot=robot))

    own = ("captured", "more worlds" if found[0].is_alone else "same as cpu", "reset", "views", "free fall")
    for name in solvers or installed:
        add(f"solver {name}", own[: 3 if is_quick else None], name)
    if of_robots is not None:
        add("sensors", list(SENSORS)[: 3 if is_quick else None], of_robots)
        for name in ("task", "checkpoint", "export"):
            add(name, (name,), of_robots)
        for robot in ROBOTS:
            add(f"speed {robot}", ("speed",), of_robots, robot)
    names = [case.group for case in found]
    for pattern in chosen:
        if not fnmatch.filter(names, pattern):
            near = did_you_mean(pattern, names)
            raise ConfigError(f"selftest: no group {pattern!r}{near}; there are {', '.join(names)}")
    return [case for case in found if not chosen or any(fnmatch.fnmatch(case.group, one) for one in chosen)]


def run(case: Case, timeout: float) -> Iterator[Row]:
    """Yield the rows of a group as they come. After a crash, the next checks run in another process.

    Args:
        case: The group.
        timeout: Longest time of a check [s].
    """
    left, start = list(case.checks), time.perf_counter()
    while left:
        with WorkerProcess(case.group, _work, case, tuple(left), requires_grad=False, preload=_PRELOAD) as process:
            try:
                is_over = False
                while left and not is_over:
                    found = process.receive(timeout)
                    if isinstance(found, Row):
                        yield found
                        continue
                    is_over, start = found, time.perf_counter()
                    left.pop(0)
            except PippinError as error:
                row = partial(Row, group=case.group, check=left.pop(0), outcome="failed", detail=str(error))
                yield row(seconds=time.perf_counter() - start)
                start = time.perf_counter()


def _work(connection: Connection, case: Case, checks: Sequence[str]) -> None:
    from .checks import CHECKS

    for name in checks:
        is_over = False
        for row in _rows(case, name, CHECKS[name]):
            connection.send(row)
            is_over |= row.outcome == "failed" and not case.is_alone  # a fault poisons CUDA
        connection.send(is_over)
        if is_over:
            return


def _rows(case: Case, name: str, check: Callable[[Case], Any]) -> Iterator[Row]:
    start = time.perf_counter()

    def row(outcome: Any, detail: str = "", **figures: Any) -> Row:
        seconds = time.perf_counter() - start
        return Row(group=case.group, check=name, outcome=outcome, detail=detail, seconds=seconds, figures=figures)

    try:
        found = check(case)
        if isinstance(found, str):
            yield row("passed", found)
            return
        for figures in found:
            yield row("skipped" if "left out" in figures else "measured", figures.get("left out", ""), **figures)
    except WrongResult as wrong:
        yield row("wrong", str(wrong))
    except (NotApplicableError, ConfigError) as nothing:  # a solver may refuse a device
        yield row("skipped", str(nothing))
    except Exception as error:  # a plugin, a driver or a kernel may raise anything
        yield row("failed", f"{type(error).__name__}: {error}")
