"""A kind of plugins that somebody else brings: with a table, checks, a template and two plugins, and nothing of the
host changed for it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main

DT, AREA, DENSITY, MASS = 0.01, 0.3, 1.1, 2.0
EAST = np.array([3.0, -1.0, 2.0])
"""Velocity of the wind [m/s]: not along an axis."""

FILE = f"""
[simulation]
device = "cpu"
dt = {DT}

[scene]
worlds = 2
gravity = [0.0, 0.0, 0.0]

[[scene.objects]]
type = "body"
label = "ball"
shapes = [{{ type = "sphere", radius = 0.1, density = {MASS / (4 / 3 * np.pi * 0.1**3)} }}]

[solver]
type = "semi-implicit"

[winds.east]
type = "steady"
velocity = {EAST.tolist()}
area = {AREA}

[air]
density = {DENSITY}
"""


@pytest.fixture(scope="module")
def site(install_outside):
    """The folder that the package is installed in."""
    with install_outside("pippin-wind") as folder:
        yield folder


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "windy.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def call(site, tmp_path):
    """A function that runs `pippin` in a process of its own, where packages are installed, and returns its output."""

    def called(*words, folders=(site,)):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}
        command = [Path(sys.executable).with_name("pippin"), *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return called


def pippin_here(*words):
    """Run `pippin` in this process."""
    return CliRunner().invoke(main, [*map(str, words)])


def in_still_air(steps):
    """Return the velocity of a ball that symplectic Euler's steps push by D A |u − v| (u − v) / 2."""
    velocity = np.zeros(3)
    for _ in range(steps):
        u = EAST - velocity
        velocity = velocity + 0.5 * DENSITY * AREA * np.linalg.norm(u) * u * DT / MASS
    return velocity


def test_a_file_has_its_tables_and_bodies_are_pushed_as_the_formula_says(site, file):
    config = pippin.load(file)

    assert config.winds["east"].config.velocity == tuple(EAST)
    assert config.air.density == DENSITY
    with pippin.Simulation(config) as simulation:
        simulation.step(40)
        assert list(simulation.winds) == ["east"]
        assert simulation.air is simulation.component("air")
        velocities = simulation.state.body_qd.numpy()[:, :3]
        assert simulation.program.is_captured

    np.testing.assert_allclose(velocities, [in_still_air(40)] * 2, rtol=1e-4)


def test_the_winds_read_the_air_of_each_world_while_they_blow(site, file):
    with pippin.Simulation(pippin.load(file)) as simulation:
        simulation.air.density.assign([DENSITY, 0.0])  # a vacuum in the second world
        simulation.step(40)
        velocities = simulation.state.body_qd.numpy()[:, :3]

    np.testing.assert_allclose(velocities, [in_still_air(40), np.zeros(3)], rtol=1e-4, atol=1e-9)


def test_a_fault_of_a_wind_has_file_and_line(site, file):
    file.write_text(FILE.replace("area =", 'bodies = ["kite"]\narea ='))
    line = file.read_text().splitlines().index('bodies = ["kite"]') + 1

    with pytest.raises(pippin.ConfigError, match=re.escape(f"{file.name}:{line}: winds.east.bodies: ")):
        pippin.Simulation(pippin.load(file))


def test_a_wind_with_a_memory_starts_anew_in_the_world_that_is_reset(site, file):
    gusts = ["winds.east.type=gusty", "winds.east.strength=0.5", "winds.east.frequency=2.0"]
    with pippin.Simulation(pippin.load(file, gusts)) as simulation:
        simulation.step(13)
        simulation.reset([0])
        simulation.step()
        velocities = simulation.winds["east"].velocities.numpy()

    swing = 1.0 + 0.5 * np.sin(2 * np.pi * 2.0 * 13 * DT)  # of the substep that begins at 13 dt
    np.testing.assert_allclose(velocities, [EAST, EAST * swing], rtol=1e-4)


def test_every_command_knows_the_kind_and_the_table(site, file, tmp_path):
    listed = json.loads(pippin_here("plugins", "pippin-wind", "--json").stdout)
    schema = json.loads(pippin_here("schema").stdout)["properties"]
    shown = pippin_here("show", file)
    inspected = pippin_here("inspect", file)
    ran = pippin_here("run", file, "--steps", "5", "--out", tmp_path / "run")

    assert {(row["kind"], row["name"], row["state"]) for row in listed} == {
        ("wind", "gusty", "ok"),
        ("wind", "steady", "ok"),
        ("table", "air", "ok"),
    }
    assert "Density in each world" in json.dumps(schema["air"])
    assert "cross-section of each body" in json.dumps(schema["winds"])
    assert "[winds.east]" in shown.stdout
    assert inspected.exit_code == 0, inspected.output
    assert ran.exit_code == 0, ran.output
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["plugins"]["winds:east"]["distribution"] == "pippin-wind"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("area =", "aera =", "windy.toml:21: winds.east.aera: unknown key; did you mean 'area'?"),
        ("density = 1.1", "densty = 1.1", "windy.toml:24: air.densty: unknown key; did you mean 'density'?"),
        ("density = 1.1", "density = -1.0", "windy.toml:24: air.density: "),
        ('"steady"', '"stead"', "windy.toml:19: winds.east.type: wind 'stead': not installed; installed winds: gusty"),
    ],
)
def test_what_is_wrong_in_its_tables_is_told_with_file_and_line(site, file, old, new, fault):
    file.write_text(FILE.replace(old, new))

    assert fault in pippin_here("show", file).stderr


