"""Failures that Isaac Lab, Newton and Warp have had, each with the tests that would notice it here.

The tests below are those that stand nowhere else. IL is Isaac Lab; numbers are those of issues and pull requests.
"""

from __future__ import annotations

import ast
import gc
import weakref
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.catalog.entries import Catalog

ROOT = Path(__file__).parents[1]
RIGID = sorted(set(Catalog.installed().names("solver")) - {"implicit-mpm", "style3d"})

COVERED = {
    "IL 6483: a reset kept the collision pipeline of a model that was freed": [
        "tests/test_known_failures.py::test_everything_bound_to_a_model_goes_with_its_simulation",
        "tests/test_known_failures.py::test_another_model_can_follow_in_the_same_process",
    ],
    "IL 5961, 5982, 5983: recording moved the state, and the force of the first step was lost": [
        "core/tests/step/test_program.py::test_the_first_step_is_a_real_step",
        "core/tests/step/test_program.py::test_recording_and_comparing_leave_no_trace",
        "tests/step/test_plan.py::test_a_force_written_before_a_step_acts_in_every_substep",
    ],
    "IL 6456: the garbage collector freed device memory while a graph was recorded": [
        "tests/test_known_failures.py::test_the_garbage_collector_waits_until_a_graph_is_recorded",
    ],
    "Warp 992: deleting a graph broke one recorded later": [
        "tests/test_known_failures.py::test_deleting_a_graph_leaves_others_as_they_were",
    ],
    "IL 6614: loops that never set a decimation never got a graph": [
        "core/tests/step/test_program.py::test_what_can_be_recorded_becomes_one_graph",
        "tests/docs/test_examples.py::test_an_example_runs_captured_and_stays_finite",
    ],
    "IL 5440: capture broke on one kind of machine": [
        "core/tests/step/test_program.py::test_an_operation_that_raises_while_recorded_is_named",
        "core/tests/step/test_program.py::test_what_a_replay_would_get_wrong_runs_eagerly",
    ],
    "IL 7872: capture fell back to eager steps in silence": [
        "core/tests/step/test_program.py::test_require_refuses_what_differs",
        "tests/step/test_program.py::test_a_plugin_that_works_on_the_host_runs_eagerly_and_alone",
        "tests/cli/test_run.py::test_what_runs_eagerly_is_said",
    ],
    "IL 7567, 7596: a graph of sensors failed with no more than a line in the log": [
        "core/tests/step/test_program.py::test_an_operation_that_raises_while_recorded_is_named",
        "core/tests/step/test_program.py::test_an_eager_operation_splits_the_graph_in_its_place",
    ],
    "IL 6850: MuJoCo had room for more contacts than the pipeline, and crashed": [
        "tests/test_known_failures.py::test_pipeline_and_mujoco_may_have_room_for_different_numbers_of_contacts",
    ],
    "Newton 3702: a full buffer of MuJoCo gave NaN and a line on stdout": [
        "tests/test_simulation.py::test_a_full_buffer_of_mujoco_is_reported_with_the_number_to_write",
        "tests/test_simulation.py::test_contacts_that_do_not_fit_are_reported_with_the_field_to_raise",
    ],
    "Newton 4168: capacities that were asked for were overridden": [
        "tests/test_known_failures.py::test_capacities_are_those_that_were_asked_for",
        "solvers/kamino/tests/test_solver_kamino.py::test_contacts_per_world_size_the_pipeline",
    ],
    "IL 5069, 5071: contacts of the pipeline were wrong on terrain without a margin": [
        "tests/test_known_failures.py::test_a_ball_rests_on_terrain_without_a_margin",
    ],
    "Newton 1266: NaN survived a reset in what the solver starts from": [
        "tests/state/test_reset.py::test_nan_does_not_survive_a_reset",
    ],
    "IL 5782, 4970, 7236: sensors read the time before a reset": [
        "tests/state/test_reset.py::test_readings_of_a_reset_world_are_zero_until_the_next_step",
        "tests/state/test_reset.py::test_a_reset_world_starts_over_and_the_others_go_on_as_if_nothing_was",
    ],
    "IL 6350: derived state was read before it was computed": [
        "tests/step/test_plan.py::test_bodies_follow_the_joints_of_a_solver_that_moves_joints_only",
        "tests/step/test_plan.py::test_joint_state_follows_the_bodies_in_maximal_coordinates",
    ],
    "IL 6927, 6934: a force in the frame of a body was written where the frame of the world is expected": [
        "tests/test_known_failures.py::test_a_force_acts_at_the_centre_of_mass_along_the_axes_of_the_world",
        "solvers/mujoco_native/tests/test_solver_mujoco_native.py"
        "::test_a_wrench_acts_at_the_centre_of_mass_along_the_axes_of_the_world",
    ],
    "IL 6193, 5710: one simulation owned what another one used": [
        "tests/step/test_plan.py::test_two_simulations_side_by_side_equal_two_alone",
        "tests/step/test_program.py::test_two_simulations_stepped_by_two_threads_equal_two_alone",
    ],
    "IL 5756: a registry on a class was emptied by each use": [
        "tests/step/test_program.py::test_two_plugins_of_one_class_are_told_apart",
    ],
    "IL 4654: an odd number of substeps ended in the other state": [
        "tests/step/test_plan.py::test_a_step_ends_in_the_same_state_object",
        "tests/step/test_plan.py::test_captured_steps_give_the_bits_of_eager_steps",
    ],
    "IL 5439, 7470: parts that a solver has to fill were not checked": [
        "tests/step/test_program.py::test_a_solver_that_is_not_returned_is_an_error",
        "tests/step/test_program.py::test_two_that_step_the_solver_are_an_error_that_names_both",
        "tests/step/test_plan.py::test_a_solver_that_wrongly_claims_reduced_coordinates_is_refused",
    ],
    "Newton 2203, 852: nobody said how to add a solver, or what each can do": [
        "tests/outside/test_outside_solver.py::test_a_solver_from_outside_runs_the_ant_by_changing_one_word",
        "tests/docs/test_docs.py::test_the_page_is_what_the_script_writes",
    ],
    "Newton 2322: there was no way to ask for the force on a joint": [
        "solvers/mujoco/tests/test_solver_mujoco.py::test_it_keeps_the_contract",
        "tests/test_simulation.py::test_a_sensor_the_solver_cannot_serve_is_refused_before_anything_is_built",
    ],
}

