"""Page *Physics checks*: errors of each solver against formulas."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .rows import inline_toml, named_row

PHYSICS_CHECKS = Path(__file__).parents[2] / "tests" / "physics" / "checks.toml"

PHYSICS = """\
# Physics checks

<!-- Written by docs/write_reference.py from tests/physics/checks.toml. Change that, then run it. -->

[The tests](../../tests/physics) compare each solver of this repository with formulas, on the CPU.
The tables give the tolerances of these tests: about twice the measured error, and more if the error is rounding.
[Solver by solver](#solver-by-solver) explains the sources of the errors; [solvers](solvers.md) lists other differences.

## Rigid bodies

All experiments are in [one scene](../../tests/physics/laboratory.toml): a tumbling top, two pendulums, two spheres,
boxes on plates and a tower of three boxes. The worlds differ only in gravity: vertical, tilted by θ with
tan θ = 0.35, and zero.

- **free fall**: v = g t and z = g t (t + h) / 2 after 0.5 s with substeps of h, relative
- **free top**: angular velocity of a free symmetric top by Euler's equations over 0.5 s, relative
- **small swing**: period of a pendulum from 0.05 rad, relative
- **large swing**: period from 2 rad, by the elliptic integral, relative
- **energy**: largest drift of the large swing's energy over the whole run, relative to the start
- **sticking**: creep speed of a box with μ = 0.6 under tilted gravity [m/s]
- **sliding**: acceleration of a box with μ = 0.2 under tilted gravity, against g (sin θ - μ cos θ), relative
- **momentum**: change of m₁ v₁ + m₂ v₂ through a head-on collision, relative to m₁ |v₁| + m₂ |v₂|
- **restitution**: speed of separation over speed of approach, against 0.5 or the value of the contact's springs
- **stack**: largest distance of a box of the tower from its place at the end [m]; for springs, the formula's
  compression is subtracted
- **rest**: kinetic energy of the tower, 12 kg, at the end [J]

"""

PARTICLES = """
## Cloth and grains

A stretched cloth, a net (`xpbd`) or a block of grains (`implicit-mpm`) flies for 0.2 s. The errors are relative: of
the fall of its centre of mass against the formula, and of its horizontal momentum, which is conserved. The other
solvers do not move particles.

"""

VERDICTS = """
## Solver by solver
"""


def page() -> str:
    """Return the tolerances of the physics checks with their reasons, and the uses of each solver."""
    rows = tomllib.loads(PHYSICS_CHECKS.read_text(encoding="utf-8"))
    verdicts = "".join(_verdict(name, row) for name, row in rows.items())
    return PHYSICS + _tolerances(rows, "checks") + PARTICLES + _tolerances(rows, "particles") + VERDICTS + verdicts


def _tolerances(rows: Mapping[str, Any], kind: str) -> str:
    """Return the table of the tolerances for rigid bodies or particles."""
    cells = {name: row[kind] for name, row in rows.items() if kind in row}
    checks = [check.replace("_", " ") for check in next(iter(cells.values()))]
    head = "| " + " | ".join(["solver", *checks]) + " |\n" + "|---" * (len(checks) + 1) + "|\n"
    return head + "".join(
        named_row(name, *(f"{cell['tolerance']:g}" for cell in row.values())) for name, row in cells.items()
    )


def _verdict(name: str, row: Mapping[str, Any]) -> str:
    """Return the uses of a solver, the options of its run, and the sources of its errors."""
    options = [f"`{key} = {inline_toml(value)}`" for key, value in row.get("options", {}).items()]
    run = f"Run with {', '.join(options)}." if options else "Run with the default options."
    if "checks" in row:
        substeps = row.get("substeps", 1)
        split = f" in {substeps} substeps" if substeps > 1 else ""
        run = f"{run[:-1]}, in steps of {1000 * row['dt']:g} ms{split}, for {row['duration']:g} s."
    cells = dict(row.get("checks", {}))
    cells |= {f"{check} of particles": cell for check, cell in row.get("particles", {}).items()}
    reasons = [f"- {check.replace('_', ' ')}: {cell['why']}\n" for check, cell in cells.items() if "why" in cell]
    return f"\n### `{name}`\n\nGood for {row['good_for']}\n\n{run}\n" + ("\n" + "".join(reasons) if reasons else "")
