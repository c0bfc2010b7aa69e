"""Masses of a model: what moves has one, or carries something that has one."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.model_changes import refuse_massless
from pippin_conformance import scenes


def chain(*masses, joint="revolute"):
    """Return a finalized chain of links with these masses [kg]."""
    builder = newton.ModelBuilder()
    joints, parent = [], -1
    for index, mass in enumerate(masses):
        link = builder.add_link(label=f"link_{index}", mass=mass, inertia=wp.diag(wp.vec3(0.1 * mass)))
        joints.append(getattr(builder, f"add_joint_{joint}")(parent, link))
        parent = link
    builder.add_articulation(joints)
    return builder.finalize(device="cpu")


def test_a_body_that_moves_without_a_mass_is_refused_by_name():
    with pytest.raises(pippin.ConfigError, match=r"movable bodies without mass.*: link_1, link_2; give each a mass"):
        refuse_massless(chain(1.0, 0.0, 0.0))


@pytest.mark.parametrize("model", [chain(0.0, 1.0), chain(0.0, 0.0, joint="fixed")], ids=["a carrier", "held bodies"])
def test_what_carries_a_mass_or_does_not_move_needs_none(model):
    refuse_massless(model)


def test_a_kinematic_body_needs_no_mass():
    builder = newton.ModelBuilder()
    builder.add_body(label="hand", mass=0.0, is_kinematic=True)

    refuse_massless(builder.finalize(device="cpu"))


def test_a_mass_that_is_set_to_zero_is_found_by_check():
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 5.0)
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "xpbd"}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        bodies = simulation.view.rigid_bodies("ball")
        bodies.set_masses(np.float32([2.0, 0.0]))

        with pytest.raises(pippin.ConfigError, match=r"model\.body_mass: movable bodies without mass.*: ball;"):
            simulation.raise_errors()
        bodies.set_masses(2.0)
        simulation.raise_errors()
