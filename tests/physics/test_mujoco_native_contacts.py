"""Contacts that MuJoCo's C engine reports: weights, friction and partners by formula, and `mujoco` beside it."""

from __future__ import annotations

import newton
import numpy as np
import pippin
import pytest
import warp as wp

TOWER = """<mujoco>
<option gravity="0 0 -10"/>
<worldbody>
  <geom name="floor" type="plane" size="5 5 .1"/>
  <body name="low" pos="0 0 .1"><freejoint/><geom name="low" type="box" size=".1 .1 .1" mass="2"/></body>
  <body name="high" pos="0 0 .3"><freejoint/><geom name="high" type="box" size=".1 .1 .1" mass="3"/></body>
</worldbody>
</mujoco>"""


@pytest.fixture
def tower(configure, tmp_path):
    """Return the tables of two worlds in each of which a box of 3 kg stands on one of 2 kg."""
    (tmp_path / "tower.xml").write_text(TOWER, encoding="utf-8")

    def tables(solver="mujoco-native", *, gravity=(0.0, 0.0, -10.0), sensors=True, worlds=2):
        scene = {"worlds": worlds, "gravity": list(gravity), "assets": [{"path": str(tmp_path / "tower.xml")}]}
        boxes = {"type": "contact", "bodies": ["low", "high"], "partners": ["floor", "low", "high"]}
        table = {"type": solver} if isinstance(solver, str) else solver
        return configure(table, scene=scene, sensors={"boxes": boxes} if sensors else {}, dt=0.005)

    return tables


def outputs(simulation):
    return {name: each.data.numpy() for name, each in simulation.sensors["boxes"].outputs.items()}


def test_boxes_feel_their_weights_their_friction_and_each_other(tower):
    with pippin.Simulation(tower(gravity=(2.0, 0.0, -10.0))) as simulation:
        simulation.step(200)
        felt = outputs(simulation)

        partners = simulation.sensors["boxes"].partners

    floor, high, nothing = np.array([-10.0, 0.0, 50.0]), np.array([-6.0, 0.0, 30.0]), np.zeros(3)
    assert [label.rpartition("/")[2] for label in partners] == ["low", "high", "floor"]
    for world in range(2):
        np.testing.assert_allclose(felt["net_force"][world], [floor - high, high], atol=0.02)
        expected = [[nothing, -high, floor], [high, nothing, nothing]]
        np.testing.assert_allclose(felt["force_matrix"][world], expected, atol=0.02)
        np.testing.assert_allclose(felt["friction_matrix"][world, 0, 2], [-10.0, 0.0, 0.0], atol=0.02)
        assert felt["in_contact"][world].all()


@pytest.mark.slow
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_are_those_of_mujoco_on_warp(tower, cone):
    found = []
    for solver in ("mujoco-native", "mujoco"):
        with pippin.Simulation(tower({"type": solver, "cone": cone}, gravity=(2.0, 0.0, -10.0))) as simulation:
            simulation.step(100)
            contacts, forces = simulation.contacts, simulation.observables.contact_f.numpy()
            count = int(contacts.rigid_contact_count.numpy()[0])
            arrays = [getattr(contacts, f"rigid_contact_{name}").numpy()[:count] for name in PARTS]
            rows = np.column_stack([*arrays, forces[:count]])
            found.append(rows[np.lexsort(np.round(rows[:, :5], 3).T)])

    assert len(found[0]) == 16, "four below each box, in two worlds"
    np.testing.assert_allclose(found[0], found[1], atol=2e-2)


PARTS = ("shape0", "shape1", "point0", "point1", "normal")


@pytest.mark.slow
def test_reading_contacts_changes_no_bit_of_the_motion(tower):
    ends = []
    for sensors in (True, False):
        with pippin.Simulation(tower(gravity=(8.0, 1.0, -10.0), sensors=sensors)) as simulation:
            simulation.step(50)
            ends.append(simulation.state.joint_q.numpy().copy())

    np.testing.assert_array_equal(*ends)


@pytest.mark.slow
def test_worlds_with_masses_of_their_own_report_their_own_forces(tower):
    with pippin.Simulation(tower()) as simulation:
        simulation.view.rigid_bodies("**/high").set_masses(np.float32([3.0, 6.0]))
        simulation.step(200)
        felt = outputs(simulation)["net_force"]

    np.testing.assert_allclose(felt[:, 1, 2], [30.0, 60.0], rtol=1e-3)


@pytest.mark.slow
def test_worlds_that_are_built_with_other_masses_report_their_own_forces(configure):
    def box(density):
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        body = builder.add_body(xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()), label="box")
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=density))
        return builder

    scene = {"worlds": 2, "ground": True, "gravity": [0.0, 0.0, -10.0]}
    config = configure("mujoco-native", scene=scene, sensors={"boxes": {"type": "contact", "bodies": ["box"]}})
    with pippin.Simulation(config, prototype=[(box(250.0), 1), (box(750.0), 1)]) as simulation:
        simulation.step(500)
        felt = outputs(simulation)["net_force"]

    np.testing.assert_allclose(felt[:, 0, 2], [20.0, 60.0], rtol=1e-3)


@pytest.mark.slow
def test_more_contacts_than_rows_are_refused_with_the_number_that_is_needed(tower):
    with (
        pippin.Simulation(tower({"type": "mujoco-native", "nconmax": 5})) as simulation,
        pytest.raises(pippin.SimulationError, match=r"16 contacts of 2 worlds, and room for 10.*nconmax = 16"),
    ):
        simulation.step(2)


def test_a_flying_box_reports_nothing_and_a_reset_forgets(tower):
    with pippin.Simulation(tower()) as simulation:
        simulation.step(20)
        simulation.reset([0])
        felt = outputs(simulation)["net_force"]
        assert not felt[0].any(), "the reset world"
        assert felt[1, 1, 2] > 1.0, "the other one"

        simulation.view.rigid_bodies("**/high").apply_forces(np.float32([[0.0, 0.0, 3000.0]] * 2))
        simulation.step(1)
        simulation.step(20)
        assert not outputs(simulation)["net_force"][:, 1].any()
