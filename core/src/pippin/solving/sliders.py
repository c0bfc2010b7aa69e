"""Bodies that only slide: MuJoCo's compiler weighs them by their mass alone, and Newton's conversion does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import newton

_NAMESPACE, _NAME = "pippin", "is_slider"


def mark_sliders(builder: newton.ModelBuilder, bodies: list[int]) -> None:
    """For the core: note that MuJoCo takes some bodies of an asset for simple ones that only slide."""
    import newton

    attribute = newton.ModelBuilder.CustomAttribute(
        name=_NAME, namespace=_NAMESPACE, dtype=int, default=0, frequency=newton.Model.AttributeFrequency.BODY
    )
    builder.add_custom_attribute(attribute)
    values: Any = builder.custom_attributes[attribute.key].values
    values.update(dict.fromkeys(bodies, 1))


def weigh_sliders(solver: newton.solvers.SolverMuJoCo) -> list[int]:
    """Write the inverse weights that MuJoCo gives bodies that only slide into `solver.mj_model`, and return the bodies.

    MuJoCo softens contacts and limits by inverse weights. For a body on the world whose joints are all slides along the
    axes of its inertia, its compiler takes 1 / mass [1/kg], without armature, and for the other directions as well.

    Args:
        solver: Newton's solver with a model of MJCF files.
    """
    own: Any = solver
    marks = getattr(getattr(own.model, _NAMESPACE, None), _NAME, None)
    if marks is None:
        return []
    model, is_slider = own.mj_model, marks.numpy()
    found = [index for index, body in enumerate(own.mjc_body_to_newton.numpy()[0]) if body >= 0 and is_slider[body]]
    for body in found:
        weight = 1.0 / model.body_mass[body]
        model.body_invweight0[body] = weight, 0.0
        model.dof_invweight0[model.dof_bodyid == body] = weight
    return found
