"""Parts that Newton's conversion to MuJoCo leaves out: frames of joints that close loops, limits of ball joints,
weights of bodies that only slide, and options that MuJoCo Warp does not have.
"""

from __future__ import annotations

import math
from typing import Any, cast

import newton
import numpy as np
import warp as wp
from mujoco import mjtEq
from pippin.arrays import on_host
from pippin.inertias import ROUNDING
from pippin.support.used_features import LIGHT

from .kernels.loops import write_loop_frames


class LoopTies:
    """The frames of joints that close loops, in MuJoCo's constraints.

    MuJoCo computes the second frame of a constraint where all coordinates are zero. So does Newton's conversion, also
    for a joint outside of an articulation, which has a frame on both bodies: a loop that is open at zero would be
    another mechanism.

    Args:
        solver: Newton's solver; MuJoCo's model of one world, and that of all worlds, get the frames.
    """

    def __init__(self, solver: newton.solvers.SolverMuJoCo) -> None:
        own: Any = solver
        self._is_weld: Any = wp.array(
            own.mj_model.eq_type == int(mjtEq.mjEQ_WELD), dtype=wp.bool, device=own.model.device
        )
        self._joint_of_row = _joints_of_rows(own, self._is_weld.numpy())
        if self._joint_of_row is not None:
            self.write(solver)
            own.mj_model.eq_data[:] = own.mjw_model.eq_data.numpy()[0]

    def write(self, solver: newton.solvers.SolverMuJoCo) -> None:
        """Write the frames of the model into the constraints of all worlds; a graph may hold it.

        Args:
            solver: The solver of the constructor; it is not kept, as it may keep this.
        """
        rows, own = self._joint_of_row, cast(Any, solver)
        if rows is None:
            return
        model, mujoco = own.model, own.mjw_model
        inputs = [rows, self._is_weld, model.joint_X_p, model.joint_X_c]
        wp.launch(write_loop_frames, dim=rows.shape, inputs=inputs, outputs=[mujoco.eq_data], device=model.device)


def _joints_of_rows(own: Any, is_weld: np.ndarray) -> Any:
    """Return the joint of each constraint in each world, shape [worlds, constraints], or -1; None without a joint."""
    if own.mjc_eq_to_newton_jnt is None or not own.mjc_eq_to_newton_jnt.size:
        return None
    rows = own.mjc_eq_to_newton_jnt.numpy().copy()
    _add_welds(own, rows, is_weld)
    return wp.array(rows, dtype=int, device=own.model.device) if (rows >= 0).any() else None


def _add_welds(own: Any, rows: np.ndarray, is_weld: np.ndarray) -> None:
    """Fill in the fixed joints, which Newton's own mapping leaves out; their two bodies tell them."""
    model = own.model
    is_loop = (model.joint_articulation.numpy() < 0) & (model.joint_type.numpy() == int(newton.JointType.FIXED))
    bodies = zip(model.joint_parent.numpy()[is_loop], model.joint_child.numpy()[is_loop], strict=True)
    joints = dict(zip(bodies, np.flatnonzero(is_loop), strict=True))
    if not joints:
        return
    is_stated, body_of = own.mjc_eq_to_newton_eq.numpy() >= 0, own.mjc_body_to_newton.numpy()
    pairs = own.mj_model.eq_obj1id, own.mj_model.eq_obj2id
    for world, row in zip(*np.nonzero((rows < 0) & ~is_stated), strict=True):
        if is_weld[row]:
            rows[world, row] = joints.get(tuple(body_of[world, pair[row]] for pair in pairs), -1)


_NAMESPACE, _NAME = "pippin", "is_slider"

_OPTIONS = {"noslip_iterations": "noslip_iterations", "constraint_solver": "solver"}
"""Options that MuJoCo Warp lacks, by the names of the attributes in which `mujoco-native` keeps what a file states."""


def mark_sliders(builder: newton.ModelBuilder, bodies: list[int]) -> None:
    """For the core: note that MuJoCo takes some bodies of an asset for simple ones that only slide."""
    attribute = newton.ModelBuilder.CustomAttribute(
        name=_NAME, namespace=_NAMESPACE, dtype=int, default=0, frequency=newton.Model.AttributeFrequency.BODY
    )
    builder.add_custom_attribute(attribute)
    values: Any = builder.custom_attributes[attribute.key].values
    values.update(dict.fromkeys(bodies, 1))


def thicken_laminae(builder: Any) -> None:
    """Give laminae among the bodies of a builder a thickness: MuJoCo refuses A + B < C by a rounding."""
    rows = np.array(builder.body_inertia, dtype=float).reshape(-1, 3, 3)
    moments = np.linalg.eigvalsh(rows)
    largest = moments[:, 2]
    for body in np.flatnonzero(
        (largest > 0.0) & (np.abs(largest - moments[:, 0] - moments[:, 1]) <= ROUNDING * largest)
    ):
        thick = rows[body] + 2.0 * ROUNDING * largest[body] * np.eye(3)
        builder.body_inertia[body], builder.body_inv_inertia[body] = wp.mat33(thick), wp.mat33(np.linalg.inv(thick))


