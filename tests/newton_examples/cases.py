"""The examples of Newton that stand here as files, in the order of Newton's folders."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import newton
import numpy as np
import pippin
import warp as wp
from newton.examples.vbd._viewer import node_xyz

from .judge import ON_CPU, Case


def _shapes(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the start positions of `basic_shapes`, whose check changes their heights."""
    starts = simulation.state.body_q.numpy()[:, :3]
    return {"solver_type": "xpbd"} | {
        f"{label}_pos": starts[index].copy() for index, label in enumerate(simulation.model.body_label)
    }


def _spin(simulation: pippin.Simulation) -> Mapping[str, Any]:
    start = simulation.state.body_q.numpy().copy()
    com = simulation.model.body_com.numpy()[0].copy()
    return {
        "body": 0,
        "min_stem_axis_y": 1.0,
        "initial_rotational_energy": None,
        "initial_body_q": start,
        "body_com": com,
        "initial_com": start[0, :3] + com,
    }


def _pyramid(simulation: pippin.Simulation) -> Mapping[str, Any]:
    starts = simulation.state.body_q.numpy()[:, :3].copy()
    top = np.flatnonzero(starts[:, 2] > starts[:, 2].max() - 0.1)
    return {"pyramid_size": 5, "top_body_indices": top.tolist(), "top_initial_positions": starts}


def _spheres(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"sphere_bodies": list(range(5))}


def _flag(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"solver_type": "vbd", "sim_width": 32, "sim_height": 16}


def _pile(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"layers": 10}


def _rest_poses(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"cable_bodies": [_segments(simulation, label) for label in ("straightens", "curls")]}


