"""Layout of the repository: of the tests by the modules that they are about, and of the plugins."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOST = ROOT / "core" / "host" / "src" / "pippin"

BROAD = {
    "core/host/tests": {"test_public.py"},
    "tests": {"docs", "fidelity", "lanes", "newton_examples", "outside", "physics", "project", "walk"},
    "core/benchmark/tests": {"test_order_under_load.py"},  # about a script of tests/benchmarks
    "core/fit/tests": {"test_fit_bench.py", "test_fit_classes.py", "test_fit_servos.py"},
    "tests/recording": {"test_demonstrations.py", "test_hdf5.py", "test_mcap.py"},  # beside those of npz, with one run
    "tests/views": {"acceptance", "test_allocation.py", "test_devices.py", "test_following.py", "test_joint_types.py"}
    | {"test_libraries.py"},
}
"""Files and folders about more than one module of the core."""


def files(folder: Path) -> list[Path]:
    """Return the test files below a folder, those about one module of the core."""
    broad = {ROOT / place / name for place, names in BROAD.items() for name in names}
    return sorted(path for path in folder.rglob("test_*.py") if broad.isdisjoint([path, *path.parents]))


PACKAGES = sorted(path.parent.name for path in ROOT.glob("core/*/tests") if path.parent.name not in ("host", "lerobot"))


@pytest.mark.parametrize("folder", ["core/host/tests", "tests", *(f"core/{name}/tests" for name in PACKAGES)])
def test_a_file_has_the_name_of_its_module(folder):
    """The name may go on after the module's, as `test_scene_shapes.py` does; or be that of the room."""
    homeless, package = [], folder.split("/")[1] if "/" in folder else "host"
    source = HOST if package == "host" else ROOT / "core" / package / "src" / f"pippin_{package}"
    for path in files(ROOT / folder):
        room = source / path.parent.relative_to(ROOT / folder)
        modules = [*room.iterdir(), *(source / "subcommands").glob("*.py")] if room.is_dir() else []
        names = {room.name, package, *(module.stem for module in modules)}
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


PROJECTS = sorted(
    path
    for place in ("core/*", "solvers/*", "actuators/*", "sensors/*")
    for path in ROOT.glob(f"{place}/pyproject.toml")
)

NO_SETTINGS = {"pippin.contract", "pippin.kinds", "pippin.subcommands"}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.parent.name)
def test_settings_of_plugins_stand_in_a_module_config_or_configs(project):
    """`config` in the folder of one plugin, `configs` in that of all plugins of a role, or the root of a package."""
    groups = tomllib.loads(project.read_text())["project"].get("entry-points", {})
    modules = {
        place.partition(":")[0]
        for group, entries in groups.items()
        if group.startswith("pippin.") and group not in NO_SETTINGS
        for place in entries.values()
    }

    assert not {each for each in modules if "." in each and each.rpartition(".")[2] not in ("config", "configs")}
