"""The page for those who come from Isaac Lab: nothing of theirs is left out, and every name of ours exists."""

import json
import operator
import pkgutil
import re
from pathlib import Path

import attrs
import newton
import pippin
import pytest
from pippin.catalog.entries import Catalog
from pippin.components.runtime_attributes import RuntimeAttributes
from pippin.config.schema import json_schema
from pippin.hookspecs import Hooks
from pippin.support.declaration import Declaration

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "coming-from-isaac-lab.md"

LISTED = {
    "NewtonManager": """
        initialize reset forward pre_render sync_transforms_to_usd sync_particles_to_usd step close
        get_scene_data_backend register_callback get_physics_sim_view is_fabric_enabled clear set_builder create_builder
        cl_register_site request_extended_state_attribute request_extended_contact_attribute add_model_change
        invalidate_fk start_simulation instantiate_builder_from_stage initialize_solver get_model get_state_0 get_state
        update_visualization_state get_state_1 get_control get_dt get_solver_dt activate_newton_actuator_path
        register_post_actuator_callback set_decimation handles_decimation add_contact_sensor add_frame_transform_sensor
        add_imu_sensor after_visualizers_render clear_callbacks deregister_callback dispatch_event get_backend
        get_device get_physics_dt get_simulation_time pause play safe_callback_invoke stop wait_for_playing
    """,
    "What a manager of a solver overrides": """
        _build_solver _initialize_contacts _step_solver _prepare_builder_for_finalize _solver_specific_clear
        _log_solver_debug _supports_cuda_graph_capture _requires_initial_reset_before_graph_capture single_state
        supports_deterministic supports_contact_sensors supports_heterogeneous_worlds ignored_model_changes
        uses_collision_pipeline builder_attribute_solvers validate_cfg initialize_output_state prepare_step
        reset_solver eval_fk check_status
    """,
    "NewtonCfg": """
        class_type num_substeps collision_decimation debug_mode use_cuda_graph deterministic deterministic_mode
        solver_cfg collision_cfg default_shape_cfg soft_contact_cfg load_visual_shapes bvh_constructor_geometry
        bvh_constructor_scene bvh_constructor_gaussian nan_replay
    """,
    "SimulationCfg": "dt gravity device use_newton_actuators",
    "NewtonSolverCfg": "class_type solver_type",
    "MJWarpSolverCfg": """
        njmax nconmax iterations ls_iterations ccd_iterations solver integrator cone impratio tolerance use_mujoco_cpu
        disable_contacts disable_sensors enable_multiccd save_to_mjcf use_mujoco_contacts update_data_interval
        ls_parallel default_actuator_gear actuator_gears
    """,
    "XPBDSolverCfg": """
        iterations soft_body_relaxation soft_contact_relaxation joint_linear_relaxation joint_angular_relaxation
        joint_linear_compliance joint_angular_compliance rigid_contact_relaxation rigid_contact_con_weighting
        angular_damping enable_restitution
    """,
    "FeatherstoneSolverCfg": """
        angular_damping update_mass_matrix_interval friction_smoothing use_tile_gemm fuse_cholesky
    """,
    "Semi-implicit solver": """
        angular_damping friction_smoothing joint_attach_ke joint_attach_kd enable_tri_contact
    """,
    "VBD solver": """
        iterations integrate_with_external_rigid_solver particle_enable_self_contact particle_self_contact_radius
        particle_self_contact_margin particle_collision_detection_interval particle_vertex_contact_buffer_size
        particle_edge_contact_buffer_size particle_topological_contact_filter_threshold
        particle_rest_shape_contact_exclusion_radius rigid_compliant_alm rigid_contact_k_start
        rigid_body_contact_buffer_size rigid_body_particle_contact_buffer_size
    """,
    "Implicit MPM solver": """
        max_iterations tolerance solver warmstart_mode collider_velocity_mode voxel_size grid_type grid_padding
        max_active_cell_count max_leaf_node_count max_lower_node_count max_upper_node_count separate_worlds
        transfer_scheme integration_scheme critical_fraction air_drag collider_normal_from_sdf_gradient collider_basis
        strain_basis velocity_basis project_outside_colliders
    """,
    "KaminoSolverCfg": """
        integrator use_collision_detector use_fk_solver sparse_jacobian sparse_dynamics rotation_correction
        angular_velocity_damping constraints_alpha constraints_beta constraints_gamma constraints_delta
        padmm_max_iterations padmm_primal_tolerance padmm_dual_tolerance padmm_compl_tolerance padmm_rho_0
        padmm_use_acceleration padmm_warmstart_mode padmm_eta padmm_contact_warmstart_method
        padmm_use_graph_conditionals collect_solver_info compute_solution_metrics collision_detector_pipeline
        collision_detector_max_contacts_per_pair dynamics_preconditioning to_solver_config()
        max_contacts_per_world padmm.restart_tolerance padmm.rho_min padmm.a_0 padmm.alpha padmm.tau
        padmm.penalty_update_freq padmm.penalty_update_method padmm.linear_solver_tolerance
        padmm.linear_solver_tolerance_ratio dvi.tolerance dvi.regularization dvi.omega dvi.max_alternating_iterations
        dvi.inequality_sweeps_per_iteration dvi.bilateral_solve_interval dvi.bilateral_solver_type
        dvi.contact_warmstart_method dynamics.linear_solver_type fk.use_regularization fk.regularization_weight
        fk.tolerance collision_detector.broadphase collision_detector.bvtype materials.friction_mix_mode
        materials.restitution_mix_mode
    """,
    "NewtonCollisionPipelineCfg": """
        broad_phase reduce_contacts rigid_contact_max max_triangle_pairs soft_contact_max soft_contact_margin
        enable_rigid_soft_full_surface_contact requires_grad sdf_hydroelastic_config to_pipeline_args()
    """,
    "HydroelasticSDFCfg": """
        reduce_contacts buffer_fraction normal_matching anchor_contact margin_contact_area output_contact_surface
    """,
    "NewtonShapeCfg": "margin gap ke kd mu",
    "NewtonSoftContactCfg": "ke kd mu",
    "Coupled solvers": """
        name solver_cfg bodies particles all_particles include_child_joints include_body_shapes include_static_shapes
        shape_label_patterns substeps in_place source destination mode mass_scale collide_interval pipeline iterations
        rho gamma
    """,
}
"""Public methods and fields in `isaaclab_newton.physics` and its later versions, by the heading they stand under."""

