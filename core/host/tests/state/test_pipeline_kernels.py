"""Kernels of collision pipelines are shared by those that choose alike."""

import newton
import pytest
import warp as wp
from pippin.state.pipeline_kernels import kernels_made_once


@pytest.fixture(scope="module")
def boxes():
    """A model of two boxes."""
    builder = newton.ModelBuilder()
    for _ in range(2):
        builder.add_shape_box(builder.add_body(), hx=0.1, hy=0.1, hz=0.1)
    return builder.finalize(device="cpu")


def kernel_of(model, **options):
    return newton.CollisionPipeline(model, **options).narrow_phase.narrow_phase_kernel


@pytest.fixture(scope="module")
def shared(boxes):
    """The kernel of a pipeline."""
    with kernels_made_once():
        return kernel_of(boxes)


def test_a_later_pipeline_has_the_kernels_of_an_earlier_one(boxes, shared):
    with kernels_made_once():
        assert kernel_of(boxes) is shared


def test_another_choice_has_kernels_of_its_own(boxes, shared):
    with kernels_made_once():
        assert kernel_of(boxes, speculative_contact_gap_max=0.1) is not shared


def test_another_option_of_warp_has_kernels_of_its_own(boxes, shared, monkeypatch):
    monkeypatch.setattr(wp.config, "max_unroll", 5)

    with kernels_made_once():
        assert kernel_of(boxes) is not shared


def test_a_pipeline_elsewhere_has_kernels_that_newton_makes(boxes, shared):
    """Once Newton shares them itself, `kernels_made_once` can go."""
    assert kernel_of(boxes) is not shared
