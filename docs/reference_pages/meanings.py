"""Sections of pages that say what the tables of meanings say: how many statements of robot files act as they mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

DOCS = Path(__file__).parents[1]

FORMATS = {"MJCF": "meanings", "URDF": "meanings-urdf", "USD": "meanings-usd"}
"""Page of the measurements of each format."""

HOW_TOS = {name: f"robot-from-{name.lower()}" for name in FORMATS}

Cells = Mapping[str, Mapping[str, str]]
"""Words such as `equal` by statement and solver."""


def measured(format_name: str) -> Cells:
    """Return what the page of a format says of each statement on each solver, without its sizes."""
    text = (DOCS / "reference" / f"{FORMATS[format_name]}.md").read_text(encoding="utf-8")
    head, _, *rows = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|"))
    return {name: dict(zip(head[1:], (cell.partition(":")[0] for cell in cells), strict=True)) for name, *cells in rows}


def counted(format_name: str) -> Mapping[str, Counter[str]]:
    """Return how many statements of a format have each word, by solver."""
    rows = measured(format_name).values()
    return {solver: Counter(row[solver] for row in rows) for solver in next(iter(rows))}


def by_solver() -> str:
    """Return the table of all formats: of the statements, those that act as they mean, are noted, and are refused."""
    found = {name: counted(name) for name in FORMATS}
    heads = [f"{name}, {found[name]['mujoco'].total()} statements" for name in FORMATS]
    lines = [f"| solver | {' | '.join(heads)} |", f"|---{'|---' * len(heads)}|"]
    for solver in found["MJCF"]:
        cells = [
            f"{each[solver]['equal']} + {each[solver]['noted']} + {each[solver]['refused'] + each[solver]['burst']}"
            for each in found.values()
        ]
        lines.append(f"| `{solver}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def by_element(format_name: str) -> str:
    """Return the table of a format: how many statements of each element act as they mean, by solver."""
    cells = measured(format_name)
    elements = {name: _element(name, format_name) for name in cells}
    solvers = [*next(iter(cells.values()))]
    total = Counter(elements.values())
    lines = [f"| of | statements | {' | '.join(f'`{solver}`' for solver in solvers)} |"]
    lines.append(f"|---|---{'|---' * len(solvers)}|")
    for element, count in total.items():
        own = [cells[name] for name, of in elements.items() if of == element]
        equal = [str(sum(each[solver] == "equal" for each in own)) for solver in solvers]
        lines.append(f"| {element} | {count} | {' | '.join(equal)} |")
    return "\n".join(lines)


def _element(statement: str, format_name: str) -> str:
    """Return the first word of a statement; of USD, the second, which tells what is stated of."""
    return re.split("[ ,:]", statement)[format_name == "USD"]


def sections() -> dict[Path, str]:
    """Return each page that has such a section, as it has to be."""
    texts = {f"how-to/{HOW_TOS[name]}": by_element(name) for name in FORMATS} | {"how-to/bring-a-scene": by_solver()}
    found = {}
    for name, text in texts.items():
        path = DOCS / f"{name}.md"
        whole = f"<!-- meanings, by docs/write_reference.py -->\n\n{text}\n\n<!-- end of meanings -->"
        old = path.read_text(encoding="utf-8")
        found[path] = re.sub(r"(?s)<!-- meanings, .*<!-- end of meanings -->", lambda _, whole=whole: whole, old)
    return found
