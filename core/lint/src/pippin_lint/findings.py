"""Findings of the linter, and how they are written: text, JSON and SARIF."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

RULES = {
    "unreadable": "The file cannot be read as a robot.",
    "import": "The importer reads something otherwise than the file says it.",
    "missing-mesh": "A mesh file does not exist.",
    "mass": "A body that a joint moves has no mass.",
    "inertia": "No body has these moments of inertia.",
    "inertia-size": "The moments of inertia do not go with the mass and the size of the body.",
    "mass-ratio": "A body carries one that is very much heavier.",
    "hull": "The convex hull of a mesh, which collides, is much larger than the mesh.",
    "limits": "The limits of a joint leave nothing, or are those of another unit.",
    "no-effort-limit": "A motor has no largest effort.",
    "overlap": "Two bodies of the robot overlap in its start pose.",
    "units": "Size or mass are not those of a robot: millimetres or grams.",
    "names": "Two elements have one name, or a name cannot be typed in a pattern.",
}
"""What each rule looks for."""


@attrs.frozen(kw_only=True, order=True)
class RobotFinding:
    """A fault of a robot file."""

    line: int
    """Line of the file, from 1."""
    rule: str
    level: str
    """"error" or "warning"."""
    place: str
    """The element, such as `link 'arm'`."""
    text: str
    """What is wrong, with its figure."""
    cure: str


def as_text(file: Path, found: Sequence[RobotFinding]) -> str:
    """Return a line for each finding: file, line, level, rule, place, text and cure."""
    return "".join(
        f"{file}:{each.line}: {each.level}: {each.rule}: {each.place}: {each.text}; {each.cure}\n" for each in found
    )


def as_json(found: Sequence[tuple[Path, Sequence[RobotFinding]]]) -> str:
    """Return the findings of all files as a list."""
    rows = [{"file": str(file), **attrs.asdict(each)} for file, findings in found for each in findings]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def as_sarif(found: Sequence[tuple[Path, Sequence[RobotFinding]]]) -> str:
    """Return the findings of all files in SARIF 2.1.0, which code hosts show beside the lines."""
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in RULES.items()]
    results = [_result(file, each) for file, findings in found for each in findings]
    driver = {"name": "pippin lint", "rules": rules}
    log: dict[str, Any] = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _result(file: Path, each: RobotFinding) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": file.as_posix()}, "region": {"startLine": each.line}}
    return {
        "ruleId": each.rule,
        "level": each.level,
        "message": {"text": f"{each.place}: {each.text}; {each.cure}"},
        "locations": [{"physicalLocation": place}],
    }
