"""A solver that somebody else wrote, installed like any package, runs the example by changing one word."""

from pathlib import Path

import numpy as np
import pippin
import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = Path(__file__).with_name("pippin-solver-xpbd-imu")


@pytest.fixture
def plugin(install_outside):
    """Install the plugin for one test."""
    with install_outside("pippin-solver-xpbd-imu"):
        yield


@pytest.fixture
def ant(tmp_path):
    """The example with one word changed."""
    text = (ROOT / "docs" / "examples" / "ant.toml").read_text()
    assert text.count('"mujoco"') == 1
    path = tmp_path / "ant.toml"
    path.write_text(text.replace('"mujoco"', '"xpbd-imu"'))
    return path


def test_the_plugin_is_about_sixty_lines():
    files = [path for path in PLUGIN.rglob("*") if path.suffix in {".py", ".toml"}]
    lines = [line for path in files for line in path.read_text().splitlines() if line.strip()]

    assert len(lines) <= 65


def test_a_solver_from_outside_runs_the_ant_by_changing_one_word(plugin, ant):
    with pippin.Simulation.from_file(ant, {"scene.worlds": 2, "simulation.device": "cpu"}) as simulation:
        simulation.step(50)
        simulation.raise_errors()

        torso = simulation.model.body_label.index("ant/worldbody/torso")
        # After a second it stands at 0.55 m, as with MuJoCo; on its belly the torso's sphere lies at 0.25 m.
        assert simulation.state.body_q.numpy()[torso, 2] > 0.45
        assert type(simulation.solver).__module__ == "pippin_solver_xpbd_imu"
        assert np.isfinite(simulation.state.body_q.numpy()).all()
        assert np.isfinite(simulation.sensors["torso"].outputs["linear_acceleration"].data.numpy()).all()


def test_its_accelerometer_reads_zero_in_free_fall(plugin):
    import newton

    box = newton.ModelBuilder()
    body = box.add_body(label="box")
    box.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1)
    config = pippin.structure(
        {
            "simulation": {"device": "cpu"},
            "solver": {"type": "xpbd-imu"},
            "sensors": {"chest": {"type": "imu", "body": "box"}},
        }
    )

    with pippin.Simulation(config, prototype=box) as simulation:
        simulation.step(3)

        readings = simulation.sensors["chest"].outputs["linear_acceleration"].data.numpy()

    # The velocity changes by g dt = 0.05 m/s, known to the 24 bits of a float: 1e-6 of 9.81 m/s².
    np.testing.assert_allclose(readings, 0.0, atol=1e-4)


@pytest.mark.slow
def test_it_takes_part_in_a_coupling(plugin):
    """Its link hangs from that of another solver: both swing as one pendulum of two links, which stays together."""
    link = {"type": "body", "shapes": [{"type": "box", "size": [0.1, 0.1, 1.0]}], "mass": 1.0}
    hinge = {"type": "revolute", "axis": [0.0, 1.0, 0.0], "child_position": [0.0, 0.0, 0.5]}
    objects = [
        {**link, "label": "upper", "position": [0.0, 0.0, -0.5], "joint": hinge | {"position": 0.5}},
        {**link, "label": "lower", "position": [0.0, 0.0, -1.5]},
    ]
    entries = {
        "a": {"bodies": ["upper"], "solver": {"type": "mujoco"}},
        "b": {"bodies": ["lower"], "solver": {"type": "xpbd-imu", "iterations": 4}},
    }
    solver = {"type": "coupled", "entries": entries, "admm": {"iterations": 20, "baumgarte": 0.02}}
    scene = {"objects": objects, "joints": [hinge | {"child": "lower", "parent": "upper"}]}

    with pippin.Simulation(
        pippin.structure({"simulation": {"device": "cpu", "dt": 0.002}, "scene": scene, "solver": solver})
    ) as simulation:
        simulation.step(100)
        inner = simulation.solver.solver("b")
        places = simulation.state.body_q.numpy()[:, :3]

    assert type(inner).__module__ == "pippin_solver_xpbd_imu"
    assert np.linalg.norm(places[1] - places[0]) < 1.01, "the links are not farther apart than a link is long"
    assert places[1, 2] > -1.6, "a loose link falls by 0.2 m"
