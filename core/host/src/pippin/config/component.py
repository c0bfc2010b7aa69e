"""A plugin chosen by name."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import instance_of


@attrs.frozen(kw_only=True)
class ComponentConfig:
    """A plugin chosen by name, with its configuration: `[solver]`, `[actuators.*]`, `[viewers.*]` and so on."""

    type: str = attrs.field(validator=instance_of(str))
    """The entry point's name, or `dist:name` if two distributions offer the same name; or a class that no distribution
    installs, `path/to/file.py:Name` with an absolute path, or `module:Name`."""

    config: Any
    """An instance of the plugin's configuration class."""
