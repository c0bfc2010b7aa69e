"""PTX: every module that is loaded is compiled for GPUs too, by NVRTC, which needs neither a GPU nor a driver.

`test_kernels.py` compiles the kernels of the core and of the plugins; this lane adds those that tests define.
"""

import os
from types import ModuleType

ARCHITECTURES = tuple(map(int, os.environ.get("PIPPIN_TEST_ARCHITECTURES", "75").split(",")))

FOREIGN = {"newton", "mujoco_warp", "warp"}


def _compile_for_gpus(context: ModuleType) -> None:
    load, compiled = context.Module.load, set()

    def load_and_compile(module: object, *arguments: object, **named: object) -> object:
        key = (module, module.get_module_hash())
        owners = {(each.func.__module__ or "warp").partition(".")[0] for each in module.kernels.values()}
        if owners - FOREIGN and key not in compiled:
            compiled.add(key)
            context.compile_aot_module(module, arch=ARCHITECTURES, use_ptx=True)
        return load(module, *arguments, **named)

    context.Module.load = load_and_compile


PATCHES = {"warp._src.context": _compile_for_gpus}

PART = ()  # `test_kernels.py` compiles the kernels of the sources
