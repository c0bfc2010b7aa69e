"""Contact views: forces that add up, split by what exerts them, contact by contact, on solvers that report them."""

import copy
import re
from pathlib import Path

import newton
import numpy as np
import pippin
import pytest
import warp as wp

WEIGHT = np.array([0.0, 0.0, 9.81])


def add_box(builder, label, position, mass=1.0):
    body = builder.add_body(label=label, xform=wp.transform(wp.vec3(*position), wp.quat_identity()))
    size = newton.ModelBuilder.ShapeConfig(density=mass / 0.2**3, mu=0.8)
    builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=size, label=f"{label}/skin")
    return body


@pytest.fixture(scope="module")
def boxes():
    """A box of 1 kg, a stack of 2 kg under 3 kg, and a table top that nothing moves, in the middle of the air."""
    builder = newton.ModelBuilder()
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    add_box(builder, "/lone", (0.0, 0.0, 0.1))
    add_box(builder, "/bottom", (1.0, 0.0, 0.1), 2.0)
    add_box(builder, "/top", (1.0, 0.0, 0.3), 3.0)
    add_box(builder, "/shelved", (2.0, 0.0, 1.15), 1.0)
    shelf = wp.transform(wp.vec3(2.0, 0.0, 1.0), wp.quat_identity())
    builder.add_shape_box(-1, xform=shelf, hx=0.3, hy=0.3, hz=0.05, label="/furniture/shelf")
    return builder


SOLVERS = {
    "mujoco": {"type": "mujoco"},
    "mujoco with Newton's contacts": {"type": "mujoco", "use_mujoco_contacts": False},
    "xpbd": {"type": "xpbd", "iterations": 10},
    "steel": {"type": "steel"},
    "vbd": {"type": "vbd"},
}


@pytest.fixture(scope="module", params=SOLVERS)
def settled(simulate, request, boxes):
    """Two worlds of boxes that have come to rest."""
    solver = SOLVERS[request.param]
    # An odd number of substeps, and one: which of two states is current differs within a step.
    steps = {"dt": 0.006, "substeps": 3} if "use_mujoco_contacts" in solver else {"dt": 0.002}
    with simulate(boxes, solver=solver, **steps) as simulation:
        simulation.step(400)
        simulation.raise_errors()
        yield simulation


pytestmark = pytest.mark.simulation(capture="require", observables=["contact_f"], worlds=2, ground=True)


def mean(simulation, measure, count=50):
    """XPBD's contact forces are corrections divided by dt², and flicker; their mean does not."""
    readings = []
    for _ in range(count):
        simulation.step()
        readings.append(measure().numpy().copy())
    return np.mean(readings, axis=0)


def is_split_truly(simulation):
    """XPBD shares corrections among a body's contacts: what it reports inside a stack is not what carries it."""
    return "xpbd" not in type(simulation.solver).__name__.lower()


def allocated_after(call):
    """Return what Warp's tracker has seen allocated so far in its life: a line per device."""
    reports = []
    with wp.ScopedMemoryTracker("call", report_func=reports.append):
        call()
    return re.search(r"Total allocations:(.*?)Peak usage:", reports[-1], re.DOTALL)[1].strip()


def oracle(simulation, bodies, counterparts=None):
    """Return Newton's own sensor, read now."""
    model = simulation.model
    sensor = newton.sensors.SensorContact(
        model, sensing_bodies=bodies, counterpart_bodies=counterparts, request_contact_attributes=False
    )
    sensor.update(simulation.state, simulation.contacts, observables=simulation.observables)
    return sensor


@pytest.mark.slow
def test_a_body_at_rest_is_carried_by_its_weight(settled):
    view = settled.view.contacts(["/lone", "/shelved"])

    forces = mean(settled, view.net_forces)

    assert view.sensor_labels == ("/lone", "/lone", "/shelved", "/shelved")
    assert view.world_ids.tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(forces, [WEIGHT] * 4, rtol=5e-3, atol=0.05)


@pytest.mark.first_cases(1)
def test_columns_split_the_force_and_add_up_to_it(settled):
    view = settled.view.contacts("/bottom", ["ground_plane", "/top"])

    matrix = mean(settled, view.force_matrix)

    assert view.filter_labels == (("ground_plane", "/top"),) * 2
    np.testing.assert_allclose(view.force_matrix().numpy().sum(axis=1), view.net_forces().numpy(), rtol=1e-4, atol=1e-3)
    if is_split_truly(settled):
        np.testing.assert_allclose(matrix[:, 0], [5.0 * WEIGHT] * 2, rtol=5e-3, atol=0.05)
        np.testing.assert_allclose(matrix[:, 1], [-3.0 * WEIGHT] * 2, rtol=5e-3, atol=0.05)


