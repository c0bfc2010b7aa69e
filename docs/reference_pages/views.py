"""Page *Views*: quantities that views get and set."""

from __future__ import annotations

from pippin.views.quantities import ARTICULATION, CABLE, PARTICLES, RIGID_BODY, ViewQuantity
from pippin.views.rules import RULES

VIEWS = """\
# Views

<!-- Written by docs/write_reference.py from the tables of quantities. Change those, then run it. -->

`simulation.view.articulations(pattern)` and `rigid_bodies(pattern)` return views, and so do `surfaces`, `volumes`,
`particles` and `cables`. A view has a method `get_NAME` for each row of its table, and a method `set_NAME` if the last
column is not empty.
[Views](../how-to/views.md) shows how to use them, and explains `contacts(sensors, filters)`.

- **shape**: N rows; D DOFs, C coordinates, L links (of a cable: segments) and P particles of the row with the most; G
  generalized DOFs: the six of a free root, if any row has one, then the D others. Shorter rows are padded with 0.
- **array**: the array that holds the numbers, in the state, the inputs (`control`) or the `model`, or among the
  [observables](glossary.md#observable) of the solver; request an observable with `simulation.observables`.
- **values**: what can be set. Any other value is an error that names it, and is not written.
- **when it is set**: `●` means that setting has no other effect. Flags of `newton.ModelFlags` are sent to the solver
  once, before the next step; a solver that does not support them
  [refuses the change](solvers.md#model-changes-while-running). "bodies" are computed from joints once, before the next
  step or read, for the changed articulations; "joints" are computed from bodies likewise. After "particles", the solver
  forgets what it remembers of the worlds.

Numbers are float32. Poses and velocities are in the world frame; all worlds have the same origin.
"""

CONTACTS = """
## Contacts

`contacts(sensors, filters, max_contact_data=K)` reads the observable `contact_f` for S sensors, which are bodies, with
up to F filters each. K rows hold single contacts. [Read contact forces](../how-to/contact-forces.md) has examples.
Forces act on the sensor, in the last substep. With an argument `dt`, they are multiplied by the length of a physics
step and divided by `dt`.

| method | field | meaning | unit | shape |
|---|---|---|---|---|
| `net_forces` |  | sum of all forces on the sensor, in the world | N | (S, 3) |
| `force_matrix` |  | force of each filter on the sensor, in the world | N | (S, F, 3) |
| `contact_data` | `forces` | normal force; positive pushes the sensor away | N | (K) |
| `contact_data` | `points` | midpoint between the surfaces, in the world | m | (K, 3) |
| `contact_data` | `normals` | unit vector towards the sensor, in the world | 1 | (K, 3) |
| `contact_data` | `separations` | distance of the surfaces, negative if they penetrate | m | (K) |
| `contact_data` | `counts` | number of contacts of each pair, including those without a row | 1 | (S, F) |
| `contact_data` | `starts` | first row of each pair | 1 | (S, F) |
| `contact_data` | `overflow` | number of rows needed, if there were too few, else 0 | 1 | (1) |
| `raw_contact_data` | `forces` | as above, of all contacts | N | (K) |
| `raw_contact_data` | `points` | as above | m | (K, 3) |
| `raw_contact_data` | `normals` | as above | 1 | (K, 3) |
| `raw_contact_data` | `separations` | as above | m | (K) |
| `raw_contact_data` | `counts` | number of contacts of each sensor | 1 | (S) |
| `raw_contact_data` | `starts` | first row of each sensor | 1 | (S) |
| `raw_contact_data` | `overflow` | as above | 1 | (1) |
| `raw_contact_data` | `other_bodies` | body that exerts the force, -1 if it is static | 1 | (K) |
| `raw_contact_data` | `other_shapes` | shape that exerts the force, -1 in unused rows | 1 | (K) |
| `friction_data` | `forces` | tangential force on the sensor, in the world | N | (K, 3) |
| `friction_data` | `points` | as above | m | (K, 3) |
| `friction_data` | `counts` | number of contacts of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `starts` | first row of each pair; without filters, of each sensor | 1 | (S, F) |
| `friction_data` | `overflow` | as above | 1 | (1) |
"""


_FOLLOWS = {"joints": "bodies", "bodies": "joints", "particles": "particles", None: ""}
"""What follows from what is written."""


def page() -> str:
    """Return the tables of quantities of the views."""
    tables = {"Articulations": ARTICULATION, "Rigid bodies": RIGID_BODY}
    tables |= {"Surfaces, volumes and particles": PARTICLES, "Cables": CABLE}
    quantities = "".join(
        f"\n## {title}\n\n| name | unit | shape | array | frame | values | when it is set |\n"
        + "|---|---|---|---|---|---|---|\n"
        + "".join(_quantity(quantity) for quantity in table.values())
        for title, table in tables.items()
    )
    return VIEWS + quantities + CONTACTS


def _quantity(quantity: ViewQuantity) -> str:
    columns = {"dof": "D", "coordinate": "C", "link": "L", "generalized": "G", "particle": "P"}.get(quantity.element)
    shape = ["N", *([columns] if columns else []), *([str(quantity.components)] if quantity.components > 1 else [])]
    if quantity.source == "computed" and quantity.name in ("jacobians", "mass_matrices"):
        shape.append("G")
    where = {"observable": "observables", "computed": ""}.get(quantity.source, quantity.source)
    arrays = ", ".join(f"`{where}.{array}`" for array in quantity.arrays) or "computed"
    follows = [f"`{flag}`" for flag in quantity.flags] + [_FOLLOWS[quantity.invalidates]] * bool(quantity.invalidates)
    effect = (", ".join(follows) or "●") if quantity.is_settable else ""
    values = RULES[quantity.valid].expected if quantity.is_settable else ""
    texts = [quantity.unit, f"({', '.join(shape)})", arrays, quantity.frame, values, effect]
    return f"| `{quantity.name}`: {quantity.meaning} | " + " | ".join(texts) + " |\n"
