"""Two floors: modules that run before a simulation exists import neither Newton nor Warp; the others do at the top."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pippin.catalog.entries import Catalog

CORE = Path(__file__).parents[2] / "core"
SOURCES = sorted(path for path in CORE.glob("*/src/*") if (path / "__init__.py").exists())
"""The folders of the packages of `core`."""

COLD_ENTRANCES = (
    "pippin.actuation",
    "pippin.diagnosis",
    "pippin_task.gym",
    "pippin.recording",
    "pippin.sharding",
    "pippin_sweep.configs",
    "pippin_sweep.driver",
    "pippin.sensing",
    "pippin.solving",
    "pippin.viewing",
    "pippin.views",
)
"""Rooms that users and plugins import before a simulation exists; each package and each command is one more."""

PLUGINS_OF_THE_CORE = frozenset(
    entry.value.partition(":")[0]
    for entry in Catalog.installed().entries
    if entry.value.partition(".")[0].partition(":")[0] in {path.name for path in SOURCES}
)
"""Modules of plugins that packages of `core` bring: like any plugin, they import Newton and Warp in their methods."""

DOORS = {
    ("pippin.config.files", "pippin.config.newton_assets"),
    ("pippin.inspection", "pippin.inspection.contents"),
    ("pippin.inspection", "pippin.inspection.image"),
    ("pippin.inspection", "pippin.measuring.memory"),
    ("pippin.verification.verify", "pippin.verification.digests"),
    ("pippin_fit.excitation", "pippin_fit.fit_run"),
    ("pippin_fit.excitation", "pippin_fit.trial"),
    ("pippin_fit.run_fit", "pippin_fit.fit_run"),
    ("pippin_optimise.run_optimise", "pippin_optimise.descent"),
    ("pippin_benchmark.benchmark", "pippin_benchmark.measuring"),
    ("pippin_benchmark.file_problem", "pippin_benchmark.measuring"),
    ("pippin_optimise.run_optimise", "pippin_optimise.objective"),
    ("pippin.runs.run", "pippin.runs.simulate"),
    ("pippin_conformance.saves", "pippin_conformance.suite"),
    ("pippin_conformance.selftest.groups", "pippin_conformance.selftest.checks"),
    ("pippin.state.captured_arrays", "pippin.state.shaped_array"),
    ("pippin.runs.run", "pippin.runs.loop"),
    ("pippin.studies.summary", "pippin.studies.matter"),
    ("pippin_task.gym.vector_env", "pippin_task.gym.backends"),
    ("pippin.simulation", "pippin.assembly.built"),
    ("pippin.simulation", "pippin.state.checkpoint"),
    ("pippin.simulation", "pippin.step.stepping"),
    ("pippin.simulation", "pippin.step.compilation"),
    ("pippin.simulation", "pippin.step.services"),
    ("pippin.simulation", "pippin.views.simulation_view"),
    ("pippin.recording.recorder", "pippin.recording.channels"),
    ("pippin.recording.recorder", "pippin.recording.row_buffer"),
    ("pippin_tune.run_tune", "pippin_tune.gain_tables"),
    ("pippin_tune.run_tune", "pippin_tune.tuning"),
    ("pippin_task.rollouts.rollout_shard", "pippin_task.rollouts.rollout"),
    ("pippin_sweep.variant_job", "pippin_sweep.variant_run"),
    ("pippin.sharding.simulation", "pippin.sharding.gathering"),
    ("pippin.runs.sharded_run", "pippin.runs.run_shard_worker"),
}
"""Imports of hot modules inside functions of cold ones; commands, terms and plugins aside."""

OPTIONAL = ("jax", "newton_usd_schemas", "onnx", "pxr", "torch", "viser", "warp_nn")
"""Packages of extras, imported by the function that needs them."""


@cache
def files() -> dict[str, Path]:
    """Return the file of each module of the packages of `core`, by name."""
    found = {}
    for package in SOURCES:
        for path in package.rglob("*.py"):
            parts = path.relative_to(package.parent).with_suffix("").parts
            if "templates" in parts and len(parts) > 3:
                continue  # templates of packages, not modules
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of each module of the packages of `core`, by name."""
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in files().items()}


def named_in(module: str, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the modules that an import statement of a module names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    is_package = files()[module].name == "__init__.py"
    package = module.split(".") if is_package else module.split(".")[:-1]
    base = package[: len(package) - node.level + 1] if node.level else []
    source = ".".join([*base, *([node.module] if node.module else [])])
    for alias in node.names:
        inner = f"{source}.{alias.name}"
        yield inner if inner in modules() else source


@cache
def imports_at_the_top(module: str) -> set[str]:
    """Return what a module imports when it is imported, without blocks for type checkers."""
    statements = [node for node in modules()[module].body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {name for node in statements for name in named_in(module, node)}


def imports_in_functions(module: str) -> set[str]:
    functions = [node for node in ast.walk(modules()[module]) if isinstance(node, ast.FunctionDef)]
    found = (node for each in functions for node in ast.walk(each) if isinstance(node, ast.Import | ast.ImportFrom))
    return {name for node in found for name in named_in(module, node)}


@cache
def reached_from(module: str) -> frozenset[str]:
    """Return everything that is imported when a module is: core modules with their packages, and other packages."""
    reached, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        if name in modules():
            waiting += [*imports_at_the_top(name), *([name.rpartition(".")[0]] if "." in name else [])]
    return frozenset(reached)


def is_hot(module: str) -> bool:
    return any(name.split(".")[0] in ("newton", "warp") for name in reached_from(module))


def is_of_a_command(module: str) -> bool:
    return module.startswith("pippin.cli") or ".subcommands" in module


def entrances() -> list[str]:
    packages = [path.name for path in SOURCES if path.name != "lerobot_env_pippin"]  # Gymnasium is its first import
    return [*packages, *COLD_ENTRANCES, *filter(is_of_a_command, files())]


@pytest.mark.parametrize("entrance", entrances())
def test_a_cold_entrance_reaches_neither_newton_nor_warp(entrance):
    hot = [name for name in reached_from(entrance) if name.split(".")[0] in ("newton", "warp")]

    assert hot == []


def test_a_recorder_is_found_without_its_library():
    packages = {name.split(".")[0] for name in reached_from("pippin_record.configs")}

    assert packages.isdisjoint({"av", "h5py", "foxglove", "google", "mcap", "pyarrow"})


def test_a_hot_module_imports_at_the_top():
    hot = [name for name in modules() if is_hot(name)]

    late = {(name, each) for name in hot for each in imports_in_functions(name) if each.split(".")[0] not in OPTIONAL}

    assert "pippin.state.shaped_array" in hot
    assert late == set()


def test_a_cold_module_imports_hot_ones_through_a_door():
    own = [name for name in modules() if not is_of_a_command(name)]
    cold = [name for name in own if not is_hot(name) and name not in PLUGINS_OF_THE_CORE]

    found = {(name, hot) for name in cold for hot in imports_in_functions(name) if hot in modules() and is_hot(hot)}

    assert found == DOORS
