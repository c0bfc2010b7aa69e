"""Conversion of files and plain data to a `SimulationConfig`, and back to TOML."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import attrs
from cattrs import BaseValidationError
from pippin.catalog.entries import Catalog
from pippin.errors import ConfigError, PluginError

from .component import CatalogConfig, ComponentConfig
from .converter import file_hook, make_converter
from .faults import UnexpectedValueError, fault_error, faults_of, value_text
from .fields import default_of, field_texts, fields_of
from .layers import apply, parse, read_layers
from .model import SimulationConfig
from .tree import KeyPath, Node, key_text, path_text


def load(
    file: SimulationConfig | str | os.PathLike[str] | Mapping[str, Any],
    overrides: Mapping[str, Any] | Iterable[str] | None = None,
    catalog: Catalog | None = None,
) -> SimulationConfig:
    """Return the configuration of a file, with the files that it extends and the overrides applied.

    Args:
        file: A .toml, .yaml, .yml or .json file; or its tables as a dictionary, or a configuration, which overrides
            change as it was written.
        overrides: Values on top of the file, by dotted key: `{"solver.iterations": 8}`, or as on the command line:
            `["solver.iterations=8"]`. Tables merge as in `extends`. After a change of `type`, keys that the new plugin
            does not have are faults; of another solver's keys, those stay that both have with the same
            type, default and documentation, and a warning names the others.
        catalog: The plugins to choose from; by default all installed ones.

    Raises:
        ConfigError: The file cannot be read or is wrong; one line per fault, each with file and line.
        PluginError: Every fault is a plugin's: not installed, ambiguous or broken.
    """
    if isinstance(file, SimulationConfig) and not overrides:
        return file
    if isinstance(file, str | os.PathLike):
        return structure_tree(read_tree(file, overrides), catalog)
    if not isinstance(file, Mapping | SimulationConfig):
        kind = type(file).__name__
        raise ConfigError(f"configuration: expected the path of a file, a dictionary or a SimulationConfig, got {kind}")
    tree = Node.build(file) if isinstance(file, Mapping) else _written(file)
    return structure_tree(apply(tree, parse(overrides or {})), catalog)


def _written(config: SimulationConfig) -> Node:
    """Return a configuration as it was written, without the defaults; with them if it was changed since."""
    with suppress(ConfigError, PluginError):
        if structure_tree(config.tree) == config:
            return config.tree
    return Node.build(unstructure(config))


def read_tree(path: str | os.PathLike[str], overrides: Mapping[str, Any] | Iterable[str] | None = None) -> Node:
    """Return the tree that `load` structures: merged files and overrides, each value with its origin."""
    return apply(read_layers(Path(path)), parse(overrides or {}))


def structure(data: Mapping[str, Any], catalog: Catalog | None = None) -> SimulationConfig:
    """Return the configuration of plain data, checked like a file; relative paths stay unchanged.

    Raises:
        ConfigError: The data are wrong; one line per fault, each with its key path.
        PluginError: Every fault is a plugin's: not installed, ambiguous or broken.
    """
    return structure_tree(Node.build(data), catalog)


def structure_choice(kind: str, table: Mapping[str, Any]) -> ComponentConfig:
    """Return the plugin and the configuration that one table chooses, independent of file and key.

    Args:
        kind: Kind of the plugin, such as `solver`.
        table: The table, with its `type`.

    Raises:
        ConfigError: The table is wrong.
        PluginError: The plugin is not installed, ambiguous or broken.
    """
    choice: Any = Annotated[ComponentConfig, kind]
    try:
        return make_converter(Catalog.installed()).structure(table, choice)
    except (BaseValidationError, UnexpectedValueError) as error:
        raise fault_error(faults_of(error, (kind,)), Node.build({kind: table})) from error


def structure_robot(file: Path, overrides: Mapping[str, Any] | Iterable[str] | None = None) -> SimulationConfig:
    """Return a configuration whose only asset is a robot file, with the overrides applied."""
    tree = Node.build({"scene": {"assets": [{"path": str(file)}]}})
    return structure_tree(apply(tree, parse(overrides or {})))


def structure_tree(tree: Node, catalog: Catalog | None = None) -> SimulationConfig:
    """Return the configuration of a tree; faults name the origins that the tree holds."""
    installed = catalog or Catalog.installed()
    with suppress(ConfigError):  # raised below, with all other faults
        restricted = structure_catalog(tree, installed)
        for note in restricted.notes[len(installed.notes) :]:
            warnings.warn(note, UserWarning, stacklevel=3)
        installed = restricted
    tree, left_out = _of_one_solver(tree, installed)
    try:
        config = attrs.evolve(file_hook(installed, SimulationConfig)(tree.plain(), SimulationConfig), tree=tree)
    except (BaseValidationError, UnexpectedValueError) as error:
        raise fault_error(faults_of(error), tree) from error
    if left_out:
        warnings.warn(left_out, UserWarning, stacklevel=3)
    return config


def _of_one_solver(tree: Node, catalog: Catalog) -> tuple[Node, str]:
    """Return a tree without what is written for another solver, and a text that names it.

    A key stays if both solvers have it, with the same type, default and documentation: `integrator` of MuJoCo's two
    solvers, but not `iterations` of `mujoco` and `vbd`, which counts different things.
    """
    table = tree.child("solver") or Node({}, tree.origin)
    own, foreign = table.child("type"), dict[str, Node]()
    if own is None:
        return tree, ""
    for key, node in table.value.items():
        if node.written_for not in (None, own.value) and key != "type":
            theirs, ours = (_fields_of_solver(catalog, each).get(key) for each in (node.written_for, own.value))
            if ours is None or theirs != ours:
                foreign[key] = node
    if not foreign:
        return tree, ""
    kept = {key: node for key, node in table.value.items() if key not in foreign}
    first = next(iter(foreign.values()))
    text = (
        f"{first.origin}: solver: left out, as written for type {value_text(first.written_for)}:"
        f" {', '.join(map(key_text, foreign))}; set what the new type shall have beside it"
    )
    return Node({**tree.value, "solver": Node(kept, table.origin)}, tree.origin), text


def _fields_of_solver(catalog: Catalog, name: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Return type, default and documentation of each key of a solver; nothing if it cannot be loaded."""
    with suppress(PluginError):
        config = catalog.find("solver", str(name)).load_config()
        texts = field_texts(config)
        return {field.name: (field.type, field.default, texts.get(field.name)) for field in fields_of(config)}
    return {}


