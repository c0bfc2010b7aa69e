"""A folder that goes to the robot: the policy, the runner, and what the passport says in words."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pippin import ConfigError, load
from pippin.report import code, markdown
from pippin_task import passport_of, read_passport, write_passport

from .fitting import orders
from .foreign import foreign_passport

RUNNER = Path(__file__).with_name("runner.py")
"""The program that runs a policy: NumPy and onnxruntime alone."""


def deploy(
    policy: Path,
    out: Path,
    file: Path | None = None,
    observations: str | None = None,
    *,
    beside: Path | None = None,
    motors: Sequence[str] = (),
) -> dict[str, Any]:
    """Write a folder with a policy, a runner that needs no Pippin, and a page that says what both need.

    That of another program is compared with its file first, and its network gets the order of the file's numbers.

    Args:
        policy: The ONNX file.
        out: The folder, new or empty.
        file: The file of the task that the policy was trained in, for a policy without a passport.
        observations: The group that the policy reads, for such a file; by default its only one.
        beside: The file that another program wrote beside the policy; by default, the metadata of the policy count.
        motors: Names of the joints by the numbers of their motors, for a program that has only these.

    Returns:
        The passport of the policy.

    Raises:
        ConfigError: The policy has no passport and no file is given; or it has one already; or the folder is in use; or
            the file differs from what the other program says.
        PluginError: The extra `policy` is not installed.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"--out: '{out}' is not empty; name a new folder")
    passport, own = read_passport(policy), None
    given = {"--file": file, "--from": beside, "--motors": motors, "--observations": observations}
    if passport is None:
        own = passport, *_ = _new_passport(policy, foreign_passport(policy, beside, motors), file, observations)
    elif needless := [key for key, value in given.items() if value]:
        raise ConfigError(f"policy: '{policy}' has a passport; leave out {', '.join(needless)}")
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(RUNNER, out / RUNNER.name)
    shutil.copyfile(policy, out / "policy.onnx")
    try:
        if own is not None:
            write_passport(out / "policy.onnx", *own)
    except ConfigError:
        shutil.rmtree(out)
        raise
    (out / "README.md").write_text(_page(passport), encoding="utf-8")
    return passport


def _new_passport(policy: Path, said: Any, file: Path | None, observations: str | None) -> tuple[Any, ...]:
    """Return the passport of a policy by the file of its task, and for that of another program the orders."""
    program, missing = (None, []) if said is None else (said["program"], said["missing"])
    if file is None or "motors" in missing:
        cures = {"motors": "name its joints by motor, by --motors"}
        faults = [f"{place}: {program} does not say it; {cures.get(place, 'the file says it')}" for place in missing]
        raise ConfigError(f"policy: '{policy}' has no passport; name the file of its task by --file", *faults)
    config = load(file)
    if config.task is None:
        raise ConfigError(f"--file: '{file}' has no [task]; name the file of the training")
    groups = list(config.task.observations)
    chosen = observations or (config.policy and config.policy.observations) or (groups[0] if len(groups) == 1 else None)
    if chosen is None or chosen not in groups:
        raise ConfigError(f"--observations: got {chosen!r}; name a group of '{file}': {', '.join(groups) or 'none'}")
    if said is None:
        return (passport_of(config, chosen),)
    passport = passport_of(config, chosen, exported_by=program, said_by_the_file_alone=missing)
    return passport, *orders(said, passport, config.task.observations[chosen])


def _page(passport: dict[str, Any]) -> str:
    rows: dict[str, list[list[Any]]] = {key: [] for key in ("joints", "observations", "actions", "gains")}
    for each in passport["joints"]:
        rows["joints"].append([each["name"], *(_shown(each[key]) for key in ("start", "lower", "upper"))])
    for each in passport["observations"]:
        what = code(each["type"]) if each["recipe"] else markdown("**{}: give its numbers**", code(each["type"]))
        shown = [*(_shown(each[key]) for key in ("clip", "scale", "history")), "{} to {}".format(*each["delay"])]
        rows["observations"].append([each["label"], what, len(each["labels"]), *shown])
    for each in passport["actions"]:
        shown = [_shown((each["recipe"] or {}).get(key)) for key in ("scale", "clip", "smoothing")]
        rows["actions"].append([each["label"], code(each["type"]), len(each["labels"]), *shown])
    for label, each in passport["actuators"].items():
        rows["gains"] += [[label, code(name), _shown(values)] for name, values in each["parameters"].items()]
    texts = {
        key: "\n".join(f"| {code(first)} | {' | '.join(map(str, others))} |" for first, *others in table)
        for key, table in rows.items()
    }
    body = code(passport["body"]) if passport["body"] else "none"
    page = RUNNER.with_name("page.md").read_text(encoding="utf-8")
    return page.format(rate=1.0 / passport["control_dt"], body=body, **texts)


def _shown(value: Any) -> str:
    return ", ".join(map(_shown, value)) if isinstance(value, list) else "none" if value is None else f"{value:.6g}"
