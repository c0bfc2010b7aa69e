"""Assets of the configuration: file and format of each, found and checked before an importer reads it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import attrs
from pippin.catalog.entries import Catalog
from pippin.catalog.entry import Entry
from pippin.config.fields import default_of, fields_of
from pippin.config.files import find_file
from pippin.config.model import AssetConfig
from pippin.errors import ConfigError, PluginError
from pippin.extras import installation

from .elements import Element, find_culprits, find_missing_files, read_elements
from .importer import Importer
from .urdf.reading import Urdf, read_urdf


@attrs.frozen
class Format:
    """One format: its files, and what its importer reads."""

    name: str

    suffixes: tuple[str, ...]

    root: str | None = None
    """The root tag of an XML file of this format; None if the format is not XML."""

    keywords: Mapping[str, str] = attrs.field(factory=dict)
    """The importer's argument for each supported field of `AssetConfig`."""

    extra: str = ""
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
        keywords={**_TEXT, "ignore": "ignore_names", "mujoco_options": "parse_mujoco_options"},
        extra="meshes",
        own=("accept_lost", "convex_hulls", "keyframe", "normalise"),
        decides=_DECIDED,
    ),
    "urdf": Format(
        name="URDF",
        suffixes=(".urdf", ".xacro"),
        root="robot",
        keywords=_TEXT,
        extra="meshes",
        own=("convex_hulls", "inertia", "package_dirs", "xacro_args"),
        decides=_DECIDED,
    ),
    "usd": Format(
        name="USD",
        suffixes=(".usd", ".usda", ".usdc", ".usdz"),
        keywords={**_COMMON, "ignore": "ignore_paths", "mujoco_options": "parse_mujoco_options"},
        extra="usd",
        decides=(*_DECIDED, "force_sdf", "is_solid", "sdf_padding"),
    ),
}


def is_read_as(config: AssetConfig, name: str) -> bool:
    """Tell whether Newton reads an asset as one of its formats, which the configuration or else the suffix says."""
    is_by_suffix = config.format is None and config.path.lower().endswith(FORMATS[name].suffixes)
    return config.importer is None and (config.format == name or is_by_suffix)


def is_normalised(config: AssetConfig) -> bool:
    """Tell whether MuJoCo's reader resolves an asset: it is an MJCF file, and its configuration does not say no."""
    return config.normalise and is_read_as(config, "mjcf")


def given_options(config: AssetConfig) -> dict[str, object]:
    """Return the fields that differ from their default and that at least one importer supports."""
    fields = attrs.fields_dict(AssetConfig)
    return {name: getattr(config, name) for name in option_names() if getattr(config, name) != default_of(fields[name])}


def option_names() -> list[str]:
    """Return the fields of `AssetConfig` that at least one importer supports, and others may not."""
    return list(dict.fromkeys(name for form in FORMATS.values() for name in (*form.keywords, *form.own)))


def _chosen(config: AssetConfig, file: Path, where: str, catalog: Catalog) -> Format:
    """Return the format that the configuration names, or else the format of the file's suffix.

    An installed importer is imported only if the configuration names it, or if no known format has the suffix.
    """
    if config.importer is not None:
        if config.format is not None:
            raise ConfigError(f"{where}.format: {config.format!r} beside {where}.importer; leave one of the two out")
        return _plugin_format(catalog.find("importer", config.importer.type), config.importer.config)
    name = config.format or next((n for n, f in FORMATS.items() if file.suffix.lower() in f.suffixes), None)
    return _by_suffix(file, where, catalog) if name is None else FORMATS[name]


def _by_suffix(file: Path, where: str, catalog: Catalog) -> Format:
    suffixes, problems = dict[Entry, tuple[str, ...]](), list[str]()
    for name in catalog.names("importer"):
        try:
            entry = catalog.find("importer", name)
            suffixes[entry] = _suffixes_of(entry)
        except PluginError as error:
            problems.append(str(error))
    matches = [entry for entry, own in suffixes.items() if file.suffix.lower() in own]
    if len(matches) > 1:
        raise ConfigError(
            f"{where}.path: {' and '.join(map(str, matches))} read {file.suffix!r}; choose one by {where}.importer"
        )
    if not matches:
        raise ConfigError(f"{where}.path: {_unread(file, suffixes)}", *(f"{where}.path: {text}" for text in problems))
    config = matches[0].load_config()
    if needed := [field.name for field in fields_of(config) if field.default is attrs.NOTHING]:
        raise ConfigError(
            f"{where}.path: {matches[0]} needs {', '.join(needed)}; write"
            f' {where}.importer = {{ type = "{matches[0].name}", {needed[0]} = ... }}'
        )
    return _plugin_format(matches[0], config())