TABLES = {"NewtonCollisionPipelineCfg": ("collision",), "HydroelasticSDFCfg": ("collision", "hydroelastic")}
"""Tables of ours that fields are keys of, by heading; those of the others are `[solver]`."""


@attrs.frozen
class Row:
    """A row of a table: what is theirs, beside what is ours."""

    heading: str
    solver: str | None
    """The solver that keys of `[solver]` are of."""

    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    default: str | None
    """Our default as the page has it; None in tables without."""

    note: str


def rows_of(text: str) -> list[Row]:
    """Return the rows of all tables, each with the heading above it."""
    rows = []
    for heading, section in re.findall(r"^##+ (.*)\n((?:(?!##).*\n)*)", text, re.MULTILINE):
        solver = re.search(r'^`solver\.type = "(.*)"`', section, re.MULTILINE)
        for line in re.findall(r"^\| (`.*) \|$", section, re.MULTILINE):
            theirs, *cells, note = line.split(" | ")
            if not cells:  # of commands, without notes
                continue
            here, default = cells[-2:] if len(cells) == 3 else (cells[0], None)
            names = [tuple(re.findall(r"`([^`]+)`", cell)) for cell in (theirs, here)]
            rows.append(Row(heading.strip("`"), solver and solver[1], *names, default, note))
    return rows


TEXT = PAGE.read_text(encoding="utf-8")
ROWS = rows_of(TEXT)
ANNOUNCED = re.findall(r"`([^`]+)`", "".join(re.findall(r"<!--(.*?)-->", TEXT, re.DOTALL)))


@pytest.fixture(scope="module")
def schema():
    """The schema of a configuration file, with every plugin of this repository."""
    return json_schema(Catalog.installed())[0]


