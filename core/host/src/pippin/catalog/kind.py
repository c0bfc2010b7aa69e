"""Kind of plugins: a record that says where its plugins stand in a file, and what checks, documents and begins them."""

from __future__ import annotations

import re
from typing import Any, Literal

import attrs
from attrs.validators import in_, matches_re, optional

Provision = Literal["configuration", "command", "table"]

_NAME = r"[a-z][a-z0-9-]*"

_PLACE = re.compile(r"[a-z_]+(\[\])?(\.(\*|[a-z_]+(\[\])?))*")
"""A path of keys: `*` stands for a label, `[]` for an item of a list."""


def _place(instance: Kind, attribute: attrs.Attribute[Any], value: str | None) -> None:
    if value is not None and not _PLACE.fullmatch(value):
        raise ValueError(f"'{attribute.name}' must be keys joined by '.', as in 'sensors.*', got {value!r}")


@attrs.frozen(kw_only=True)
class Kind:
    """A kind of plugins. A distribution registers it in the entry-point group `pippin.kinds`, by its `name`.

    The module that holds the record is imported by every command: it imports nothing but `pippin.catalog`. Names of
    other modules are text, `module:Name`, and are imported when somebody asks.
    """

    name: str = attrs.field(validator=matches_re(_NAME))
    """The kind in the singular, as in errors and lists: `sensor`."""

    plural: str = attrs.field(validator=matches_re(_NAME))
    """The kind in the plural. The plugins are in the entry-point group `pippin.PLURAL`."""

    meaning: str
    """What a plugin of this kind does, in one sentence."""

    place: str | None = attrs.field(default=None, validator=_place)
    """Where a plugin's table stands in a file, as in `sensors.*`, `task.rewards.*` or `scene.objects[]`; `*` stands for
    a label, and `[]` for an item of a list. None if it stands in none."""

    order: int = 1000
    """Rank of the kind in lists and in a file. Components of one hook are called in this order."""

    provides: Provision = attrs.field(default="configuration", validator=in_(("configuration", "command", "table")))
    """What an entry point names: the `configuration` of a plugin, which names its class; a click `command`; or the
    class of a `table` of a file."""

    is_component: bool = False
    """Whether each plugin is a component of the simulation: the host makes it, registers its hooks and binds it."""

    is_observer: bool = False
    """Whether its components only look at a simulation: they are bound last, and a build that measures has none."""

    is_named_alone: bool = False
    """Whether a name may stand for a table with nothing but its `type`."""

    base: str | None = attrs.field(default=None, validator=optional(matches_re(r"[\w.]+:\w+")))
    """Class from which every plugin of this kind derives: `module:Name`."""

    checks: str | None = attrs.field(default=None, validator=optional(matches_re(r"[\w.]+:\w+")))
    """The `pippin_conformance.KindChecks` of this kind, `module:NAME`; by default those of all configured plugins."""

    template: str | None = attrs.field(default=None, validator=optional(matches_re(r"[\w.]+:[\w/-]+")))
    """Package with a folder of the files that `pippin new` copies, as `package:folder`; None if there is none."""

    @property
    def group(self) -> str:
        """The group of entry points of the plugins."""
        return f"pippin.{self.plural}"

    @property
    def table(self) -> str | None:
        """The table at the top of a file that holds nothing but plugins of this kind; None if there is none."""
        place = self.place or ""
        return place.removesuffix(".*") if place in (self.name, f"{self.plural}.*") else None

    @property
    def is_labelled(self) -> bool:
        """Whether a table holds any number of plugins by label."""
        return self.place is not None and self.place.endswith(".*")
