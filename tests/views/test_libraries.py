"""Arrays of other libraries go in and out of views where they are; the examples that drive robots with them run."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from pippin.views import ViewError

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


class OnlyDLPack:
    """An array that offers DLPack and nothing else, as that of a library that Pippin has never heard of."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture(scope="module")
def robots(walker, build):
    with build("featherstone", walker(), 3) as simulation:
        yield simulation


@pytest.fixture
def view(robots):
    robots.reset()
    return robots.view.articulations("walker")


def test_arrays_with_dlpack_are_read_and_written_in_place(view):
    values = np.random.default_rng(1).uniform(-0.5, 0.5, view.shape_of("dof_positions")).astype(np.float32)
    view.set_dof_positions(OnlyDLPack(values))
    out = np.zeros_like(values)
    view.get_dof_positions(OnlyDLPack(out))

    np.testing.assert_array_equal(out, values)


def test_what_is_returned_shares_its_memory(view):
    first = view.get_dof_velocities()
    shared = np.from_dlpack(first)
    view.set_dof_velocities(0.75)

    assert view.get_dof_velocities() is first
    assert (shared == 0.75).all()


def test_warp_vectors_are_taken_as_rows_of_numbers(view):
    poses = wp.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]] * 3, dtype=wp.transform)
    view.set_root_transforms(poses)
    out = wp.zeros(3, dtype=wp.transform)
    view.get_root_transforms(out)

    np.testing.assert_allclose(out.numpy(), poses.numpy(), atol=1e-6)


def test_data_that_is_not_dense_is_copied(view):
    spread = np.random.default_rng(2).uniform(size=(3, 2 * view.max_dofs)).astype(np.float32)[:, ::2]
    view.set_dof_velocities(spread)
    np.testing.assert_array_equal(view.get_dof_velocities().numpy(), spread)

    wide = np.repeat(spread, 2, axis=1)
    view.set_dof_forces(wp.array(wide, dtype=float)[:, ::2])
    np.testing.assert_array_equal(view.get_dof_forces().numpy(), spread)


def test_something_that_is_not_an_array_is_refused(view):
    with pytest.raises(ViewError, match="set_dof_forces: expected an array, got dict"):
        view.set_dof_forces({})


@pytest.mark.required
def test_quadrupeds_are_driven_from_numpy(capsys):
    heights = runpy.run_path(str(EXAMPLES / "views_numpy.py"))["run"](400)

    assert (heights[1::2] > 0.42).all(), "these stand"
    assert (heights[::2] < 0.3).all(), "these lie"


def test_quadrupeds_are_driven_from_torch():
    pytest.importorskip("torch", reason="PyTorch is not installed; run `uv run --group dev --group torch pytest`")
    heights = runpy.run_path(str(EXAMPLES / "views_torch.py"))["run"](300, "cpu").numpy()

    assert (heights > 0.35).all()
    assert heights[-1] < heights[0] - 0.02


def test_jax_arrays_are_read_where_they_are(view):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    values = jax.numpy.full(view.shape_of("dof_velocities"), 0.5, dtype="float32")
    view.set_dof_velocities(values)

    assert (view.get_dof_velocities().numpy() == 0.5).all()
