"""The public boundary: what plugins import, and that each public name has a docstring and one path."""

import ast
import importlib
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "src" / "pippin"
PUBLIC = runpy.run_path(str(ROOT / "docs" / "public_names.py"))
names_of, text_of, imports_of = PUBLIC["names_of"], PUBLIC["text_of"], PUBLIC["imports_of"]
MODULES = (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"])
NAMES = [(module, name) for module in MODULES for name in names_of(module)]

MEMBERS = sorted(path for kind in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{kind}/*/src/pippin_*"))
OUTSIDE = sorted(ROOT.glob("tests/outside/*/src/pippin_*"))
TEMPLATES = sorted(path for path in CORE.glob("templates/*") if path.is_dir() and path.name != "__pycache__")
BUILT_IN = sorted(
    {path.parent for room in ("viewing", "recording", "task") for path in CORE.glob(f"{room}/*/config*.py")}
)

OF_A_ROOM = [
    *(CORE / room for room in ("actuation/clampings", "sensing/stages")),
    *(CORE / "sweeps" / f"{name}.py" for name in ("configs", "local", "ray", "slurm")),
    *(CORE / "training" / f"{name}.py" for name in ("configs", "rsl_rl", "sb3", "skrl", "torch_layers")),
]
"""Built-in plugins in the room of their base class, from which they import relatively."""

OTHERS = {
    "core/host/src/pippin/actuation/clampings/configs.py": {"pippin.actuation.config"},
    "core/host/src/pippin/sensing/stages/kernels.py": {"pippin.state.kernels"},
    **{f"core/train/src/pippin_train/{name}.py": {"pippin_task.gym"} for name in ("rsl_rl", "sb3", "skrl")},
    "core/host/src/pippin/recording/motion/config.py": {"pippin.motions.configs"},
    "core/host/src/pippin/recording/motion/motion.py": {"pippin.motions.sampled", "pippin.spelling"},
}
"""What a built-in plugin may import beside the names for plugins: the local executor and the worlds in processes have
the same workers, and an executor from outside starts its processes by other means. Trainers use environments as any
user does. `pippin.actuation` itself has the settings of clampings, and `random_state` is public for terms of tasks. The
motion `recording` is a sampled motion, as `samples` is."""


def imports_in(folder):
    """Yield file, module and name of each absolute import under a folder."""
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        for module, name in imports_of(path):
            yield path.relative_to(ROOT), module, name


@pytest.mark.parametrize("folder", [*MEMBERS, *OUTSIDE, *TEMPLATES, *BUILT_IN, *OF_A_ROOM], ids=lambda path: path.name)
def test_a_plugin_imports_only_public_names(folder):
    private = [
        f"{path}: {module}" + (f".{name}" if name else "")
        for path, module, name in imports_in(folder)
        if module.partition(".")[0] == "pippin"
        and not is_public(module, name)
        and module not in OTHERS.get(path.as_posix(), ())
    ]

    assert not private, "import it from one of " + ", ".join(PUBLIC["FOR_PLUGINS"])


@pytest.mark.parametrize("folder", BUILT_IN, ids=lambda path: path.name)
def test_a_built_in_plugin_is_complete_in_its_folder(folder):
    """It imports other modules of its room by their public path."""
    statements = (node for path in folder.rglob("*.py") for node in ast.walk(ast.parse(path.read_text())))

    assert not [node for node in statements if isinstance(node, ast.ImportFrom) and node.level > 1]


def is_public(module, name):
    """Tell whether plugins may import a module, or a name from it."""
    if name is None:
        return module in PUBLIC["FOR_PLUGINS"]
    return f"{module}.{name}" in PUBLIC["FOR_PLUGINS"] or (module in PUBLIC["FOR_PLUGINS"] and name in names_of(module))


@pytest.mark.parametrize("folder", MEMBERS, ids=lambda path: path.name)
def test_no_plugin_of_the_workspace_imports_another(folder):
    others = {path.name for path in MEMBERS} - {folder.name}

    assert not [(path, module) for path, module, _ in imports_in(folder) if module.partition(".")[0] in others]


def test_the_core_imports_no_plugin():
    plugins = [
        (path, module)
        for path, module, _ in imports_in(CORE)
        if module.startswith("pippin_") and "templates" not in path.parts
    ]

    assert not plugins


@pytest.mark.parametrize("module", MODULES)
def test_a_public_module_lists_names_that_it_has(module):
    imported, names = importlib.import_module(module), names_of(module)

    assert names, "no __all__"
    assert names == list(imported.__all__)
    assert not [name for name in names if not hasattr(imported, name)]


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}.{name}" for module, name in NAMES])
def test_a_public_name_has_a_docstring(module, name):
    assert text_of(module, name)


def test_a_public_name_has_one_path():
    paths = {}
    for module, name in NAMES:
        value = getattr(importlib.import_module(module), name)
        paths.setdefault(id(value), []).append(f"{module}.{name}")

    assert not [each for each in paths.values() if len(each) > 1]