def structure_catalog(tree: Node, installed: Catalog) -> Catalog:
    """Return the installed catalog as restricted by the `[catalog]` table of a tree."""
    table = tree.child("catalog") or Node({}, tree.origin)
    try:
        config = make_converter(installed).structure(table.plain(), CatalogConfig)
    except (BaseValidationError, UnexpectedValueError) as error:
        raise fault_error(faults_of(error, ("catalog",)), tree) from error
    return config.restrict(installed, lambda key: _located(tree, ("catalog", key)))


def _located(tree: Node, path: KeyPath) -> str:
    place = str(tree.nearest_origin(path))
    return path_text(path) + (f" ({place})" if place else "")


def unstructure(config: Any) -> Any:
    """Return a configuration as plain data, which `structure` accepts again.

    Values that are None are left out, because TOML has no null. So are empty tables that are empty by default.

    Args:
        config: A configuration, or a part of one.
    """
    if isinstance(config, ComponentConfig):
        return {"type": config.type, **unstructure(config.config)}
    if attrs.has(type(config)):
        values = [(field, getattr(config, field.name)) for field in fields_of(type(config))]
        values = [(field, value) for field, value in values if value is not None]
        plain = {field.name: unstructure(value) for field, value in values if value != {} or default_of(field) != {}}
        if isinstance(config, SimulationConfig):  # the list of what may be chosen is the last one of the tables
            last = {name: plain.pop(name) for name in ("catalog",) if name in plain}
            plain |= {name: unstructure(each) for name, each in config.tables.items()} | last
        return plain
    if isinstance(config, Mapping):
        return {key: unstructure(value) for key, value in config.items()}
    if isinstance(config, list | tuple):
        return [unstructure(item) for item in config]
    return config


