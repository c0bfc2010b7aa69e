"""An asset of the configuration: its file and its format, found and checked before an importer reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import attrs
from pippin.catalog.entries import Catalog
from pippin.config.files import find_file
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError
from pippin.extras import installation

from .elements import Element, find_culprits, find_missing_files, read_elements
from .formats import FORMATS, Format, choose_format
from .urdf.reading import Urdf, read_urdf

LISTED_CULPRIT_COUNT = 3


NOTE = 25
"""Level of a log record that a user should read: above `logging.INFO`, below `logging.WARNING`."""


@attrs.frozen
class Asset:
    """One asset with its file and its format."""

    config: AssetConfig
    where: str
    """Key path in the configuration, for errors."""
    file: Path
    format: Format
    elements: Sequence[Element]
    """The elements of the file and of all included files; empty if the format is not XML."""
    urdf: Urdf | None = None
    """The text that the importer reads in place of a URDF file."""


def find_assets(configs: Sequence[AssetConfig], catalog: Catalog | None = None) -> list[Asset]:
    """Return the assets of a scene after all checks that need no importer.

    Raises:
        ConfigError: One fault for each asset whose file is missing, malformed, or of an unknown format, for each
            missing mesh, and for each option that the importer does not have.
    """
    assets, faults, cause = [], [], None
    for index, config in enumerate(configs):
        try:
            assets.append(find_asset(config, f"scene.assets[{index}]", catalog))
        except ConfigError as error:
            faults += error.faults
            cause = error.__cause__
    if faults:
        raise ConfigError(*faults) from cause
    return assets


def find_asset(config: AssetConfig, where: str, catalog: Catalog | None = None) -> Asset:
    """Return an asset after all checks that need no importer."""
    file = find_file(config.path, f"{where}.path")
    chosen = choose_format(config, file, where, Catalog.installed() if catalog is None else catalog)
    elements = read_elements(file, f"{where}.path") if chosen.root else []
    if elements and elements[0].tag != chosen.root:
        tag = elements[0].tag
        of_tag = next((f"set format = {name!r}" for name, form in FORMATS.items() if form.root == tag), None)
        raise ConfigError(
            f"{where}.path: {str(file)!r} is not {chosen.name}, which begins with <{chosen.root}>, got <{tag}>;"
            f" {of_tag or 'name another file'}"
        )
    if chosen is FORMATS["urdf"]:
        return Asset(config, where, file, chosen, elements, read_urdf(file, config, where))
    missing = find_missing_files(elements)
    if missing:
        raise ConfigError(*(f"{where}.path: {text} names no file; correct the path" for text in missing))
    return Asset(config, where, file, chosen, elements)


def failure(asset: Asset, error: Exception) -> str:
    """Return the fault: the file, the reason, the attribute that caused it if that is known, and a remedy."""
    what = f"{asset.where}.path: {asset.format.reader} failed on {str(asset.file)!r}"
    if isinstance(error, ImportError) and asset.format.extra:
        return f"{what}: {error}; install it by `{installation(asset.format.extra)}`"
    reason = _reason(error)
    culprits = [] if re.search(r"\bline \d", reason) else find_culprits(asset.elements, reason)
    if not 0 < len(culprits) <= LISTED_CULPRIT_COUNT:  # a value that is so common does not identify the place
        return f"{what}: {reason}; correct the file"
    return f"{what}: {reason}, see {' and '.join(culprits)}; correct it"


def _reason(error: Exception) -> str:
    """Return an importer's message on one line, for USD without the surrounding C++ source lines."""
    usd = re.findall(r"^\s*Error in .*? in file \S+ : '(.*?)'$", str(error), re.DOTALL | re.MULTILINE)
    text = "; ".join(map(str.strip, usd)) or str(error)
    return " ".join(f"{type(error).__name__}: {text}".split()).rstrip(":")
