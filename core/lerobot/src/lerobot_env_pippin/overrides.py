"""Values of a file that LeRobot's command line replaces."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from pippin import ConfigError


def parse_overrides(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return values by key path, from texts in TOML.

    Raises:
        ConfigError: A text is no value of TOML.
    """
    return {key: _value(key, text) for key, text in texts.items()}


def _value(key: str, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"overrides: {key!r}: {text} is no value of TOML ({error}); texts have quotes") from error
