"""Snapshots: what a step changes is put back, and memory of the caller is left alone."""

import cProfile
from types import SimpleNamespace

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.state.snapshot import Snapshot, python_values, walk


class Holder:
    """A callback's object that keeps a view, and counts."""

    def __init__(self, view):
        self.view, self.count = view, 0

    def push(self):
        self.count += 1


@pytest.fixture
def held(chain, configure):
    """A simulation with a callback that keeps a view."""
    with pippin.Simulation(configure("featherstone", capture="off"), prototype=chain()) as simulation:
        holder = Holder(simulation.view.articulations("**"))
        simulation.callbacks.add("before_substep", holder.push)
        simulation.step()
        yield simulation, holder


def test_arrays_that_a_caller_passed_to_a_view_are_not_put_back(held):
    """A view may remember where they lay: by now, other data may lie there."""
    simulation, holder = held
    positions, forces = np.full((1, 2), 0.1, np.float32), np.full((1, 2, 3), 0.1, np.float32)
    holder.view.set_dof_positions(positions)
    holder.view.apply_forces(forces)

    with simulation.program.undone():
        positions[:], forces[:] = 5.0, 6.0

    assert (positions == 5.0).all()
    assert (forces == 6.0).all()


def test_what_the_callback_of_a_view_keeper_counts_is_put_back(held):
    simulation, holder = held
    before = holder.count

    with simulation.program.undone():
        simulation.step()
        inside = holder.count

    assert (inside, holder.count) == (before + 1, before)


def test_whole_arrays_and_columns_of_arrays_are_put_back():
    whole = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
    column = wp.array(np.arange(6.0).reshape(3, 2), dtype=float, device="cpu")[:, 1]
    snapshot = Snapshot({"whole": whole, "column": column})

    whole.fill_(7.0)
    column.fill_(8.0)
    changed = snapshot.changes()
    snapshot.restore()

    assert [now.numpy().tolist() for _, now in changed] == [[7.0] * 3, [8.0] * 3]
    assert whole.numpy().tolist() == [1.0, 2.0, 3.0]
    assert column.numpy().tolist() == [1.0, 3.0, 5.0]


def test_a_list_of_numbers_and_texts_is_one_value_and_not_entered():
    holder = SimpleNamespace(labels=["left", "right"], numbers=[1, 2, None], loose=[0.5], pairs=[(1, 2)])

    assert python_values(holder) == {
        **{"labels": ("left", "right"), "numbers": (1, 2, None)},
        **{"loose": 1, "loose.0": 0.5, "pairs": 1},
    }
    profile = cProfile.Profile()
    long = SimpleNamespace(labels=["label"] * 10_000)
    profile.runcall(python_values, long)
    assert sum(row.callcount for row in profile.getstats() if not isinstance(row.code, str)) < 200


def test_kernels_and_functions_of_warp_are_code_and_not_entered():
    """Their parsed sources have thousands of objects."""

    @wp.func
    def doubled(number: float):
        return 2.0 * number

    @wp.kernel(module="unique")
    def double(numbers: wp.array[float]):
        numbers[wp.tid()] = doubled(numbers[wp.tid()])

    owner = SimpleNamespace(function=doubled, kernel=double, module=double.module)

    assert [path for path, _ in walk({"owner": owner}, ())] == ["owner"]