NOT_HERE = {
    "IL 6687: the tree over particles was not refitted for cameras": "there is no camera among the sensors",
}


def functions_of(path):
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("failure", COVERED)
def test_a_known_failure_has_tests_that_exist(failure):
    assert failure not in NOT_HERE
    for node in COVERED[failure]:
        path, _, name = node.partition("::")
        assert name in functions_of(ROOT / path), node


def held_by(simulation):
    """Return weak references to what a simulation made for its model."""
    source, program = simulation.contact_source, simulation.program
    held = [simulation, simulation.model, simulation.solver, simulation.state, simulation.control, program, source]
    held += [each for each in (source.pipeline, source.contacts) if each is not None]
    return [weakref.ref(each) for each in (*held, *(segment.graph for segment in program.segments if segment.graph))]


@pytest.mark.parametrize("name", RIGID)
def test_everything_bound_to_a_model_goes_with_its_simulation(name, ball, configure):
    with pippin.Simulation(configure(name, scene={"ground": True}), prototype=ball(height=0.0995)) as simulation:
        simulation.step(2)
        simulation.reset()
    held = held_by(simulation)

    del simulation
    gc.collect()

    assert [reference() for reference in held] == [None] * len(held)


@pytest.mark.parametrize("name", ["mujoco", "xpbd"])
def test_another_model_can_follow_in_the_same_process(name, device, ball, chain, configure):
    """The second one has other counts of everything, and moves as if it had been the first."""
    ends = []
    for before in ([], [ball(height=0.0995)]):
        for prototype in before:
            with pippin.Simulation(configure(name, device=device, scene={"ground": True}), prototype=prototype) as gone:
                gone.step(3)
            del gone
            gc.collect()
        config = configure(name, device=device, scene={"worlds": 3, "ground": True}, capture="require")
        with pippin.Simulation(config, prototype=chain()) as simulation:
            simulation.step(5)
            ends.append(simulation.state.body_q.numpy())

    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("name", ["mujoco", "xpbd"])
def test_deleting_a_graph_leaves_others_as_they_were(name, device, ball, configure):
    """One graph is deleted after another was recorded, and before a third is."""
    config = configure(name, device=device, scene={"ground": True}, capture="require")
    deleted, kept = (pippin.Simulation(config, prototype=ball(height=0.0995)) for _ in range(2))
    deleted.step(2)
    kept.step(2)
    graph = weakref.ref(deleted.program.segments[0].graph)

    del deleted
    gc.collect()
    kept.step(3)
    later = pippin.Simulation(config, prototype=ball(height=0.0995))
    later.step(5)

    assert graph() is None
    np.testing.assert_array_equal(kept.state.body_q.numpy(), later.state.body_q.numpy())


