"""Cases and rows of a self-test: what is checked, what came out, and a fragment of a Markdown page with it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any, Literal

import attrs


class WrongResult(Exception):  # noqa: N818  (what a check found, not an error of the program)
    """Two results differ; the text names the array, the world, the step and both values."""


@attrs.frozen(kw_only=True)
class Case:
    """A group of checks with one solver on one device."""

    group: str
    checks: tuple[str, ...]
    device: str
    is_quick: bool
    solver: str = ""
    robot: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether there is no other device to compare with, as on a CPU."""
        return self.device == "cpu"


@attrs.frozen(kw_only=True)
class Row:
    """Outcome of one check, or figures of one measurement."""

    group: str
    check: str
    outcome: Literal["passed", "wrong", "failed", "skipped", "measured"]
    """A check that cannot end, such as one that crashes its process, has "failed"."""

    detail: str = ""
    seconds: float = 0.0
    """Duration, with the compilation of kernels [s]."""

    figures: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def is_fault(self) -> bool:
        """Whether the self-test fails."""
        return self.outcome in ("wrong", "failed")


def machine(device: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the results depend on."""
    versions = {name: metadata.version(name) for name in ("pippin", "newton", "warp-lang", "mujoco", "numpy")}
    about = next((row.detail for row in rows if row.check == "device" and row.outcome == "passed"), "")
    system = f"{platform.system()} {platform.release()}, {platform.machine()}, CPython {platform.python_version()}"
    return {"machine": platform.node(), "system": system, "device": device, "about": about, "versions": versions}


def fragment(found: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return the fragment: figures first, then each check."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    about = f"{'. '.join(filter(None, (found['about'], found['system'])))}; {versions}."
    lines = [f"## Measured on {found['machine']}, {found['device']}", "", about, ""]
    if measured := [_measured(row.figures) for row in rows if row.outcome == "measured"]:
        lines += ["More than 1 means that Pippin is faster than a loop over the same solver, captured by hand.", ""]
        lines += ["| robot | solver | worlds | ÷ captured by hand | world-steps/s | bytes ÷ worlds |", "|---" * 6 + "|"]
        lines += [*measured, ""]
    checks = [row for row in rows if row.outcome != "measured" and row.check != "device"]
    lines += ["| group | check | outcome | found |", "|---|---|---|---|"] if checks else []
    for row in checks:
        outcome = f"**{row.outcome}**" if row.is_fault else row.outcome
        detail = row.detail.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {row.group} | {row.check} | {outcome} | {detail} |")
    return "\n".join(lines) + "\n"


def speed_text(figures: Mapping[str, Any]) -> str:
    """Return the figures of a row in words."""
    bits = "the same bits" if figures["has_same_bits"] else "other bits"
    return (
        f"worlds {figures['worlds']}: {figures['world_steps_per_second']:,.0f} world-steps/s, {figures['ratio']:.3f} ÷"
        f" captured by hand, {bits}, {figures['bytes_per_world'] / 1e3:.1f} kB for each world"
    )


def _measured(figures: Mapping[str, Any]) -> str:
    return (
        f"| {figures['robot']} | {figures['solver']} | {figures['worlds']:,} | {figures['ratio']:.3f} |"
        f" {figures['world_steps_per_second']:,.0f} | {figures['bytes_per_world']:,.0f} |"
    )
