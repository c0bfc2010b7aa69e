"""Devices: nothing of Pippin uses Warp's default device, which is the first GPU of a machine that has one.

A `with wp.ScopedDevice(device)` block names the device of what is inside. With PIPPIN_TEST_DEVICES_OF_ALL, what Newton
does for Pippin outside of such a block is refused too.
"""

import os
import sys
from types import ModuleType

FOREIGN = ("newton", "mujoco_warp") if "PIPPIN_TEST_DEVICES_OF_ALL" in os.environ else ()


_scopes: list[object] = []
"""The `ScopedDevice` blocks that are open: they name the default device."""


class DefaultDeviceError(Exception):
    """A line of Pippin uses Warp's default device."""


def _refuse_default(context: ModuleType) -> None:
    resolve = context.Runtime.get_device

    def get_device(runtime: object, ident: object = None) -> object:
        if ident is None and not _scopes and (line := _line_of_pippin()):
            raise DefaultDeviceError(f"{line}: uses Warp's default device; name one")
        return resolve(runtime, ident)

    context.Runtime.get_device = get_device


def _note_scopes(utils: ModuleType) -> None:
    enter, leave = utils.ScopedDevice.__enter__, utils.ScopedDevice.__exit__

    def enter_scope(self: object) -> object:
        _scopes.append(self)
        return enter(self)

    def leave_scope(self: object, *error: object) -> object:
        _scopes.remove(self)
        return leave(self, *error)

    utils.ScopedDevice.__enter__, utils.ScopedDevice.__exit__ = enter_scope, leave_scope


def _line_of_pippin() -> str | None:
    """Return the line of Pippin that called Warp; None if another library did, or a test."""
    frame = sys._getframe(2)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package.startswith("pippin"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if package not in ("warp", *FOREIGN):
            return None
        frame = frame.f_back
    return None


PATCHES = {"warp._src.context": _refuse_default, "warp._src.utils": _note_scopes}

PART = ("tests/views/test_rows.py",)
