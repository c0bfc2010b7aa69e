"""Variants of a sweep: the product of the swept values, each a whole configuration with an id."""

from __future__ import annotations

import hashlib
import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
from pippin import ConfigError, PluginError, SimulationConfig, load
from pippin.catalog import digest_of, modules_of
from pippin.config import dump_toml, inline_text, overridden, unstructure
from pippin.measuring import accepting_numbers
from pippin.studies import step_count
from pippin.workers import start_warm_process

from .values import Axis

FORMAT = 1
"""Format of a sweep's folder."""

_SCALARS = (str, bool, int, float)


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # each variant warns of it
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
    """Yield the `type` of each table of a configuration."""
    if isinstance(data, Mapping):
        if isinstance(data.get("type"), str):
            yield data["type"]
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _types(item)


def _digest(data: Any) -> str:
    return hashlib.blake2b(json.dumps(data).encode(), digest_size=6).hexdigest()