@pytest.fixture(scope="module")
def simulation():
    """The smallest simulation there is."""
    ball = newton.ModelBuilder()
    ball.add_shape_sphere(ball.add_body(), radius=0.1)
    tables = {"simulation": {"device": "cpu"}, "solver": {"type": "semi-implicit"}}
    with pippin.Simulation(pippin.structure(tables), prototype=ball) as simulation:
        yield simulation


def key_of(schema: dict, path: str, solver: str | None) -> dict:
    """Return the part of the schema that a key of a configuration has; a LookupError where there is no such key."""
    found = schema
    for name in path.split("."):
        found = found.get("items", found)
        if name == "LABEL":
            found = found["additionalProperties"]
            continue
        plugins = [case["then"] for case in found.get("allOf", ())]
        chosen = [plugin for plugin in plugins if plugin.get("title") == solver and name != "type"]
        found = (chosen[0] if chosen else found)["properties"][name]
    return found


def find(name: str, solver: str | None, schema: dict, simulation: pippin.Simulation) -> None:
    """Look a name of the page up; a LookupError, an AttributeError or an AssertionError where it does not exist."""
    root, _, rest = name.partition(".")
    if choice := re.fullmatch(r'([\w.]+) = "(.*)"', name):
        key = key_of(schema, choice[1], solver)
        assert choice[2] in key.get("then", key)["enum"], name
    elif argument := re.fullmatch(r"pippin\.Simulation\((\w+)=\)", name):
        assert argument[1] in pippin.Simulation.__init__.__annotations__, name
    elif root == "Simulation":
        operator.attrgetter(rest)(simulation)
    elif root == "Component":
        assert rest in {"Config", *Declaration.names(), *RuntimeAttributes.names()}, name
    elif root == "Hooks":
        operator.attrgetter(rest)(Hooks)
    elif root in ("newton", "pippin"):
        pkgutil.resolve_name(name)
    else:
        key_of(schema, name, solver)


@pytest.mark.parametrize("heading", LISTED)
def test_every_method_and_field_of_theirs_stands_on_the_page(heading):
    on_page = [name for row in ROWS if row.heading == heading for name in row.theirs]

    assert sorted(on_page) == sorted(LISTED[heading].split())


def test_every_name_of_ours_exists(schema, simulation):
    for row in ROWS:
        for name in row.ours:
            if name not in ANNOUNCED:
                find(name, row.solver, schema, simulation)


@pytest.mark.parametrize("name", ANNOUNCED)
def test_what_is_said_to_be_on_its_way_does_not_exist_yet(name, schema, simulation):
    with pytest.raises((LookupError, AttributeError, AssertionError)):
        find(name, None, schema, simulation)


def test_a_name_that_does_not_exist_is_found_out(schema, simulation):
    for name in (
        "simulation.step",
        "solver.iteration",
        'solver.type = "mujoko"',
        "Simulation.sleep",
        "pippin.Simulation(file=)",
        "pippin.sensing.add_mast",
        "Hooks.step",
        "Component.observable",
        "num_substeps",
    ):
        with pytest.raises((LookupError, AttributeError, AssertionError)):
            find(name, "mujoco", schema, simulation)


def test_defaults_of_ours_are_those_of_the_configuration(schema):
    for row in (row for row in ROWS if row.default):
        default = key_of(schema, row.ours[0], row.solver)["default"]
        assert row.default == (f"`{default:g}`" if isinstance(default, float) else f"`{json.dumps(default)}`"), row

    for row in (row for row in ROWS if row.default == "" and len(row.ours) == 1):
        key = row.ours[0]
        if key.split(".")[0] in schema["properties"] and "=" not in key:
            found = key_of(schema, key, row.solver)
            assert "default" not in found or "properties" in found, row  # a table's keys have defaults of their own


def test_what_is_called_refused_is_refused_with_a_cure():
    refused = [row for row in ROWS if row.note.startswith("Refused")]
    assert len(refused) > 10

    for row in refused:
        (key,), tables = row.theirs, {"solver": {"type": row.solver or "xpbd"}}
        table = tables
        for name in TABLES.get(row.heading, ("solver",)):
            table = table.setdefault(name, {})
        table[key] = 1
        with pytest.raises(pippin.ConfigError, match=rf"{key}: not a key any more; "):
            pippin.structure(tables)
