"""The settings of Kamino, nested as in Newton.

For a setting of None, the asset gives the value, or else Newton; or the quantity has no bound. Settings that the asset
or the dynamics solver can determine therefore have the default None.
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
    """Kamino's own collision detector, if it is used."""

    pipeline: Literal["primitive", "unified"] = "unified"
    """Pairs of primitives only, or every shape."""

    broadphase: Literal["explicit", "nxn", "sap"] = "explicit"
    """Method that finds candidate pairs."""

    bvtype: Literal["aabb", "bs"] = "aabb"
    """Bounding volumes: boxes or spheres."""

    max_contacts: int | None = inherited(ge(0))
    """Largest number of contacts in all worlds; by default estimated from the shapes."""

    max_contacts_per_world: int | None = inherited(ge(0))
    """Contacts per world, in place of the estimate from the shapes."""

    max_contacts_per_pair: int | None = inherited(ge(0))
    """Contacts per pair of shapes (12)."""

    max_triangle_pairs: int | None = inherited(ge(0))
    """Triangle pairs that are tested (1 000 000)."""

    default_gap: float | None = inherited(non_negative)
    """Smallest detection distance of a shape's contacts [m] (1e-5)."""


@attrs.frozen(kw_only=True)
class ConstraintsConfig:
    """Recovery of violated constraints. A recovery time replaces the fraction (alpha, beta or gamma)."""

    alpha: float | None = inherited(fraction)
    """Fraction of a joint's violation that is removed per substep (0.01)."""

    beta: float | None = inherited(fraction)
    """Fraction of a joint limit's violation that is removed per substep (0.01)."""

    gamma: float | None = inherited(fraction)
    """Fraction of a penetration that is removed per substep (0.01)."""

    delta: float = number(1e-6, non_negative)
    """Penetration that is not corrected [m]."""

    joint_recovery_time: float | None = inherited(non_negative)
    """Time in which a joint's violation recovers [s]."""

    joint_recovery_speed: float | None = inherited(non_negative)
    """Largest recovery speed of a joint's violation [m/s, rad/s]; by default not bounded."""

    limit_recovery_time: float | None = inherited(non_negative)
    """Time in which a joint limit's violation recovers [s]."""

    limit_recovery_speed: float | None = inherited(non_negative)
    """Largest recovery speed of a joint limit's violation [m/s, rad/s]; by default not bounded."""

    contact_recovery_time: float | None = inherited(non_negative)
    """Time in which a penetration recovers [s]."""

    contact_recovery_speed: float | None = inherited(non_negative)
    """Largest recovery speed of a penetration [m/s]; by default not bounded."""

    contact_compliance: bool = False
    """Whether contacts are springs with the stiffness and damping of the shapes."""

    limit_compliance: bool = False
    """Whether joint limits are springs with the joint's limit stiffness and damping."""


@attrs.frozen(kw_only=True)
class DynamicsConfig:
    """The dynamics problem that PADMM and DVI solve."""

    preconditioning: bool | None = None
    """Whether the problem is preconditioned (yes; no for DVI, which refuses it)."""

    linear_solver_type: Literal["LLTB", "LLTBRCM", "CR", "CRF"] | None = None
    """Linear solver (LLTB; for DVI LLTBRCM, or CR if its problem is sparse)."""

    linear_solver_kwargs: Mapping[str, bool | int | float | str] | None = None
    """Options of the linear solver, such as `maxiter`."""

    cull_speculative_contacts: bool = True
    """Whether contacts with an open gap are left out."""


