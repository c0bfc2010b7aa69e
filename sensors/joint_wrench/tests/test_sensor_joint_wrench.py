"""The joint wrench over Newton's Featherstone: weights, levers, spins and efforts, each against its formula."""

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp

G = 9.81
LENGTH = 0.5
MASS = 2.0
TURN = wp.quat_from_axis_angle(wp.vec3(0.0, 1.0, 0.0), wp.radians(90.0))
"""A quarter turn about y: the z axis of what is turned points along x."""


class Featherstone:
    """A solver that comes with Newton itself."""

    supported_observables = newton.solvers.SolverFeatherstone.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)


def add_link(builder, label, *, parent=-1, com=(0.0, 0.0, -LENGTH), parent_xform=None, child_xform=None, fixed=False):
    """Add a link of 2 kg on a hinge about y, or on a fixed joint, and return its body."""
    body = builder.add_link(label=label, mass=MASS, inertia=wp.diag(wp.vec3(0.02)))
    builder.body_com[body] = wp.vec3(*com)
    frames = {"parent_xform": parent_xform or wp.transform(), "child_xform": child_xform or wp.transform()}
    if fixed:
        builder.add_joint_fixed(parent, body, label=f"{label}_joint", **frames)
    else:
        builder.add_joint_revolute(parent, body, axis=(0.0, 1.0, 0.0), label=f"{label}_joint", **frames)
    return body


@pytest.fixture
def chain():
    """Two links that hang below each other from the world, at rest."""
    builder = newton.ModelBuilder()
    upper = add_link(builder, "upper")
    add_link(builder, "lower", parent=upper, parent_xform=wp.transform(wp.vec3(0.0, 0.0, -LENGTH), wp.quat_identity()))
    builder.add_articulation([0, 1])
    return builder


def single(**link):
    """Return a builder of one link."""
    builder = newton.ModelBuilder()
    add_link(builder, "link", **link)
    builder.add_articulation([0])
    return builder


pytestmark = pytest.mark.simulation(
    dt=0.001,
    capture="require",
    gravity=-G,
    solver=Featherstone,
    sensors={"load": {"type": "joint-wrench", "joints": [".*"]}},
    options="sensors.load",
)


def reading(simulation, name):
    return simulation.sensors["load"].outputs[name].data.numpy()


