"""Order: the threads of a launch run in another order than on a CPU, as on a GPU, so that a race changes the result.

PIPPIN_TEST_ORDER chooses it: `reversed`, the default, or `evens`, even threads before odd ones. The kernels of Newton
and Warp keep their order, unless PIPPIN_TEST_ORDER_OF_ALL is set.
"""

import os
from types import ModuleType

LOOP = "for (size_t task_index = 0; task_index < dim->size; ++task_index)"
"""The loop over the threads in the code that Warp generates for a CPU."""

LOOPS = {
    "reversed": "for (size_t task_index = dim->size; task_index-- > 0;)",
    "evens": """for (size_t odd = 0; odd < 2; ++odd)
    for (size_t task_index = odd; task_index < dim->size; task_index += 2)""",
}

ORDER = os.environ.get("PIPPIN_TEST_ORDER", "reversed")

FOREIGN = () if "PIPPIN_TEST_ORDER_OF_ALL" in os.environ else ("newton", "mujoco_warp", "warp")


def _is_ours(kernel: object) -> bool:
    return (kernel.func.__module__ or "warp").partition(".")[0] not in FOREIGN  # None: a kernel of `wp.map`


def _reorder(codegen: ModuleType) -> None:
    generate = codegen.codegen_module

    def codegen_module(kernel: object, device: str, options: dict[str, object]) -> str:
        code = generate(kernel, device, options)
        if device != "cpu" or options["block_dim"] != 1 or not _is_ours(kernel):
            return code
        if LOOP not in code:
            raise RuntimeError(f"Warp's code for {kernel.key} has no loop over its threads; adapt {__file__}")
        return code.replace(LOOP, LOOPS[ORDER])

    codegen.codegen_module = codegen_module


def _give_names_of_their_own(context: ModuleType) -> None:
    """Let the order be a part of the name of a compiled module in the kernel cache."""
    resolve = context.Module.resolve_options

    def resolve_options(module: object, *arguments: object, **named: object) -> dict[str, object]:
        options = resolve(module, *arguments, **named)
        return options | ({"order": ORDER} if any(map(_is_ours, module.kernels.values())) else {})

    context.Module.resolve_options = resolve_options


PATCHES = {"warp._src.codegen": _reorder, "warp._src.context": _give_names_of_their_own}

PART = ("tests/step/test_resetting.py",)