@attrs.frozen(kw_only=True)
class PADMMConfig:
    """Proximal alternating direction method of multipliers, the default."""

    primal_tolerance: float | None = inherited(non_negative)
    """Primal residual at which the solver stops (1e-6)."""

    dual_tolerance: float | None = inherited(non_negative)
    """Dual residual at which the solver stops (1e-6)."""

    compl_tolerance: float | None = inherited(non_negative)
    """Complementarity residual at which the solver stops (1e-6)."""

    restart_tolerance: float = number(0.999, finite, ge(0.0), lt(1.0))
    """Ratio of residuals above which acceleration restarts."""

    eta: float = number(1e-5, positive)
    """Proximal regularisation."""

    rho_0: float = number(1.0, positive)
    """Initial penalty."""

    rho_min: float = number(1e-5, positive)
    """Smallest penalty, if it adapts."""

    a_0: float = number(1.0, positive)
    """Initial acceleration."""

    alpha: float = number(10.0, finite, gt(1.0))
    """Ratio of residuals at which the penalty adapts."""

    tau: float = number(1.5, finite, gt(1.0))
    """Factor by which the penalty adapts."""

    max_iterations: int | None = inherited(ge(1))
    """Iterations per substep (200)."""

    penalty_update_freq: int = number(1, ge(0))
    """Iterations between two updates of the penalty; 0 never updates it."""

    penalty_update_method: Literal["fixed", "balanced"] = "fixed"
    """Method that adapts the penalty; balanced needs sparse dynamics."""

    linear_solver_tolerance: float = number(0.0, non_negative)
    """Absolute tolerance of an iterative linear solver; 0 keeps the solver's own."""

    linear_solver_tolerance_ratio: float = number(0.0, non_negative)
    """Tolerance of the linear solver as a fraction of the primal residual; 0 keeps the tolerance fixed."""

    use_acceleration: bool | None = None
    """Whether iterations use Nesterov acceleration (yes)."""

    use_graph_conditionals: bool = True
    """Whether a loop stops early inside a graph; otherwise every iteration runs."""

    warmstart_mode: WarmstartMode | None = None
    """Start of a substep: zero, the solver's last iterate, or the forces in the state (containers)."""

    warmstart_scale: float = number(0.9, fraction)
    """Fraction of the last forces from which a substep starts."""

    contact_warmstart_method: Literal[
        "key_and_position",
        "geom_pair_net_force",
        "geom_pair_net_wrench",
        "key_and_position_with_net_force_backup",
        "key_and_position_with_net_wrench_backup",
    ] = "key_and_position"
    """Method that matches a contact with its predecessor."""


@attrs.frozen(kw_only=True)
class APGDConfig:
    """Accelerated projected gradient descent, as DVI's solver of contacts and limits."""

    max_iterations: int = number(64, ge(1))
    """Accepted steps per correction."""

    max_backtracks: int = number(24, ge(1))
    """Trials per step."""

    max_nonlinear_corrections: int = number(1, ge(1))
    """Updates of De Saxcé's correction, which friction needs."""

    tolerance: float = number(1e-5, non_negative)
    """Residual at which both loops stop."""

    relaxation: float = number(1.0, finite, gt(0.0), le(1.0))
    """Fraction of an update that is applied."""


@attrs.frozen(kw_only=True)
class DVIConfig:
    """Differential variational inequality: joints solved directly, contacts and limits projected."""

    unilateral_solver: Literal["pgs", "apgd"] = "pgs"
    """Solver of contacts and limits."""

    apgd: APGDConfig = attrs.field(factory=APGDConfig)
    """Settings of `apgd`."""

    tolerance: float = number(1e-5, non_negative)
    """Size of an update at which the solver stops."""

    regularization: float = number(1e-6, positive)
    """Value added to the diagonal of every row."""

    omega: float = number(1.0, finite, gt(0.0), le(2.0))
    """Over-relaxation factor."""

    max_alternating_iterations: int | None = inherited(ge(1))
    """Alternations between joints and inequalities (24)."""

    inequality_sweeps_per_iteration: int = number(2, ge(1))
    """Sweeps over contacts and limits per alternation."""

    use_schur_complement: bool | None = None
    """Whether joints are eliminated; by default if drives have bounded effort."""

    bilateral_solve_interval: int = number(1, ge(1))
    """Alternations between two solves of the joints."""

    tangential_warmstart_scale: float = number(0.97, fraction)
    """Fraction of the last friction from which a substep starts."""

    bilateral_solver_type: Literal["LLTB", "LLTBRCM"] = "LLTB"
    """Direct solver of the joints."""

    bilateral_solver_kwargs: Mapping[str, bool | int | float | str] = attrs.field(factory=dict)
    """Options of the direct solver."""

    warmstart_mode: WarmstartMode = "containers"
    """Start of a substep: zero, the solver's last iterate, or the forces in the state (containers)."""

    contact_warmstart_method: ContactWarmstart = "key_and_position_with_tangential_net_force"
    """Method that matches a contact with its predecessor."""


