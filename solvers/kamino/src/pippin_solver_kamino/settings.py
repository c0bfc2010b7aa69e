"""The settings of Kamino, nested as Newton nests them.

What is None is for the asset to say, else for Newton, or it is not bounded. What the asset, or the choice of the
dynamics solver, has a say in is None here for that reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
from attrs.validators import ge, gt, le, lt, optional
from pippin.solving import inherited, number
from pippin.validators import finite, fraction, non_negative, positive

__all__ = [
    "APGDConfig",
    "CollisionDetectorConfig",
    "ConstraintsConfig",
    "DVIConfig",
    "DynamicsConfig",
    "ForwardKinematicsConfig",
    "KaminoConfig",
    "LOXConfig",
    "MaterialsConfig",
    "PADMMConfig",
]

MixMode = Literal["average", "multiply", "max", "min", "geometric_average"]
WarmstartMode = Literal["none", "internal", "containers"]
ContactWarmstart = Literal[
    "key_and_position",
    "geom_pair_net_force",
    "key_and_position_with_net_force_backup",
    "key_and_position_with_tangential_net_force",
    "key_and_position_with_net_force_backup_and_tangential_net_force",
]


@attrs.frozen(kw_only=True)
class CollisionDetectorConfig:
    """Kamino's own collision detector, where it is used."""

    pipeline: Literal["primitive", "unified"] = "unified"
    """Pairs of primitives only, or every shape."""

    broadphase: Literal["nxn", "sap", "explicit"] = "explicit"
    """How candidate pairs are found."""

    bvtype: Literal["aabb", "bs"] = "aabb"
    """Bounding volumes: boxes or spheres."""

    max_contacts: int | None = inherited(ge(0))
    """Largest number of contacts of all worlds; by default as estimated from the shapes."""

    max_contacts_per_world: int | None = inherited(ge(0))
    """Contacts of each world, in place of that estimate."""

    max_contacts_per_pair: int | None = inherited(ge(0))
    """Contacts of a pair of shapes (12)."""

    max_triangle_pairs: int | None = inherited(ge(0))
    """Pairs with a triangle that are looked at (1 000 000)."""

    default_gap: float | None = inherited(non_negative)
    """Least distance at which a shape's contacts are detected [m] (1e-5)."""


@attrs.frozen(kw_only=True)
class ConstraintsConfig:
    """How violated constraints recover. A recovery time takes the place of the fraction before it."""

    alpha: float | None = inherited(fraction)
    """Part of a joint's violation that is removed per substep (0.01)."""

    beta: float | None = inherited(fraction)
    """Part of a joint limit's violation that is removed per substep (0.01)."""

    gamma: float | None = inherited(fraction)
    """Part of a penetration that is removed per substep (0.01)."""

    delta: float = number(1e-6, non_negative)
    """Penetration that is left alone [m]."""

    joint_recovery_time: float | None = inherited(non_negative)
    """Time in which a joint's violation recovers [s]."""

    joint_recovery_speed: float | None = inherited(non_negative)
    """Largest speed at which it does [m/s, rad/s]; by default not bounded."""

    limit_recovery_time: float | None = inherited(non_negative)
    """Time in which a joint limit's violation recovers [s]."""

    limit_recovery_speed: float | None = inherited(non_negative)
    """Largest speed at which it does [m/s, rad/s]; by default not bounded."""

    contact_recovery_time: float | None = inherited(non_negative)
    """Time in which a penetration recovers [s]."""

    contact_recovery_speed: float | None = inherited(non_negative)
    """Largest speed at which it does [m/s]; by default not bounded."""

    contact_compliance: bool = False
    """Whether contacts are springs with the stiffness and damping of the shapes."""

    limit_compliance: bool = False
    """Whether joint limits are springs with the joint's limit stiffness and damping."""


@attrs.frozen(kw_only=True)
class DynamicsConfig:
    """The problem that PADMM and DVI solve."""

    preconditioning: bool | None = None
    """Whether it is preconditioned (yes; no for DVI, which refuses it)."""

    linear_solver_type: Literal["LLTB", "LLTBRCM", "CR", "CRF"] | None = None
    """Linear solver (LLTB; LLTBRCM for DVI, CR where that is sparse)."""

    linear_solver_kwargs: Mapping[str, bool | int | float | str] | None = None
    """Options of the linear solver, such as `maxiter`."""

    cull_speculative_contacts: bool = True
    """Whether contacts that are still apart are left out."""


