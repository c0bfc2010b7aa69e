"""The formats of assets, and the options of Newton's importer for each."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from pippin.catalog.entry import Entry
from pippin.config.fields import default_of
from pippin.config.model import AssetConfig

from .importer import Importer


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

    entry: Entry | None = None
    """The plugin that reads the format; None if Newton does."""

    importer: Importer | None = None
    """The plugin with the settings of one asset."""

    @property
    def reader(self) -> str:
        """The importer, in errors."""
        return f"{self.name} importer" if self.entry is None else str(self.entry)


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
        own=("accept_lost", "convex_hulls", "keyframe", "normalise"),
        decides=_DECIDED,
    ),
    "urdf": Format(
        name="URDF",
        suffixes=(".urdf", ".xacro"),
        root="robot",
        method="add_urdf",
        keywords=_TEXT,
        extra="meshes",
        own=("convex_hulls", "inertia", "package_dirs", "xacro_args"),
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


def is_normalised(config: AssetConfig) -> bool:
    """Tell whether MuJoCo's reader resolves an asset: it is an MJCF file, and its configuration does not say no."""
    suffix = config.path.lower()
    is_mjcf = config.format == "mjcf" or (config.format is None and suffix.endswith(FORMATS["mjcf"].suffixes))
    return is_mjcf and config.normalise and config.importer is None


def given_options(config: AssetConfig) -> dict[str, object]:
    """Return the fields that differ from their default and that at least one importer supports."""
    fields = attrs.fields_dict(AssetConfig)
    return {name: getattr(config, name) for name in option_names() if getattr(config, name) != default_of(fields[name])}


def option_names() -> list[str]:
    """Return the fields of `AssetConfig` that at least one importer supports, and others may not."""
    return list(dict.fromkeys(name for form in FORMATS.values() for name in (*form.keywords, *form.own)))