@attrs.frozen(kw_only=True)
class LOXConfig:
    """Splitting between a smooth solve and a projection, experimental in Newton."""

    max_iterations: int | None = inherited(ge(1))
    """Iterations per substep (16)."""

    use_graph_conditionals: bool = True
    """Whether a loop stops early inside a graph; otherwise every iteration runs."""

    fixed_iterations: bool = False
    """Whether every iteration runs, without a check of the residuals."""

    eliminate_fixed_world_islands: bool = True
    """Whether bodies welded to the world are left out."""

    projection_sweeps_per_iteration: int = number(5, ge(1))
    """Sweeps over contacts and limits per iteration."""

    projection_acceleration: Literal["none", "apgd", "anderson"] = "none"
    """Acceleration of the sweeps; apgd needs one colour."""

    projection_anderson_recycle: bool = True
    """Whether Anderson's direction is kept from one iteration to the next."""

    inertial_warmstart_fraction: float = number(0.0, fraction)
    """Fraction of the predicted change of velocity from which a substep starts."""

    joint_max_correction: float = number(1e-3, positive)
    """Largest correction of a joint per substep [m, rad]."""

    joint_proximal_relaxation: float = number(0.0, fraction)
    """Relaxation towards the joint's exact residual; 0 keeps the linear one."""

    position_tolerance: float = number(1e-5, positive)
    """Tolerance of positions, and drift of joints that is not corrected [m]."""

    rotation_tolerance: float = number(1e-5, positive)
    """Tolerance of rotations, and drift of joints that is not corrected [rad]."""

    velocity_tolerance: float = number(1e-5, positive)
    """Tolerance of velocities [m/s, rad/s]."""

    selective_weights: bool = True
    """Whether only bodies with contacts or limits have weights."""

    min_joint_penalty_ratio: float = number(1e2, positive)
    """Smallest ratio of the joints' penalty to their smallest effective mass."""

    max_joint_penalty_ratio: float = number(1e5, positive)
    """Largest ratio of the joints' penalty to their smallest effective mass."""

    joint_penalty_seed_time_step: float = number(1e-3, positive)
    """Length of the substep for which the penalty is computed [s]."""

    projected_twist_fraction: float = number(0.0, fraction)
    """Fraction of the projected velocity in the result; the rest is the smooth velocity."""

    joint_warmstart_scale: float = number(0.9, fraction)
    """Fraction of the joints' last reaction from which a substep starts."""

    contact_compliance: bool = False
    """Whether contacts with their own stiffness are springs."""

    contact_implicit_restitution: bool = False
    """Whether the solve decides if a contact with an open gap rebounds."""

    contact_spatial_friction: bool = False
    """Whether torsional and rolling friction act."""

    contact_warmstart_method: ContactWarmstart = "key_and_position"
    """Method that matches a contact with its predecessor."""

    gauss_seidel_max_colors: int = number(4, ge(1))
    """Colours of the sweeps; 1 is Jacobi's method."""

    weight_beta: float | None = number(4.0, optional([finite, ge(1.0)]))
    """Largest weight of a body, relative to its free response."""

    weight_sigma: float = number(1e-3, fraction)
    """Smallest fraction of the geometric mean of the bounds that `weight_beta` keeps."""

    consensus_fraction: float = number(0.5, fraction)
    """Fraction of the consensus penalty in the smooth solve."""