@attrs.frozen(kw_only=True)
class PADMMConfig:
    """Proximal alternating direction method of multipliers, the default."""

    primal_tolerance: float | None = inherited(non_negative)
    """Primal residual at which it stops (1e-6)."""

    dual_tolerance: float | None = inherited(non_negative)
    """Dual residual at which it stops (1e-6)."""

    compl_tolerance: float | None = inherited(non_negative)
    """Complementarity residual at which it stops (1e-6)."""

    restart_tolerance: float = number(0.999, finite, ge(0.0), lt(1.0))
    """Ratio of residuals above which acceleration starts over."""

    eta: float = number(1e-5, positive)
    """Proximal regularisation."""

    rho_0: float = number(1.0, positive)
    """Penalty at the start."""

    rho_min: float = number(1e-5, positive)
    """Least penalty, where it adapts."""

    a_0: float = number(1.0, positive)
    """Acceleration at the start."""

    alpha: float = number(10.0, finite, gt(1.0))
    """Ratio of residuals at which the penalty adapts."""

    tau: float = number(1.5, finite, gt(1.0))
    """Factor by which it does."""

    max_iterations: int | None = inherited(ge(1))
    """Iterations per substep (200)."""

    penalty_update_freq: int = number(1, ge(0))
    """Iterations between two updates of the penalty; 0 never updates it."""

    penalty_update_method: Literal["fixed", "balanced"] = "fixed"
    """How the penalty adapts; balanced needs sparse dynamics."""

    linear_solver_tolerance: float = number(0.0, non_negative)
    """Absolute tolerance of an iterative linear solver; 0 leaves it its own."""

    linear_solver_tolerance_ratio: float = number(0.0, non_negative)
    """That tolerance as a part of the primal residual; 0 keeps it fixed."""

    use_acceleration: bool | None = None
    """Whether iterations are accelerated, as by Nesterov (yes)."""

    use_graph_conditionals: bool = True
    """Whether a loop stops early inside a graph; otherwise every iteration runs."""

    warmstart_mode: WarmstartMode | None = None
    """What a substep starts from: nothing, its own last iterate, or the state's forces (containers)."""

    warmstart_scale: float = number(0.9, fraction)
    """Part of the last forces that it starts from."""

    contact_warmstart_method: Literal[
        "key_and_position",
        "geom_pair_net_force",
        "geom_pair_net_wrench",
        "key_and_position_with_net_force_backup",
        "key_and_position_with_net_wrench_backup",
    ] = "key_and_position"
    """How a contact finds the one it was before."""


@attrs.frozen(kw_only=True)
class APGDConfig:
    """Accelerated projected gradient descent, as DVI's solver of contacts and limits."""

    max_iterations: int = number(64, ge(1))
    """Accepted steps per correction."""

    max_backtracks: int = number(24, ge(1))
    """Trials per step."""

    max_nonlinear_corrections: int = number(1, ge(1))
    """Updates of De Saxcé's correction, which friction asks for."""

    tolerance: float = number(1e-5, non_negative)
    """Residual at which both loops stop."""

    relaxation: float = number(1.0, finite, gt(0.0), le(1.0))
    """Part of an update that is taken."""


