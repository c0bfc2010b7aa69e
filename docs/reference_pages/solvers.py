"""Page *Solvers*: what each solver declares."""

from __future__ import annotations

import inspect
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from pippin.catalog.entries import Catalog
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.solving import FEATURES
from pippin.support.declaration import Declaration

from .meanings import by_solver
from .rows import declaring_solvers, named_row, row_of_solvers, summary

SOLVERS = """\
# Solvers

<!-- Written by docs/write_reference.py from the plugins' declarations. Change those, then run it. -->

This page compares the solvers of this repository by their declarations and hooks.
[Configuration](configuration.md) lists their settings, and [physics checks](physics-checks.md) gives their accuracy
against formulas. [`coupled`](../how-to/solvers-of-solvers.md) has what the solvers of its entries have.

- **coordinates**: the coordinates that the solver writes; see
  [the attribute](hooks.md#attributes-of-a-component) of the same name
- **contacts**: from Newton's pipeline, which `[collision]` configures, or from the solver itself
- **captured**: when the steps are replayed from a graph; if they are not, `sim.program` gives the reason
- **same bits on**: the devices on which every run gives the same bits, as
  [`simulation.determinism`](../how-to/reproducible-runs.md) requires; this has not been tested on CUDA
- **observables**: the quantities of the solver that sensors can read

| solver | coordinates | contacts | captured | same bits on | observables |
|---|---|---|---|---|---|
"""

FEATURES_TABLE = """
## Supported features

If a scene uses a feature that the solver does not support, Pippin refuses the scene before it compiles anything.
`pippin check FILE` lists the unsupported features of a file for every solver, and `simulation.accept_unsupported`
accepts them: the solver then ignores them, and a note says so. A ● stands for `"live"` in the declaration: the solver
follows what changes of the feature while it runs. A feature with *build* is read only while the solver is built. For
`carried_sliders`, `free_damping`, `free_joint_forces`, `joint_damping`, `joint_friction` and `velocity_limits`, the
note is enough, if a robot file states them and no key of the configuration asks for them. If a cell names an option,
the solver supports the feature when the option is true. A scene uses a parameter if a value differs from the neutral
one. For the properties of contacts and limits, that is the value that Newton gives to shapes and joints by default.
`pippin compare` accepts the loss of parameters for the solvers that the file does not name, and shows what each one
ignores.

"""

CHANGES_TABLE = """
## Model changes while running

You may write arrays of `sim.model` between steps, in some worlds or in all.
Then call `sim.notify_model_changed` with flags of `newton.ModelFlags` to notify the solver. Captured graphs stay valid.
A flag is refused if none of its features is live, because the change would have no effect.

"""

ROBOT_FILES = """
## Statements of robot files

What a robot file states acts, is noted, or is refused, and each is measured: *equal + noted + refused*. Equal are
statements that move the bodies as plain MuJoCo or a formula does. The pages have each statement:
[MJCF](meanings.md), [URDF](meanings-urdf.md), [USD](meanings-usd.md).

"""

BUILDER = """
## Additions to a builder

A prototype built in Python needs [the same registrations](../how-to/robot-from-python.md) before you add anything to
it.

| solver | before assets | after replication |
|---|---|---|
"""

CHECKED = """
## Checked versions

The conformance kit tried these declarations with the versions below, on the CPU. With others they are not checked: run
[`pippin check-plugin`](../how-to/test-a-plugin.md), and `pippin plugins NAME` tells what it found. Checks that do not
apply are left out.

| solver | checks that passed | expected to fail | failed | with | on |
|---|---|---|---|---|---|
"""

MODEL_CHANGES = {
    "MODEL_PROPERTIES": "gravity, of each world",
    "BODY_INERTIAL_PROPERTIES": "masses, inertias, centres of mass",
    "BODY_PROPERTIES": "switching bodies between kinematic and dynamic",
    "JOINT_PROPERTIES": "frames and axes of joints",
    "JOINT_DOF_PROPERTIES": "all of the following three that the solver supports",
    "JOINT_DOF_FORCE_PROPERTIES": "gains, limits, damping, friction and stiffness of joints",
    "JOINT_DOF_INERTIAL_PROPERTIES": "armature",
    "JOINT_REFERENCE_POSE_PROPERTIES": "rest positions of the springs of joints and rods",
    "SHAPE_PROPERTIES": "friction, stiffness, pose and size of shapes",
    "SHAPE_TYPE_AND_SOURCE": "type and geometry of shapes",
    "CONSTRAINT_PROPERTIES": "mimic joints and equality constraints",
    "TENDON_PROPERTIES": "tendons",
    "ACTUATOR_PROPERTIES": "MuJoCo's actuators",
}
"""Meanings of the flags of `newton.ModelFlags`."""


