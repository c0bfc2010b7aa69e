"""Kernels of collision pipelines: shared by simulations of one process, unless their options need others."""

import pippin
import pytest


@pytest.fixture
def phase_of(ball, configure):
    """Return a function from a collision table to the narrow phase of a new simulation."""

    def build(**collision):
        config = configure("xpbd", scene={"ground": True}, collision=collision)
        with pippin.Simulation(config, prototype=ball()) as simulation:
            return simulation.contact_source.pipeline.narrow_phase

    return build


def test_pipelines_of_several_simulations_share_their_kernels(phase_of):
    first, second = phase_of(), phase_of(rigid_contact_max=7)

    assert second is not first
    assert second.primitive_kernel is first.primitive_kernel
    assert second.narrow_phase_kernel is first.narrow_phase_kernel


def test_a_pipeline_with_an_option_that_its_kernels_depend_on_has_its_own(phase_of):
    usual, speculative = phase_of(), phase_of(speculative_contact_gap_max=0.1)

    assert speculative.primitive_kernel is not usual.primitive_kernel
    assert speculative.narrow_phase_kernel is not usual.narrow_phase_kernel