@attrs.frozen(kw_only=True)
class DVIConfig:
    """Differential variational inequality: joints solved directly, contacts and limits projected."""

    unilateral_solver: Literal["pgs", "apgd"] = "pgs"
    """Solver of contacts and limits."""

    apgd: APGDConfig = attrs.field(factory=APGDConfig)
    """Settings of `apgd`."""

    tolerance: float = number(1e-5, non_negative)
    """Size of an update at which it stops."""

    regularization: float = number(1e-6, positive)
    """What is added to the diagonal of every row."""

    omega: float = number(1.0, finite, gt(0.0), le(2.0))
    """Over-relaxation factor."""

    max_alternating_iterations: int | None = inherited(ge(1))
    """Turns between joints and the rest (24)."""

    inequality_sweeps_per_iteration: int = number(2, ge(1))
    """Sweeps over contacts and limits per turn."""

    use_schur_complement: bool | None = None
    """Whether joints are eliminated; by default where drives have bounded effort."""

    bilateral_solve_interval: int = number(1, ge(1))
    """Turns between two solves of the joints."""

    tangential_warmstart_scale: float = number(0.97, fraction)
    """Part of the last friction that a substep starts from."""

    bilateral_solver_type: Literal["LLTB", "LLTBRCM"] = "LLTB"
    """Direct solver of the joints."""

    bilateral_solver_kwargs: Mapping[str, bool | int | float | str] = attrs.field(factory=dict)
    """Options of that solver."""

    warmstart_mode: WarmstartMode = "containers"
    """What a substep starts from."""

    contact_warmstart_method: ContactWarmstart = "key_and_position_with_tangential_net_force"
    """How a contact finds the one it was before."""


@attrs.frozen(kw_only=True)
class LOXConfig:
    """Splitting between a smooth solve and a projection, experimental in Newton."""

    max_iterations: int | None = inherited(ge(1))
    """Iterations per substep (16)."""

    use_graph_conditionals: bool = True
    """Whether a loop stops early inside a graph; otherwise every iteration runs."""

    fixed_iterations: bool = False
    """Whether every iteration runs, without a look at the residuals."""

    eliminate_fixed_world_islands: bool = True
    """Whether bodies welded to the world are left out."""

    projection_sweeps_per_iteration: int = number(5, ge(1))
    """Sweeps over contacts and limits per iteration."""

    projection_acceleration: Literal["none", "apgd", "anderson"] = "none"
    """How the sweeps are accelerated; apgd needs one colour."""

    projection_anderson_recycle: bool = True
    """Whether Anderson's direction is kept from one iteration to the next."""

    inertial_warmstart_fraction: float = number(0.0, fraction)
    """Part of the predicted change of velocity that a substep starts from."""

    joint_max_correction: float = number(1e-3, positive)
    """Largest correction of a joint per substep [m, rad]."""

    joint_proximal_relaxation: float = number(0.0, fraction)
    """Relaxation towards the joint's exact residual; 0 keeps the linear one."""

    position_tolerance: float = number(1e-5, positive)
    """Tolerance of positions, and drift of joints that is left alone [m]."""

    rotation_tolerance: float = number(1e-5, positive)
    """Tolerance of rotations, and drift of joints that is left alone [rad]."""

    velocity_tolerance: float = number(1e-5, positive)
    """Tolerance of velocities [m/s, rad/s]."""

    selective_weights: bool = True
    """Whether only bodies with contacts or limits have weights."""

    min_joint_penalty_ratio: float = number(1e2, positive)
    """Least ratio of the joints' penalty to their lightest effective mass."""

    max_joint_penalty_ratio: float = number(1e5, positive)
    """Largest such ratio."""

    joint_penalty_seed_time_step: float = number(1e-3, positive)
    """Length of a substep that the penalty is made for [s]."""

    projected_twist_fraction: float = number(0.0, fraction)
    """Part of the projected velocity in the result, against the smooth one."""

    joint_warmstart_scale: float = number(0.9, fraction)
    """Part of the joints' last reaction that a substep starts from."""

    contact_compliance: bool = False
    """Whether contacts with a stiffness of their own are springs."""

    contact_implicit_restitution: bool = False
    """Whether a contact that is still apart decides on its rebound while it is solved."""

    contact_spatial_friction: bool = False
    """Whether torsional and rolling friction act."""

    contact_warmstart_method: ContactWarmstart = "key_and_position"
    """How a contact finds the one it was before."""

    gauss_seidel_max_colors: int = number(4, ge(1))
    """Colours of the sweeps; 1 is Jacobi's method."""

    weight_beta: float | None = number(4.0, optional(ge(1.0)))
    """Largest weight of a body, relative to its free response."""

    weight_sigma: float = number(1e-3, fraction)
    """Least part of the mean of the bounds that this leaves."""

    consensus_fraction: float = number(0.5, fraction)
    """Part of the consensus penalty in the smooth solve."""