def dump_toml(config: SimulationConfig, *, with_origins: bool = False) -> str:
    """Return a configuration as TOML with every default.

    Args:
        config: The configuration.
        with_origins: Whether a comment after each value names its origin, such as `ant.toml:12`.
    """
    return toml_text(unstructure(config), (lambda path: _origin(config.tree, path)) if with_origins else None)


def origins(config: SimulationConfig, tree: Node) -> dict[str, str]:
    """Return the origin of each value by key path: `ant.toml:12`, `--set`, or `default`."""
    return {path_text(path): _origin(tree, path) for path in value_paths(unstructure(config))}


def _origin(tree: Node, path: KeyPath) -> str:
    node = tree.find(path)
    return str(node.origin) if node else "default"


@attrs.frozen
class _Line:
    text: str
    path: KeyPath | None = None


def toml_text(data: Mapping[str, Any], comment: Callable[[KeyPath], str] | None = None) -> str:
    """Return a table as a TOML document: one line per value, so that a comment can follow each value.

    tomlkit also writes short lists and comments, but does not align comments in a column. It would save about 50 lines
    and add a dependency: the data are only tables, lists and four kinds of scalars.

    Args:
        data: The table, of plain data.
        comment: Returns the comment after the value at a path, or nothing.
    """
    lines = list(_table(data, (), ()))
    if lines and not lines[0].text:
        del lines[0]  # the blank line before the first header
    if comment is None:
        return "".join(f"{line.text}\n" for line in lines)
    width = max((len(line.text) for line in lines if line.path and len(line.text) <= 60), default=0)
    texts = [comment(line.path) if line.path else "" for line in lines]
    return "".join(
        f"{line.text:<{width}}  # {text}\n" if text else f"{line.text}\n"
        for line, text in zip(lines, texts, strict=True)
    )


def value_paths(data: Mapping[str, Any]) -> list[KeyPath]:
    """Return the key path of every line of `toml_text(data)` that holds a value."""
    return [line.path for line in _table(data, (), ()) if line.path]


def _table(table: Mapping[str, Any], path: KeyPath, header: tuple[str, ...]) -> Iterator[_Line]:
    """Yield the values of a table, then its inner tables: in TOML, a value after a header belongs to that header."""
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping) or _is_table_list(value)}
    for key, value in table.items():
        if key not in inner:
            yield _Line(f"{key_text(key)} = {inline_text(value)}", (*path, key))
    for key, value in inner.items():
        name = (*header, key)
        if isinstance(value, Mapping):
            yield from _section(f"[{path_text(name)}]", value, (*path, key), name)
            continue
        for index, item in enumerate(value):
            yield from _section(f"[[{path_text(name)}]]", item, (*path, key, index), name, always=True)


def _section(
    title: str, table: Mapping[str, Any], path: KeyPath, header: tuple[str, ...], always: bool = False
) -> Iterator[_Line]:
    """Yield a header and its table; a table that holds only tables needs no header of its own."""
    if always or not table or not all(isinstance(value, Mapping) or _is_table_list(value) for value in table.values()):
        yield from (_Line(""), _Line(title))
    yield from _table(table, path, header)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def inline_text(value: Any) -> str:
    """Return a value as TOML writes it in one line.

    Args:
        value: A scalar, a list or a table of plain data.
    """
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_text(key)} = {inline_text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline_text, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # TOML's basic strings are JSON's, except that TOML must escape one control character that JSON does not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