@pytest.mark.first_cases(2)
def test_forces_are_those_of_newtons_sensor(settled):
    """Both add the same numbers in some order: floats of sizes that add up to S then differ by 2 (n - 1) S / 2²⁴."""
    bodies = [body for body, label in enumerate(settled.model.body_label) if label in ("/bottom", "/top")]
    view = settled.view.contacts(bodies, ["/top"], max_contact_data=64)
    sizes = [np.abs(data.forces.numpy()).sum() for data in (view.raw_contact_data(), view.friction_data())]
    rounding = 2.0 * int(view.raw_contact_data().counts.numpy().sum()) * sum(sizes) / 2**24

    theirs = oracle(settled, bodies, [body for body in bodies if settled.model.body_label[body] == "/top"])

    assert rounding < 1e-3
    np.testing.assert_allclose(view.net_forces().numpy(), theirs.total_force.numpy(), rtol=0.0, atol=rounding)
    np.testing.assert_allclose(view.force_matrix().numpy(), theirs.force_matrix.numpy(), rtol=0.0, atol=rounding)
    assert np.abs(theirs.force_matrix.numpy()).max() > 1.0


def test_static_shapes_have_columns_of_their_own(settled):
    """Isaac merges all of them into one."""
    view = settled.view.contacts(["/lone", "/shelved"], ["ground_plane", "/furniture/shelf"])

    on_ground, on_shelf = mean(settled, view.force_matrix)[:, :, 2].T

    np.testing.assert_allclose(on_ground, [9.81, 9.81, 0.0, 0.0], rtol=5e-3)
    np.testing.assert_allclose(on_shelf, [0.0, 0.0, 9.81, 9.81], rtol=5e-3)


def test_contacts_push_the_sensor_away_whichever_shape_it_is(settled):
    """Isaac gives |f| with a sign of its own, so that force times normal is wrong for one of the two."""
    view = settled.view.contacts(["/bottom", "/top"], max_contact_data=64)
    data = view.raw_contact_data()
    frictions = view.friction_data().forces.numpy()

    counts, starts = data.counts.numpy(), data.starts.numpy()
    assert (counts > 0).all()
    for sensor, net in enumerate(view.net_forces().numpy()):
        rows = slice(starts[sensor], starts[sensor] + counts[sensor])
        force, normal = data.forces.numpy()[rows], data.normals.numpy()[rows]
        assert (force >= -1e-4).all()
        np.testing.assert_allclose((force[:, None] * normal + frictions[rows]).sum(axis=0), net, rtol=1e-3, atol=2e-3)
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, rtol=1e-5)
    used = counts.sum()
    assert (data.forces.numpy()[used:] == 0.0).all()
    assert (data.other_shapes.numpy()[used:] == -1).all()


def test_points_lie_where_surfaces_meet_and_separations_are_small(settled):
    view = settled.view.contacts(["/bottom"], ["/top"], max_contact_data=64)

    data = view.contact_data()

    used = data.counts.numpy().sum()
    assert used > 0
    np.testing.assert_allclose(data.points.numpy()[:used, 2], 0.2, atol=0.01)
    np.testing.assert_allclose(data.points.numpy()[:used, :2], [[1.0, 0.0]] * used, atol=0.15)
    assert np.abs(data.separations.numpy()[:used]).max() < 0.02
    np.testing.assert_allclose(data.normals.numpy()[:used], [[0.0, 0.0, -1.0]] * used, atol=1e-3)


def test_raw_contacts_tell_what_is_touched(settled):
    """And what is near: contacts are detected before surfaces meet, and have no force."""
    view = settled.view.contacts(["/top", "/shelved"], max_contact_data=64)

    data = view.raw_contact_data()

    touching = data.separations.numpy() < 0.01
    assert (data.forces.numpy()[~touching] == 0.0).all()
    for sensor, label in enumerate(["/bottom", "/bottom", "", ""]):
        rows = np.arange(64) - data.starts.numpy()[sensor]
        rows = (rows >= 0) & (rows < data.counts.numpy()[sensor]) & touching
        bodies, shapes = data.other_bodies.numpy()[rows], data.other_shapes.numpy()[rows]
        assert set(view.other_labels(bodies)) == {label}
        assert set(settled.model.shape_world.numpy()[shapes]) == {sensor % 2}
        assert {settled.model.shape_label[shape] for shape in shapes} <= {"/bottom/skin", "/furniture/shelf"}


