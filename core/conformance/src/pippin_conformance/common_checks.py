"""Checks of any plugin: its entry point and settings are found, imported, documented, written and read; and its steps
have an effect, and keep to the promises about capture, determinism, resets, checkpoints and worlds.
"""

from __future__ import annotations

import inspect
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from multiprocessing.connection import Connection
from typing import Any

import attrs
import warp
from pippin import ConfigError, PippinError, PluginError
from pippin.catalog import Catalog
from pippin.config import InnerTable, inner_tables, json_schema, table_schema, toml_text, unstructure
from pippin.workers import WorkerProcess

from .observation import StateSnapshot, advance, differing, start
from .plugin_under_test import PluginUnderTest
from .runs import Runs


def check_entry_point(runs: Runs) -> None:
    """Exactly one distribution has the entry point, and the entry point leads to a configuration whose
    implementation has known hooks.
    """
    entry = runs.subject.entry
    if entry.problem:
        raise PluginError(f"{entry}: {entry.problem}")
    _ = runs.subject.plugin


def check_light_import(runs: Runs) -> None:
    """The class can be imported in a process of its own without a visible GPU, and the import does not start Warp."""
    entry = runs.subject.entry
    with WorkerProcess(str(entry), _import, entry.kind, runs.subject.name, preload=()) as process:
        try:
            has_started = process.receive()
        except PippinError as error:
            raise PluginError(f"{entry}: cannot be imported in a process of its own: {error}") from error
    if has_started:
        raise PluginError(f"{entry}: its import starts Warp; make arrays in bind or build_solver, not in the module")


def _import(connection: Connection, kind: str, name: str) -> None:
    """Import a plugin, and send whether Warp has started: it greets once, and still does if the import did not."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    Catalog.installed().find(kind, name).load()
    warp.config.log_level = warp.LOG_INFO
    with redirect_stdout(StringIO()) as greeting:
        warp.init()
    connection.send(not greeting.getvalue())


def check_documented_keys(runs: Runs) -> None:
    """The configuration has a docstring, and each of its keys has a type and a docstring."""
    config = runs.subject.entry.load_config()
    faults = []
    for table in inner_tables(config):
        place = ".".join((config.__name__, *(key for key, _ in table.path)))
        if table.config is not None and not (table.config.__doc__ or "").strip():
            faults.append(f"{place}: class {table.config.__name__} has no docstring; say in a line what it describes")
        for name, annotation in table.types.items():
            if not table.texts.get(name):
                faults.append(f"{place}.{name}: no docstring; write one below the field, with the unit")
            if annotation in (None, Any):
                faults.append(f"{place}.{name}: no type; annotate it, so that wrong values are refused")
    _refuse(runs.subject, faults)


def check_round_trip(runs: Runs) -> None:
    """A configuration that is written as TOML, with every default, is read back unchanged."""
    written = runs.subject.structured()
    try:
        read = runs.subject.structured(tomllib.loads(toml_text(unstructure(written))))
    except (ConfigError, tomllib.TOMLDecodeError) as error:
        raise runs.fault(f"what is written of its table cannot be read back: {error}") from error
    if read != written:
        raise runs.fault("its table is read back as another one; give fields values that compare by ==")


def check_unknown_keys(runs: Runs) -> None:
    """An unknown key is refused, in the plugin's table and in every table inside it."""
    subject = runs.subject
    faults = []
    for table in inner_tables(subject.entry.load_config()):
        place = ".".join((*(key for key, _ in table.path), "no_such_key"))
        try:
            subject.structured({**subject.table, **_nested(table, {"no_such_key": "no such value"})})
        except ConfigError:
            continue
        faults.append(f"{place}: accepted; type the field by an attrs class, or its values by what they are")
    _refuse(subject, faults)


def check_schema(runs: Runs) -> None:
    """The JSON Schema for editors contains the plugin's table, gives the type of each key, and is valid JSON."""
    schema, problems = json_schema(Catalog.installed(), [runs.subject.entry])
    _refuse(runs.subject, [f"it has no schema: {problem}" for problem in problems])
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise runs.fault(f"its schema is not JSON ({error}); use defaults that TOML can hold") from error
    keys = dict.fromkeys(_untyped_keys([schema, table_schema(runs.subject.entry.load_config())]))
    _refuse(runs.subject, [f"{key}: any value would do; annotate it as a scalar, a list or a table" for key in keys])


def _refuse(subject: PluginUnderTest, faults: list[str]) -> None:
    if faults:
        raise PluginError("\n".join(f"{subject}: {fault}" for fault in faults))


def _nested(place: InnerTable, content: Any) -> Any:
    for key, depth in reversed(place.path):
        for _ in range(depth):
            content = [content]
        content = {key: content}
    return content


