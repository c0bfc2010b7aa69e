"""MuJoCo Warp: a solver for Pippin."""

from __future__ import annotations

import warnings
from typing import Any

import attrs
import mujoco_warp  # noqa: F401  which Newton imports in the constructor of the solver
import newton
import numpy as np
import pippin
from pippin.devices import kind_of
from pippin.solving import RIGID_TREES, Capacity, ContactSource, slippery_shapes

from . import MuJoCoConfig
from .limits import LimitedMuJoCo, flag_of_late_damping, hard_ties, softened_ties
from .margins import one_warning
from .sizing import enlarged, own_contacts_hint
from .slippery import LEAST_FRICTION

__all__ = ["SolverMuJoCo"]


class SolverMuJoCo:
    """Newton's `SolverMuJoCo`, with MuJoCo's own contacts unless the configuration asks for Newton's."""

    coordinates = "reduced"
    supported_features = RIGID_TREES | {
        "armature": "live",
        "asset_actuators": "live",
        "ball_drives": "live",
        "ball_limits": "live",
        "ball_stiffness": "live",
        "contact_stiffness": "live",
        "different_meshes": "build",
        "effort_limits": "live",
        "equality_constraints": "live",
        "free_damping": "live",
        "free_joint_forces": "live",
        "gravity_compensation": "live",
        "inactive_equalities": "live",
        "joint_damping": "live",
        "joint_friction": "live",
        "joint_stiffness": "live",
        "kinematic_bodies": "live",
        "light_links": "live",
        "limit_stiffness": "live",
        "loop_joints": "live",
        "massless_bodies": "live",
        "mimic_constraints": "live",
        "mimic_joints": "live",
        "mujoco_tendons": "live",
        "rolling_friction": "live",
        "torsional_friction": "live",
    }
    features_fixed_at_build = frozenset({"joint_drives", "joint_limits"})
    supported_observables = frozenset(
        {
            "body_parent_f",
            "contact_f",
            "overflow",
            "qfrc_actuator",
            "qfrc_bias",
            "qfrc_constraint",
            "qfrc_frictionloss",
        }
    )

    def __init__(self, config: MuJoCoConfig) -> None:
        if config.use_speculative_contacts and config.use_mujoco_contacts:
            raise pippin.ConfigError(
                "use_speculative_contacts: True, but 'use_mujoco_contacts' is too; set use_mujoco_contacts = false"
            )
        self.config = config
        self.notes: list[str] = []
        if not config.use_mujoco_contacts:
            damps = {"friction_damping": "live"} if config.cone == "elliptic" else {}
            self.supported_features = type(self).supported_features | {"body_variants": "live"} | damps

    @property
    def detects_contacts(self) -> bool:
        """Whether MuJoCo detects contacts itself."""
        return self.config.use_mujoco_contacts

    @pippin.hookimpl
    def configure_builder(self, builder: newton.ModelBuilder) -> None:
        """Register MuJoCo's attributes, which importers fill from the assets, and set the gap of its own contacts."""
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        if self.config.use_mujoco_contacts:
            builder.rigid_gap = 0.0  # with Newton's 0.1 m, MuJoCo's convex collision finds wrong depths and normals

    @pippin.hookimpl
    def check_model(self, model: newton.Model) -> list[str]:
        """Return a fault if shapes that resist turning have no sliding friction: pyramids give NaN for them."""
        cone: Any = getattr(getattr(model, "mujoco", None), "cone", None)
        is_elliptic = self.config.cone == "elliptic" or (
            self.config.cone is None and cone is not None and bool(cone.numpy()[0])
        )
        faults, self.notes = ([], []) if is_elliptic else slippery_shapes(model, LEAST_FRICTION)
        return faults

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> newton.solvers.SolverMuJoCo:
        """Return the solver with all options of the configuration, and buffers with room for a fall."""
        config = self.config
        if kind_of(model.device) == "cpu" and config.enable_sleeping is None:
            config = attrs.evolve(config, enable_sleeping=False)  # a file may ask for it, and only CUDA has it
        with one_warning():
            solver = LimitedMuJoCo(model, dt, **attrs.asdict(config))
        larger = enlarged(solver, self.config, dt)
        if larger:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the first conversion has warned
                solver = LimitedMuJoCo(model, dt, **attrs.asdict(attrs.evolve(config, **larger)))
        # The host counts overflows and reached limits itself; MuJoCo Warp would print two lines for each, in each step.
        solver.mjw_model.opt.warn_overflow = 0
        self._solver = solver
        self.notes += dict.fromkeys([*softened_ties(solver.mj_model), *hard_ties(solver.mj_model)])
        if flag := flag_of_late_damping(solver.mj_model):
            self.notes.append(
                f'option: flag {flag}="disable" lets MuJoCo Warp take damping at the start of a step, where MuJoCo'
                " takes it at the end; remove the flag and what it switches off, or set solver.integrator to euler"
            )
        return solver

    @pippin.hookimpl
    def initialize_contacts(self, model: newton.Model, solver: newton.solvers.SolverMuJoCo) -> ContactSource | None:
        """Return the buffer to which MuJoCo exports its contacts; None if Newton's pipeline detects contacts."""
        if not self.config.use_mujoco_contacts:
            return None
        contacts = newton.Contacts(solver.get_max_contact_count(), 0, device=model.device)
        return ContactSource(contacts=contacts, filled_with="contact_f")

    def capacities(self) -> tuple[Capacity, ...]:
        """Return MuJoCo's buffers, which report overflow by bits, and most of them by counts."""
        data, bits = self._solver.mjw_data, self._overflow_bits
        hint = own_contacts_hint(self._solver.mj_model, self._solver.mj_data)
        shared = {"field": "solver.nconmax", "allocated": data.naconmax, "shared_by": data.nworld, "hint": hint}
        return (
            Capacity(
                field="solver.njmax",
                holds="constraint rows of a world",
                allocated=data.njmax,
                is_per_world=True,
                count=data.nefc,
                hint=hint,
                overflow_bits=bits.NEFC,
            ),
            Capacity(
                field="solver.njmax_nnz",
                holds="nonzeros of a world's constraint Jacobian",
                allocated=data.njmax_nnz,
                is_per_world=True,
                count_on_host=self._nonzeros if self._solver.mjw_model.is_sparse else None,
                overflow_bits=bits.NJMAX_NNZ,
            ),
            Capacity(
                holds="contacts of all worlds",
                count=data.nacon,
                overflow_bits=bits.NARROWPHASE | self._solver.OverflowBits.SOLVER_NCONMAX,
                **shared,
            ),
            Capacity(
                holds="pairs of shapes of all worlds that may touch",
                count=data.ncollision,
                overflow_bits=bits.BROADPHASE,
                **shared,
            ),
        )

    def _nonzeros(self) -> int:
        """Return the most nonzeros of the constraint Jacobian in a world."""
        data = self._solver.mjw_data
        rows = np.arange(data.njmax) < data.nefc.numpy()[:, None]
        return int((data.efc.J_rownnz.numpy()[:, : data.njmax] * rows).sum(axis=1).max(initial=0))

    @property
    def harmless_overflow_bits(self) -> int:
        """Bits for reached iteration limits, and for the pipeline's buffer, which the host monitors itself."""
        bits = self._overflow_bits
        return int(bits.ITERATIONS | bits.LS_ITERATIONS) | self._solver.OverflowBits.CONTACT_PIPELINE

    @property
    def _overflow_bits(self) -> Any:
        """MuJoCo Warp's names of the overflow bits."""
        return self._solver.import_mujoco()[1].OverflowType
