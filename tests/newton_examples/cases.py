"""The examples of Newton that stand here as files, in the order of Newton's folders."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pippin
import warp as wp

from .judge import Case


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


def _junction(simulation: pippin.Simulation) -> Mapping[str, Any]:
    bodies = _segments(simulation, "tree")
    joints = [index for index, label in enumerate(simulation.model.joint_label) if "_cable_" in label]
    start = simulation.state.body_q.numpy()[bodies[19]].copy()
    return {"graph_bodies": bodies, "graph_joints": joints, "pinned_body": bodies[19], "pinned_body_q0": start}


def _segments(simulation: pippin.Simulation, label: str) -> list[int]:
    """Return the bodies of a rod."""
    return [index for index, each in enumerate(simulation.model.body_label) if each.startswith(f"{label}_")]


def _sand(simulation: pippin.Simulation) -> Mapping[str, Any]:
    return {"solver": SimpleNamespace(voxel_size=0.1, grid_type="sparse"), "collider": "cube"}


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
    return {"step": simulation.step, "duration": 7.5}


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


def _box(simulation: pippin.Simulation) -> Mapping[str, Any]:
    module = importlib.import_module("newton.examples.vbd.example_vbd_rigid_rigid_contact")
    return {"info": {"body_indices": range(6)}, "params": module.PARAMS, "frame": 0}


CASES = (
    Case(module="basic.example_basic_conveyor", frames=100, attributes=_conveyor),
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
    Case(module="basic.example_recording", frames=120, attributes=_steps, marks=("slow",)),
    Case(module="cable.example_cable_bundle_hysteresis", frames=150, attributes=_bundle, marks=("slow",)),
    Case(module="cable.example_cable_initial_rest_pose", frames=120, attributes=_rest_poses),
    Case(module="cable.example_cable_pile", frames=20, attributes=_pile, marks=("slow",)),
    Case(module="cable.example_cable_plectoneme", frames=20, attributes=_plectoneme, marks=("slow",)),
    Case(module="cable.example_cable_twist", frames=20, attributes=_twist),
    Case(module="cable.example_cable_y_junction", frames=20, attributes=_junction),
    Case(module="cloth.example_cloth_bending", frames=400),
    Case(module="cloth.example_cloth_hanging", frames=10, attributes=_flag, marks=("slow",)),
    Case(module="cloth.example_cloth_poker_cards", frames=30, marks=("slow",)),
    Case(module="cloth.example_cloth_twist", frames=100, marks=("slow",)),
    Case(module="contacts.example_balance_bird", frames=120),
    Case(module="contacts.example_domino_spiral", frames=120),
    Case(module="contacts.example_newton_cradle", frames=120),
    Case(module="contacts.example_pyramid", frames=120, attributes=_pyramid),
    Case(module="kamino.example_kamino_basic_fourbar", frames=120, is_empty=True, is_still=True),
    Case(module="mpm.example_mpm_beam_twist", frames=100, marks=("cuda",)),
    Case(module="mpm.example_mpm_grain_rendering", frames=10, marks=("slow",)),
    Case(module="mpm.example_mpm_granular", frames=100, attributes=_sand, marks=("cuda",)),
    Case(module="mpm.example_mpm_multi_material", frames=10, marks=("slow",)),
    Case(module="mpm.example_mpm_pinch_carry", frames=300, attributes=_pads, marks=("cuda",)),
    Case(module="multiphysics.example_rigid_soft_contact", frames=2),
    Case(module="multiphysics.example_softbody_dropping_to_cloth", frames=2, marks=("slow",)),
    Case(module="multiphysics.example_softbody_gift", frames=2, marks=("slow",)),
    Case(module="robot.example_robot_cartpole", frames=10),
    Case(module="selection.example_selection_articulations", frames=10, attributes=_steps, marks=("slow",)),
    Case(module="selection.example_selection_materials", frames=10, attributes=_steps),
    Case(module="selection.example_selection_multiple", frames=10, attributes=_steps),
    Case(module="sensors.example_sensor_imu", frames=200, attributes=_imu),
    Case(module="softbody.example_softbody_hanging", frames=2),
    Case(module="tendon.example_tendon_3d_routing", frames=60, attributes=_routing),
    Case(module="tendon.example_tendon_capstan_friction", frames=45, attributes=_capstans),
    Case(module="tendon.example_tendon_mujoco_switch", frames=210, attributes=_switch, is_still=True),  # it returns
    Case(module="tendon.example_tendon_pinhole", frames=30),
    Case(module="tendon.example_tendon_pulley", frames=30),
    Case(module="vbd.example_cloth_stiff_material_stretch", frames=360, attributes=_sheets, marks=("slow",)),
    Case(module="vbd.example_vbd_gripper_soft_grid", frames=240, attributes=_gripper, marks=("slow",)),
    Case(module="vbd.example_vbd_gripper_soft_triangle", frames=240, attributes=_gripper, marks=("slow",)),
    Case(module="vbd.example_vbd_rigid_rigid_contact", frames=100, attributes=_box),
)
