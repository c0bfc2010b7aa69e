"""The kernels of the core and of every plugin of this repository, found in their sources and compiled for GPUs.

NVRTC, which Warp's wheel contains, needs neither a GPU nor a driver.
"""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]

TEMPLATES = ROOT / "core/conformance/src/pippin_conformance/templates"

SOURCES = (
    *ROOT.glob("core/*/src"),
    *sorted(path for kind in ("solvers", "actuators", "sensors") for path in (ROOT / kind).glob("*/src")),
    *sorted(TEMPLATES.glob("*/src")),
)
"""Folders of the core, of the plugins and of the templates that hold packages."""

ARCHITECTURES = (75, 86, 90, 100, 120)
"""Compute capabilities, from Turing to Blackwell."""

THREADS = 2


def kernels_in(path: Path) -> set[tuple[Path, str]]:
    """Return the file and the name of every function that a file makes a kernel of."""
    text = path.read_text(encoding="utf-8")
    if "wp.kernel" not in text and "wp.Kernel" not in text:
        return set()
    nodes = list(ast.walk(ast.parse(text)))
    decorated = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(each).startswith(("wp.kernel", "warp.kernel")) for each in node.decorator_list)
    }
    made = {
        ast.unparse(node.args[0])
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("wp.Kernel", "warp.Kernel")
    }
    return {(path, name) for name in decorated | made}


def source_files() -> Iterator[tuple[Path, Path]]:
    """Yield every Python file of the sources, with the folder of its package."""
    for folder in SOURCES:
        for path in sorted(folder.rglob("*.py")):
            if folder.is_relative_to(TEMPLATES) or not path.is_relative_to(TEMPLATES):
                yield folder, path


@functools.cache
def declared() -> dict[tuple[Path, str], str]:
    """Return the file and the name of every kernel in the sources, with the name of its module."""
    return {
        kernel: ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
        for folder, path in source_files()
        for kernel in kernels_in(path)
    }


def import_modules(names: Iterable[str]) -> dict[object, set[int]]:
    """Import modules, those of the templates too, and return Warp's modules of all kernels, with their block size."""
    from warp._src.context import user_modules

    templates = [str(folder) for folder in SOURCES if folder.is_relative_to(TEMPLATES)]
    sys.path[:0] = templates
    try:
        for name in names:
            importlib.import_module(name)
    finally:
        del sys.path[: len(templates)]
    return {module: {256} for module in user_modules.values() if functions_of(module) & set(declared())}


def functions_of(module: object) -> set[tuple[Path, str]]:
    """Return the file and the name of the function of every kernel of a module of Warp."""
    return {(Path(each.func.__code__.co_filename), each.func.__name__) for each in module.kernels.values()}


def faults_of(modules: Mapping[object, Iterable[int]], architectures: Iterable[int]) -> dict[str, str]:
    """Compile modules to PTX for their block sizes, and return what Warp says about each one that does not compile."""
    import warp as wp

    found: dict[str, str] = {}

    def compile_module(module: object) -> None:
        usual = module.options["block_dim"]
        try:
            for size, architecture in itertools.product(modules[module], architectures):
                module.options["block_dim"] = size
                wp.compile_aot_module(module, device=None, arch=architecture, use_ptx=True)
        except Exception as error:
            found[f"{module.name} for sm_{architecture}"] = str(error)
        finally:
            module.options["block_dim"] = usual

    with warnings.catch_warnings(), ThreadPoolExecutor(THREADS) as pool:
        warnings.filterwarnings("ignore", "Generic kernels without overloads")  # nothing launches these
        list(pool.map(compile_module, modules))
    return found
