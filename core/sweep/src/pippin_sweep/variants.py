"""Variants of a sweep: the product of the swept values, each a whole configuration with an id. A user writes the values
as `--over solver.iterations=4,8,16`, or in files.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from pippin import ConfigError, PluginError, SimulationConfig, load
from pippin.catalog import digest_of, modules_of
from pippin.config import dump_toml, inline_text, overridden, unstructure
from pippin.measuring import accepting_numbers
from pippin.studies import step_count
from pippin.workers import start_warm_process

FORMAT = 1
"""Format of a sweep's folder."""

_SCALARS = (str, bool, int, float)

Axis: TypeAlias = "Sequence[Mapping[str, str]]"
"""Alternatives of a sweep: each sets some keys to values, as TOML writes them."""

_RANGE = re.compile(r"(?P<first>-?\d+)\.\.(?P<last>-?\d+)(\.\.(?P<step>-?\d+))?")


@attrs.frozen(kw_only=True, eq=False)
class Variant:
    """One configuration of a sweep."""

    id: str
    """Twelve hexadecimal digits, computed from the configuration, the contents of the Python files that it names, and
    the number of steps."""

    settings: Mapping[str, str]
    """The swept keys, and their values in TOML."""

    config: SimulationConfig

    steps: int
    """Control steps to simulate."""

    @property
    def values(self) -> dict[str, str | bool | int | float]:
        """The swept keys, and their values; of a list or a table its text."""
        parsed = {key: overridden({}, [f"value={text}"])["value"] for key, text in self.settings.items()}
        return {key: value if isinstance(value, _SCALARS) else self.settings[key] for key, value in parsed.items()}

    @property
    def kernels(self) -> str:
        """Name of what is compiled: variants of one name have the same plugins, and share most kernels."""
        step = self.config.simulation
        return _digest([sorted(set(_types(unstructure(self.config)))), step.device, step.requires_grad])


def plan(
    file: Path,
    axes: Sequence[Axis],
    overrides: Mapping[str, Any] | Iterable[str] | None,
    steps: int | None,
    duration: float | None,
    *,
    is_local: bool = False,
) -> list[Variant]:
    """Return the variants of a sweep; with `is_local`, processes of this machine will run them.

    What these import is imported meanwhile.
    """
    if not axes:
        raise ConfigError("over: nothing to sweep; give a key and values, such as --over simulation.seed=0..9")
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={inline_text(value)}" for key, value in overrides.items()]
    is_warm = not is_local

    def count(config: SimulationConfig) -> int:
        nonlocal is_warm
        if not is_warm and (preload := preload_of([config])):
            start_warm_process(preload)
        is_warm = True
        return step_count(config, steps, duration)

    return variants_of(file, tuple(overrides or ()), axes, count)


def preload_of(configs: Sequence[SimulationConfig]) -> tuple[str, ...] | None:
    """Return the modules that a process of a sweep may have imported before; None if it must be a fresh one."""
    if any(each.simulation.requires_grad for each in configs):
        return None
    modules = dict.fromkeys(name for each in configs for name in modules_of(getattr(each.solver, "config", None)))
    return "pippin_sweep.variant_run", *modules


def variants_of(
    file: Path, overrides: Sequence[str], axes: Sequence[Axis], steps: Callable[[SimulationConfig], int]
) -> list[Variant]:
    """Return the product of the axes, the last one fastest.

    Solvers are swept as they are compared: one that the file does not name may ignore what are only numbers.

    Args:
        file: A configuration file.
        overrides: Values that replace those of the file in every variant, as on the command line.
        axes: The alternatives that are combined.
        steps: Returns the number of control steps of a configuration.
    """
    _refuse_twice(axes)
    variants, faults = [], dict[str, str]()
    own = _solver_of(file, overrides)
    for alternatives in itertools.product(*axes):
        settings = {key: value for each in alternatives for key, value in each.items()}
        try:
            config = load(file, [*overrides, *(f"{key}={value}" for key, value in settings.items())])
            if settings.keys() & {"solver", "solver.type"} and config.solver is not None and config.solver.type != own:
                config = accepting_numbers(config)
            count = steps(config)
        except (ConfigError, PluginError) as error:
            for fault in error.faults:
                faults.setdefault(fault, _text(settings))
            continue
        files = [digest for each in sorted(set(_types(unstructure(config)))) if (digest := digest_of(each))]
        key = _digest([FORMAT, dump_toml(config), count, *files])
        variants.append(Variant(id=key, settings=settings, config=config, steps=count))
    if faults:
        raise ConfigError(*(f"{fault} (first with {settings})" for fault, settings in faults.items()))
    _refuse_equal(variants)
    return variants


