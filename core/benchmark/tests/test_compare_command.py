"""`pippin compare` on a double pendulum: one solver that is right, one that diverges, one that cannot."""

import json
import sys

import numpy as np
import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.measuring import measures
from pippin.measuring.figures import COLUMNS, UNITS

pytestmark = pytest.mark.slow

PENDULUM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      <body name="lower" pos="0 0 -0.5">
        <joint name="elbow" axis="0 1 0" damping="0.001" range="-170 170"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

SCENE = """
[simulation]
device = "cpu"
dt = 0.001
decimation = 2

[scene]
worlds = 2
[[scene.assets]]
path = "pendulum.xml"
joint_positions = { shoulder = 1.0 }

[solver]
type = "semi-implicit"
joint_attach_ke = 1e12      # far beyond what the step can follow
"""

STEPS = 120
SOLVERS = ("featherstone", "semi-implicit", "style3d", "xpbd")


@pytest.fixture(scope="module")
def scene(write_files):
    return write_files({"pendulum.xml": PENDULUM, "pendulum.toml": SCENE}) / "pendulum.toml"


@pytest.fixture(scope="module")
def compared(scene):
    """The command, run once: its result, and its folder."""
    out = scene.parent / "out"
    chosen = [word for name in SOLVERS for word in ("--solver", name)]
    options = ["--steps", str(STEPS), "--limit", "time_to_first_step=0.001", "--out", str(out), "--json"]
    return CliRunner().invoke(main, ["compare", str(scene), *chosen, *options]), out


@pytest.fixture
def rows(compared):
    """The figures by solver."""
    return {row["solver"]: row for row in json.loads(compared[0].stdout)["solvers"]}


def test_another_solver_may_ignore_numbers_and_its_row_says_which(rows):
    assert rows["xpbd"]["outcome"] == "finished"
    assert {name: row["ignored"] for name, row in rows.items() if row["ignored"]} == {"xpbd": ["joint_damping"]}


def test_a_solver_that_diverges_fails_and_so_does_the_command(compared, rows):
    result, _ = compared

    assert result.exit_code == 4
    assert rows["semi-implicit"]["outcome"] == "failed"
    assert 1 <= rows["semi-implicit"]["first_diverged_step"] <= STEPS
    assert f"step {rows['semi-implicit']['first_diverged_step']} " in rows["semi-implicit"]["reason"]
    assert " of world " in rows["semi-implicit"]["reason"]


def test_a_solver_that_cannot_is_a_row_with_the_reason(rows):
    assert rows["style3d"]["outcome"] == "unable"
    assert "'style3d' does not support rigid_bodies" in rows["style3d"]["reason"]
    assert all(rows["style3d"][name] is None for name in UNITS)


def test_a_solver_that_is_right_keeps_its_joints(rows):
    right = rows["featherstone"]

    assert (right["outcome"], right["reason"], right["first_diverged_step"]) == ("finished", None, None)
    assert right["is_captured"]
    assert right["world_steps_per_second"] > 0.0
    assert right["time_to_first_step"] > 0.0
    assert (right["unmeasured_work"], right["relative_energy_drift"]) == (["joint_damping"], None)
    assert right["joint_gap"] < 1e-5
    assert right["angle_limit_violation"] == 0.0
    assert right["length_limit_violation"] is None
    assert right["distance"] == 0.0


def test_a_figure_beyond_its_limit_is_listed(compared):
    (fault, *_) = json.loads(compared[0].stdout)["exceeded"]

    assert fault.startswith("featherstone: time_to_first_step is ")
    assert fault.endswith(", and may be 0.001 at most")


def test_measuring_leaves_the_run_as_it_is(compared, scene):
    config = pippin.load(scene, {"solver": {"type": "featherstone", "extends": False}})
    with pippin.Simulation(config) as simulation:
        simulation.step(STEPS)
        state = simulation.state
        energy = measures.kinetic_energy(simulation.model, state) + measures.potential_energy(simulation.model, state)

    with np.load(compared[1] / "series.npz") as series:
        assert series["featherstone/time"][-1] == pytest.approx(STEPS * 0.002)
        assert series["featherstone/energy"].shape == (101, 2)
        assert series["featherstone/energy"][-1].tolist() == energy.tolist()
        assert series["units/featherstone/energy"].tolist() == ["J"]
        # What there is of the run that failed, beside the reference.
        assert 0 < len(series["semi-implicit/distance"]) < 101


def test_the_folder_has_figures_series_and_a_page(compared):
    _, out = compared

    names = {"config.toml", "comparison.json", "series.npz", "comparison.html"}
    assert {path.name for path in out.iterdir()} == names
    assert json.loads((out / "comparison.json").read_text())["reference"] == "featherstone"


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--reference", "mujoco"], "--reference: 'mujoco' is not compared; name one of xpbd, steel"),
        (["--solver", "xpbd"], "--solver: 'xpbd' is named twice; name each solver once"),
        (["--limit", "distanc=0.1"], "--limit: no figure 'distanc'; did you mean 'distance'?"),
        (["--limit", "distance=near"], "--limit: distance: expected a number, got 'near'"),
        (["--timeout", "0"], "--timeout: expected a positive time in seconds, got 0.0"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_runs(scene, options, fault):
    result = CliRunner().invoke(main, ["compare", str(scene), "--solver", "xpbd", "--solver", "steel", *options])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {fault}")


def test_every_figure_has_a_column_and_a_unit():
    assert [*UNITS, "first_diverged_step"] == list(COLUMNS)


@pytest.fixture(scope="module")
def gated(scene):
    """Two solvers, and the first one in an environment of its own, which is that of the tests."""
    names = "mujoco-native", f"mujoco-native@{sys.prefix}", "featherstone"
    out, chosen = scene.parent / "gate", [word for name in names for word in ("--solver", name)]
    options = ["--steps", "60", "--tolerance", "0", "--tolerance", "energy=1", "--out", str(out), "--json"]
    return CliRunner().invoke(main, ["compare", str(scene), *chosen, *options]), names


def test_the_same_engine_in_another_environment_does_not_differ(gated):
    result, (_, there, other) = gated
    found = json.loads(result.stdout)["differences"]

    assert set(found[there].values()) == {0.0}
    assert 1e-9 < found[other]["place"] < 1e-2
    assert found[other]["place_untouched"] == found[other]["place"] >= found[other]["place_at_end"] > 0.0
    assert 0.0 < found[other]["energy"] < 1.0


def test_the_gate_names_each_quantity_beyond_its_tolerance(gated):
    result, (_, there, other) = gated
    told = json.loads(result.stdout)["exceeded"]

    assert result.exit_code == 4
    assert not [line for line in told if line.startswith(f"{there}:") or "energy" in line]
    assert any(line.startswith(f"{other}: place [m] differs by ") for line in told)


def test_an_unknown_quantity_is_refused(scene):
    result = CliRunner().invoke(main, ["compare", str(scene), "--tolerance", "energies=1"])

    assert result.exit_code == 2
    assert "tolerance: no quantity 'energies'; did you mean 'energy'?" in result.output
