"""After construction, a view allocates nothing: not where data lies on the device, and not for numbers and lists."""

import numpy as np
import pytest
import warp as wp
from pippin.views import ARTICULATION, RIGID_BODY

CALLS = 10
COMPUTED = ("jacobians", "mass_matrices", "gravity_forces")


@pytest.fixture(scope="module")
def robots(walker, build):
    with build("mujoco", walker(), 3, observables=["body_qdd", "body_parent_f"]) as simulation:
        simulation.step(2)
        yield simulation


@pytest.fixture(params=["articulations", "rigid bodies"])
def view(request, robots):
    robots.reset()
    view = robots.view
    return view.articulations("walker") if request.param == "articulations" else view.rigid_bodies("ball")


def allocated(call):
    """Return how often Warp's tracker has seen memory allocated so far, after a call."""
    reports = []
    with wp.ScopedMemoryTracker(report_func=reports.append):
        call()
    total = next(line for line in reports[0].splitlines() if line.split()[:1] == ["cpu"])
    return int(total.split()[1])


def allocation_count(call):
    """Return how often memory is allocated in some calls, after one that warms up."""
    call()
    before = allocated(lambda: wp.zeros(1, dtype=float, device="cpu"))
    return allocated(lambda: [call() for _ in range(CALLS)]) - before


def test_the_counter_counts():
    assert allocation_count(lambda: wp.zeros(8, dtype=float, device="cpu")) == CALLS


def test_reading_allocates_nothing(view):
    computed = COMPUTED if view.quantities is ARTICULATION else ()
    names = [name for name, quantity in view.quantities.items() if quantity.source != "computed"]
    outs = {name: np.zeros(view.shape_of(name), view.quantities[name].dtype) for name in names}

    def read():
        for name in [*names, *computed]:
            getattr(view, f"get_{name}")(outs.get(name))
            getattr(view, f"get_{name}")()

    assert allocation_count(read) == 0


@pytest.mark.parametrize("choice", ["all", "indices", "device indices", "mask", "device mask"])
@pytest.mark.parametrize("table", [ARTICULATION, RIGID_BODY], ids=["articulations", "rigid bodies"])
def test_setting_allocates_nothing(robots, table, choice):
    view = robots.view.articulations("walker") if table is ARTICULATION else robots.view.rigid_bodies("ball")
    names = [name for name, quantity in table.items() if quantity.is_settable]
    values = {name: wp.clone(getattr(view, f"get_{name}")()) for name in names}
    options = {
        "all": {},
        "indices": {"indices": [2, 0]},
        "device indices": {"indices": wp.array([2, 0], dtype=int, device=robots.device)},
        "mask": {"mask": [True, False, True]},
        "device mask": {"mask": wp.array([True, False, True], dtype=bool, device=robots.device)},
    }[choice]
    forces = np.ones((*view.shape_of("masses"), 3), dtype=np.float32)

    def write():
        for name in names:
            getattr(view, f"set_{name}")(values[name], **options)
            getattr(view, f"set_{name}")(values[name].numpy(), **options)
        view.apply_forces(forces, torques=forces, positions=forces, **options)
        view.apply_forces(1.0, torques=[0.0, 0.0, 1.0], **options)
        robots.view.set_gravity([0.0, 0.0, -9.81])

    assert allocation_count(write) == 0
