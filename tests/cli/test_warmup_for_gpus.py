"""`pippin warmup --arch` compiles for GPUs on a machine that has none, under the names that Warp looks for there."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main

SCENE = """
[simulation]
device = "cuda:0"
[scene]
worlds = 2
assets = [{{ path = "{asset}" }}]
[solver]
type = "{solver}"
"""

ASSET = Path(__file__).parents[2] / "docs/examples/hinge.xml"

LOADER = """
import os
from types import SimpleNamespace

import pippin
import warp as wp
from warp._src import context

used, load = set(), wp.Module.load
wp.Module.load = lambda module, *arguments, **named: (used.add(module), load(module, *arguments, **named))[1]

with pippin.Simulation.from_file("hinge.toml", {"simulation.device": "cpu"}) as simulation:
    simulation.step(2)

gpu = object.__new__(wp.Device)  # as Warp sees the first GPU, an H100
vars(gpu).update(ordinal=0, alias="cuda:0", arch=90, is_cubin_supported=True)
context.runtime.default_ptx_arch = 90
assert len(used) >= 5
for driver in context.runtime.toolkit_version, (12, 0):  # PTX, and the code of an sm_90
    gpu.runtime = SimpleNamespace(driver_version=driver, toolkit_version=context.runtime.toolkit_version)
    for module in used:  # as in `Module.load`
        name, arch = module._get_compile_output_name(gpu, block_dim=256), module._get_compile_arch(gpu)
        folder = os.path.join(wp.config.kernel_cache_dir, module.get_module_identifier(256))
        options = module.resolve_options(wp.config, block_dim=256)
        assert not module._compile(gpu, folder, name, arch, options=options), name
print(len(used), "modules are found")
"""


@pytest.fixture
def hinge(tmp_path: Path) -> Path:
    (tmp_path / "hinge.toml").write_text(SCENE.format(asset=ASSET, solver="xpbd"))
    return tmp_path / "hinge.toml"


@pytest.mark.slow
def test_another_process_with_a_gpu_finds_what_was_compiled(hinge: Path) -> None:
    options = {"cwd": hinge.parent, "env": {**os.environ, "WARP_CACHE_PATH": str(hinge.parent)}, "text": True}
    warmup = "from pippin.cli import main; main(['warmup', 'hinge.toml', '--arch', 'sm_90'])"
    compiled = subprocess.run([sys.executable, "-c", warmup], capture_output=True, check=True, **options)
    assert "modules are compiled for sm_90" in compiled.stdout

    found = subprocess.run([sys.executable, "-c", LOADER], capture_output=True, check=False, **options)

    assert "modules are found" in found.stdout, found.stderr
    assert all(".target sm_90" in path.read_text() for path in hinge.parent.rglob("*.ptx"))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--arch", "sm_91"], "no architecture 'sm_91'; use one of sm_75, "),
        (["--arch", "sm_90,90"], "no architecture '90'; use one of sm_75, "),
        (["--arch", "sm_90", "--device", "cpu"], "simulation.device: 'cpu', but --arch compiles for GPUs"),
    ],
)
def test_what_cannot_be_compiled_for_is_refused(hinge: Path, arguments: list[str], reason: str) -> None:
    result = CliRunner().invoke(main, ["warmup", str(hinge), *arguments])

    assert result.exit_code == 2
    assert reason in result.stderr


@pytest.mark.parametrize("solver", ["xpbd", "steel", "kamino"])
def test_newton_chooses_the_block_sizes_of_a_gpu(solver: str, tmp_path: Path) -> None:
    from pippin.step.cuda_compilation import rehearse

    (tmp_path / "hinge.toml").write_text(SCENE.format(asset=ASSET, solver=solver))
    config = pippin.load(tmp_path / "hinge.toml", ["simulation.device=cpu"])
    found = {}

    fault = rehearse(90, partial(pippin.Simulation, config), found)

    assert fault is None
    assert set.union(*found.values()) > {256}
    assert 1 not in set.union(*found.values())
