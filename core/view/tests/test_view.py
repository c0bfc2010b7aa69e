"""`pippin view`: a page until Ctrl-C, of a configuration, a checkpoint or a run folder."""

import re
import socket

import pytest
from click.testing import CliRunner
from pippin import Simulation
from pippin.cli import main
from pippin.config import dump_toml
from pippin_view.viser.ports import HOST, free_port

from tests.pages import until_ctrl_c

OVERRIDES = {"solver.type": "featherstone", "simulation.device": "cpu"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A configuration, a checkpoint and a run folder of one simulation."""
    folder = tmp_path_factory.mktemp("shown")
    file = folder / "hinge.toml"
    (folder / "hinge.xml").write_text(
        '<mujoco><worldbody><body><joint type="hinge" name="hinge" axis="0 1 0"/>'
        '<geom type="capsule" size=".05 .2" pos="0 0 -.2"/></body></worldbody></mujoco>'
    )
    recorder = '[recorders.log]\ntype = "npz"\n'
    file.write_text(
        '[simulation]\ndevice = "cpu"\ndt = 0.01\n[solver]\ntype = "featherstone"\n'
        f'[[scene.assets]]\npath = "hinge.xml"\n{recorder}'
    )
    run = folder / "run"
    with Simulation.from_file(file, folder=run) as simulation:
        simulation.step(3)
        simulation.save(folder / "hinge.npz")
        (run / "config.toml").write_text(dump_toml(simulation.config))
    return {"configuration": file, "checkpoint": folder / "hinge.npz", "run folder": run}


def viewed(source, **until):
    """Show a source until Ctrl-C; return port, status and result."""
    port = free_port(None, "port")
    return port, *until_ctrl_c(["view", str(source), "--port", str(port), "--no-browser"], **until)


@pytest.mark.parametrize("kind", ["configuration", "checkpoint", "run folder"])
def test_the_page_is_served_until_ctrl_c(shown, kind):
    port, served, result = viewed(shown[kind], after=0.5)

    assert served == [200]
    assert result.exit_code == 0, result.output
    assert f"page: http://{HOST}:{port}/" in result.output
    assert result.output.endswith("stopped\n")


def test_without_a_terminal_time_and_speed_are_told_once(shown):
    _, _, result = viewed(shown["configuration"], text="real time", after=2.5)

    [line] = [each for each in result.output.splitlines() if "t = " in each]
    assert re.fullmatch(r"view     t = \d+\.\d\d s, \S+ × real time, 0 browsers", line)


def test_a_port_in_use_is_refused_before_anything_is_built(shown):
    with socket.create_server((HOST, 0)) as server:
        port = str(server.getsockname()[1])
        result = CliRunner().invoke(main, ["view", str(shown["configuration"]), "--port", port])

    assert result.exit_code == 2
    assert f"--port: port {port} of {HOST} cannot be used" in result.output


def test_values_of_a_recording_cannot_be_set(shown):
    result = CliRunner().invoke(main, ["view", str(shown["run folder"]), "--set", "scene.worlds=2"])

    assert result.exit_code == 2
    assert "is not a configuration file" in result.output