@attrs.frozen(kw_only=True)
class ForwardKinematicsConfig:
    """From joint coordinates to body poses where loops close, where that solver is used."""

    tolerance: float = number(1e-6, positive)
    """Violation at which it stops [m, rad]."""

    max_newton_iterations: int = number(30, ge(1))
    """Gauss-Newton iterations."""

    max_line_search_iterations: int = number(20, ge(1))
    """Iterations of the line search."""

    reset_state: bool = True
    """Whether it starts from the reference poses, in place of the present ones."""

    add_axis_joints: bool = True
    """Whether rods between two ball joints are kept from spinning."""

    use_incremental_solve: bool = True
    """Whether large changes of coordinates are split."""

    max_linear_incremental_step: float = number(0.05, positive)
    """Largest such part [m]."""

    max_angular_incremental_step: float = number(0.17453292519943295, positive)
    """Largest such part [rad]; 10 degrees."""

    use_regularization: bool = False
    """Whether poses are kept near where they are, for what coordinates do not determine."""

    regularization_weight: float = number(1e-5, non_negative)
    """Weight of that."""

    use_sparsity: bool = False
    """Whether Jacobian and solver are sparse."""

    preconditioner: Literal["none", "jacobi_diagonal", "jacobi_block_diagonal"] = "jacobi_block_diagonal"
    """Preconditioner of the sparse solver."""

    use_adaptive_cg_tolerance: bool = True
    """Whether the sparse solver's tolerance adapts."""


@attrs.frozen(kw_only=True)
class MaterialsConfig:
    """How the materials of two shapes in contact are mixed."""

    friction_mix_mode: MixMode = "average"
    """Coefficient of friction."""

    restitution_mix_mode: MixMode = "min"
    """Coefficient of restitution."""


@attrs.frozen(kw_only=True)
class KaminoConfig:
    """Hard contacts, friction, limits and closed loops in maximal coordinates, solved as one problem per substep."""

    dynamics_solver: Literal["padmm", "dvi", "lox"] = "padmm"
    """Which of the three solvers."""

    integrator: Literal["euler", "moreau"] = "euler"
    """Time integration; moreau needs Kamino's own collision detector."""

    sparse_jacobian: bool | None = None
    """Whether the Jacobian is sparse; by default for dvi and lox."""

    sparse_dynamics: bool = False
    """Whether the problem is sparse; needs a sparse Jacobian."""

    use_collision_detector: bool = False
    """Whether Kamino detects contacts itself; otherwise Newton's pipeline does, as `[collision]` says."""

    max_contacts_per_world: int | None = inherited(ge(0))
    """Contacts of each world with Newton's pipeline; by default as estimated from the shapes."""

    use_fk_solver: bool = False
    """Whether body poses at start and reset come from Kamino's forward kinematics, which closes loops."""

    rotation_correction: Literal["twopi", "continuous", "none"] | None = None
    """How angles beyond a full turn are kept (twopi)."""

    angular_velocity_damping: float = number(0.0, fraction)
    """Part of the angular velocity that is lost per substep."""

    collect_solver_info: bool = False
    """Whether the residuals of every iteration are kept."""

    compute_solution_metrics: bool = False
    """Whether the quality of every solution is measured, which takes much time."""

    collision_detector: CollisionDetectorConfig = attrs.field(factory=CollisionDetectorConfig)
    """Settings of Kamino's own collision detector."""

    constraints: ConstraintsConfig = attrs.field(factory=ConstraintsConfig)
    """Recovery of violated constraints."""

    dynamics: DynamicsConfig = attrs.field(factory=DynamicsConfig)
    """The problem of PADMM and DVI."""

    padmm: PADMMConfig = attrs.field(factory=PADMMConfig)
    """Settings of `padmm`."""

    dvi: DVIConfig = attrs.field(factory=DVIConfig)
    """Settings of `dvi`."""

    lox: LOXConfig = attrs.field(factory=LOXConfig)
    """Settings of `lox`."""

    fk: ForwardKinematicsConfig = attrs.field(factory=ForwardKinematicsConfig)
    """Settings of Kamino's forward kinematics."""

    materials: MaterialsConfig = attrs.field(factory=MaterialsConfig)
    """Mixing of materials."""
