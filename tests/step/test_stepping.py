"""Calls of a simulation by its own hooks and callbacks: each is allowed at that time, or refused by its name."""

import inspect

import pippin
import pytest
from pippin.devices import WARP_LOCK

REFUSED = {
    "before_substep": {"step", "rollout", "reset", "invalidate", "save", "close", "state_record"},
    "after_step": {"step", "rollout", "close"},
}
"""The methods that are refused in each phase; they are allowed outside of a step."""

ARGUMENTS = {
    "component": ("solver",),
    "from_file": None,
    "load": None,
    "world_indices": ("body", [0]),
    "rollout": (1,),
    "invalidate": ("joints",),
    "set_enabled": None,
    "notify_model_changed": (1,),
    "save": ("file.npz",),
}
"""The arguments of methods that need some; None for those that need another simulation or an actuator."""

METHODS = [
    name
    for name, _ in inspect.getmembers(pippin.Simulation, inspect.isroutine)
    if not name.startswith("_") and ARGUMENTS.get(name, ()) is not None
]


@pytest.fixture
def simulation(ball, configure, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pippin.Simulation(configure("xpbd"), prototype=ball()) as simulation:
        yield simulation


@pytest.mark.first_cases(7)
@pytest.mark.parametrize("phase", REFUSED)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_refused_inside_a_step_or_acts(simulation, phase, name):
    def call():
        getattr(simulation, name)(*ARGUMENTS.get(name, ()))

    handle = simulation.callbacks.add(phase, call, name="meddler", is_capturable=False)
    if name in REFUSED[phase]:
        with pytest.raises(pippin.SimulationError, match=f"^{name}: called in the middle of step, by a hook") as caught:
            simulation.step(2)
        assert caught.value.__notes__ == [f"raised in callback meddler of {phase}"]
    else:
        simulation.step(2)

    handle.remove()
    done = simulation.step_count
    simulation.step()  # nothing is left behind
    assert simulation.step_count == done + 1


@pytest.mark.parametrize("name", ["step", "save"])
def test_a_plugin_that_calls_from_a_reset_is_named(ball, configure, name):
    class Meddler:
        is_capturable = False

        @pippin.hookimpl
        def bind(self, binding):
            self.simulation = binding.simulation

        @pippin.hookimpl
        def reset_worlds(self, state, world_mask):
            getattr(self.simulation, name)(*ARGUMENTS.get(name, ()))

    with pippin.Simulation(configure("xpbd"), {"meddler": Meddler()}, ball()) as simulation:
        with pytest.raises(pippin.PippinError, match=f"{name}: called in the middle of reset") as caught:
            simulation.reset()
        assert "plugins:meddler" in str(caught.value.__notes__)
        assert WARP_LOCK.acquire(blocking=False)
        WARP_LOCK.release()
