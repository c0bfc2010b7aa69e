"""Vertex block descent: a solver for Pippin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import attrs
from attrs.validators import ge, gt, lt
from pippin.solving import inherited, number
from pippin.validators import finite, fraction, non_negative, positive

__all__ = ["VBDConfig"]

_FIXED_STIFFNESS = "leave it out, constraints have the stiffness of the model"


@attrs.frozen(kw_only=True)
class VBDConfig:
    """Implicit Euler, block by block: the blocks are vertices of cloth and soft bodies, rigid bodies and cables."""

    implementation = ".solver:SolverVBD"

    replaced_keys: ClassVar[Mapping[str, str]] = {
        "particle_self_contact_radius": "write particle_self_contact_margin, and particle_self_contact_gap for what"
        " is looked for beyond it",
        "particle_collision_detection_interval": "write particle_collision_frequency_type and, for `iterations`,"
        " particle_collision_frequency",
        "particle_conservative_bound_relaxation": "write dat_conservative_bound_relaxation",
        "rigid_avbd_beta": _FIXED_STIFFNESS,
        "rigid_avbd_linear_beta": _FIXED_STIFFNESS,
        "rigid_avbd_angular_beta": _FIXED_STIFFNESS,
        "rigid_compliant_alm": "leave it out, it is always on",
        "rigid_contact_hard": "set ke of the shapes",
        "rigid_contact_k_start": "set ke of the shapes",
        "rigid_joint_linear_k_start": "write rigid_joint_linear_ke",
        "rigid_joint_angular_k_start": "write rigid_joint_angular_ke",
    }

    iterations: int | None = inherited(ge(1))
    """Sweeps over all blocks per substep (10)."""

    friction_epsilon: float = number(1e-2, positive)
    """Sliding speed below which friction is smoothed [m/s]."""

    dat_conservative_bound_relaxation: float = number(0.85, finite, gt(0.0), lt(1.0))
    """Fraction of the distance between surfaces that a vertex may move before contacts are detected again."""

    integrate_with_external_rigid_solver: bool = False
    """Whether another solver moves the rigid bodies."""

    particle_enable_self_contact: bool = False
    """Whether cloth and soft bodies collide with themselves and with each other."""

    particle_self_contact_margin: float | None = inherited(positive)
    """Distance below which surfaces of cloth and soft bodies repel each other [m] (0.2); set the gap, too."""

    particle_self_contact_gap: float | None = inherited(non_negative)
    """Distance beyond the margin in which contacts are detected [m] (0); between half the margin and the margin."""

    particle_vertex_contact_buffer_size: int = number(32, ge(1))
    """Triangles near a vertex; further triangles are ignored."""

    particle_edge_contact_buffer_size: int = number(64, ge(1))
    """Edges near an edge; further edges are ignored."""

    particle_edge_parallel_epsilon: float = number(1e-5, non_negative)
    """Tolerance at which two edges count as parallel."""

    particle_enable_tile_solve: bool = True
    """Whether vertices are solved in tiles (CUDA)."""

    particle_topological_contact_filter_threshold: int = number(2, ge(0))
    """Rings of neighbours with which a vertex or edge does not collide."""

    particle_rest_shape_contact_exclusion_radius: float = number(0.0, non_negative)
    """Distance in the rest shape below which neighbours do not collide [m]."""

    particle_rebuild_bvh: bool = False
    """Whether the search tree of self-contacts is rebuilt before each substep, for strongly deformed cloth."""

    rigid_avbd_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that joints and contacts keep (0)."""

    rigid_avbd_joint_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that joints keep; by default rigid_avbd_alpha."""

    rigid_avbd_contact_alpha: float | None = inherited(fraction)
    """Fraction of the initial violation that contacts keep; by default rigid_avbd_alpha."""

    rigid_avbd_gamma: float = number(0.999, fraction)
    """Fraction of the multipliers that is kept from substep to substep."""

    rigid_contact_history: bool | None = None
    """Whether matched contacts keep their multipliers (no); needs a collision pipeline that matches contacts."""

    rigid_body_contact_buffer_size: int = number(64, ge(1))
    """Contacts with bodies per body; further contacts are ignored."""

    rigid_body_particle_contact_buffer_size: int = number(256, ge(1))
    """Contacts with particles per body; with more contacts, a slower search through all contacts is used."""

    rigid_soft_contact_use_log_barrier: bool = False
    """Whether a logarithmic barrier, in place of a spring, pushes particles away from shapes."""

    rigid_joint_linear_ke: float | None = inherited(non_negative)
    """Stiffness that holds joints together [N/m] (1e5)."""

    rigid_joint_angular_ke: float | None = inherited(non_negative)
    """Stiffness that holds joints together [N·m/rad] (1e5)."""

    rigid_joint_linear_kd: float | None = inherited(non_negative)
    """Damping that holds joints together [N·s/m] (0)."""

    rigid_joint_angular_kd: float | None = inherited(non_negative)
    """Damping that holds joints together [N·m·s/rad] (0)."""

    tendon_max_sweeps: int = number(256, ge(1))
    """Largest number of sweeps over a tendon's segments."""

    tendon_settle_tol: float = number(1e-3, non_negative)
    """Change at which the sweeps over a tendon stop."""

    tendon_activation_tol: float = number(2e-3, non_negative)
    """Tolerance at which a tendon's guide becomes active."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""

    enable_fast_math: bool = True
    """Whether division and square roots are approximate (CUDA)."""

    particle_collision_frequency: int = number(1, ge(1))
    """Iterations between two detections of self-contacts, if the frequency type is `iterations`."""

    particle_collision_frequency_type: Literal["auto", "pre_init", "pre_post_init", "iterations"] = "auto"
    """Time of detection of self-contacts: before a substep's prediction, also after it (auto), or during iterations."""

    owns_collision_pipeline: bool = False
    """Whether the solver runs its own collision pipeline within a substep, configured by `[collision]`."""

    rigid_collision_frequency: int = number(1, ge(1))
    """Iterations between two detections of the solver's own pipeline, if the frequency type is `iterations`."""

    rigid_collision_frequency_type: Literal["auto", "pre_init", "pre_post_init", "iterations"] = "auto"
    """Time of these detections: before the prediction (auto), also after it (auto with DAT), or during iterations."""

    rigid_soft_enable_dat: bool = False
    """Whether divide and truncate (DAT) keeps rigid and soft bodies from crossing; needs `owns_collision_pipeline`."""

    rigid_soft_dat_use_interval_arithmetic: bool = False
    """Whether DAT certifies complete trajectories, not only samples of them."""
