"""A plugin chosen by name, and the `[catalog]` table: the installed plugins that a file may choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from attrs.validators import deep_iterable, instance_of, min_len, optional
from pippin.catalog.entries import Catalog


@attrs.frozen(kw_only=True)
class ComponentConfig:
    """A plugin chosen by name, with its configuration: `[solver]`, `[actuators.*]`, `[viewers.*]` and so on."""

    type: str = attrs.field(validator=instance_of(str))
    """The entry point's name, or `dist:name` if two distributions offer the same name; or a class that no distribution
    installs, `path/to/file.py:Name` with an absolute path, or `module:Name`."""

    config: Any
    """An instance of the plugin's configuration class."""


@attrs.frozen(kw_only=True)
class CatalogConfig:
    """The `[catalog]` table: the installed plugins that may be chosen; the environment may block more."""

    block: tuple[str, ...] = attrs.field(default=(), validator=deep_iterable(min_len(1)))
    """Names that may not be chosen: a plugin, a distribution with all its plugins, or `distribution:name`."""

    allow: tuple[str, ...] | None = attrs.field(default=None, validator=optional(deep_iterable(min_len(1))))
    """The only names that may be chosen, written as in `block`; by default everything installed."""

    installed_only: bool = False
    """Whether classes of files and modules, `path/to/file.py:Name` and `module:Name`, may not be chosen. A list in
    `allow` refuses them as well, unless it names them: `file.py:Name`, or `file.py` for all classes of the file."""

    def restrict(self, catalog: Catalog, where: Callable[[str], str] = "catalog.{}".format) -> Catalog:
        """Return the catalog with excluded plugins blocked; `where` returns the place of a key of this table."""
        if self.block:
            catalog = catalog.without(self.block, where("block"))
        if self.installed_only:
            catalog = catalog.only_installed(where("installed_only"))
        return catalog if self.allow is None else catalog.only(self.allow, where("allow"))


class Unread:
    """The table of a plugin as it is written, whose code must not run."""
