"""Every kernel of the core and of the plugins compiles for GPUs, from Turing to Blackwell."""

import subprocess
import sys

import pytest

from .kernels import ARCHITECTURES, ROOT, SOURCES, declared, faults_of, functions_of, import_modules

SPLIT = """
import sys
import warp as wp

wp.config.enable_backward = {backward}
from tests.lanes.kernels import declared, faults_of, import_modules

modules = import_modules(declared().values())
sys.exit("\\n".join(f"{{name}}: {{fault}}" for name, fault in faults_of(modules, {architectures}).items()) or None)
"""


@pytest.fixture(scope="module")
def modules():
    return import_modules(declared().values())


def test_sources_have_kernels_of_the_core_of_plugins_and_of_templates():
    owners = {path.relative_to(ROOT).parts[0] for path, _ in declared()}
    templates = {folder for folder in SOURCES for path, _ in declared() if path.is_relative_to(folder)}

    assert owners == {"core", "solvers", "actuators", "sensors"}
    assert len(templates) > 20
    assert len(declared()) > 140


@pytest.mark.required
def test_every_kernel_in_the_sources_is_compiled(modules):
    forgotten = set(declared()) - {function for module in modules for function in functions_of(module)}

    assert not forgotten


@pytest.mark.slow
@pytest.mark.parametrize("backward", [False, True])
def test_every_kernel_compiles_for_every_gpu(backward):
    code = SPLIT.format(backward=backward, architectures=ARCHITECTURES)

    finished = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)

    assert finished.returncode == 0, finished.stderr


@pytest.mark.slow
def test_what_each_solver_launches_on_a_gpu_compiles(suited):
    """With block sizes of a GPU; grains need a result of a kernel that a GPU alone runs, and choose those of a CPU."""
    from pippin.step.cuda_compilation import rehearse

    found = {}

    fault = rehearse(90, suited.build, found)

    assert (fault is None) == (suited.solver not in ("implicit-mpm", "mujoco-native"))
    assert len(found) >= 10
    assert not faults_of(found, ARCHITECTURES[:1])