def _unread(file: Path, suffixes: Mapping[Entry, Collection[str]]) -> str:
    known = [suffix for form in FORMATS.values() for suffix in form.suffixes]
    others = [f"{' and '.join(own) or 'no suffix'} by {entry.name!r}" for entry, own in suffixes.items()]
    return (
        f"no importer reads {file.suffix or 'a file without a suffix'!r}, got {file.name!r}; known: "
        f"{', '.join([*known, *others])}; for another suffix set format or importer"
    )


def _suffixes_of(entry: Entry) -> tuple[str, ...]:
    plugin = cast("type[Importer]", entry.load())
    known = option_names()
    faults = [
        f"options has {name!r}, which is not an option of an importer; options: {', '.join(sorted(known))}"
        for name in sorted(set(plugin.options).difference(known))
    ]
    if faults := [*faults, *_suffix_faults(plugin)]:
        raise PluginError("\n".join(f"{entry}: {fault}" for fault in faults))
    return plugin.suffixes


def _suffix_faults(plugin: type[Importer]) -> Iterator[str]:
    if isinstance(plugin.suffixes, str):
        yield f"suffixes: expected a tuple of suffixes, got {plugin.suffixes!r}; write ({plugin.suffixes!r},)"
        return
    for suffix in plugin.suffixes:
        if not suffix.startswith(".") or suffix != suffix.lower():
            yield f"suffixes has {suffix!r}; write it in lower case, with a dot in front"


def _plugin_format(entry: Entry, settings: object) -> Format:
    suffixes = _suffixes_of(entry)
    plugin = entry.load()
    return Format(entry.name, suffixes, own=tuple(plugin.options), entry=entry, importer=plugin(settings))


def _refuse_unknown_options(config: AssetConfig, chosen: Format, where: str) -> None:
    reader = chosen.reader if chosen.entry else f"Newton's {chosen.reader}"
    faults = [
        f"{where}.{name}: {reader} has no such option, got {value!r}; leave it out, or change the asset itself"
        for name, value in given_options(config).items()
        if name not in (*chosen.keywords, *chosen.own)
    ]
    if faults:
        raise ConfigError(*faults)


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


_NUMBERS_MAX = 1e8
"""Largest number of points of a height field: ten thousand by ten thousand."""


def find_asset(config: AssetConfig, where: str, catalog: Catalog | None = None) -> Asset:
    """Return an asset after all checks that need no importer."""
    file = find_file(config.path, f"{where}.path")
    chosen = _chosen(config, file, where, Catalog.installed() if catalog is None else catalog)
    _refuse_unknown_options(config, chosen, where)
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
    for field in elements:  # MuJoCo fills its numbers, for minutes, before it finds that they have no room
        if field.tag == "hfield" and _numbers_of(field) > _NUMBERS_MAX:
            raise ConfigError(f"{where}.path: {field.text('nrow')} has too many points; use at most {_NUMBERS_MAX:.0e}")
    return Asset(config, where, file, chosen, elements)


def _numbers_of(field: Element) -> float:
    try:
        return float(field.attributes.get("nrow", "0")) * float(field.attributes.get("ncol", "0"))
    except ValueError:
        return 0.0


def failure(asset: Asset, error: Exception) -> str:
    """Return the fault: the file, the reason, the attribute that caused it if that is known, and a remedy."""
    what = f"{asset.where}.path: {asset.format.reader} failed on {str(asset.file)!r}"
    if isinstance(error, ImportError) and asset.format.extra:
        return f"{what}: {error}; install it by `{installation(asset.format.extra)}`"
    reason = _reason(error)
    culprits = [] if re.search(r"\bline \d", reason) else find_culprits(asset.elements, reason)
    if not 0 < len(culprits) <= 3:  # a value that is more common does not identify the place
        return f"{what}: {reason}; correct the file"
    return f"{what}: {reason}, see {' and '.join(culprits)}; correct it"


def _reason(error: Exception) -> str:
    usd = re.findall(r"^\s*Error in .*? in file \S+ : '(.*?)'$", str(error), re.DOTALL | re.MULTILINE)
    text = "; ".join(map(str.strip, usd)) or str(error)
    return " ".join(f"{type(error).__name__}: {text}".split()).rstrip(":")
