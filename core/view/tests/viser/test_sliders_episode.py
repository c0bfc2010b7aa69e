"""The task on a page: bars of rewards, and commands that are held."""

import newton
import numpy as np
import pippin
import pytest
from pippin_conformance import scenes

VELOCITY = {"type": "velocity", "x": [-1.0, 1.0], "y": [-0.5, 0.5], "yaw": [-1.0, 1.0], "period": [0.02, 0.02]}
TASK = {
    "commands": {"velocity": VELOCITY},
    "observations": {"policy": {"command": {"of": {"type": "command", "command": "velocity"}}}},
    "rewards": {
        "alive": {"type": "alive", "weight": 2.0},
        "still": {"type": "l2", "of": "root-angular-velocity", "weight": -1.0},
    },
}


@pytest.fixture(scope="module")
def watched():
    """Three balls with commands that are drawn anew in every second step, and the folder of their task on a page."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    scenes.add_ball(builder, 1.0, mass=1.0, radius=0.1)
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01},
        "scene": {"worlds": 3},
        "solver": {"type": "featherstone"},
        "task": TASK,
        "viewers": {"page": {"type": "viser"}},
    }
    with pippin.Simulation(pippin.structure(tables), prototype=builder) as simulation:
        yield simulation, simulation.viewers["page"]


def test_bars_show_the_rewards_of_the_last_step(watched):
    simulation, viewer = watched
    simulation.step(3)
    viewer._episode.follow()
    text = viewer._episode._bars.text

    assert "Return 0.06 in 3 steps" in text
    assert ">alive<" in text
    assert ">0.02<" in text  # 2 a second, in a step of 10 ms
    assert ">still<" in text


def test_a_moved_slider_holds_the_commands_until_they_are_drawn_again(watched):
    simulation, viewer = watched
    commands = simulation.task.commands["velocity"].value
    viewer._episode._commands["velocity"].write(0, 0.75)
    held, seen = commands.numpy().copy(), []
    for _ in range(6):
        simulation.step()
        seen.append(simulation.task.observations["policy"].values.numpy()[:, 0].copy())
    was_held = viewer._episode._hold.value
    viewer._episode._hold_all(False)
    simulation.step(4)

    np.testing.assert_array_equal(held[:, 0], np.float32(0.75))
    np.testing.assert_array_equal(seen, np.float32(0.75))
    assert was_held
    assert not np.array_equal(commands.numpy(), held)
    assert "1 command" in viewer.notes[0]


def test_the_pad_holds_the_command_of_the_chosen_world(watched):
    simulation, viewer = watched
    simulation.task.command_holds["velocity"][0].fill_(False)
    viewer._panel.controls.worlds = [2]
    commands = simulation.task.commands["velocity"].value

    viewer._pad.hear("0.5,-1,0,0,-0.25")
    viewer._panel.user_input.process()
    viewer.act()
    simulation.step()
    held = commands.numpy()[2].copy()
    viewer._pad.hear("0,0,0,0,0")
    viewer._panel.user_input.process()
    viewer.act()
    simulation.step()
    viewer._panel.controls.worlds = [0, 1, 2]

    assert held == pytest.approx([0.5, -0.5, -0.25])
    assert commands.numpy()[2] == pytest.approx([0.0, 0.0, 0.0])
    assert viewer._episode._hold.value