def _untyped_keys(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from (key for key, value in properties.items() if not value.keys() - {"description", "default"})
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _untyped_keys(part)


def check_lifecycle(runs: Runs) -> None:
    """A simulation with the plugin can be built, stepped, reset and stepped again; it stays finite, and may be closed
    twice. A second simulation can follow in the same process.
    """
    _ = runs.eager
    _ = runs.again


def check_capture(runs: Runs) -> None:
    """Captured steps give bitwise the results of eager steps, and every operation is captured unless the plugin
    declares that it runs eagerly.
    """
    for name, reason in runs.whole.unexpected.items():
        raise runs.fault(
            f"{name} is not captured: {reason}; keep all that changes on the device, or declare is_capturable = False"
            " and an eager_reason"
        )
    cure = _memory_cure(runs) or "declare is_capturable = False"
    _refuse_difference(runs, runs.eager, runs.whole.half, "captured steps differ from eager ones", cure)


def check_determinism(runs: Runs) -> None:
    """Two runs of one configuration are bitwise the same on the CPU. `deterministic_on` must contain "cpu"."""
    if "cpu" not in runs.subject.declaration.deterministic_on:
        raise runs.fault(
            "deterministic_on has no 'cpu', so that nothing can be compared bit for bit; seed what is random with"
            " simulation.seed"
        )
    cure = "seed what is random with simulation.seed, or leave 'cpu' out of deterministic_on"
    _refuse_difference(runs, runs.eager, runs.again[0], "two runs differ", cure)


def check_substeps(runs: Runs) -> None:
    """A step with two or three substeps (for an actuator or a clamping, a control step with two or three physics steps)
    gives the same bits as two or three steps of that length.
    """
    cure = "read the state that the call is given, write the other one, and use the call's own dt"
    in_two, in_three = runs.apart
    _refuse_difference(runs, in_two, runs.even, "two in a step differ from two steps", cure)
    _refuse_difference(runs, in_three, runs.whole.half, "three in a step differ from three steps", cure)


def check_allocation(runs: Runs) -> None:
    """After the first steps, a step allocates no Warp memory."""
    before, after = runs.whole.allocations
    if before != after:
        raise runs.fault(
            "ten steps allocated Warp memory; allocate in bind or build_solver, and reuse it\n"
            f"before: {before}\nafter: {after}"
        )


def check_reset(runs: Runs) -> None:
    """After a reset of all worlds with the first seed, the simulation repeats its first steps bit for bit."""
    cure = "declare what it carries in state_arrays, answer reset_worlds, or let the solver's reset forget it"
    if runs.subject.builds_solver:
        cure += "; one with a state of its own asks step_solver for written_worlds, and reads these worlds anew"
    first, after_reset = runs.again
    _refuse_difference(runs, first, after_reset, "steps after a reset differ from the first ones", cure)


def check_intervals(runs: Runs) -> None:
    """An event that comes in each control step changes nothing that a reset with the first seed leaves changed."""
    subject, step = runs.subject, 3 * runs.subject.dt
    own = attrs.evolve(subject, config={**subject.config, "when": "interval", "period": [step, step]})
    try:
        own.structured()
    except ConfigError:
        return  # it takes no intervals
    first, after_reset = Runs(own).again
    cure = "put back what was found, in `restore`"
    _refuse_difference(runs, first, after_reset, "steps after a reset differ from the first ones", cure)


def check_worlds(runs: Runs) -> None:
    """A world that is reset with the first seed starts again from the beginning, and the other worlds continue bitwise
    as without the reset.
    """
    count = runs.subject.world_count
    if count < 2:
        raise runs.fault("tried in one world, which no other can disturb; give it several")
    others, last = list(range(count - 1)), [count - 1]
    cure = "give each world rows of its own, and forget the rows of the worlds in the mask alone"
    whole, disturbed = runs.whole, runs.disturbed
    told = "a reset of another world changed this one"
    _refuse_difference(runs, whole.end.of(others), disturbed.of(others), told, cure)
    told = "a world that was reset does not start over"
    _refuse_difference(runs, whole.half.of(last), disturbed.of(last), told, cure)


def check_checkpoint(runs: Runs) -> None:
    """A run that is resumed from a file is bitwise the same as an uninterrupted run: all state is in arrays and
    numbers of the component, its solver or the simulation's state, or in a `pippin.solving.EngineMemory`. With
    `engine_memory = "own"`, a solver reads the saved state, and the run is the same but for rounding.
    """
    cure = _memory_cure(runs) or "keep what is carried in attributes of the component, or declare unsaved_reason"
    is_read = _asks_for_worlds(runs) and runs.subject.declaration.engine_memory == "own"
    rounding = 1e-4 if is_read else 0.0
    _refuse_difference(runs, runs.whole.end, runs.resumed, "a resumed run differs", cure, rounding)


def _asks_for_worlds(runs: Runs) -> bool:
    step = getattr(runs.subject.plugin, "step_solver", None) if runs.subject.builds_solver else None
    return step is not None and "written_worlds" in inspect.signature(step).parameters


def _memory_cure(runs: Runs) -> str:
    """Return the cure if a solver says wrongly that the host can put its memory back."""
    if not _asks_for_worlds(runs) or runs.subject.declaration.engine_memory == "own":
        return ""
    return (
        "steps carry on what the host cannot put back: keep it in arrays or in a pippin.solving.EngineMemory, or"
        " declare engine_memory = 'own'"
    )


def check_side_by_side(runs: Runs) -> None:
    """Two simulations that take turns in one process give the same results as each one alone."""
    cure = "keep nothing in a class or a module"
    for seen in runs.side_by_side:
        _refuse_difference(runs, runs.whole.half, seen, "another simulation beside it changed it", cure)


def check_effect(runs: Runs) -> None:
    """The plugin acts: efforts, readings or the state are others than without it."""
    with runs.subject.build(capture="off", is_present=False) as simulation:
        start(simulation)
        without = advance(simulation)
    if not [name for name in differing(runs.eager, without) if name in without.arrays]:
        raise runs.fault(
            "efforts, readings and the state are the same as without it; test it with settings that change some"
        )


def _refuse_difference(
    runs: Runs, expected: StateSnapshot, found: StateSnapshot, told: str, cure: str, rounding: float = 0.0
) -> None:
    odd = differing(expected, found, rounding)
    if odd:
        raise runs.fault(f"{told} in {', '.join(odd[:3])}; {cure}")
