"""Functions of the user's as terms: recorded where they can be, eager if they say so or if the host finds it."""

import sys
import types

import numpy as np
import pippin
import pytest
import warp as wp
from pippin.errors import CaptureWarning, ConfigError, PluginError

from .reached import reached

FALL = {"type": "function", "function": "of_the_user:height", "labels": ["z"], "unit": "m"}


@wp.kernel
def write_height(body_q: wp.array[wp.transform], factor: float, out: wp.array[float]):
    world = wp.tid()
    out[world] = factor * wp.transform_get_translation(body_q[world])[2]


@wp.kernel
def is_low(body_q: wp.array[wp.transform], least: float, out: wp.array[wp.bool]):
    world = wp.tid()
    out[world] = wp.transform_get_translation(body_q[world])[2] < least


def height(context, out, factor=1.0):
    wp.launch(
        write_height, context.world_count, [context.simulation.state.body_q, factor, out.flatten()], device=out.device
    )


def low(context, out, least):
    wp.launch(is_low, context.world_count, [context.simulation.state.body_q, least, out], device=out.device)


def on_host(context, out):
    out.assign(context.simulation.state.body_q.numpy()[:, 2] * 2.0)


def broken(context, out):
    raise ZeroDivisionError("no height")


@pytest.fixture(autouse=True)
def module(monkeypatch):
    """The module that the user wrote."""
    module = types.ModuleType("of_the_user")
    vars(module).update(height=height, low=low, on_host=on_host, broken=broken)
    monkeypatch.setitem(sys.modules, "of_the_user", module)
    return module


@pytest.fixture
def falling(ball, configure):
    """Return a function that builds two falling balls with a task."""

    def build(capture="auto", **task):
        config = configure("xpbd", dt=0.01, scene={"worlds": 2}, capture=capture, task=task)
        return pippin.Simulation(config, prototype=ball(height=5.0))

    return build


def rewards(simulation):
    return simulation.task.episodes.reward_terms.numpy()[0]


def heights(simulation):
    return simulation.state.body_q.numpy()[:, 2]


def test_functions_of_all_three_kinds_are_recorded(falling):
    task = {
        "rewards": {"high": {"type": "function", "function": "of_the_user:height", "weight": 1.0}},
        "observations": {"policy": {"z": {"of": {**FALL, "parameters": {"factor": 3}}}}},
        "terminations": {
            "low": {"type": "function", "function": "of_the_user:low", "parameters": {"least": 4.99}},
        },
    }
    ended = []
    with falling("require", **task) as simulation:
        for _ in range(6):
            simulation.step()
            ended.append(simulation.task.episodes.terminated.numpy().tolist())
            reward, seen = simulation.task.episodes.reward_terms.numpy()[0], simulation.task.observations["policy"]

            np.testing.assert_allclose(reached(simulation.task)[:, 0], 3.0 * reward, rtol=1e-6)
            np.testing.assert_allclose(seen.values.numpy()[:, 0], 3.0 * heights(simulation), rtol=1e-6)
            assert simulation.task.observations["policy"].labels == ("z/z",)

    assert ended[3:] == [[False, False], [True, True], [False, False]]


def test_what_a_context_looks_up_is_made_once_for_a_function_that_asks_in_each_step(ants):
    context = ants.context("rewards.high")

    assert context.root(None) is context.root(None)
    assert context.bodies(".*")[1] is context.bodies(".*")[1]
    assert context.ints([1, 2]) is context.ints([1, 2])


def test_a_function_that_says_that_it_cannot_be_recorded_runs_eagerly_and_is_named(falling):
    high = {"type": "function", "function": "of_the_user:on_host", "is_capturable": False, "weight": 1.0}
    with falling(rewards={"high": high}) as simulation:
        for _ in range(4):
            simulation.step()

            np.testing.assert_allclose(rewards(simulation), 2.0 * heights(simulation), rtol=1e-6)
        told = str(simulation.program)

    assert "end_step(task): task declares that it is not capturable: task.rewards.high (FunctionReward)" in told


def test_a_function_that_reads_on_the_host_is_found_and_runs_eagerly(falling):
    high = {"type": "function", "function": "of_the_user:on_host", "weight": 1.0}
    with falling(rewards={"high": high}) as simulation:
        with pytest.warns(CaptureWarning, match=r"end_step\(task\) runs eagerly: .*(differs|reads an array)"):
            simulation.step()
        simulation.step(3)

        np.testing.assert_allclose(rewards(simulation), 2.0 * heights(simulation), rtol=1e-6)


def test_a_number_that_a_function_reads_on_the_host_is_the_one_of_later(falling, module):
    bonus = wp.ones(1, dtype=float, device="cpu")
    module.bonus = lambda context, out: out.fill_(float(bonus.numpy()[0]))
    with falling(rewards={"bonus": {"type": "function", "function": "of_the_user:bonus", "weight": 1.0}}) as simulation:
        with pytest.warns(CaptureWarning, match=r"end_step\(task\) runs eagerly: it reads an array on the host"):
            simulation.step(2)
        bonus.fill_(5.0)
        simulation.step()

        np.testing.assert_array_equal(rewards(simulation), 5.0)


def test_what_a_function_raises_names_the_term(falling):
    high = {"type": "function", "function": "of_the_user:broken", "weight": 1.0}
    with (
        falling(rewards={"high": high}) as simulation,
        pytest.raises(PluginError, match=r"task.rewards.high: function 'of_the_user:broken' raised ZeroDivisionError"),
    ):
        simulation.step()


@pytest.mark.parametrize(
    ("function", "parameters", "text"),
    [
        ("height", {}, "function: 'height' is not the name of a function; write 'module:function'"),
        (
            "not_there:height",
            {},
            "function: Python finds no module 'not_there'; install it, or put its folder on PYTHON",
        ),
        ("of_the_user:heigth", {}, "function: module 'of_the_user' has no function 'heigth'; did you mean 'height'"),
        ("of_the_user:height", {"scale": 2.0}, "parameters: 'of_the_user:height' does not take .*'scale'"),
        ("of_the_user:low", {}, "parameters: 'of_the_user:low' does not take .*'least'"),
    ],
)
def test_a_bad_name_or_parameter_is_named(ants, function, parameters, text):
    with pytest.raises(ConfigError, match=text):
        ants.make("reward", "function", function=function, parameters=parameters)


def test_labels_of_a_function_must_differ(ants):
    with pytest.raises(ValueError, match="'labels' must be different names"):
        ants.choose("quantity", "function", function="of_the_user:height", labels=("z", "z"))
