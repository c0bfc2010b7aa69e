"""Name of an implementation: the class attribute `implementation` of a plugin's configuration."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
import sys
from types import ModuleType

import attrs

ATTRIBUTE = "implementation"
"""Attribute of a configuration that names the plugin's class."""

EXTRA = "extra"
"""Attribute of a configuration that names the extra of its distribution with the libraries of the plugin's class."""

ENVIRONMENT = "environment"
"""Field of a configuration with the Python environment that has these libraries in place of this one."""

_PLACE = re.compile(r"(?:(?P<module>\.*\w+(?:\.\w+)*):)?(?P<path>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
_FORMS = '".module:Class" for a class of the same package, "Class" for one of the same module'


def config_fault(config: type) -> str | None:
    """Return why a class is not a configuration that names its implementation; None if it is. Nothing is imported."""
    name = config.__qualname__
    # A subclass of an attrs class needs no decorator if it adds no annotation.
    if "__attrs_attrs__" not in vars(config) and (not attrs.has(config) or inspect.get_annotations(config)):
        own = _configuration_of(config)
        cure = f"write {own!r}" if own else "decorate it with @attrs.frozen(kw_only=True)"
        return f"{name} is not an attrs class; an entry point names the configuration of a plugin: {cure}"
    where = f"{name}.{ATTRIBUTE}"
    if ATTRIBUTE in attrs.fields_dict(config):
        return f'{where} is a field; write it without an annotation: {ATTRIBUTE} = ".module:Class"'
    holder = _holder(config)
    if holder is None:
        near = difflib.get_close_matches(ATTRIBUTE, [each for each in dir(config) if not each.startswith("_")], n=1)
        return f"{where} is missing; name the plugin's class, {_FORMS}{f'; it has {near[0]!r}' if near else ''}"
    place = vars(holder)[ATTRIBUTE]
    found = _PLACE.fullmatch(place) if isinstance(place, str) else None
    if found is None:
        return f"{where} is malformed, got {place!r}; write {_FORMS}"
    if (found["module"] or "").startswith(".") and not _package(holder):
        return f"{where}: {place!r} is relative to a package; write {found['path']!r} for a class of the same file"
    return None


def implementation_of(config: type) -> tuple[str, str]:
    """Return the module of a configuration's implementation, and its name in this module.

    A place without a module, or with a relative one, belongs to the class that states it, which may be a base class.
    The class has no `config_fault`.
    """
    holder = _holder(config)
    assert holder is not None, "a configuration without a fault"
    module, _, path = vars(holder)[ATTRIBUTE].rpartition(":")
    if not module:
        return holder.__module__, path
    return importlib.util.resolve_name(module, _package(holder)), path


def extra_of(settings: object) -> str | None:
    """Return the extra with the libraries that the plugin of some settings needs here; None if it needs none.

    Settings with an `environment` need none: the libraries are in that environment.
    """
    return None if getattr(settings, ENVIRONMENT, None) else getattr(type(settings), EXTRA, None)


def modules_of(settings: object | None) -> tuple[str, ...]:
    """Return the module of the implementation of some settings, which may take long to import; empty if it has none.

    Args:
        settings: The configuration of a plugin, or None.
    """
    config = type(settings)
    return () if settings is None or config_fault(config) else (implementation_of(config)[0],)


def configurations_in(module: ModuleType) -> list[str]:
    """Return the names of the configurations in a module."""
    return [name for name, each in vars(module).items() if inspect.isclass(each) and hasattr(each, ATTRIBUTE)]


def _configuration_of(plugin: type) -> str | None:
    module = sys.modules.get(plugin.__module__)
    names = [] if module is None else configurations_in(module)
    return next((name for name in names if getattr(module, name).implementation == plugin.__name__), None)


def _holder(config: type) -> type | None:
    return next((each for each in inspect.getmro(config) if ATTRIBUTE in vars(each)), None)


def _package(cls: type) -> str:
    return getattr(sys.modules.get(cls.__module__), "__package__", None) or ""
