"""Libraries of extras, which a plugin imports when it is bound."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pippin.errors import PluginError

__all__ = ["library"]


def library(name: str, extra: str) -> ModuleType:
    """Import a library of an extra of Pippin.

    Args:
        name: Name of the module.
        extra: Name of the extra.

    Raises:
        PluginError: The library is not installed, or broken.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise PluginError(
            f"'{name}' cannot be imported ({error}); install it by `uv pip install 'pippin[{extra}]'`"
        ) from error