@pytest.mark.alone
def test_a_joint_carries_the_weight_below_it(simulate, chain):
    with simulate(chain, worlds=2) as simulation:
        simulation.step(10)

        weights = [[0.0, 0.0, 2 * MASS * G], [0.0, 0.0, MASS * G]]
        np.testing.assert_allclose(reading(simulation, "force"), [weights, weights], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(reading(simulation, "torque"), 0.0, atol=1e-4)


def test_torque_is_about_the_joint_and_not_about_the_centre_of_mass(simulate):
    """A console of 0.5 m along x: the wall holds m g L, about -y."""
    with simulate(single(com=(LENGTH, 0.0, 0.0), fixed=True)) as simulation:
        simulation.step(3)

        np.testing.assert_allclose(reading(simulation, "force")[0, 0], [0.0, 0.0, MASS * G], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(
            reading(simulation, "torque")[0, 0], [0.0, -MASS * G * LENGTH, 0.0], rtol=1e-5, atol=1e-4
        )


def test_both_are_given_along_the_axes_of_the_joint_on_the_child(simulate):
    """Its z axis along the link's x, the joint's frame stands upright in the world: the link's x points up."""
    anchor = wp.transform(wp.vec3(0.1, 0.2, 0.3), TURN)
    with simulate(single(com=(LENGTH + 0.1, 0.2, 0.3), child_xform=anchor, fixed=True)) as simulation:
        simulation.step(3)

        np.testing.assert_allclose(reading(simulation, "force")[0, 0], [0.0, 0.0, MASS * G], rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(reading(simulation, "torque")[0, 0], 0.0, atol=1e-4)
    with simulate(single(com=(0.1, 0.2, 0.3 + LENGTH), child_xform=anchor, fixed=True)) as simulation:
        simulation.step(3)

        lever = [0.0, MASS * G * LENGTH, 0.0]  # the centre of mass lies on the side of the joint's -x
        np.testing.assert_allclose(reading(simulation, "torque")[0, 0], lever, rtol=1e-5, atol=1e-4)


def test_a_joint_pulls_a_spinning_link_towards_itself(simulate):
    """m ω² L, along the axes of the link wherever that has turned."""
    builder = single()
    builder.joint_qd[0] = 4.0
    with simulate(builder, gravity=0.0) as simulation:
        for _ in range(5):
            simulation.step(100)
            expected = [0.0, 0.0, MASS * 4.0**2 * LENGTH]

            np.testing.assert_allclose(reading(simulation, "force")[0, 0], expected, rtol=5e-3, atol=0.1)


def test_a_reset_clears_its_worlds_and_leaves_the_others_as_they_are(simulate, chain):
    with simulate(chain, worlds=2, joints=["lower_joint"]) as simulation:
        simulation.step(5)
        kept = reading(simulation, "force")[1].copy()
        simulation.reset([0])

        np.testing.assert_array_equal(reading(simulation, "force")[0], 0.0)
        np.testing.assert_array_equal(reading(simulation, "force")[1], kept)
        simulation.step()
        np.testing.assert_allclose(reading(simulation, "force")[0, 0], [0.0, 0.0, MASS * G], rtol=1e-5, atol=1e-4)


def test_a_resumed_run_reads_the_same_bits(simulate, chain, tmp_path):
    chain.joint_q[0] = 0.5
    with simulate(chain) as simulation:
        simulation.step(5)
        simulation.save(tmp_path / "state")
        kept = reading(simulation, "torque").tobytes()
        simulation.step(5)
        expected = reading(simulation, "torque").tobytes()
    with pippin.Simulation.load(tmp_path / "state", plugins=[Featherstone()], prototype=chain) as simulation:
        assert reading(simulation, "torque").tobytes() == kept != expected
        simulation.step(5)

        assert reading(simulation, "torque").tobytes() == expected


def test_outputs_keep_their_memory_and_say_unit_and_frame(simulate, chain):
    with simulate(chain) as simulation:
        outputs = simulation.sensors["load"].outputs
        before = outputs["force"].data.ptr
        simulation.step(3)

        assert outputs["force"].data.ptr == before
        assert {name: (output.unit, output.frame) for name, output in outputs.items()} == {
            "force": ("N", "joint"),
            "torque": ("N·m", "joint"),
        }
        assert outputs["force"].labels == ("upper_joint", "lower_joint")


def test_a_joint_that_does_not_exist_is_refused_with_the_nearest_one(simulate, chain):
    with pytest.raises(
        pippin.ConfigError, match=r"sensors\.load\.joints: no joint matches 'lowr_joint'.*'lower_joint'"
    ):
        simulate(chain, joints=["lowr_joint"])


def test_a_free_joint_is_refused(simulate):
    builder = newton.ModelBuilder()
    builder.add_body(label="box", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with pytest.raises(
        pippin.ConfigError, match=r"^sensors\.load\.joints: .* no joint that transmits anything, only '.*' \(free\)"
    ):
        simulate(builder)


def test_free_joints_are_left_out_and_noted(simulate, chain):
    chain.add_body(label="box", mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
    with simulate(chain) as simulation:
        assert simulation.sensors["load"].outputs["force"].labels == ("upper_joint", "lower_joint")
        notes = simulation.notes["sensors:load"]

    assert notes[0] == "joints: leaves out 'box_free_joint' (free), no joint that transmits anything"


def test_a_joint_that_closes_a_loop_is_refused(simulate, chain):
    chain.add_joint_ball(-1, 1, label="bolt")
    with pytest.raises(pippin.ConfigError, match=r"joint 'lower_joint' leads to body 'lower', and so does 'bolt'"):
        simulate(chain, joints=["lower_joint"])


def test_a_solver_that_does_not_report_it_is_refused(chain):
    class SemiImplicit:
        coordinates = "maximal"
        supported_observables = newton.solvers.SolverSemiImplicit.SUPPORTED_OBSERVABLES

        @pippin.hookimpl
        def build_solver(self, model):
            return newton.solvers.SolverSemiImplicit(model)

    config = pippin.structure({"sensors": {"load": {"type": "joint-wrench", "joints": [".*"]}}})
    with pytest.raises(
        pippin.ConfigError, match=r"sensors\.load: needs 'body_parent_f', which solver 'SemiImplicit' does not compute"
    ):
        pippin.Simulation(config, plugins=[SemiImplicit()], prototype=chain)


@pytest.mark.parametrize(
    ("field", "options"), [("joints", {"joints": []}), ("joints", {"joints": "hip"}), ("body", {"body": "leg"})]
)
def test_values_that_make_no_sense_are_refused_where_they_stand(field, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.load\.{field}\b.*: "):
        pippin.structure({"sensors": {"load": {"type": "joint-wrench", "joints": ["hip"], **options}}})


CONFORMANCE = conformance.Conformance("sensor", "joint-wrench")


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
