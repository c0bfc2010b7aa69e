"""The same calls on the CPU and, where there is one, on a GPU, with data that lies on either."""

import numpy as np
import pytest
import warp as wp
from pippin.views import ARTICULATION, RowError, ViewError

PLAIN = [name for name, quantity in ARTICULATION.items() if quantity.is_settable and quantity.source != "model"]


@pytest.fixture
def robots(walker, build, device):
    with build("mujoco", walker(), 3, device=device) as simulation:
        simulation.step()
        yield simulation


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("place", ["host", "device"])
def test_data_goes_in_and_out_wherever_it_lies(robots, device, place):
    view = robots.view.articulations("walker")
    where = "cpu" if place == "host" else device
    for name in PLAIN:
        values = getattr(view, f"get_{name}")().numpy().copy()
        values[1] = values[0]
        getattr(view, f"set_{name}")(wp.array(values, dtype=float, device=where), [1, 2])
        out = wp.zeros(values.shape, dtype=float, device=where)
        getattr(view, f"get_{name}")(out)

        np.testing.assert_allclose(out.numpy(), values, atol=1e-6, err_msg=name)


def test_numpy_arrays_go_in_and_out(robots):
    view = robots.view.articulations("walker")
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    view.set_dof_forces(values)
    out = np.zeros_like(values)
    view.get_dof_forces(out)

    np.testing.assert_array_equal(out, values)


def test_indices_and_masks_may_lie_on_either_side(robots, device):
    view = robots.view.articulations("walker")
    for number, where in enumerate(("cpu", device)):
        view.set_dof_forces(float(number + 1), wp.array([0], dtype=int, device=where))
        view.set_dof_forces(float(number + 3), mask=wp.array([False, False, True], dtype=bool, device=where))

        np.testing.assert_array_equal(view.get_dof_forces().numpy()[:, 0], [number + 1.0, 0.0, number + 3.0])
    view.set_dof_forces(1.0, wp.array([5], dtype=int, device=device))
    with pytest.raises(RowError, match="1 indices on the device"):
        robots.raise_errors()


def test_a_graph_of_a_view_replays(robots, device):
    view = robots.view.articulations("walker")
    targets = wp.zeros((3, 4), dtype=float, device=device)
    velocities = wp.zeros((3, 4), dtype=float, device=device)
    forces = wp.zeros((3, 5, 3), dtype=float, device=device)

    def calls():
        view.set_dof_velocities(targets)
        view.get_dof_velocities(velocities)
        view.apply_forces(forces)

    calls()
    with wp.ScopedCapture(device=device) as capture:
        calls()
    targets.fill_(0.5)
    wp.capture_launch(capture.graph)

    assert (velocities.numpy() == 0.5).all()


@pytest.mark.cuda
def test_inside_a_capture_data_has_to_lie_on_the_device(walker, build):
    if not wp.is_cuda_available():
        pytest.skip("no CUDA device")
    with build("mujoco", walker(), 3, device="cuda:0") as simulation:
        view = simulation.view.articulations("walker")
        near = wp.zeros((3, 4), dtype=float, device="cpu")
        with wp.ScopedCapture(device="cuda:0"):
            for call in (view.set_dof_forces, view.get_dof_forces):
                with pytest.raises(ViewError, match="inside a capture"):
                    call(near)
