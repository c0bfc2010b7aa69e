"""Optional libraries, which a plugin imports when it is used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pippin.errors import PluginError

__all__ = ["import_library"]


def import_library(name: str, extra: str, distribution: str = "pippin") -> ModuleType:
    """Import a library that an extra of a distribution requires.

    Args:
        name: Name of the module.
        extra: Name of the extra.
        distribution: Name of the distribution.

    Raises:
        PluginError: The library is not installed, or broken.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise PluginError(
            f"'{name}' cannot be imported ({error}); install it by `uv pip install '{distribution}[{extra}]'`"
        ) from error
