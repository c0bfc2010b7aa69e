"""Buffers of contacts in scenes in which nothing can collide."""

import pippin
import pytest


def test_no_pipeline_is_built_if_nothing_can_collide(configure, chain):
    with pippin.Simulation(configure("xpbd"), prototype=chain()) as simulation:
        simulation.step(2)
        simulation.raise_errors()

        assert simulation.contact_source.pipeline is None
        assert simulation.contacts.rigid_contact_max == 0
        assert simulation.capacities == ()


def test_a_capacity_that_the_file_asks_for_is_allocated_all_the_same(configure, chain):
    config = configure("xpbd", collision={"rigid_contact_max": 7})

    with pippin.Simulation(config, prototype=chain()) as simulation:
        assert simulation.contacts.rigid_contact_max == 7


@pytest.mark.parametrize("observables", [[], ["contact_f"]])
def test_contacts_of_a_solver_that_detects_them_are_filled_or_none(ball, configure, observables):
    config = configure("mujoco", scene={"ground": True}, observables=observables)
    with pippin.Simulation(config, prototype=ball(height=0.0995)) as simulation:
        simulation.step(5)
        contacts = simulation.contacts

        assert (contacts is not None) == bool(observables)
        assert contacts is None or contacts.rigid_contact_count.numpy()[0] == 1
