"""Arrays of state, inputs and model stay in their places."""

import newton
import pippin
import pytest
import warp as wp
from pippin_conformance import scenes


@pytest.fixture(scope="module")
def falling():
    """Return a ball that falls, in two worlds."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 5.0)
    tables = {"simulation": {"device": "cpu"}, "scene": {"worlds": 2}, "solver": {"type": "featherstone"}}
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        simulation.step()
        yield simulation


@pytest.mark.parametrize(("owner", "name"), [("control", "joint_f"), ("state", "body_q")])
def test_an_array_in_the_place_of_another_one_is_refused_before_a_step(falling, owner, name):
    part = getattr(falling, owner)
    kept = getattr(part, name)
    setattr(part, name, wp.clone(kept))

    with pytest.raises(pippin.SimulationError, match=rf"{owner}\.{name}: another array.*; write into it: sim\.{owner}"):
        falling.step()

    assert getattr(part, name) is kept
    falling.step()


def test_an_array_of_the_model_is_refused_when_it_is_reported(falling):
    kept = falling.model.gravity
    falling.model.gravity = wp.clone(kept)

    with pytest.raises(pippin.SimulationError, match=r"model\.gravity: another array"):
        falling.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)

    assert falling.model.gravity is kept