def _bundle(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the cables, and the time at the end, which the example takes from its window."""
    cables = [_segments(simulation, f"cable_{number}") for number in range(7)]
    return {"cable_body_ids": cables, "obstacle_release_time": 2.0, "with_dahl": True, "sim_time": 2.5}


def _twist(simulation: pippin.Simulation) -> Mapping[str, Any]:
    cables = [_segments(simulation, label) for label in ("soft", "middling", "stiff")]
    return {"cable_length": 6.4, "num_elements": 64, "cable_bodies_list": cables}


def _plectoneme(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what the example's own step writes, and Pippin's motions do not read."""
    return {"TWIST_TURNS": 6.0, "_command": lambda time: 0.0, "twist_angle": wp.zeros(1, dtype=wp.float32)}


def _switch(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the guides and spans of `tendon_mujoco_switch`, and what its check records."""
    return {
        "middle_radius": 0.085,
        "middle_orientation": -1,
        "lower_guide": 1,
        "middle_guide": 2,
        "endpoint_guide": 3,
        "middle_left_seg": 1,
        "middle_right_seg": 2,
        "_active_history": [],
        "_top_x_history": [],
        "_transition_count": 0,
        "_last_middle_active": False,
        "_activation_mismatch_count": 0,
        "_max_inactive_middle_penetration": 0.0,
        "_min_active_tangent_radius": float("inf"),
        "_max_active_tangent_radius": 0.0,
        "_saw_middle_segment_disabled": False,
        "_saw_middle_segment_enabled": False,
    }


def _slides(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what `cable_cross_slide_table` measures: the table, and the example's own kernel."""
    module = importlib.import_module("newton.examples.cable.example_cable_cross_slide_table")
    device, nowhere = simulation.device, wp.zeros(2, dtype=wp.transform, device=simulation.device)
    angles, target = (wp.zeros(2, dtype=float, device=device) for _ in range(2))
    bodies = wp.array([0, 1], dtype=int, device=device)

    def simulate() -> None:
        simulation.step()
        time = wp.array(
            [simulation.time - simulation.solver_dt], dtype=float, device=device
        )  # of the last substep's start
        places = [bodies, nowhere, 0.0283, angles, target, nowhere, nowhere]
        wp.launch(module.drive_input_pulleys, 2, [time, *places], device=device)

    slide, table = (simulation.model.body_label.index(label) for label in ("slide", "table"))
    heights = {"cable": 0.046, "slide": 0.014, "table": 0.022}
    return {
        "simulate": simulate,
        "input_pulley_angles": angles,
        "target_table_xy": target,
        "viewer": Mock(),
        "cable_bodies": _segments(simulation, "cable"),
        "slide_body": slide,
        "table_body": table,
        "table_origin_xy": (0.0, 0.0),
        "slide_x_bounds": (-0.05, 0.05),
        "table_y_bounds": (-0.06, 0.06),
        **{f"{name}_z_bounds": (z - 0.003, z + 0.003) for name, z in heights.items()},
        **dict.fromkeys(("table_tracking_max_error", "table_tracking_error_sq_sum"), 0.0),
        "table_tracking_sample_count": 0,
    }


def _junction(simulation: pippin.Simulation) -> Mapping[str, Any]:
    bodies = _segments(simulation, "tree")
    joints = [index for index, label in enumerate(simulation.model.joint_label) if "_cable_" in label]
    start = simulation.state.body_q.numpy()[bodies[19]].copy()
    return {"graph_bodies": bodies, "graph_joints": joints, "pinned_body": bodies[19], "pinned_body_q0": start}


def _segments(simulation: pippin.Simulation, label: str) -> list[int]:
    """Return the bodies of a rod."""
    return [index for index, each in enumerate(simulation.model.body_label) if each.startswith(f"{label}_")]


def _nodes(simulation: pippin.Simulation, bodies: Sequence[int], length: float) -> np.ndarray:
    """Return the starts of segments of some length [m], shape [bodies, 3]."""
    poses = simulation.state.body_q.numpy()
    return np.array([node_xyz(poses[body], length) for body in bodies])


def _rods(simulation: pippin.Simulation, labels: Sequence[str], length: float) -> list[dict[str, Any]]:
    """Return what most checks of cables read of each: its bodies, and where they start.

    Args:
        simulation: The simulation at its start.
        labels: The labels of the rods.
        length: Length of a segment [m].
    """
    poses, cases = simulation.state.body_q.numpy(), []
    for label in labels:
        bodies = _segments(simulation, label)
        nodes = _nodes(simulation, bodies, length)
        start = {"rest_pos": nodes, "rest_points": nodes, "rest_q": [poses[body, 3:].copy() for body in bodies]}
        tip = {"tip": bodies[-1], "tip_body": bodies[-1], "tip_rest_q": poses[bodies[-1], 3:].copy()}
        cases.append({"label": label, "name": label, "bodies": bodies, **start, **tip})
    return cases


def _driven(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the step of an example whose own one hands what drives the cables to its `simulate`."""
    return {"simulate": lambda *drives: simulation.step(), "cable_length": 1.6}


def _cantilevers(simulation: pippin.Simulation) -> Mapping[str, Any]:
    tips = [_segments(simulation, label)[-1] for label in ("soft", "middling", "stiff")]
    x, y, z = _nodes(simulation, tips, 0.1).T
    starts = {"_tip_rest_x": x, "_tip_rest_y": y, "tip_rest_z": z}
    return {"tip_bodies": tips, "num_cables": 3, **starts, **_driven(simulation)}


def _roots(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the cables of `cable_twist_transfer`: each has 32 segments on a way of its own."""
    cases = []
    for label, length in (("straight", 2.4), ("v_kink", 3.0610455), ("semicircle", np.pi * 0.82)):
        (case,) = _rods(simulation, [label], length / 32)
        cases.append({**case, "segment_length": length / 32, "arc_length": length})
    return {"cases": cases, "_twist_rate": 0.0, **_driven(simulation)}


def _torsion(simulation: pippin.Simulation) -> Mapping[str, Any]:
    (case,) = _rods(simulation, ["rod"], 0.08)
    return {**_driven(simulation), **case, "cable_length": 1.92, "_twist_rate": 0.0}


def _arcs(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the cables of `cable_bend_twist_analytic` and the angles of their tips."""
    rods = {
        kind: [
            {**case, "target": target}
            for case, target in zip(
                _rods(simulation, [f"{kind}_{number}" for number in range(3)], 0.1),
                np.radians((30.0, 60.0, 90.0)),
                strict=True,
            )
        ]
        for kind in ("bend", "twist")
    }
    names = {"bend_cases": rods["bend"], "twist_cases": rods["twist"]}
    return {**_driven(simulation), **names, "num_joints": 13, "cable_length": 1.4}


def _buckling(simulation: pippin.Simulation) -> Mapping[str, Any]:
    (case,) = _rods(simulation, ["cable"], 0.075)
    contacts = {"contact_mode": "alm-history", "contact_stiffness": 1e5, "contact_damping": 0.0, "contact_gap": 0.05}
    own = {"_update_twist_angles": lambda: None, "frame_index": 0, "twist_turns": 9.0}
    return {**case, **contacts, **own, "target_twist": 18.0 * np.pi, "cable_length": 4.8}


def _friction(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the cables of `cable_dahl_hysteresis`, and what their check records of each frame."""
    cases = _rods(simulation, ("bend_elastic", "bend_dahl", "twist_elastic", "twist_dahl"), 0.1)
    joints = simulation.model.joint_label
    for case in cases:
        own = [index for index, label in enumerate(joints) if label.startswith(f"{case['name']}_")]
        parts = {"mode": case["name"].partition("_")[0], "has_dahl": case["name"].endswith("dahl")}
        case.update(parts | {"joint_range": (own[0], own[-1] + 1)})
    turned = [case for case in cases if case["mode"] == "twist"]
    largest = ("tip_x_disp", "tip_y_disp", "twist_centerline_drift")
    largest += ("active_sigma", "leak_sigma", "active_kappa", "leak_kappa")
    return {
        **_driven(simulation),
        "cases": cases,
        "twist_cases": turned,
        "cycle_duration": 12.0,
        "history_force": [],
        "history_twist_command": [],
        "history_bend_down": {case["name"]: [] for case in cases if case["mode"] == "bend"},
        **{f"history_twist_{name}": {case["name"]: [] for case in turned} for name in ("angle", "reaction")},
        **{f"max_{name}": {case["name"]: 0.0 for case in cases} for name in largest},
    }


def _rings(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the rings of `cable_michell_threshold`, and how far each is above the threshold."""
    cases = []
    for number, ratio in enumerate((1.5, 2.2, 2.7, 3.0, 3.3, 4.2, 6.0)):
        factor = np.sqrt(ratio / 3.0)
        facts = {"label": f"ring_{number}", "factor": factor, "twist_to_bend": ratio, "twist_stiffness": 50.0 * ratio}
        twists = {"total_twist": 2.0 * np.pi, "critical_twist": 2.0 * np.pi / factor}
        # As the example says: below 1 a ring stays flat, and above 1.35 it certainly writhes.
        words = {"expected": "stable" if factor < 1.0 else "near-threshold" if factor < 1.35 else "writhe"}
        cases.append({**facts, **twists, **words, "bodies": _segments(simulation, f"ring_{number}")})
    return {"cases": cases}


def _sand(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"solver": SimpleNamespace(voxel_size=0.1, grid_type="sparse"), "collider": "cube"}


def _funnel(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"solver": SimpleNamespace(voxel_size=0.01), "funnel_offset_z": 0.2}


def _impedance(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what the example's own step writes, and Pippin's motions do not read."""
    targets = SimpleNamespace(joint_q_des=wp.zeros(4, dtype=wp.float32))
    return {"_input": targets, "_graph": None, "_gpu_step": simulation.step}


def _water(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the surface of the water, with the settings of Newton's test."""
    solver: Any = simulation.solver
    surface = solver.create_particle_surface(
        voxel_size=0.075,
        max_grid_cells=300_000,
        kernel_radius=3.0 * 0.1442857,
        threshold=0.25,
        anisotropic=True,
        kernel_scale=0.6,
        field_mode="sdf",
        redistance_iterations=1,
    )
    return {
        "surface": surface,
        "extrapolate_into_colliders": True,
        "collider_extrapolation_depth": 0.075,
        "tank_extents": (2.0, 0.5, 2.0),
        "world_offsets_np": np.zeros((1, 3)),
        "initial_water_max_x": 0.0,
    }


def _draw_water(example: Any) -> None:
    """Extract the surface, as the example does to draw it."""
    example.surface_mesh = example._extract_surface()
    _, indices, _ = example.surface_mesh.to_arrays()
    example.surface_triangle_count = 0 if indices is None else len(indices) // 3


def _routing(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the pulleys of `tendon_3d_routing`, and how far they have turned."""
    bodies = dict(zip(("p1_idx", "p2_idx", "p3_idx"), _bodies(simulation, "first", "middle", "last"), strict=True))
    starts = simulation.state.body_q.numpy()[:, :3].copy()
    left, right = _bodies(simulation, "light", "heavy")
    return {
        **bodies,
        "left_start_pos": starts[left],
        "right_start_pos": starts[right],
        "_pulley_theta": np.zeros(3),
        "_last_pulley_angles": None,
        "_pulley_rotation_history": [],
    }


def _capstans(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the parts of three machines, and what their check records of each frame."""
    parts = {"pulley_indices": "pulley", "left_indices": "light", "right_indices": "heavy"}
    histories = ("pulley_rotation", "left_z", "right_z", "left_attachment", "left_position", "right_position")
    return {
        "pulley_radius": 0.22,
        "pulley_z": 4.1,
        "_pulley_theta": [0.0, 0.0, 0.0],
        "_last_pulley_angle": [None, None, None],
        **{name: _bodies(simulation, *(f"{label}_{case}" for case in range(3))) for name, label in parts.items()},
        **{f"_{name}_history": [] for name in histories},
    }


def _bodies(simulation: pippin.Simulation, *labels: str) -> list[int]:
    return [simulation.model.body_label.index(label) for label in labels]


def _plots(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what the example draws: its check does not read it."""
    logs = ("log_iterations", "log_energy_kinetic", "log_energy_potential", "log_nefc")
    silent = {"viewer": Mock(), "_read_status": lambda: None, "_plot": lambda: None}
    return silent | {name: [0.0] for name in logs}


def _sheets(simulation: pippin.Simulation) -> Mapping[str, Any]:
    starts = [each * 441 for each in range(5)]
    return {"sheet_starts": starts, "rest_side": 1.0, "_apply_stretch_ramp": lambda: None, "_frame_index": 0}


def _gripper(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"step": simulation.step, "_mesh_particles": list(range(simulation.model.particle_count))}


def _pads(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the length of the whole script: Newton's own test ends before it, and then checks the particles alone."""
    return {"step": simulation.step, "state": simulation.state, "duration": 7.5}


def _conveyor(simulation: pippin.Simulation) -> Mapping[str, Any]:
    bodies, shapes = simulation.model.body_label, simulation.model.shape_label
    belts = [index for index, label in enumerate(shapes) if label.startswith("conveyor_belt")]
    indices = {"belt_body": bodies.index("conveyor_belt"), "belt_collision_shapes": belts}
    return {
        "bag_bodies": [index for index, label in enumerate(bodies) if "_" in label and "belt" not in label],
        **indices,
    }


def _screw(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what the example's own step writes and reads: its target goes to an array of its own."""
    example = SimpleNamespace(joint_target_q=wp.zeros(2, dtype=float, device=simulation.device))
    arrays = {name: wp.empty_like(getattr(simulation.model, name)) for name in ("joint_q", "joint_qd")}
    zero = dict.fromkeys(("max_abs_screw_angle", "max_abs_coupling_error"), 0.0)
    places = {"screw_q_index": 0, "nut_q_index": 1, "screw_target_index": 0}
    law = {"angle_amplitude": 1.0, "coupling_ratio": 1.2 / (2.0 * np.pi)}
    return {"control": example, "viewer": Mock(), **arrays, **zero, **places, **law}


def _steps(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the step of an example whose own one launches a graph and nothing else."""
    return {"step": simulation.step}


def _layers(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the one layer that a run has: the example draws its four solvers over each other."""
    layer = SimpleNamespace(
        layer_id=simulation.config.solver.type, model=simulation.model, state_0=simulation.state, step=simulation.step
    )
    return {"layers": [layer]}


def _imu(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the IMU by Newton's names; the example colours cubes by it, and its check reads the last values."""
    output = simulation.sensors["imu"].outputs["linear_acceleration"]
    values = SimpleNamespace(numpy=lambda: output.numpy().reshape(-1, 3))
    return {"imu": SimpleNamespace(accelerometer=values), "colors": wp.zeros(3, dtype=wp.vec3), "visual_cubes": ()}


def _wall(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the bricks, and how far beyond its detections a body moved."""
    bricks = [index for index, label in enumerate(simulation.model.body_label) if label != "projectile"]
    return {
        "brick_bodies": bricks,
        "projectile_body": simulation.model.body_label.index("projectile"),
        "initial_brick_positions": simulation.state.body_q.numpy()[bricks, :3].copy(),
        "use_scheduler": True,
        "scheduler": SimpleNamespace(interval_overflow=simulation.contact_source.overtravel),
    }


def _rolls(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"num_cloth_verts": 320 * 15}


def _plug(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the start of all bodies; no gizmo is dragged, so a step is that of the simulation."""
    return {**_steps(simulation), "_initial_body_q": simulation.state.body_q.numpy().copy()}


def _free_root(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the DOFs of the roots, which no drive may hold."""
    kinds, starts = simulation.model.joint_type.numpy(), simulation.model.joint_qd_start.numpy()
    free = starts[:-1][kinds == int(newton.JointType.FREE)]
    return {
        "solver_type": "mujoco",
        "device": simulation.device,
        "root_dof_indices": [int(start) + axis for start in free for axis in range(6)],
    }


def _caught(simulation: pippin.Simulation) -> Mapping[str, Any]:
    module = importlib.import_module("newton.examples.multiphysics.example_vbd_dat_rigid_soft")
    return {"params": module.PARAMS, "_bodies": range(6), "max_penetration": 0.0, "frame": 0}


def _bags(simulation: pippin.Simulation) -> Mapping[str, Any]:
    module = importlib.import_module("newton.examples.vbd.example_vbd_soft_rigid_contact")
    return {"info": {"body_indices": range(6)}, "params": module.PARAMS, "frame": 0}


def _bag(simulation: pippin.Simulation) -> Mapping[str, Any]:
    module = importlib.import_module("newton.examples.vbd.example_vbd_soft_rigid_mix_contact")
    return {"info": {"body_indices": range(5)}, "params": module.PARAMS, "frame": 0}


def _robots_on_rollers(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return what Newton's own step follows: it moves the goal that its check compares, and drives nothing."""
    model = simulation.model
    bodies, starts = model.body_label, model.joint_qd_start.numpy()
    drives = [f"{end}_{side}_joint" for end in ("front", "rear") for side in ("left", "right")]
    wheels = [f"ballbot_wheel_{number}_joint" for number in range(3)]
    arrays = {
        name: wp.zeros(1, dtype=wp.vec3)
        for name in ("ballbot_target_position", "ballbot_command", "ballbot_disturbance")
    }
    dofs = [starts[model.joint_label.index(label)] for label in (*drives, *wheels)]
    silent = {"control": SimpleNamespace(joint_target_qd=wp.zeros(model.joint_dof_count, dtype=float))}
    largest = dict.fromkeys(
        [
            *("max_forward_travel", "max_lateral_travel", "max_yaw", "max_drive_speed", "max_ballbot_offset"),
            *("max_ballbot_drive_speed", "ballbot_velocity_error_ema", "max_ballbot_velocity_error"),
        ],
        0.0,
    )
    return {
        **arrays,
        **silent,
        **largest,
        "chassis": bodies.index("warehouse_robot"),
        "chassis_start": simulation.state.body_q.numpy()[bodies.index("warehouse_robot"), :3].copy(),
        "ballbot_ball": bodies.index("ballbot_ball"),
        "ballbot_body": bodies.index("ballbot_body"),
        "min_ballbot_up": 1.0,
        "min_ballbot_height": math.inf,
        "ballbot_circle_center": wp.vec3(-2.4, 0.0, 1.1),
        "ballbot_circle_radius": 1.0,
        "ballbot_circle_speed": 0.4,
        "ballbot_velocity_feedforward": 0.75,
        "ballbot_target_velocity": np.zeros(2, dtype=np.float32),
        "wheel_outer_radius": 0.207122,
        "drive_dof_indices": np.array(dofs[:4]),
        "drive_dofs": wp.array(dofs[:4], dtype=int),
        "ballbot_drive_dof_indices": np.array(dofs[4:]),
    }


def _plates(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the contact sensors by Newton's names: its own step looks which plate is touched."""
    flap = simulation.sensors["flap"].outputs["net_force"].data.reshape((1,))
    plates = simulation.sensors["plates"].outputs["force_matrix"].data.reshape((2, 2))
    names = {each: index for index, each in enumerate(simulation.model.shape_label)}
    partners = [[names["/env/Cube"], names["/env/Sphere"]]] * 2
    places = {"sensing_indices": [names["/env/Plate1"], names["/env/Plate2"]], "counterpart_indices": partners}
    silent = {"viewer": Mock(), "_set_shape_colors": lambda colors: None, "next_reset": math.inf}
    silent |= {
        "control": SimpleNamespace(joint_target_q=wp.zeros(1, dtype=float)),
        "hinge_joint_q_start": 0,
        "contact_state": None,
        "solver_observables": None,
    }
    return {
        **silent,
        "shape_colors": dict.fromkeys(simulation.model.shape_label),
        "plates_touched": [False, False],
        "counterpart_col": [0, 1],
        "flap_contact_sensor": SimpleNamespace(total_force=flap, update=lambda *args, **kwargs: None),
        "plate_contact_sensor": SimpleNamespace(force_matrix=plates, update=lambda *args, **kwargs: None, **places),
    }


def _color_islands(example: Any) -> None:
    """Let the example find what it colours ants by."""
    module = importlib.import_module("newton.examples.mujoco.example_mujoco_sleeping")
    example.body_tree = example._build_body_tree_mapping()
    example.default_shape_color = wp.clone(example.model.shape_color)
    example.island_palette = wp.array(module.ISLAND_PALETTE, dtype=wp.vec3, device=example.model.device)
    example.inactive_color = wp.vec3(*module.INACTIVE_COLOR)


def _towers(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the towers, and what their check records of each frame."""
    labels = simulation.model.body_label
    return {
        "body_tower": np.array([int(label.split("_")[1]) if label.startswith("tower") else -1 for label in labels]),
        "observables": simulation.observables,
        "frame": 0,
        "previous_body_q": None,
        "previous_body_awake": None,
        "towers_asleep_at_kick": False,
        "towers_woken_by_kick": set(),
        "sleeping_body_moved_frame": None,
    }


def _count_frame(example: Any) -> None:
    """Take a frame and count it; the example's own step launches a graph."""
    example.simulate()
    example.frame += 1


def _box(simulation: pippin.Simulation) -> Mapping[str, Any]:
    module = importlib.import_module("newton.examples.vbd.example_vbd_rigid_rigid_contact")
    return {"info": {"body_indices": range(6)}, "params": module.PARAMS, "frame": 0}


def _tray(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the grains over the tray, and what the check records of each frame."""
    return {
        "solver_type": "admm",
        "track_gap": True,
        "particle_radius": 0.025,
        "falling_particles": range(simulation.model.particle_count),
        "tray_body": 0,
        "min_observed_gap": 1.0,
        "max_collision_contacts": 0,
        "initial_tray_origin": np.zeros(3),
        "max_tray_origin_error": 0.0,
    }


def _fourbar(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the points of both bodies of each hinge of `kamino_mujoco_admm_solver`, in all worlds."""
    halves = {"ground": 0.48, "crank": 0.2657066, "coupler": 0.3231486, "rocker": 0.2166218}
    hinges = (("ground", -1, "crank", -1), ("crank", 1, "coupler", -1))
    hinges += (("coupler", 1, "rocker", 1), ("rocker", -1, "ground", 1))
    labels = [label.rpartition("/")[2] for label in simulation.model.body_label]
    of = {name: [index for index, label in enumerate(labels) if label == name] for name in halves}
    checks = [
        (parent, np.array([halves[one] * here, 0.0, 0.0]), child, np.array([halves[other] * there, 0.0, 0.0]))
        for one, here, other, there in hinges
        for parent, child in zip(of[one], of[other], strict=True)
    ]
    return {"_joint_checks": checks, "use_graph": False}


def _hung(simulation: pippin.Simulation) -> Mapping[str, Any]:
    names = ("ball_body", "pendulum_body", "payload_body")
    return {"center_particle": 65} | dict(zip(names, _bodies(simulation, "ball", "pendulum", "load"), strict=True))


def _fingers(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the fingers and the block of `proxy_joint_gripper`; a motion closes them."""
    places, starts = simulation.state.particle_q.numpy(), simulation.model.joint_q_start.numpy()
    joints = [simulation.model.joint_label.index(label) for label in ("left_joint", "right_joint")]
    return {
        "scenario": "default",
        "_update_gripper_target": lambda: None,
        "left_q_index": starts[joints[0]],
        "right_q_index": starts[joints[1]],
        "soft_particle_start": 0,
        "soft_particle_end": len(places),
        "initial_particle_bounds": (places.min(axis=0), places.max(axis=0)),
    }


def _bed(simulation: pippin.Simulation) -> Mapping[str, Any]:
    """Return the sand and its cells; the example of a loop of its own keeps the sand in a state of its own."""
    return {"mpm_solver": SimpleNamespace(voxel_size=0.1), "sand_state_0": simulation.state}


def _block_on_sand(simulation: pippin.Simulation) -> Mapping[str, Any]:
    count = simulation.model.particle_count
    return {"soft_particles": range(count - 125, count), "mpm_particles": range(count - 125)}


def _grains_on_sand(simulation: pippin.Simulation) -> Mapping[str, Any]:
    count = simulation.model.particle_count
    return {"xpbd_particles": range(count - 256, count), "mpm_particles": range(count - 256)}


CASES = (
    Case(module="basic.example_basic_conveyor", frames=100, attributes=_conveyor, marks=("slow",)),
    Case(module="basic.example_basic_dzhanibekov", frames=230, attributes=_spin),
    Case(module="basic.example_basic_heightfield", frames=120, attributes=_spheres),
    Case(module="basic.example_basic_joints", frames=100),
    Case(
        module="basic.example_basic_multi_solver_overlay",
        frames=50,
        attributes=_layers,
        solvers=("xpbd", "featherstone", "mujoco", "kamino"),
        slow_solvers=("kamino",),
    ),
    Case(module="basic.example_basic_mimic_joint", frames=120, attributes=_screw),
    Case(module="basic.example_basic_pendulum", frames=100),
    Case(module="basic.example_basic_shapes", frames=150, attributes=_shapes),
    Case(module="basic.example_basic_plotting", frames=100, attributes=_plots, marks=("slow",)),
    Case(module="basic.example_basic_urdf", frames=200),
    Case(module="basic.example_recording", frames=120, attributes=_steps, marks=("slow",)),
    Case(module="cable.example_cable_bundle_hysteresis", frames=150, attributes=_bundle, marks=("slow",)),
    Case(module="cable.example_cable_cross_slide_table", frames=540, attributes=_slides, marks=("slow",)),
    Case(module="cable.example_cable_initial_rest_pose", frames=120, attributes=_rest_poses, marks=("slow",)),
    Case(module="cable.example_cable_pile", frames=20, attributes=_pile, marks=("slow",)),
    Case(module="cable.example_cable_plectoneme", frames=20, attributes=_plectoneme, marks=("slow",)),
    Case(module="cable.example_cable_twist", frames=20, attributes=_twist),
    Case(module="cable.example_cable_y_junction", frames=20, attributes=_junction),
    Case(module="cloth.example_cloth_bending", frames=400, marks=("slow",)),
    Case(module="cloth.example_cloth_hanging", frames=10, attributes=_flag, marks=("slow",)),
    Case(module="cloth.example_cloth_poker_cards", frames=30, marks=("slow",)),
    Case(
        module="cloth.example_cloth_rollers", frames=200, attributes=_rolls, marks=("cuda",), has_passed="NVIDIA H100"
    ),
    Case(module="cloth.example_cloth_twist", frames=100, marks=("slow",)),
    Case(module="contacts.example_adaptive_collision", frames=45, attributes=_wall, marks=("slow",)),
    Case(module="contacts.example_balance_bird", frames=120),
    Case(module="contacts.example_contacts_rj45_plug", frames=100, attributes=_plug, marks=("slow",)),
    Case(module="contacts.example_domino_spiral", frames=120, marks=("slow",)),
    Case(module="contacts.example_newton_cradle", frames=120),
    Case(module="contacts.example_pyramid", frames=120, attributes=_pyramid),
    Case(
        module="controllers.example_controller_joint_impedance_heterogeneous",
        frames=120,
        attributes=_impedance,
        solvers=("mujoco", "kamino"),
        slow_solvers=("kamino",),
    ),
    Case(module="diffsim.example_diffsim_ball", frames=16, is_optimised=True, marks=("slow",)),
    Case(module="diffsim.example_diffsim_bear", frames=2, is_optimised=True, marks=("slow",)),
    Case(module="diffsim.example_diffsim_cloth", frames=4, is_optimised=True, marks=("slow",)),
    Case(module="diffsim.example_diffsim_drone", frames=10, is_optimised=True, marks=("slow",)),
    Case(module="diffsim.example_diffsim_soft_body", frames=10, is_optimised=True, marks=("slow",)),
    Case(module="diffsim.example_diffsim_spring_cage", frames=4, is_optimised=True, marks=("slow",)),
    Case(
        module="kamino.example_kamino_basic_dr_testmech",
        frames=120,
        is_empty=True,
        asset="newton:disneyresearch/dr_testmech/usd/dr_testmech.usda",
        marks=("slow",),
    ),
    Case(module="kamino.example_kamino_basic_fourbar", frames=120, is_empty=True, is_still=True, marks=("slow",)),
    Case(module="kamino.example_kamino_basic_heterogeneous", frames=120, is_empty=True, marks=("slow",)),
    Case(
        module="kamino.example_kamino_robot_anymal_d",
        frames=500,
        attributes=lambda simulation: {"dynamics_solver": "padmm", "device": simulation.device},
        asset="newton:anybotics_anymal_d/usd/anymal_d.usda",
        marks=("slow",),
    ),
    Case(module="mpm.example_mpm_beam_twist", frames=100, attributes=_steps, marks=("cuda",), has_passed="NVIDIA H100"),
    Case(module="mpm.example_mpm_grain_rendering", frames=10, marks=("slow",)),
    Case(module="mpm.example_mpm_granular", frames=100, attributes=_sand, marks=("cuda",), has_passed="NVIDIA H100"),
    Case(module="mpm.example_mpm_multi_material", frames=10, marks=("slow",)),
    Case(module="mpm.example_mpm_pinch_carry", frames=300, attributes=_pads, marks=("cuda",), has_passed=ON_CPU),
    Case(module="mpm.example_mpm_snow_ball", frames=30, marks=("cuda",), has_passed="NVIDIA H100"),
    Case(module="mpm.example_mpm_twoway_coupling", frames=80, attributes=_bed, marks=("slow",)),
    Case(module="mpm.example_mpm_viscous", frames=30, attributes=_funnel, marks=("cuda",), has_passed="NVIDIA H100"),
    Case(
        module="mpm.example_mpm_water_dam_break",
        frames=10,
        attributes=_water,
        finish=_draw_water,
        marks=("cuda",),
        has_passed="NVIDIA H100",
    ),
    Case(
        module="mujoco.example_mujoco_sleeping",
        frames=300,
        attributes=_steps,
        finish=_color_islands,
        marks=("cuda",),
        has_passed="NVIDIA H100",
    ),
    Case(module="multiphysics.example_admm_contact_solver", frames=120, attributes=_tray, marks=("slow",)),
    Case(module="multiphysics.example_kamino_mujoco_admm_solver", frames=30, attributes=_fourbar, marks=("slow",)),
    Case(module="multiphysics.example_mujoco_mpm_coupled_solver", frames=2, attributes=_bed, marks=("slow",)),
    Case(module="multiphysics.example_mujoco_vbd_admm_solver", frames=30, attributes=_hung, marks=("slow",)),
    Case(module="multiphysics.example_mujoco_vbd_coupled_solver", frames=2, marks=("slow",)),
    Case(module="multiphysics.example_mujoco_xpbd_coupled_solver", frames=2, marks=("slow",)),
    Case(module="multiphysics.example_proxy_joint_gripper", frames=120, attributes=_fingers, marks=("slow",)),
    Case(module="multiphysics.example_rigid_soft_contact", frames=2, marks=("slow",)),
    Case(module="multiphysics.example_softbody_dropping_to_cloth", frames=2, marks=("slow",)),
    Case(module="multiphysics.example_softbody_gift", frames=2, marks=("slow",)),
    Case(
        module="multiphysics.example_vbd_dat_rigid_soft",
        frames=300,
        attributes=_caught,
        marks=("cuda",),
        has_passed=ON_CPU,
    ),
    Case(module="multiphysics.example_vbd_mpm_coupled_solver", frames=2, attributes=_block_on_sand, marks=("slow",)),
    Case(module="multiphysics.example_xpbd_mpm_coupled_solver", frames=2, attributes=_grains_on_sand, marks=("slow",)),
    Case(module="multiphysics.example_xpbd_vbd_coupled_solver", frames=5, marks=("slow",)),
    Case(
        module="robot.example_robot_anymal_d",
        frames=10,
        attributes=_free_root,
        asset="newton:anybotics_anymal_d/usd/anymal_d.usda",
        marks=("slow",),
    ),
    Case(
        module="robot.example_robot_h1",
        frames=500,
        attributes=_free_root,
        asset="newton:unitree_h1/usd_structured/h1.usda",
        marks=("slow",),
    ),
    Case(module="robot.example_robot_cartpole", frames=10),
    Case(module="robot.example_robot_omniwheel", frames=500, attributes=_robots_on_rollers, marks=("slow",)),
    Case(module="selection.example_selection_articulations", frames=10, attributes=_steps, marks=("slow",)),
    Case(
        module="selection.example_selection_cartpole",
        frames=10,
        attributes=lambda simulation: {**_steps(simulation), "solver_type": "mujoco", "_body_q_after_view_fk": None},
    ),
    Case(module="selection.example_selection_materials", frames=10, attributes=_steps),
    Case(module="selection.example_selection_multiple", frames=10, attributes=_steps, marks=("slow",)),
    Case(module="sensors.example_sensor_contact", frames=160, attributes=_plates),
    Case(module="sensors.example_sensor_imu", frames=200, attributes=_imu),
    Case(module="softbody.example_softbody_hanging", frames=2, marks=("slow",)),
    Case(
        module="steel.example_steel_sleeping",
        frames=340,
        attributes=_towers,
        step=_count_frame,
        marks=("cuda",),
        has_passed="NVIDIA H100",
    ),
    Case(module="tendon.example_tendon_3d_routing", frames=60, attributes=_routing),
    Case(module="tendon.example_tendon_capstan_friction", frames=45, attributes=_capstans, marks=("slow",)),
    Case(module="tendon.example_tendon_mujoco_switch", frames=210, attributes=_switch, is_still=True),  # it returns
    Case(module="tendon.example_tendon_pinhole", frames=30),
    Case(module="tendon.example_tendon_pulley", frames=30),
    Case(module="vbd.example_cable_bend_stiffness", frames=510, attributes=_cantilevers, marks=("slow",)),
    Case(module="vbd.example_cable_bend_twist_analytic", frames=390, attributes=_arcs, marks=("slow",)),
    Case(module="vbd.example_cable_dahl_hysteresis", frames=870, attributes=_friction, marks=("slow",)),
    Case(module="vbd.example_cable_michell_threshold", frames=360, attributes=_rings, marks=("slow",)),
    Case(module="vbd.example_cable_torsion_material_mapping", frames=510, attributes=_torsion, marks=("slow",)),
    Case(module="vbd.example_cable_twist_buckling", frames=630, attributes=_buckling, marks=("slow",)),
    Case(module="vbd.example_cable_twist_transfer", frames=390, attributes=_roots, marks=("slow",)),
    Case(module="vbd.example_cloth_stiff_material_hanging", frames=360, marks=("slow",)),
    Case(module="vbd.example_cloth_stiff_material_stretch", frames=360, attributes=_sheets, marks=("slow",)),
    Case(module="vbd.example_vbd_gripper_soft_grid", frames=240, attributes=_gripper, marks=("slow",)),
    Case(module="vbd.example_vbd_gripper_soft_triangle", frames=240, attributes=_gripper, marks=("slow",)),
    Case(module="vbd.example_vbd_rigid_rigid_contact", frames=100, attributes=_box, marks=("slow",)),
    Case(module="vbd.example_vbd_soft_rigid_contact", frames=100, attributes=_bags, marks=("slow",)),
    Case(module="vbd.example_vbd_soft_rigid_mix_contact", frames=300, attributes=_bag, marks=("slow",)),
)
