"""Arrays of state, inputs and model: values of another shape are refused by name, and change nothing."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin_conformance import scenes

WORLDS = 3


def ball():
    builder = newton.ModelBuilder()
    scenes.add_ball(builder, 1.0)
    return builder


@pytest.fixture(scope="module")
def simulation(simulate):
    with simulate(ball, solver="featherstone", worlds=WORLDS) as simulation:
        simulation.step()
        yield simulation


@pytest.mark.parametrize(
    ("place", "shape", "others"),
    [
        ("state.joint_q", (7 * WORLDS,), [(7,), (7 * WORLDS + 1,), ()]),
        ("state.body_q", (WORLDS, 7), [(1, 7), (WORLDS, 6), (7,)]),
        ("control.joint_f", (6 * WORLDS,), [(6,), (1, 6)]),
        ("model.body_mass", (WORLDS,), [(1,), (WORLDS + 1,)]),
    ],
)
def test_values_of_another_shape_are_refused(simulation, place, shape, others):
    """Warp would write a part of the array, without a word."""
    part, name = place.split(".")
    array = getattr(getattr(simulation, part), name)
    before = array.numpy().copy()
    for other in others:
        with pytest.raises(pippin.ConfigError, match=rf"^{place}: expected shape \[{shape[0]}.*, got \[.*; reshape"):
            array.assign(np.ones(other))
    np.testing.assert_array_equal(array.numpy(), before)

    array.assign(before.tolist())
    array.assign(before.reshape(WORLDS, -1))
    array.assign(wp.clone(array))
    np.testing.assert_array_equal(array.numpy(), before)
