"""Failures that Isaac Lab, Newton and Warp have had, each with the tests that would notice it here.

IL is Isaac Lab; numbers are those of issues and pull requests.
"""

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

COVERED = {
    "IL 6483: a reset kept the collision pipeline of a model that was freed": [
        "test_everything_bound_to_a_model_goes_with_its_simulation",
        "test_another_model_can_follow_in_the_same_process",
    ],
    "IL 5961, 5982, 5983: recording moved the state, and the force of the first step was lost": [
        "test_the_first_step_is_a_real_step",
        "test_recording_and_comparing_leave_no_trace",
        "test_a_force_written_before_a_step_acts_in_every_substep",
    ],
    "IL 6456: the garbage collector freed device memory while a graph was recorded": [
        "test_the_garbage_collector_waits_until_a_graph_is_recorded",
    ],
    "Warp 992: deleting a graph broke one recorded later": [
        "test_deleting_a_graph_leaves_others_as_they_were",
    ],
    "IL 6614: loops that never set a decimation never got a graph": [
        "test_what_can_be_recorded_becomes_one_graph",
        "test_an_example_runs_captured_and_stays_finite",
    ],
    "IL 5440: capture broke on one kind of machine": [
        "test_an_operation_that_raises_while_recorded_is_named",
        "test_what_a_replay_would_get_wrong_runs_eagerly",
    ],
    "IL 7872: capture fell back to eager steps in silence": [
        "test_require_refuses_what_differs",
        "test_a_plugin_that_works_on_the_host_runs_eagerly_and_alone",
        "test_what_runs_eagerly_is_said",
    ],
    "IL 7567, 7596: a graph of sensors failed with no more than a line in the log": [
        "test_an_operation_that_raises_while_recorded_is_named",
        "test_an_eager_operation_splits_the_graph_in_its_place",
    ],
    "IL 6850: MuJoCo had room for more contacts than the pipeline, and crashed": [
        "test_pipeline_and_mujoco_may_have_room_for_different_numbers_of_contacts",
    ],
    "Newton 3702: a full buffer of MuJoCo gave NaN and a line on stdout": [
        "test_a_full_buffer_of_mujoco_is_reported_with_the_number_to_write",
        "test_contacts_that_do_not_fit_are_reported_with_the_field_to_raise",
    ],
    "Newton 4168: capacities that were asked for were overridden": [
        "test_capacities_are_those_that_were_asked_for",
        "test_contacts_per_world_size_the_pipeline",
    ],
    "IL 5069, 5071: contacts of the pipeline were wrong on terrain without a margin": [
        "test_a_ball_rests_on_terrain_without_a_margin",
    ],
    "Newton 1266: NaN survived a reset in what the solver starts from": [
        "test_nan_does_not_survive_a_reset",
    ],
    "IL 5782, 4970, 7236: sensors read the time before a reset": [
        "test_readings_of_a_reset_world_are_zero_until_the_next_step",
        "test_a_reset_world_starts_over_and_the_others_continue_as_if_nothing_was",
    ],
    "IL 6350: derived state was read before it was computed": [
        "test_bodies_follow_the_joints_of_a_solver_that_moves_joints_only",
        "test_joint_state_follows_the_bodies_in_maximal_coordinates",
    ],
    "IL 6927, 6934: a force in the frame of a body was written where the frame of the world is expected": [
        "test_a_force_acts_at_the_centre_of_mass_along_the_axes_of_the_world",
        "test_a_wrench_acts_at_the_centre_of_mass_along_the_axes_of_the_world",
    ],
    "IL 6193, 5710: one simulation owned what another one used": [
        "test_two_simulations_side_by_side_equal_two_alone",
        "test_two_simulations_stepped_by_two_threads_equal_two_alone",
    ],
    "IL 5756: a registry on a class was emptied by each use": [
        "test_two_plugins_of_one_class_are_told_apart",
    ],
    "IL 4654: an odd number of substeps ended in the other state": [
        "test_a_step_ends_in_the_same_state_object",
        "test_captured_steps_give_the_bits_of_eager_steps",
    ],
    "IL 5439, 7470: parts that a solver has to fill were not checked": [
        "test_a_solver_that_is_not_returned_is_an_error",
        "test_two_that_step_the_solver_are_an_error_that_names_both",
        "test_a_solver_that_wrongly_claims_reduced_coordinates_is_refused",
    ],
    "Newton 2203, 852: nobody said how to add a solver, or what each can do": [
        "test_a_solver_from_outside_runs_the_ant_by_changing_one_word",
        "test_the_page_is_what_the_script_writes",
    ],
    "Newton 2322: there was no way to ask for the force on a joint": [
        "test_it_keeps_the_contract",
        "test_a_sensor_the_solver_cannot_serve_is_refused_before_anything_is_built",
    ],
}
"""Names of the tests, in whatever file they stand."""


@functools.cache
def names_of_tests() -> set[str]:
    files = (path for folder in ("core", "solvers", "tests") for path in (ROOT / folder).rglob("test_*.py"))
    return {name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)}


@pytest.mark.parametrize("failure", COVERED)
def test_a_known_failure_has_tests_that_exist(failure):
    assert set(COVERED[failure]) <= names_of_tests()
