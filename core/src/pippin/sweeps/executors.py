"""Executors by name: the plugin of a name, with its settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from cattrs import BaseValidationError
from pippin.catalog.entries import Catalog
from pippin.config.converter import make_converter
from pippin.config.faults import UnexpectedValueError, fault_error, faults_of
from pippin.config.overrides import apply, parse
from pippin.config.tree import Node

from .executor import Executor

__all__ = ["make_executor"]


def make_executor(name: str, settings: Iterable[str] = ()) -> Executor:
    """Return the executor of a name.

    Args:
        name: A plugin in the group `pippin.executors`.
        settings: Values of its configuration, each `key=value`.

    Raises:
        PluginError: No such executor is installed, or it is broken.
        ConfigError: A setting is wrong.
    """
    catalog = Catalog.installed()
    entry = catalog.find("executor", name)
    tree = apply(Node.build({}), parse(settings))
    try:
        config = make_converter(catalog).structure(tree.plain(), entry.load_config())
    except (BaseValidationError, UnexpectedValueError) as error:
        raise fault_error(faults_of(error, ("executor",)), tree) from error
    return cast(Executor, entry.load()(config))