@attrs.frozen(kw_only=True)
class ForwardKinematicsConfig:
    """Forward kinematics that closes loops: from joint coordinates to body poses, with `use_fk_solver`."""

    tolerance: float = number(1e-6, positive)
    """Violation at which the iterations stop [m, rad]."""

    max_newton_iterations: int = number(30, ge(1))
    """Gauss-Newton iterations."""

    max_line_search_iterations: int = number(20, ge(1))
    """Iterations of the line search."""

    reset_state: bool = True
    """Whether the solve starts from the reference poses, in place of the present poses."""

    add_axis_joints: bool = True
    """Whether rods between two ball joints are kept from spinning."""

    use_incremental_solve: bool = True
    """Whether large changes of coordinates are split into parts."""

    max_linear_incremental_step: float = number(0.05, positive)
    """Largest translation of a part [m]."""

    max_angular_incremental_step: float = number(0.17453292519943295, positive)
    """Largest rotation of a part [rad]; 10 degrees."""

    use_regularization: bool = False
    """Whether poses that the coordinates do not determine stay near their present values."""

    regularization_weight: float = number(1e-5, non_negative)
    """Weight of the regularisation."""

    use_sparsity: bool = False
    """Whether Jacobian and solver are sparse."""

    preconditioner: Literal["none", "jacobi_diagonal", "jacobi_block_diagonal"] = "jacobi_block_diagonal"
    """Preconditioner of the sparse solver."""

    use_adaptive_cg_tolerance: bool = True
    """Whether the sparse solver's tolerance adapts."""


@attrs.frozen(kw_only=True)
class MaterialsConfig:
    """Mixing of the materials of two shapes in contact."""

    friction_mix_mode: MixMode = "average"
    """Mixing of the coefficients of friction."""

    restitution_mix_mode: MixMode = "min"
    """Mixing of the coefficients of restitution."""


@attrs.frozen(kw_only=True)
class KaminoConfig:
    """Hard contacts, friction, limits and closed loops in maximal coordinates, solved as one problem per substep."""

    implementation = ".solver:SolverKamino"

    dynamics_solver: Literal["padmm", "dvi", "lox"] = "padmm"
    """Solver of the dynamics."""

    integrator: Literal["euler", "moreau"] = "euler"
    """Time integration; moreau needs Kamino's own collision detector."""

    sparse_jacobian: bool | None = None
    """Whether the Jacobian is sparse; by default for dvi and lox."""

    sparse_dynamics: bool = False
    """Whether the problem is sparse; needs a sparse Jacobian."""

    use_collision_detector: bool = False
    """Whether Kamino detects contacts; otherwise Newton's pipeline does, configured by `[collision]`."""

    max_contacts_per_world: int | None = inherited(ge(1))
    """Contacts per world with Newton's pipeline; by default 16 for each shape that moves, or 8 for each pair of shapes
    if that is less, and Newton's estimate if there are meshes. The time of a step on the CPU grows with its square: one
    robot of 158 shapes takes a fifth with 500 in place of 3200.
    """

    use_fk_solver: bool = False
    """Whether body poses at start and reset come from Kamino's forward kinematics, which closes loops."""

    rotation_correction: Literal["twopi", "continuous", "none"] | None = None
    """Angles beyond a turn continue, wrap at ±2π, or wrap at ±π (continuous, which laws and sensors expect)."""

    angular_velocity_damping: float = number(0.0, fraction)
    """Fraction of the angular velocity that is lost per substep."""

    collect_solver_info: bool = False
    """Whether the residuals of every iteration are recorded."""

    compute_solution_metrics: bool = False
    """Whether the quality of every solution is measured, which is slow."""

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
