"""Readers of a component's attributes, and a check for misspelt names."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Iterator
from typing import Any

from pippin.errors import PluginError

MISSING: Any = object()
"""The value of an attribute that a component does not have."""

_CLOSE = 0.85
"""Similarity of `difflib` from which a name counts as misspelt: one wrong letter in seven, or two in fourteen."""


def read(component: Any, attribute: str, name: str) -> Any:
    """Return an attribute of a component, or MISSING. Properties of a class count as missing.

    Raises:
        PluginError: The attribute is a property that raises an AttributeError; its default would be a guess.
    """
    try:
        value = getattr(component, attribute)
    except AttributeError as error:
        if hasattr(inspect.getattr_static(type(component), attribute, None), "__get__"):
            raise PluginError(f"{name}: {attribute} cannot be read: {error}") from error
        return MISSING
    return MISSING if isinstance(component, type) and hasattr(value, "__get__") else value


def misspelt(plugin: type, declared: Collection[str]) -> Iterator[str]:
    """Yield a fault for each public name of a plugin's class that is similar, but not equal, to a declared name.

    Names of base classes from other packages and hooks are left out. Annotations of Pippin's base classes count as
    declared names.
    """
    known = {*declared, *_annotated_by_pippin(plugin)}
    by_folded = {name.casefold(): name for name in known}
    for cls in plugin.__mro__:
        if _package(cls) != _package(plugin):
            continue
        for name in (*vars(cls), *inspect.get_annotations(cls)):
            if name.startswith("_") or name in known or hasattr(vars(cls).get(name), "pippin_impl"):
                continue
            near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=_CLOSE)
            if near and not _is_plural(name, near[0]):
                yield f"{name} is not a declaration; did you mean {by_folded[near[0]]}? If not, rename it"


def _annotated_by_pippin(plugin: type) -> set[str]:
    bases = [cls for cls in plugin.__mro__ if _package(cls) == "pippin"]
    return {name for cls in bases for name in inspect.get_annotations(cls) if name.islower()}


def _is_plural(name: str, near: str) -> bool:
    """Tell whether two short names are a word and its plural: `world` is not a misspelt `worlds`."""
    short, long = sorted((name.casefold(), near), key=len)
    return long == f"{short}s" and len(short) < 8


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]
