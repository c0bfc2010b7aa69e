"""A folder that goes to the robot: the policy, the runner, and what the passport says in words."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pippin import ConfigError, load
from pippin_task import passport_of, read_passport, write_passport

RUNNER = Path(__file__).with_name("runner.py")
"""The program that runs a policy: NumPy and onnxruntime alone."""


def deploy(policy: Path, out: Path, file: Path | None = None, observations: str | None = None) -> dict[str, Any]:
    """Write a folder with a policy, a runner that needs no Pippin, and a page that says what both need.

    Args:
        policy: The ONNX file.
        out: The folder, new or empty.
        file: The file of the task that the policy was trained in, for a policy without a passport.
        observations: The group that the policy reads, for such a file; by default its only one.

    Returns:
        The passport of the policy.

    Raises:
        ConfigError: The policy has no passport and no file is given; or it has one already; or the folder is in use.
        PluginError: The extra `policy` is not installed.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out: '{out}' is not empty; name a new folder")
    passport = read_passport(policy)
    if (passport is None) == (file is None):
        cure = "has no passport; name the file of its task by --file" if file is None else "has one; leave out --file"
        raise ConfigError(f"policy: '{policy}' {cure}")
    if file is None and observations is not None:
        raise ConfigError("--observations: the passport says what the policy reads; leave it out")
    own = None if file is None else _passport(file, observations)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(policy, out / "policy.onnx")
    shutil.copyfile(RUNNER, out / RUNNER.name)
    if own is not None:
        write_passport(out / "policy.onnx", own)
    passport = passport or own
    assert passport is not None
    (out / "README.md").write_text("\n".join(_page(passport)) + "\n", encoding="utf-8")
    return passport


def _passport(file: Path, observations: str | None) -> dict[str, Any]:
    """Return the passport of policies that read a group of observations of a file, by default its only one."""
    config = load(file)
    if config.task is None:
        raise ConfigError(f"--file: '{file}' has no [task]; name the file of the training")
    groups = list(config.task.observations)
    chosen = observations or (config.policy and config.policy.observations) or (groups[0] if len(groups) == 1 else None)
    if chosen is None or chosen not in groups:
        raise ConfigError(f"--observations: got {chosen!r}; name a group of '{file}': {', '.join(groups) or 'none'}")
    return passport_of(config, chosen)


def _page(passport: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the page of a folder."""
    yield from ("# A policy for a robot", "")
    yield "`python runner.py policy.onnx` checks the policy; it needs `numpy` and `onnxruntime`, and no Pippin. The"
    yield from ("head of `runner.py` says how your program calls it. Keep a hand on the emergency stop.", "")
    yield f"- Rate: {1.0 / passport['control_dt']:g} Hz. A reading and its targets belong to one control step."
    yield "- Units: rad, m, s, N·m. Quaternions are x, y, z, w. Gravity is measured in the body's own axes."
    if passport["body"] is not None:
        yield f"- The inertial unit is that of the body `{passport['body']}`, in its axes."
    yield from (
        "- An episode begins with `reset`: the last action is zero, and the first reading fills each history.",
        "",
    )
    yield from ("| joint | start [rad, m] | lower | upper |", "|---|---|---|---|")
    for each in passport["joints"]:
        yield f"| `{each['name']}` | {each['start']:.6g} | {_number(each['lower'])} | {_number(each['upper'])} |"
    yield from (
        "",
        "| observation | what | numbers | clip | scale | history | delay in training |",
        "|---|---|---|---|---|---|---|",
    )
    for each in passport["observations"]:
        kind = each["type"] if each["recipe"] else f"**{each['type']}: give its numbers**"
        clip, delay = each["clip"] or "none", "{} to {}".format(*each["delay"])
        shown = f"{len(each['labels'])} | {clip} | {each['scale']:g} | {each['history']} | {delay}"
        yield f"| `{each['label']}` | {kind} | {shown} |"
    yield from ("", "| action | what | numbers | scale | clip | smoothing |", "|---|---|---|---|---|---|")
    for each in passport["actions"]:
        law = each["recipe"] or {}
        shown = f"{law.get('scale')} | {law.get('clip')} | {law.get('smoothing')}"
        yield f"| `{each['label']}` | {each['type']} | {len(each['labels'])} | {shown} |"
    yield from ("", "| actuator | parameter | of its joints |", "|---|---|---|")
    for label, each in passport["actuators"].items():
        for name, values in each["parameters"].items():
            yield f"| `{label}` | {name} | {', '.join(f'{value:g}' for value in values)} |"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"
