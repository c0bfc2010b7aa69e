"""The semi-implicit plugin: Newton's options with Newton's defaults, and a solver that obeys them."""

import inspect
import re

import attrs
import newton
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_solver_semi_implicit import SemiImplicitConfig

LEFT_OUT = {
    "friction_smoothing": "deprecated in Newton 1.8, and ignored",
}

OWN = {"disable_particle_contacts": False}
"""Options that Newton has not."""


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverSemiImplicit).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(SemiImplicitConfig)}

    assert ours == {name: default for name, default in theirs.items() if name not in LEFT_OUT} | OWN


def test_what_is_left_out_is_an_option_of_newton():
    assert LEFT_OUT.keys() <= newton_options().keys()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("angular_damping", -0.1),
        ("joint_attach_ke", float("nan")),
        ("joint_attach_kd", float("inf")),
        ("joint_mimic_ke", -1.0),
        ("joint_mimic_kd", "soft"),
        ("enable_tri_contact", 1),
        ("friction_smoothing", 1.0),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: "):
        pippin.structure({"solver": {"type": "semi-implicit", option: value}})


@pytest.fixture
def sphere():
    """A sphere that touches the ground."""
    builder = newton.ModelBuilder()
    body = builder.add_body(label="ball", xform=wp.transform((0.0, 0.0, 0.1), wp.quat_identity()))
    builder.add_shape_sphere(body, radius=0.1)
    return builder


def test_an_option_of_earlier_versions_is_refused_with_what_replaced_it():
    with pytest.raises(pippin.ConfigError, match=r"^solver\.friction_smoothing: not a key any more; set kf of"):
        pippin.structure({"solver": {"type": "semi-implicit", "friction_smoothing": 1.0}})


pytestmark = pytest.mark.simulation(dt=0.001, ground=True, solver={"type": "semi-implicit"}, options="solver")


@pytest.mark.alone
def test_options_reach_the_solver(simulate, sphere):
    with simulate(sphere, angular_damping=0.25, joint_attach_ke=2e4) as simulation:
        assert isinstance(simulation.solver, newton.solvers.SolverSemiImplicit)
        assert simulation.solver.angular_damping == 0.25
        assert simulation.solver.joint_attach_ke == 2e4


def test_a_sphere_sinks_into_the_ground_until_the_penalty_carries_it(simulate, sphere):
    """Depth m g / ke, the mean ke of the two shapes. Settled to a hundredth of it after 1 s."""
    with simulate(sphere) as simulation:
        simulation.step(1000)

        depth = 0.1 - simulation.state.body_q.numpy()[0, 2]
        mass, stiffness = simulation.model.body_mass.numpy()[0], simulation.model.shape_material_ke.numpy().mean()

    assert depth == pytest.approx(mass * 9.81 / stiffness, rel=1e-2)


def test_angular_damping_slows_a_spin_down_every_step(simulate, sphere):
    """ω falls by the factor 1 - c dt per step. Rounding, always in one direction, adds up to 4e-5 in 200 steps."""
    sphere.joint_q[2], sphere.joint_qd[5] = 1.0, 2.0
    with simulate(sphere, gravity=0.0, angular_damping=0.5) as simulation:
        simulation.step(200)

        spin = simulation.state.body_qd.numpy()[0, 5]

    assert spin == pytest.approx(2.0 * (1.0 - 0.5 * 0.001) ** 200, rel=1e-4)


TREES = (
    "a_hinge a_slider a_ball_joint hinges a_slider_with_a_hinge balls a_joint_of_two_axes a_fixed_body_between_hinges"
    " damping damping_of_a_slider limits drives a_drive_of_a_slider drives_of_a_joint_of_two_axes"
)
CONFORMANCE = conformance.Conformance(
    "solver",
    "semi-implicit",
    config={"angular_damping": 0.0, "joint_mimic_ke": 1e4},
    dt=0.0005,  # its joints are springs, which need small steps
    expected_failures={
        f"tree_{name}": "its joints are springs of 1e4 N/m, which give way by millimetres, whatever the step"
        for name in TREES.split()
    },
)


@pytest.mark.slow
def test_trees_move_as_they_should_on_stiff_springs():
    """100 times stiffer joints, at a step that resolves them, leave no more than others do.

    Fixed joints and sliders hold angles by springs without damping, which ring; limits are soft, too.
    """
    keys = {"angular_damping": 0.0, "joint_attach_ke": 1e6, "joint_attach_kd": 1e3}
    stiff = conformance.Conformance("solver", "semi-implicit", config=keys, dt=1e-4)

    names = [name for name in TREES.split() if not re.search("slider|fixed|limits", name)]
    assert [stiff.run(f"tree_{name}").reason for name in names] == [""] * 8


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