def test_the_garbage_collector_waits_until_a_graph_is_recorded(device, ball, configure):
    seen = set()

    class Witness:
        @pippin.hookimpl
        def before_substep(self):
            seen.add((wp.get_device(device).is_capturing, gc.isenabled()))

    with pippin.Simulation(configure("xpbd", device=device), plugins=[Witness()], prototype=ball()) as simulation:
        simulation.step(2)

    assert seen == {(False, True), (True, False)}
    assert gc.isenabled()


@pytest.mark.parametrize(("nconmax", "rigid_contact_max"), [(200, 8), (8, 200)])
def test_pipeline_and_mujoco_may_have_room_for_different_numbers_of_contacts(
    nconmax, rigid_contact_max, ball, configure
):
    """A sphere on the ground has one contact, which carries its weight whoever has more room."""
    config = configure(
        {"type": "mujoco", "use_mujoco_contacts": False, "nconmax": nconmax},
        scene={"ground": True},
        collision={"rigid_contact_max": rigid_contact_max},
        sensors={"touch": {"type": "contact", "bodies": ["ball"]}},
    )
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(300)
        simulation.check()

        force = simulation.sensors["touch"].outputs["net_force"].data.numpy()[0, 0]

    np.testing.assert_allclose(force, [0.0, 0.0, 9.81], rtol=1e-3, atol=1e-3)


def test_capacities_are_those_that_were_asked_for(ball, configure):
    """The pipeline's is for all worlds together, MuJoCo's for each."""
    scene = {"worlds": 3, "ground": True}
    piped = configure("xpbd", scene=scene, collision={"rigid_contact_max": 21})
    own = configure({"type": "mujoco", "nconmax": 7, "njmax": 29}, scene=scene)
    with pippin.Simulation(piped, prototype=ball()) as simulation:
        assert simulation.contacts.rigid_contact_max == 21
    with pippin.Simulation(own, prototype=ball()) as simulation:
        assert simulation.solver.mjw_data.naconmax == 3 * 7
        assert simulation.solver.mjw_data.njmax == 29


@pytest.mark.parametrize("solver", ["xpbd", {"type": "mujoco", "use_mujoco_contacts": False}], ids=str)
def test_a_ball_rests_on_terrain_without_a_margin(solver, ball, configure):
    """Triangles in a plane; the ball is in the middle of none. MuJoCo's contacts yield by half a millimetre."""
    prototype = ball(height=0.12)
    prototype.shape_margin[0] = prototype.shape_gap[0] = 0.0
    sides = np.linspace(-0.47, 0.53, 5)
    vertices = np.array([(x, y, 0.0) for x in sides for y in sides], dtype=np.float32)
    corners = [5 * row + column for row in range(4) for column in range(4)]
    triangles = [index + k for index in corners for k in (0, 5, 1, 5, 6, 1)]
    sharp = newton.ModelBuilder.ShapeConfig(margin=0.0, gap=0.0)
    prototype.add_shape_mesh(-1, mesh=newton.Mesh(vertices, triangles, compute_inertia=False), cfg=sharp)

    with pippin.Simulation(configure(solver), prototype=prototype) as simulation:
        simulation.step(300)
        simulation.check()
        position = simulation.state.body_q.numpy()[0, :3]

    np.testing.assert_allclose(position, [0.0, 0.0, 0.1], atol=5e-4)


def test_a_force_acts_at_the_centre_of_mass_along_the_axes_of_the_world(solver, configure):
    """A force along x on a body that is turned by 90° about z, and whose centre of mass lies beside its origin.

    Its centre of mass gains F dt / m along the world's x, and it does not turn. Float32 of velocities that are
    differences of positions allows 1e-4.
    """
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    turned = wp.transform(wp.vec3(0.0), wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), np.pi / 2))
    body = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(0.1)), xform=turned)
    builder.body_com[body] = wp.vec3(0.2, 0.0, 0.0)
    builder.add_articulation([builder.add_joint_free(body)])
    config = configure(solver, dt=0.01, substeps=5, scene={"gravity": [0.0, 0.0, 0.0]})

    with pippin.Simulation(config, prototype=builder) as simulation:
        simulation.state.body_f.assign([[6.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
        simulation.step()
        velocity = simulation.state.body_qd.numpy()[0]

    np.testing.assert_allclose(velocity, [6.0 * 0.01 / 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-4)