def test_a_wind_without_air_is_refused_at_its_place(site, file):
    file.write_text(FILE.partition("[air]")[0])

    with pytest.raises(pippin.ConfigError, match=r"winds\.east\.type: there is no \[air\], in which"):
        pippin.Simulation(pippin.load(file))


def test_a_file_of_a_package_that_is_missing_is_refused(call, file):
    code, told = call("show", file, folders=())

    assert code == 2
    assert "windy.toml:18: winds: unknown key" in told
    assert "windy.toml:23: air: unknown key" in told


BACKWARDS = """
import attrs
from pippin_wind import SteadyConfig
from pippin_wind.wind import Steady

@attrs.frozen(kw_only=True)
class BackwardsConfig(SteadyConfig):
    \"\"\"A wind from the other side.\"\"\"
    implementation = "Backwards"

class Backwards(Steady):
    \"\"\"The wind with its sign flipped.\"\"\"
    def evaluate(self, dt):
        self.velocities.fill_([-each for each in self.config.velocity])
"""


@pytest.mark.slow
def test_the_kit_passes_its_winds_and_refuses_one_that_blows_backwards(call, tmp_path):
    (tmp_path / "backwards.py").write_text(BACKWARDS)

    steady = call("check-plugin", "steady", "--kind", "wind")
    gusty = call("check-plugin", "gusty")
    wrong = call("check-plugin", "backwards.py:BackwardsConfig", "--kind", "wind", "--check", "push")

    for code, told in (steady, gusty):
        assert code == 0, told
        assert re.search(r"push +passed", told), told
    assert wrong[0] == 3
    assert re.search(r"a ball gets .* from a wind of .*; write velocities that begin with `velocity`", wrong[1])


@pytest.mark.slow
def test_new_writes_a_wind_that_installs_keeps_the_contract_and_runs(call, site, uv, run_tests_elsewhere, tmp_path):
    code, told = call("new", "wind", "sea-breeze")
    assert code == 0, told
    folder, place = tmp_path / "pippin-wind-sea-breeze", tmp_path / "site"
    command = [uv, "pip", "install", "-q", "--no-deps", "--python", sys.executable, "--target", place, folder]
    subprocess.run(command, check=True)

    code, told = call("run", folder / "scene.toml", "--steps", "20", "--out", "out", folders=(site, place))

    assert '"pippin-wind>=0.3,<0.4"' in (folder / "pyproject.toml").read_text()
    assert code == 0, told
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["plugins"]["winds:west"]["type"] == "sea-breeze"
    options = ("-q", "-n", "0", "-c", os.devnull, "--import-mode=importlib", "-W", "error", "-p", "no:cacheprovider")
    paths = os.pathsep.join(map(str, (site, place)))
    run_tests_elsewhere(sys.executable, *options, folder / "tests", cwd=folder, PYTHONPATH=paths)


BROKEN_KINDS = {
    "raises": ("squall", "raise RuntimeError('no wind today')", "(RuntimeError: no wind today)"),
    "is_none": ("squall", "KIND = {'name': 'squall'}", "expected a pippin.catalog.Kind, got {'name': 'squall'}"),
    "has_another_name": ("squall", "KIND = Kind(name='gale', plural='gales', meaning='')", "is the kind 'gale'"),
    "doubles": ("sensor", "KIND = Kind(name='sensor', plural='sensors', meaning='')", "the kind 'sensor' of pippin"),
}


@pytest.mark.parametrize("name", BROKEN_KINDS)
def test_a_kind_that_is_broken_or_taken_is_named_and_breaks_nothing_else(site, file, name, tmp_path, monkeypatch):
    """Its folder is the first one on the path, so that it is read before Pippin itself."""
    kind, record, fault = BROKEN_KINDS[name]
    module = f"zz_kind_that_{name}"
    described = tmp_path / f"{module}-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(f"[pippin.kinds]\n{kind} = {module}:KIND\n")
    (tmp_path / f"{module}.py").write_text(f"from pippin.catalog import Kind\n{record}\n")
    monkeypatch.syspath_prepend(tmp_path)

    listed = pippin_here("plugins")
    rows = json.loads(pippin_here("plugins", "--json").stdout)
    shown = pippin_here("show", file)

    (line,) = [line for line in listed.stdout.splitlines() if fault in line]
    assert f"{kind!r} of {module} 1.0: " in line
    assert {(row["kind"], row["name"]) for row in rows} > {("sensor", "imu"), ("wind", "steady")}
    assert [row["name"] for row in rows if row["state"] == "broken"] == [kind]
    assert shown.exit_code == 0, shown.output
