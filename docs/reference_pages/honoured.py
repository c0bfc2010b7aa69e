"""Page *Honoured or refused*: what each solver does with a change of a running simulation."""

from __future__ import annotations

from pippin.catalog.entries import Catalog
from pippin.support.declaration import Declaration
from pippin_conformance.runtime_changes import RUNTIME_CHANGES, RuntimeChange, cell_of

from .rows import declaring_solvers, named_row, row_of_solvers

HONOURED = """\
# Honoured or refused

<!-- Written by docs/write_reference.py from the table of asks and the plugins' declarations. Change those, then run it.
-->

Nothing that you ask a running simulation for is ignored. Each call of this table **acts**, in the worlds that you
choose and nowhere else, or it is **refused**, with an error that names the solver and a cure. The table is made of the
solvers' declarations, and [the conformance kit](conformance.md) measures every cell. It does the same for a solver of
your own.

- **acts¹**: the solver gives the feature to a joint only while it is built. The call is refused at a joint that had
  none then. `settable_joints = true` in [`[scene]`](configuration.md) prepares every hinge, slider and joint of several
  axes.
- **refused²**: the call acts with this option of the solver.
- **refused³**: the solver does not move such bodies at all, and refuses the scene.

If you accept that a call or a part of the scene has no effect, because one program runs with several solvers, write the
name of the feature into `simulation.accept_unsupported`. `simulation.ignored_features` and a note then say what the
solver ignores of the scene. Damping, friction and velocity limits of joints that a robot file merely states are noted
in the same way, without your consent. If a key of the configuration or a model made in Python asks for them, they are
refused.

`set_dof_max_velocities` acts with every solver on joints that an actuator group with a [velocity
limit](../how-to/drive-joints.md#velocity-limits) drives: the host limits these. The table is about the others.

"""

MEASURED = """
## Measurements

Each call is made in the last of three worlds, for a body of its own. The motion is that of the body in 0.1 s.

| call | feature or change | motion in the asked world | in the others |
|---|---|---|---|
"""

ELSEWHERE = """
## Other ways to ask

- The content of a scene is honoured as [the features of each solver](solvers.md#supported-features) say, which the
  checks `feature_*` measure, or refused when the simulation is built.
- Arrays of `sim.model` and gravity by world are honoured as [the model
  changes](solvers.md#model-changes-while-running) say, which the check `model_changes` measures, or refused at the
  call.
- Reports of the solver are honoured as [its observables](solvers.md) say, which the check `observables` measures, or
  refused when the simulation is built.
"""


def page() -> str:
    """Return the table of what each solver honours of all that a user can change in a running simulation."""
    catalog = Catalog.installed()
    solvers = declaring_solvers(catalog)
    declared = {name: Declaration.of(plugin, "solver") for name, plugin in solvers.items()}
    lines = [row_of_solvers("call", (f"`{name}`" for name in solvers)), "|---" * (len(solvers) + 1) + "|\n"]
    lines += [
        row_of_solvers(_call(change), (_verdict_of(change, each) for each in declared.values()))
        for change in RUNTIME_CHANGES.values()
    ]
    return "".join([HONOURED, *lines, MEASURED, *map(_motion, RUNTIME_CHANGES.values()), ELSEWHERE])


def _call(change: RuntimeChange) -> str:
    return f"`{f'{change.name} {change.attribute}'.strip()}`"


def _verdict_of(change: RuntimeChange, declared: Declaration) -> str:
    cell = cell_of(change, declared)
    if cell.is_honoured:
        return "acts¹" if cell.is_fixed else "acts"
    if cell.lacks in change.of_body:
        return "refused³"
    return f"refused² `{cell.option}`" if cell.option else "refused"


def _motion(change: RuntimeChange) -> str:
    needs = ", ".join(f"`{name}`" for name in (change.feature, *change.flags) if name) or "none"
    acting, idle = (f"{least:.3g} to {most:.3g}" for least, most in (change.acting, change.idle))
    return named_row(f"{_call(change)[1:-1]}", needs, f"{change.expectation}: {acting}", idle)
