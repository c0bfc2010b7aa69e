"""Newton's Steel solver for Pippin."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs.validators import ge
from pippin.solving import inherited, number
from pippin.validators import finite, fraction, non_negative, positive

__all__ = ["SteelConfig"]


@attrs.frozen(kw_only=True)
class SteelConfig:
    """Reduced coordinates: mass matrix by composite rigid bodies, contacts and limits by projected Gauss-Seidel."""

    implementation = ".solver:SolverSteel"

    solve_mode: Literal["serial", "colored"] = "serial"
    """Order of the sweep: row by row, or contacts in parallel colours (needs the propagation response)."""

    iterations: int = number(12, ge(0))
    """Sweeps over all rows per substep."""

    baumgarte: float = number(0.2, non_negative)
    """Fraction of the position error of contacts and limits that is removed per substep."""

    cfm: float = number(1e-6, non_negative)
    """Value added to the diagonal of every row, so that redundant rows can be solved."""

    relaxation: float = number(1.0, positive)
    """Over-relaxation factor of the sweep."""

    update_mass_matrix_interval: int = number(1, ge(1))
    """Substeps between two factorisations of the mass matrix; only 1 can be captured."""

    enable_joint_limits: bool = False
    """Whether joint position limits act; otherwise joints pass their limits."""

    joint_limit_activation_gap: float | None = inherited(non_negative)
    """Distance from a limit at which the limit takes a row [m, rad]; by default finite limits always take a row."""

    enable_joint_velocity_limits: bool = False
    """Whether joint velocity limits act."""

    velocity_limit_activation_fraction: float = number(0.0, fraction)
    """Fraction of a velocity limit from which the limit takes rows; with 0 it always takes rows."""

    enable_joint_friction: bool = False
    """Whether dry joint friction acts (CUDA)."""

    articulation_constraint_max: int = number(32, ge(1))
    """Rows of articulated bodies per world, three per contact and one per limit; further rows are dropped."""

    free_body_constraint_max: int = number(512, ge(1))
    """Rows of free bodies per world; further rows are dropped."""

    propagation_constraint_max: int | None = inherited(ge(1))
    """Rows of the propagation response per world; by default the sum of the other two capacities."""

    warn_constraint_overflow: bool = True
    """Whether the device prints a line when a world first drops rows."""

    row_watermark: bool = False
    """Whether the largest row counts are kept, for `solver.constraint_row_watermarks()`."""

    drive_mode: Literal["augmented", "rows"] = "augmented"
    """Joint drives as implicit terms of the mass matrix, or as rows whose total effort the effort limit bounds."""

    fuse_joint_velocity_limits: bool = True
    """Whether the velocity of driven joints is clamped, in place of two rows, if drives are rows."""

    enable_bilateral_preelimination: bool = False
    """Whether loop closures and mimic joints are eliminated before the sweep."""

    bilateral_preelimination_include_mimics: bool = True
    """Whether `enable_bilateral_preelimination` includes mimic joints."""

    parallel_tree: bool = False
    """Whether branches of a tree are traversed in parallel (CUDA)."""

    reuse_kinematics: bool = False
    """Whether a substep starts from the kinematics of the last substep (CUDA)."""

    use_parallel_streams: bool = False
    """Whether articulations of different sizes run on separate streams (CUDA)."""

    double_buffer: bool = False
    """Whether matrices are cleared on another stream while the next substep runs (CUDA)."""

    friction_anchor_beta: float | None = inherited(non_negative)
    """Fraction of a patch's tangential displacement that friction removes per substep (0.2); 0 is point friction."""

    contact_regularization: float = number(0.0, non_negative)
    """Compliance of penetrating contacts, relative to a rigid contact's impulse; 0 is rigid."""

    velocity_iterations: int = number(0, ge(0))
    """Sweeps that refine velocities after the positions are solved."""

    velocity_drive_mode: Literal["freeze", "active"] = "freeze"
    """Drives that are rows in the velocity sweeps: they keep their impulse, or stay active."""

    row_schedule: Literal["interleaved", "contact_then_internal", "phased"] = "interleaved"
    """Order of contact rows and joint rows."""

    friction_mode: Literal["fixed_normal", "bisection", "bisection_desaxce", "coulomb_newton"] = "fixed_normal"
    """Method for the friction cone; all except fixed_normal need CUDA."""

    contact_warmstart: bool = False
    """Whether contacts start from their last impulse; needs a collision pipeline that matches contacts."""

    contact_warmstart_decay: float = number(1.0, non_negative)
    """Factor on the impulses from which contacts start."""

    enable_restitution: bool = True
    """Whether the shapes' coefficient of restitution is applied."""

    restitution_velocity_threshold: float = number(0.5, non_negative)
    """Closing speed from which contacts rebound [m/s]."""

    contact_speculative_scale: float = number(1.0, non_negative)
    """Fraction of an open gap that may close within a substep."""

    contact_gap_gate: float | None = inherited(non_negative)
    """Gap beyond which a detected contact takes no rows [m]; by default every contact takes rows."""

    contact_friction_scale: float = number(1.0, non_negative)
    """Factor on every shape's coefficient of friction."""

    contact_friction_position_iterations: int = number(-1, ge(-1))
    """Number of the last sweeps that solve friction; -1 means all sweeps."""

    contact_friction_gap_max: float | None = inherited(finite)
    """Gap beyond which a contact has no friction [m]; by default every contact has friction."""

    contact_shared_anchor: bool = False
    """Whether a contact acts at the midpoint between its two points."""

    contact_friction_shared_anchor: bool = False
    """Whether the friction of a contact acts at the midpoint between its two points."""

    contact_torsion_device: bool = False
    """Whether torsional friction is prepared on the device; preparation on the host cannot be captured."""

    contact_compliance: bool = False
    """Whether contacts with their own stiffness are springs (CUDA)."""

    enable_sleeping: bool = False
    """Whether islands at rest fall asleep."""

    sleep_linear_threshold: float = number(0.05, positive)
    """Speed below which a body counts as at rest [m/s]."""

    sleep_angular_threshold: float = number(0.15, positive)
    """Angular speed below which a body counts as at rest [rad/s]."""

    sleep_quiet_time: float = number(0.5, positive)
    """Time at rest after which an island falls asleep [s]."""

    sleep_skip_constraints: bool = True
    """Whether sleeping islands take no rows; their contact forces then read zero."""

    articulated_contact_response: Literal["immediate", "propagation"] = "immediate"
    """Contacts of articulations as dense rows, or as rows of bodies whose impulses propagate through the tree."""

    propagation_same_articulation_rows: bool = False
    """Whether impulses of contacts between links of one articulation propagate through the tree, too."""

    propagation_cached_response: bool = True
    """Whether responses of the tree are cached for a substep."""

    propagation_cached_response_body_max: int = number(8, ge(1))
    """Bodies in contact per world whose responses are cached."""

    propagation_color_order: Literal["contact", "longest_first"] = "contact"
    """Order in which contacts are coloured."""

    deterministic: bool | None = None
    """Whether every run on one GPU gives the same bits (no); on the CPU it does. `simulation.determinism` sets it."""
