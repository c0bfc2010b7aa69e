"""Layout of the tests: a file stands in the room of its module and has the module's name."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "src" / "pippin"

BROAD = {
    "core/tests": {"test_floors.py", "test_public.py"},
    "tests": {"docs", "fidelity", "lanes", "newton_examples", "outside", "physics", "project", "walk"},
    "tests/precision": {"test_order_under_load.py"},  # about a script of tests/benchmarks
    "tests/views": {"acceptance", "test_allocation.py", "test_devices.py", "test_following.py", "test_joint_types.py"}
    | {"test_libraries.py"},
}
"""Files and folders about more than one module of the core."""


def files(folder: Path) -> list[Path]:
    """Return the test files below a folder, those about one module of the core."""
    broad = {ROOT / place / name for place, names in BROAD.items() for name in names}
    return sorted(path for path in folder.rglob("test_*.py") if broad.isdisjoint([path, *path.parents]))


@pytest.mark.parametrize("folder", ["core/tests", "tests"])
def test_a_file_has_the_name_of_its_module(folder):
    """The name may go on after the module's, as `test_scene_shapes.py` does; or be that of the room."""
    homeless = []
    for path in files(ROOT / folder):
        room = CORE / path.parent.relative_to(ROOT / folder)
        names = {room.name, *(module.stem for module in room.iterdir())}
        if not any(f"{path.stem}_".startswith(f"test_{name}_") for name in names):
            homeless.append(str(path.relative_to(ROOT)))

    assert not homeless


def test_cases_after_the_first_ones_are_slow(request):
    counts = Counter()
    for item in request.session.items:
        first = item.get_closest_marker("first_cases")
        if first is not None and item.get_closest_marker("slow") is None:
            counts[item.nodeid.partition("[")[0]] += 1
            assert counts[item.nodeid.partition("[")[0]] <= first.args[0]


def test_a_run_folder_gets_its_name_in_one_place():
    calls = re.findall(r"\.named_after\(", "".join(path.read_text(encoding="utf-8") for path in CORE.rglob("*.py")))

    assert len(calls) == 1, "call RunFolder.chosen"