def test_without_dt_readings_are_forces_and_with_it_impulses(settled):
    view = settled.view.contacts("/shelved", ["/furniture/shelf"], max_contact_data=64)

    force = view.net_forces().numpy().copy()

    np.testing.assert_allclose(view.net_forces(settled.dt).numpy(), force, rtol=1e-6)
    for reading in (view.net_forces(1.0), view.force_matrix(1.0)):
        np.testing.assert_allclose(reading.numpy().reshape(2, 3), force * settled.dt, rtol=1e-5, atol=1e-9)
    pushed = view.contact_data(1.0).forces.numpy().sum()
    np.testing.assert_allclose(pushed, force[:, 2].sum() * settled.dt, rtol=1e-3)


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_a_dt_that_is_not_a_length_of_time_is_refused(settled, dt):
    with pytest.raises(pippin.ConfigError, match="dt: expected a length of time"):
        settled.view.contacts("/lone").net_forces(dt)


@pytest.mark.first_cases(2)
def test_a_reset_world_has_no_contacts_until_it_is_stepped_again(settled):
    view = settled.view.contacts("/shelved", max_contact_data=64)
    before = view.net_forces().numpy().copy()

    settled.reset([1])

    assert (before[:, 2] > 1.0).all()
    np.testing.assert_array_equal(view.net_forces().numpy(), [before[0], np.zeros(3)])
    assert view.raw_contact_data().counts.numpy().tolist() == [4, 0]
    settled.step(400)
    np.testing.assert_allclose(mean(settled, view.net_forces), [WEIGHT] * 2, rtol=5e-3, atol=0.05)


def test_readings_may_be_recorded_and_replayed(settled):
    """A graph of every method gives the bits that eager calls give, a step later too; a GPU adds in any order."""
    view = settled.view.contacts(["/bottom", "/top"], ["/top"], max_contact_data=64)

    def read():
        arrays = [view.net_forces(), view.force_matrix(), *view.contact_data(), *view.raw_contact_data()]
        return [*arrays, *view.friction_data(1.0)]

    read()
    with wp.ScopedCapture(device=settled.device) as capture:
        recorded = read()
    settled.step()
    wp.capture_launch(capture.graph)
    replayed = [array.numpy().copy() for array in recorded]

    for array, again in zip(read(), replayed, strict=True):
        tolerance = 0.0 if settled.device.is_cpu else 1e-5
        np.testing.assert_allclose(array.numpy(), again, rtol=tolerance, atol=tolerance)
    assert np.abs(replayed[0]).max() > 1.0


def test_a_recorded_reading_keeps_its_dt(settled):
    view = settled.view.contacts("/shelved")
    with wp.ScopedCapture(device=settled.device) as capture:
        recorded = view.net_forces(1.0)
    force = view.net_forces().numpy().copy()

    wp.capture_launch(capture.graph)

    np.testing.assert_allclose(recorded.numpy(), force * settled.dt, rtol=1e-6, atol=1e-8)


def test_nothing_is_allocated_by_reading(settled):
    view = settled.view.contacts(["/bottom", "/top"], ["/top"], max_contact_data=64)
    out = np.zeros((4, 3), dtype=np.float32)

    def read():
        view.net_forces(), view.net_forces(1.0, out), view.force_matrix()
        view.contact_data(), view.raw_contact_data(), view.friction_data()

    read()
    before = allocated_after(lambda: None)
    assert allocated_after(read) == before
    assert allocated_after(lambda: wp.zeros(1, device="cpu")) != before


def test_more_contacts_than_rows_are_counted_and_reported(settled):
    view = settled.view.contacts(["/bottom", "/top"], max_contact_data=5)
    view.raise_errors()

    data = view.raw_contact_data()

    counts = data.counts.numpy()
    assert counts.sum() > 5
    assert data.overflow.numpy().tolist() == [counts.sum()]
    assert (data.other_shapes.numpy() >= 0).all()
    with pytest.raises(pippin.SimulationError, match=f"5 rows, but {counts.sum()} were needed"):
        settled.raise_errors()
    view.raise_errors()


def test_a_simulation_without_contact_forces_is_refused_with_the_cure(simulate, boxes):
    """Isaac reads zeros."""
    cure = r"does not ask the solver for 'contact_f'.* write simulation.observables = \[\"contact_f\"\]"
    with (
        simulate(boxes, solver="mujoco", observables=()) as simulation,
        pytest.raises(pippin.ConfigError, match=cure),
    ):
        simulation.view.contacts("/lone")


def test_a_solver_without_contact_forces_is_refused(simulate, boxes):
    with pytest.raises(pippin.ConfigError, match="needs 'contact_f', which solver 'featherstone' does not compute"):
        simulate(boxes, solver="featherstone")


def test_a_body_may_be_a_sensor_of_several_views_and_a_filter_too(settled):
    """Isaac lets each body be one sensor."""
    top = settled.view.contacts("/top", "/bottom")
    both = settled.view.contacts(["/bottom", "/top"], [["/top"], ["/bottom"]])

    matrix = both.force_matrix().numpy()

    np.testing.assert_array_equal(top.force_matrix().numpy(), matrix[2:])
    np.testing.assert_allclose(matrix[:2], -matrix[2:], rtol=1e-5, atol=1e-4)
    assert np.abs(matrix).max() > 1.0


