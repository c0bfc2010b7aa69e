"""Kernels, memsets and copies that the operations of a control step start: nodes of the graphs on a CUDA device."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from functools import partial
from typing import Any

import attrs
import warp as wp
from pippin.step.compilation import standing_in
from pippin.step.program import Program

# A launch asks for the module of its kernel, unless Warp prepared it before.
_CALLS: dict[str, Any] = {"load": wp.Module, "launch": wp.Launch, "zero_": wp.array, "fill_": wp.array, "copy": wp}


def count_launches(program: Program) -> Counter[tuple[str, bool]]:
    """Return what the operations of each name start in a step in which all run, outside and inside of conditions.

    A body of a condition or of a loop counts once. What Warp's functions start themselves, such as sorts, is left out.
    The operations are recorded for it, or called if they run eagerly: count where the program is `undone`.
    """
    found, name, depth = Counter[tuple[str, bool]](), "", 0

    def count(call: str, original: Any, *args: Any, **options: Any) -> Any:
        about = args[1] if call == "copy" else args[0]
        is_work = not isinstance(about, wp.array) or (about.size and (call != "zero_" or about.is_contiguous))
        if name and is_work:  # without a name, the state is saved or restored between the operations
            found[name, depth > 0] += 1
        return original(*args, **options)

    def branch(original: Any, *args: Any, **options: Any) -> None:
        found[name, depth > 0] += 1  # the kernel that sets the condition
        bodies = {key: partial(inside, value) for key, value in options.items() if callable(value)}
        original(*(partial(inside, each) if callable(each) else each for each in args), **{**options, **bodies})

    def inside(body: Any, **arguments: Any) -> None:
        nonlocal depth
        depth += 1
        body(**arguments)
        depth -= 1

    def named(own: str, run: Any) -> None:
        nonlocal name
        name = own
        run()
        name = ""

    operations = [attrs.evolve(each, run=partial(named, each.name, each.run)) for each in program.operations]
    with ExitStack() as stack:
        for call, owner in _CALLS.items():
            stack.enter_context(standing_in(owner, call, partial(count, call, getattr(owner, call))))
        for call in ("capture_if", "capture_while"):
            stack.enter_context(standing_in(wp, call, partial(branch, getattr(wp, call))))
        for operation in operations:
            if operation.name in program.eager_reasons:
                operation.run()
        program.record_apart([(operation,) for operation in operations])
    return found