def slippery_shapes(model: newton.Model, least: float) -> tuple[list[str], list[str]]:
    """Return faults and notes of the shapes with next to no sliding friction, which MuJoCo's pyramids throw away.

    A contact that resists turning is at fault. Contacts of two shapes have the larger friction of both, or that of the
    shape with the higher priority.

    Args:
        model: Newton's model, with MuJoCo's attributes.
        least: Sliding friction that the solver still solves.
    """
    own: Any = getattr(model, "mujoco", None)
    if getattr(own, "condim", None) is None or not model.shape_count:
        return [], []
    friction, priority, dimensions = map(on_host, (model.shape_material_mu, own.geom_priority, own.condim))
    slippery = np.flatnonzero(friction < least)
    names = list(dict.fromkeys(f"{model.shape_label[shape]!r}" for shape in slippery if friction[shape] > 0.0))
    notes = [
        f"{', '.join(names[:3])}{', ...' * (len(names) > 3)}: friction below {least:g} counts as none at a"
        ' pyramidal cone; set cone = "elliptic" for it'
    ]
    for shape in slippery[dimensions[slippery] > _SLIDING]:
        if len(slippery) > 1 or priority[shape] > priority.min():
            fault = (
                f"cone: contacts of condim 4 or 6 need sliding friction, and {model.shape_label[shape]!r} has mu ="
                f' {friction[shape]:g}; set mu = {least:g}, or cone = "elliptic"'
            )
            return [fault], []
    return [], notes if names else []


_SLIDING = 3
"""`condim` of contacts that resist sliding alone."""


def complete_conversion(solver: newton.solvers.SolverMuJoCo) -> tuple[dict[int, float], list[int]]:
    """Write into `solver.mj_model` what Newton's conversion leaves out, and return what that is.

    A limited ball joint gets its largest angle of rotation, the upper limit of the joint's DOFs; from π on, it has no
    effect. A body of an MJCF file that is on the world, and only slides along the axes of its inertia, gets the
    inverse weights of MuJoCo's compiler, by which contacts and limits are softened: 1 / mass [1/kg], without armature.
    Options that MuJoCo Warp lacks have the values that the file states, if the model has kept them.

    Returns:
        The angle of each limited ball joint [rad], and the bodies that only slide, by MuJoCo's indices.
    """
    own: Any = solver
    model, limits = own.mj_model, _ball_limits(own)
    _leave_out_of_medium(own)
    for joint, angle in limits.items():
        model.jnt_limited[joint], model.jnt_range[joint] = 1, (0.0, angle)
    kept = getattr(own.model, _NAMESPACE, None)
    for name, option in _OPTIONS.items():
        if hasattr(kept, name) and (value := int(getattr(kept, name).numpy()[0])) >= 0:
            setattr(model.opt, option, value)
    marks = getattr(kept, _NAME, None)
    if marks is None:
        return limits, []
    is_slider = marks.numpy()
    sliders = [index for index, body in enumerate(own.mjc_body_to_newton.numpy()[0]) if body >= 0 and is_slider[body]]
    for body in sliders:
        weight = 1.0 / model.body_mass[body]
        model.body_invweight0[body] = weight, 0.0
        model.dof_invweight0[model.dof_bodyid == body] = weight
    return limits, sliders


def _leave_out_of_medium(own: Any) -> None:
    """Let no medium act on the links between joints of one body, which stand for nothing in the file.

    MuJoCo leaves out bodies without mass, which its compiler refuses; MuJoCo Warp, those of ellipsoids without a geom.
    """
    model, worlds = own.mj_model, getattr(own, "mjw_model", None)
    names = (model.body(body).name for body in range(model.nbody))
    links = [body for body, name in enumerate(names) if "~" in name and model.body_mass[body] < LIGHT]
    if links and (model.opt.density or model.opt.viscosity):
        model.body_mass[links], model.body_inertia[links] = 0.0, 0.0
        if worlds is not None:
            flags, boxes = worlds.body_fluid_ellipsoid.numpy(), worlds.body_fluid_box_adr.numpy()
            flags[links] = True
            worlds.body_fluid_ellipsoid = wp.array(flags, dtype=wp.bool, device=own.model.device)
            boxes = boxes[~np.isin(boxes, links)]
            worlds.body_fluid_box_adr = wp.array(boxes, dtype=int, device=own.model.device)


def _ball_limits(solver: Any) -> dict[int, float]:
    model, mapping = solver.model, solver.mjc_jnt_to_newton_jnt
    if mapping is None or not mapping.size:
        return {}
    kinds, starts, upper = model.joint_type.numpy(), model.joint_qd_start.numpy(), model.joint_limit_upper.numpy()
    balls = {
        place: joint for place, joint in enumerate(mapping.numpy()[0]) if kinds[joint] == int(newton.JointType.BALL)
    }
    limits = {place: float(upper[starts[joint]]) for place, joint in balls.items()}
    return {place: limit for place, limit in limits.items() if limit < math.pi}
