"""Plugin packages that are built and installed into a folder of the test."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

PYPROJECT = """\
[build-system]
requires = ["uv_build>=0.8"]  # uv builds with it in-process: no download, a tenth of a second
build-backend = "uv_build"

[project]
name = "{name}"
version = "{version}"
dependencies = {dependencies}

[project.entry-points."pippin.{kind}s"]
{entry_point}
"""

CONTRACT = """
[project.entry-points."pippin.contract"]
{contract} = "{module}"
"""


@pytest.fixture
def install(uv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Build a distribution of one module and install it, for this process and for those it starts.

    `install("demo-plug", "x = 1", 'demo = "demo_plug:Demo"')`; the module is the name with underscores.
    """

    def install(
        name: str,
        source: str,
        entry_point: str,
        *,
        kind: str = "solver",
        version: str = "1.0",
        site: str = "site",
        contract: str | None = None,
        dependencies: Sequence[str] = (),
    ) -> None:
        project, module = tmp_path / f"{name}-{site}", name.replace("-", "_")
        (project / "src" / module).mkdir(parents=True)
        (project / "src" / module / "__init__.py").write_text(source)
        text = PYPROJECT.format(
            name=name, version=version, kind=kind, entry_point=entry_point, dependencies=json.dumps(dependencies)
        )
        declared = "" if contract is None else CONTRACT.format(contract=contract, module=module)
        (project / "pyproject.toml").write_text(text + declared)
        command = ["pip", "install", "--quiet", "--no-deps", "--python", sys.executable]
        subprocess.run([uv, *command, "--target", tmp_path / site, project], check=True, cwd=tmp_path)
        monkeypatch.syspath_prepend(tmp_path / site)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / site), prepend=os.pathsep)
        installed.append(module)

    installed: list[str] = []
    yield install
    for module in installed:
        sys.modules.pop(module, None)
