"""The formats of assets, and the options of Newton's importer for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs
from pippin.config.fields import default_of
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError

__all__ = ["FORMATS", "Format", "choose_format", "given_options", "is_normalised"]


@attrs.frozen
class Format:
    """One format: its files, and the importer of `newton.ModelBuilder` that reads them."""

    name: str

    suffixes: tuple[str, ...]

    root: str | None
    """The root tag of an XML file of this format; None if the format is not XML."""

    method: str
    """The importer, a method of `newton.ModelBuilder`."""

    keywords: Mapping[str, str]
    """The importer's argument for each supported field of `AssetConfig`."""

    extra: str
    """The extra of `pippin` that installs the importer's optional dependencies."""

    own: tuple[str, ...] = ()
    """The fields of `AssetConfig` that Pippin itself reads for this format."""

    decides: tuple[str, ...] = ()
    """The fields of `ShapeConfig` that the importer decides by itself, whether the file states them or not."""


_COMMON = {
    "floating": "floating",
    "self_collisions": "enable_self_collisions",
    "collapse_fixed_joints": "collapse_fixed_joints",
}
_DECIDED = ("collision_filter_parent", "has_shape_collision", "has_particle_collision", "is_visible")
_TEXT = {**_COMMON, "up_axis": "up_axis", "scale": "scale"}

FORMATS: Mapping[str, Format] = {
    "mjcf": Format(
        name="MJCF",
        suffixes=(".xml", ".mjcf"),
        root="mujoco",
        method="add_mjcf",
        keywords={**_TEXT, "ignore": "ignore_names", "mujoco_options": "parse_mujoco_options"},
        extra="meshes",
        own=("accept_lost", "keyframe", "normalise"),
        decides=_DECIDED,
    ),
    "urdf": Format(
        name="URDF",
        suffixes=(".urdf", ".xacro"),
        root="robot",
        method="add_urdf",
        keywords=_TEXT,
        extra="meshes",
        own=("package_dirs", "xacro_args"),
        decides=_DECIDED,
    ),
    "usd": Format(
        name="USD",
        suffixes=(".usd", ".usda", ".usdc", ".usdz"),
        root=None,
        method="add_usd",
        keywords={**_COMMON, "ignore": "ignore_paths", "mujoco_options": "parse_mujoco_options"},
        extra="usd",
        decides=(*_DECIDED, "force_sdf", "is_solid", "sdf_padding"),
    ),
}


def choose_format(config: AssetConfig, file: Path, where: str) -> Format:
    """Return the format that the configuration names, or else the format of the file's suffix.

    Raises:
        ConfigError: The suffix is unknown, or the importer lacks an option that is set.
    """
    name = config.format or next((n for n, f in FORMATS.items() if file.suffix.lower() in f.suffixes), None)
    if name is None:
        known = ", ".join(suffix for form in FORMATS.values() for suffix in form.suffixes)
        raise ConfigError(
            f"{where}.path: no importer reads {file.suffix or 'a file without a suffix'!r}, got {file.name!r}; "
            f"known: {known}; for another suffix set format"
        )
    chosen = FORMATS[name]
    _refuse_unknown_options(config, chosen, where)
    return chosen


def is_normalised(config: AssetConfig) -> bool:
    """Tell whether MuJoCo's reader resolves an asset: it is an MJCF file, and its configuration does not say no."""
    suffix = config.path.lower()
    is_mjcf = config.format == "mjcf" or (config.format is None and suffix.endswith(FORMATS["mjcf"].suffixes))
    return is_mjcf and config.normalise


def given_options(config: AssetConfig) -> dict[str, object]:
    """Return the fields that differ from their default and that at least one importer supports."""
    fields = attrs.fields_dict(AssetConfig)
    names = dict.fromkeys(name for form in FORMATS.values() for name in (*form.keywords, *form.own))
    return {name: getattr(config, name) for name in names if getattr(config, name) != default_of(fields[name])}


def _refuse_unknown_options(config: AssetConfig, chosen: Format, where: str) -> None:
    faults = [
        f"{where}.{name}: Newton's {chosen.name} importer has no such option, got {value!r}; "
        "leave it out, or change the asset itself"
        for name, value in given_options(config).items()
        if name not in (*chosen.keywords, *chosen.own)
    ]
    if faults:
        raise ConfigError(*faults)
