"""The public boundary: what packages and plugins import, and that each public name has a docstring and one path."""

import importlib
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core"
HOST_PROJECT = CORE / "host"
HOST = HOST_PROJECT / "src" / "pippin"
PUBLIC = runpy.run_path(str(ROOT / "docs" / "public_names.py"))
names_of, text_of, imports_of = PUBLIC["names_of"], PUBLIC["text_of"], PUBLIC["imports_of"]
MODULES = (*PUBLIC["FOR_PLUGINS"], *PUBLIC["FOR_USERS"])
NAMES = [(module, name) for module in MODULES for name in names_of(module)]

MEMBERS = sorted(path for kind in ("solvers", "actuators", "sensors") for path in ROOT.glob(f"{kind}/*/src/pippin_*"))
PACKAGES = sorted(path for path in CORE.glob("*/src/*pippin*") if path.is_dir() and path != HOST)
OUTSIDE = sorted(ROOT.glob("tests/outside/*/src/pippin_*"))
TEMPLATES = sorted(CORE.glob("conformance/src/pippin_conformance/templates/*/src/*"))
PROJECTS = {path.parents[1]: path for path in (*MEMBERS, *PACKAGES)}

NOT_PLUGINS = {"pippin.contract", "pippin.kinds"}
"""Groups whose entry points are of the host itself."""

_IMPLEMENTATION = re.compile(r'^    implementation = "\.(\w+):\w+"', re.MULTILINE)


def built_in():
    """Return the modules of the host with settings or implementations of its own plugins, by its entry points."""
    project = tomllib.loads((HOST_PROJECT / "pyproject.toml").read_text())["project"]
    groups = {name: each for name, each in project["entry-points"].items() if name not in NOT_PLUGINS}
    modules = {entry.partition(":")[0] for group in groups.values() for entry in group.values()}
    settings = {HOST.parent.joinpath(*module.split(".")).with_suffix(".py") for module in modules}
    found = {path.with_name(f"{name}.py") for path in settings for name in _IMPLEMENTATION.findall(path.read_text())}
    return sorted(settings | found)


BUILT_IN = built_in()


def imports_in(folder):
    """Yield file, module and name of each absolute import under a folder; those of templates are not the kit's own."""
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        if "templates" not in path.relative_to(folder).parts[:-2]:
            for module, name in imports_of(path):
                yield path.relative_to(ROOT), module, name


def is_of_pippin(module):
    """Tell whether a module belongs to the host, or to a package beside it."""
    top = module.partition(".")[0]
    return top == "pippin" or any(path.name == top for path in PACKAGES)


def is_public(module, name):
    """Tell whether packages may import a module, or a name from it."""
    if name is None:
        return module in MODULES
    return f"{module}.{name}" in MODULES or (module in MODULES and name in names_of(module))


@pytest.mark.parametrize(
    "folder",
    [*MEMBERS, *PACKAGES, *OUTSIDE, *TEMPLATES, *BUILT_IN],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_a_package_or_plugin_imports_only_public_names_of_others(folder):
    private = [
        f"{path}: {module}" + (f".{name}" if name else "")
        for path, module, name in imports_in(folder)
        if is_of_pippin(module) and module.partition(".")[0] != folder.name and not is_public(module, name)
    ]

    assert not private, "import it from one of " + ", ".join(MODULES)


def extras_of_host(need):
    """Return the extras of the host that a requirement names, such as `gym` of `pippin[gym]`."""
    found = re.match(r"pippin\[([\w,-]+)\]", need)
    return found[1].split(",") if found else []


def test_the_host_has_built_in_plugins_of_each_kind():
    rooms = {path.relative_to(HOST).parts[0] for path in BUILT_IN}

    assert rooms == {"actuation", "controllers", "motions", "objects", "recording", "sensing", "terrains"}


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_a_package_imports_those_that_it_depends_on(project):
    stated, of_host = (
        tomllib.loads((each / "pyproject.toml").read_text())["project"] for each in (project, HOST_PROJECT)
    )
    extras = [each for extra in stated.get("optional-dependencies", {}).values() for each in extra]
    needs = [*stated["dependencies"], *extras]
    needs += [
        each for need in needs for extra in extras_of_host(need) for each in of_host["optional-dependencies"][extra]
    ]
    allowed = {*(re.split(r"[\[<>=~! ]", each)[0].replace("-", "_") for each in needs), PROJECTS[project].name}

    others = {
        f"{path}: {module}"
        for path, module, _ in imports_in(PROJECTS[project])
        if module.startswith("pippin") and module.partition(".")[0] not in allowed
    }

    assert not others


def test_the_host_imports_no_package_or_plugin():
    others = {path.name for path in (*PACKAGES, *MEMBERS)}

    assert not [(path, module) for path, module, _ in imports_in(HOST) if module.partition(".")[0] in others]


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
