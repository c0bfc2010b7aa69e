"""The two drawings of the page on the architecture, compared with the code: packages, and rooms of the host."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

LINES = "│┆╎─┄╌┬┴├┤┌┐└┘┼▼"
"""Characters of arrows; a dotted one stands for an import that an extra or the kit needs."""

DOTTED = set("┆┄╎╌")


def drawing(heading: str) -> list[str]:
    """Return the lines of the first drawing below a heading of the page."""
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    return text.partition(f"## {heading}\n")[2].partition("```text\n")[2].partition("```")[0].splitlines()


def arrows(lines: list[str]) -> Iterator[tuple[set[str], set[str], bool]]:
    """Yield each connected set of lines: the names above it, the names below it, and whether it is dotted."""
    names = {
        (row, column): found[0]
        for row, line in enumerate(lines)
        for found in re.finditer(r"[a-z][a-z0-9]*", line)
        for column in range(*found.span())
    }
    waiting = {(row, column) for row, line in enumerate(lines) for column, sign in enumerate(line) if sign in LINES}
    while waiting:
        connected, edge = set(), [waiting.pop()]
        while edge:
            row, column = edge.pop()
            connected.add((row, column))
            beside = {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)} & waiting
            waiting -= beside
            edge += beside
        above = {names[row - 1, column] for row, column in connected if (row - 1, column) in names}
        below = {names[row + 1, column] for row, column in connected if (row + 1, column) in names}
        yield above, below, any(lines[row][column] in DOTTED for row, column in connected)


def drawn_arrows() -> dict[str, dict[str, bool]]:
    """Return the packages that each package imports, with whether the arrow is dotted."""
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    for above, below, is_dotted in arrows(drawing("Packages")):
        for name in above:
            found[name] |= dict.fromkeys(below, is_dotted)
    return found


def packages() -> dict[str, Path]:
    """Return the folders of the packages of `core` besides the host, by name."""
    return {path.parent.name: path.parent for path in ROOT.glob("core/*/pyproject.toml") if path.parent.name != "host"}


def named(requirements: list[str]) -> set[str]:
    """Return the packages of `core` that requirements name."""
    found = {re.match(r"[\w-]+", each)[0].removeprefix("pippin-") for each in requirements}
    return found & packages().keys()


def imported(folder: Path, pattern: str = "*.py") -> set[str]:
    """Return the other packages of `core` that the files of a package import, at any depth."""
    found = set()
    for path in (folder / "src").rglob(pattern):
        if "templates" in path.parts:
            continue  # files of packages that do not exist yet
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
    others = {each.partition(".")[0].removeprefix("pippin_") for each in found if each.startswith("pippin_")}
    return (others & packages().keys()) - {folder.name}


def test_the_drawing_of_the_packages_has_their_dependencies():
    for name, folder in packages().items():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = [each for listed in project.get("optional-dependencies", {}).values() for each in listed]
        always = named(project["dependencies"])
        sometimes = (named(extras) | imported(folder, "checks.py")) - always - {name}

        drawn = drawn_arrows()[name]

        assert {each for each, is_dotted in drawn.items() if not is_dotted and each != "pippin"} == always, name
        assert {each for each, is_dotted in drawn.items() if is_dotted} == sometimes, name


def test_the_drawing_of_the_packages_has_their_imports():
    for name, folder in packages().items():
        assert imported(folder) <= drawn_arrows()[name].keys(), name


def test_every_drawn_package_stands_on_the_host():
    drawn = drawn_arrows()

    for name in packages():
        reached, waiting = set(), [name]
        while waiting:
            reached.add(each := waiting.pop())
            waiting += drawn[each].keys() - reached
        assert "pippin" in reached, name
    assert drawn.keys() - {"pippin"} == packages().keys()


def drawn_rooms() -> list[str]:
    """Return the rooms of the drawing, from the top; descriptions begin in column 26."""
    return [room for line in drawing("Rooms of the host") for room in line[:26].split()]


def test_the_drawing_of_the_rooms_is_the_contract_of_imports():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["pippin"])
    height = {room: row for row, rooms in enumerate(layers) for room in rooms.split(" | ")}

    drawn = drawn_rooms()

    assert sorted(drawn) == sorted(height)
    assert drawn == sorted(drawn, key=height.__getitem__)