def _solver_of(file: Path, overrides: Sequence[str]) -> str | None:
    """Return the solver that a file names, if any; it may be wrong without the swept values."""
    with suppress(ConfigError, PluginError):
        with warnings.catch_warnings(action="ignore"):  # each variant warns of it
            solver = load(file, overrides).solver
        return None if solver is None else solver.type
    return None


def _refuse_twice(axes: Sequence[Axis]) -> None:
    keys = [key for axis in axes for key in axis[0]]
    twice = [key for index, key in enumerate(keys) if key in keys[:index]]
    if twice:
        raise ConfigError(f"over: {twice[0]!r} is swept twice; give all its values in one place")


def _refuse_equal(variants: Sequence[Variant]) -> None:
    first: dict[str, Variant] = {}
    for variant in variants:
        other = first.setdefault(variant.id, variant)
        if other is not variant:
            raise ConfigError(
                f"over: {_text(other.settings)} and {_text(variant.settings)} are one configuration; keep one of them"
            )


def _text(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in settings.items())


def _types(data: Any) -> Iterator[str]:
    if isinstance(data, Mapping):
        if isinstance(data.get("type"), str):
            yield data["type"]
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _types(item)


def _digest(data: Any) -> str:
    return hashlib.blake2b(json.dumps(data).encode(), digest_size=6).hexdigest()


def axis_of(text: str) -> Axis:
    """Return the alternatives of `KEY=VALUES`.

    Values are separated by commas; `0..9` and `0..100..25` are whole numbers with both ends; `@FILE` is a text file
    with a value on each line.
    """
    key, values = _split(text)
    if not values.strip():
        raise ConfigError(f"over: {key}: has no values; separate them by commas, as in {key}=1,2")
    items = _lines(key, Path(values[1:])) if values.startswith("@") else _items(key, values)
    for item in items:
        overridden({}, [f"{key}={item}"])  # the same errors as those of --set
    return [{key: item} for item in items]


def axis_of_file(path: Path) -> Axis:
    """Return the alternatives of a CSV file: a column for each key, a row for each alternative."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--variants: '{path}' cannot be read ({error}); name a CSV file") from error
    faults = [
        f"--variants: {path}: row {number} has {len(row)} values for {len(header)} keys: {','.join(row)}; give each one"
        for number, row in enumerate(rows, start=2)
        if len(row) != len(header)
    ]
    if not rows:
        faults.append(f"--variants: {path}: has no rows; write the keys in the first line, and values below")
    if faults:
        raise ConfigError(*faults)
    for row in rows:
        overridden({}, [f"{key}={item}" for key, item in zip(header, row, strict=True)])
    return [dict(zip(header, row, strict=True)) for row in rows]


def _split(text: str) -> tuple[str, str]:
    match = re.match(r"""\s*(?P<key>(?:"[^"]*"|'[^']*'|[^"'=])+?)\s*=(?P<values>.*)""", text, re.DOTALL)
    if match is None:
        raise ConfigError(f"over: expected KEY=VALUES, got {text!r}; write, for example, solver.iterations=4,8")
    return match["key"], match["values"].strip()


def _lines(key: str, path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"over: {key}: '{path}' cannot be read ({error}); name a text file") from error
    found = [line.strip() for line in lines if line.strip()]
    if not found:
        raise ConfigError(f"over: {key}: '{path}' has no values; write one on each line")
    return found


def _items(key: str, text: str) -> list[str]:
    items, rest = [], ""
    for piece in text.split(","):
        rest = f"{rest},{piece}" if rest else piece
        if _is_whole(rest):
            items += _range(key, rest.strip())
            rest = ""
    if rest:
        raise ConfigError(f"over: {key}: {rest.strip()!r} is not a TOML value; close its quotes or brackets")
    return items


def _is_whole(text: str) -> bool:
    if not re.match(r"""\s*["'\[{]""", text):
        return True
    try:
        tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return False
    return True


def _range(key: str, item: str) -> Iterable[str]:
    match = _RANGE.fullmatch(item)
    if match is None:
        return [item]
    first, last, step = int(match["first"]), int(match["last"]), int(match["step"] or 1)
    found = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
    if not found:
        raise ConfigError(f"over: {key}: {item!r} has no numbers; write first..last, or first..last..step")
    return map(str, found)