def page() -> str:
    """Return the tables of the declarations and hooks of every installed solver."""
    catalog = Catalog.installed()
    solvers = declaring_solvers(catalog)
    declared = [named_row(name, *_declarations(plugin)) for name, plugin in solvers.items()]
    prepared = [
        named_row(name, *(summary(getattr(plugin, hook, None)) for hook in ("configure_builder", "complete_builder")))
        for name, plugin in solvers.items()
    ]
    return "".join(
        [
            *(SOLVERS, *declared),
            *(FEATURES_TABLE, _feature_table(solvers)),
            *(CHANGES_TABLE, _changes_table(solvers)),
            *(ROBOT_FILES, by_solver(), "\n"),
            *(BUILDER, *prepared),
            *(CHECKED, *(_checked_row(name, row) for name, row in checked_solvers().items())),
        ]
    )


def checked_solvers() -> dict[str, Any]:
    """Return what `docs/check_solvers.py` has written of each solver."""
    return json.loads(Path(__file__).with_name("checked_solvers.json").read_text(encoding="utf-8"))


def _checked_row(name: str, row: Mapping[str, Any]) -> str:
    engine = {each: text for each, text in row.get("engine", {}).items() if each not in row["versions"]}
    versions = ", ".join(f"{each} {text}" for each, text in {**engine, **row["versions"]}.items())
    counts = (str(row["outcomes"].get(outcome, 0)) for outcome in ("passed", "expected failure"))
    return named_row(name, *counts, ", ".join(row["failed"]) or "none", versions, row["day"])


def _changes_table(solvers: Mapping[str, Any]) -> str:
    """Return the table of the model changes that each solver declares as supported."""
    lines = [row_of_solvers("flag", (f"`{name}`" for name in solvers)), "|---" * (len(solvers) + 1) + "|\n"]
    for flag, meaning in MODEL_CHANGES.items():
        marks = ("●" if flag in _followed(plugin) else "" for plugin in solvers.values())
        lines.append(row_of_solvers(f"`{flag}`: {meaning}", marks))
    return "".join(lines)


def _followed(plugin: Any) -> Collection[str]:
    return Declaration.of(plugin, "solver").live_changes or ()


def _feature_table(solvers: Mapping[str, Any]) -> str:
    """Return the table of the features that each solver declares, with the options that switch some of them on."""
    lines = ["| feature | " + " | ".join(f"`{name}`" for name in solvers) + " |\n", "|---" * (len(solvers) + 1) + "|\n"]
    for is_structural in (True, False):
        chosen = {name: feature for name, feature in FEATURES.items() if feature.is_structural is is_structural}
        for name, feature in chosen.items():
            marks = [_mark(solver, plugin, name) for solver, plugin in solvers.items()]
            lines.append(f"| `{name}`: {feature.meaning} | " + " | ".join(marks) + " |\n")
        if is_structural:
            lines.append("| **parameters** |" + " |" * len(solvers) + "\n")
    return "".join(lines)


_SUPPORTED_IN_ANOTHER_WAY = {
    ("mujoco", "contact_stiffness"): "● [per kilogram](physics-checks.md#mujoco)",
    ("mujoco-native", "contact_stiffness"): "● [per kilogram](physics-checks.md#mujoco-native)",
}
"""What a cell says of a feature that a solver supports, but not in the unit of Newton's model."""


def _mark(name: str, plugin: Any, feature: str) -> str:
    declared = Declaration.of(plugin, "solver")
    option = declared.optional_features.get(feature)
    level = (declared.supported_features or {}).get(feature)
    if level is None:
        return f"`{option}`" if option else ""
    return _SUPPORTED_IN_ANOTHER_WAY.get((name, feature), "●") if level == "live" else "*build*"


def _declarations(plugin: Any) -> Iterator[str]:
    declared = Declaration.of(plugin, "solver")
    yield f"`{declared.coordinates}`"
    yield _contacts(getattr(plugin, "initialize_contacts", None))
    default = RuntimeAttributes(object(), "default").is_capturable
    is_capturable = inspect.getattr_static(plugin, "is_capturable", default)
    if isinstance(is_capturable, property):
        condition = summary(is_capturable)
        yield condition[:1].lower() + condition[1:]
    else:
        yield "always" if is_capturable else "never"
    yield ", ".join(f"`{kind}`" for kind in sorted(declared.deterministic_on))
    yield ", ".join(f"`{kind}`" for kind in sorted(declared.supported_observables or ()))


def _contacts(hook: Any) -> str:
    """Return the source of contacts, from the return type of the hook; None leaves them to the host."""
    if hook is None:
        return "Newton's"
    returned = inspect.signature(hook).return_annotation
    return "its own, or Newton's" if "None" in returned else "its own"