def test_columns_of_sensors_with_fewer_filters_are_zero(settled):
    view = settled.view.contacts(["/top", "/lone"], [["/bottom"], ["/top", "ground_plane"]])

    matrix = view.force_matrix().numpy()

    assert view.filter_count == 2
    assert view.filter_labels[0] == ("/bottom",)
    assert (matrix[:2, 1] == 0.0).all()
    assert (matrix[2:, 0] == 0.0).all()
    assert (np.abs(matrix[:2, 0]).max(axis=1) > 1.0).all()


def test_a_callback_reads_the_forces_of_the_step_before(simulate, boxes):
    """Recorded into the step's graph, it reads anew in each replay."""
    with simulate(boxes, solver="mujoco", worlds=1, dt=0.002) as simulation:
        simulation.step(5)
        view = simulation.view.contacts(["/lone", "/top"])
        seen = wp.zeros((2, 3), dtype=float, device=simulation.device)
        simulation.callbacks.add("before_substep", lambda: view.net_forces(out=seen))
        for _ in range(10):
            before = view.net_forces().numpy().copy()
            simulation.step()
            np.testing.assert_array_equal(seen.numpy(), before)
        assert simulation.program.is_captured
        assert np.abs(before).max() > 1.0


def test_an_invalidated_view_raises(simulate, boxes):
    with simulate(boxes, solver="mujoco", worlds=1) as simulation:
        view = simulation.view.contacts("/lone", max_contact_data=4)
        simulation.view.invalidate()

        for read in (view.net_forces, view.raw_contact_data, view.friction_data):
            with pytest.raises(pippin.SimulationError, match="invalidated"):
                read()


def test_what_a_view_was_not_made_for_is_refused(settled):
    view = settled.view.contacts("/lone")

    for read in (view.force_matrix, view.contact_data):
        with pytest.raises(pippin.ConfigError, match="the view has no filters"):
            read()
    for read in (view.raw_contact_data, view.friction_data):
        with pytest.raises(pippin.ConfigError, match="the view has no rows; make it with max_contact_data"):
            read()
    with pytest.raises(pippin.ConfigError, match="max_contact_data: expected a whole number of at least 0, got -1"):
        settled.view.contacts("/lone", max_contact_data=-1)


def test_what_touches_nothing_has_no_force_and_no_contact(simulate, boxes):
    """In the first step nothing has been detected yet, too."""
    lifted = copy.deepcopy(boxes)
    lifted.joint_q[2] = 3.0
    with simulate(lifted, solver="mujoco", worlds=1) as simulation:
        view = simulation.view.contacts("/lone", "ground_plane", max_contact_data=8)
        for _ in range(3):
            assert not view.net_forces().numpy().any()
            assert not view.force_matrix().numpy().any()
            assert not view.contact_data().counts.numpy().any()
            simulation.step()


@pytest.mark.slow
def test_a_loaded_simulation_has_the_contacts_it_was_saved_with(simulate, boxes, tmp_path):
    def read(simulation):
        view = simulation.view.contacts("/top", "/bottom", max_contact_data=64)
        return [view.net_forces().numpy().copy(), *(array.numpy().copy() for array in view.contact_data())]

    with simulate(boxes, solver="mujoco", dt=0.002) as simulation:
        simulation.step(50)
        simulation.save(tmp_path / "saved")
        expected = read(simulation)
    with pippin.Simulation.load(tmp_path / "saved", prototype=boxes) as loaded:
        for array, again in zip(expected, read(loaded), strict=True):
            np.testing.assert_array_equal(array, again)
    assert expected[0].any()


def test_the_reference_lists_every_array_with_its_shape(settled):
    page = (Path(__file__).parents[3] / "docs" / "reference" / "views.md").read_text(encoding="utf-8")
    view = settled.view.contacts(["/bottom", "/top"], ["/lone", "ground_plane"], max_contact_data=48)
    sizes = {"S": 4, "F": 2, "K": 48}
    listed = set()
    for row in page.partition("## Contacts")[2].splitlines():
        cells = [cell.strip(" `") for cell in row.strip("|").split("|")]
        if not row.startswith("| `"):
            continue
        method, field, _, _, shape = cells
        read = getattr(view, method)()
        array = getattr(read, field) if field else read
        assert array.shape == tuple(sizes.get(size) or int(size) for size in shape.strip("()").split(", ")), row
        listed.add((method, field))

    for method in ("contact_data", "raw_contact_data", "friction_data"):
        assert {field for name, field in listed if name == method} == set(getattr(view, method)()._fields)
    assert {("net_forces", ""), ("force_matrix", "")} <= listed
