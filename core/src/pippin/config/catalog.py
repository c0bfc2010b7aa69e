"""The `[catalog]` table: which of the installed plugins a file lets itself, and whatever extends it, choose."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from attrs.validators import deep_iterable, min_len, optional
from pippin.catalog.entries import Catalog

__all__ = ["CatalogConfig"]


@attrs.frozen(kw_only=True)
class CatalogConfig:
    """The `[catalog]` table: which of the installed plugins may be chosen; the environment may block more."""

    block: tuple[str, ...] = attrs.field(default=(), validator=deep_iterable(min_len(1)))
    """What may not be chosen: plugins, distributions with all their plugins, or `distribution:name` for one of them."""

    allow: tuple[str, ...] | None = attrs.field(default=None, validator=optional(deep_iterable(min_len(1))))
    """The only ones that may, named likewise; by default whatever is installed."""

    def restrict(self, catalog: Catalog, where: Callable[[str], str] = "catalog.{}".format) -> Catalog:
        """Return the catalog with what may not be chosen blocked; `where` says where a key of this table stands."""
        for name in self.block:
            catalog = catalog.without(name, where("block"))
        return catalog if self.allow is None else catalog.only(self.allow, where("allow"))
