"""`pippin run` and `pippin warmup` on a small arm: what they print, what they leave behind, how they exit."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pippin
import pytest
from click.testing import CliRunner, Result
from pippin.cli import main

ARM = """\
<mujoco model="arm">
  <worldbody>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      <body name="lower" pos="0 0 -0.5">
        <joint name="elbow" type="hinge" axis="0 1 0"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

SCENE = """\
[simulation]
dt = 0.002
decimation = 2
device = "cpu"

[scene]
worlds = 2
[[scene.assets]]
path = "arm.xml"
joint_positions = { shoulder = 0.5 }

[solver]
type = "featherstone"

[actuators.arm]
type = "pd"
joints = ["shoulder"]
kp = 5.0
kd = 0.1
"""


def write_arm(folder: Path) -> Path:
    (folder / "arm.xml").write_text(ARM)
    (folder / "arm.toml").write_text(SCENE)
    return folder / "arm.toml"


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    """Two worlds of an arm of two links, in control steps of 4 ms."""
    return write_arm(tmp_path)


@pytest.fixture
def run(arm: Path, tmp_path: Path) -> Callable[..., Result]:
    """Run the arm, or another file, into `tmp_path/out`, in this process."""

    def run(*options: str, file: Path = arm, out: str = "out") -> Result:
        return CliRunner().invoke(main, ["run", str(file), "--out", str(tmp_path / out), *options])

    return run


def summary_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "summary.json").read_text())


def test_a_run_tells_of_its_phases_in_order(run: Callable[..., Result]) -> None:
    result = run("--steps", "5")

    assert result.exit_code == 0
    ended = [line.split()[0] for line in result.stdout.splitlines() if line.endswith(" s")]
    assert ended == ["read", "import", "build", "compile", "step", "run", "write"]
    assert "2 worlds, 5 steps, 0.02 s simulated" in result.stdout


def test_a_run_leaves_a_folder_with_everything_in_it(run: Callable[..., Result], tmp_path: Path) -> None:
    run("--duration", "0.04", "--record-worlds", "2")

    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"config.toml", "summary.json", "series.npz", "report.html"}
    with np.load(tmp_path / "out/series.npz") as series:
        np.testing.assert_allclose(series["time"], 0.004 * np.arange(1, 11))
        assert series["joint_q"].shape == (10, 2, 2)
        assert series["labels/joint_q"].tolist() == ["arm/worldbody/upper/shoulder", "arm/worldbody/upper/lower/elbow"]
        assert series["units/joint_qd"].tolist() == ["rad/s", "rad/s"]
        assert series["actuators/arm/applied_effort"].shape == (10, 2, 1)
        assert series["units/actuators/arm/applied_effort"].tolist() == ["N·m"]


def test_the_summary_says_what_ran_and_on_what(run: Callable[..., Result], tmp_path: Path) -> None:
    run("--steps", "5")

    summary = summary_of(tmp_path / "out")
    assert (summary["worlds"], summary["steps"], summary["recordings"]["series"]["worlds"]) == (2, 5, [0])
    assert summary["failure"] is None
    assert summary["program"]["captured"]
    assert summary["plugins"]["actuators:arm"]["distribution"] == "pippin-actuator-pd"
    assert {"pippin", "newton", "warp-lang", "numpy", "python"} <= set(summary["versions"])
    assert {"read", "import", "build", "compile", "step 1", "run"} == set(summary["seconds"])
    assert summary["hardware"]["device"] == "cpu"


def test_what_components_note_is_printed_and_kept(run: Callable[..., Result], tmp_path: Path) -> None:
    felt = 'sensors.felt={ type = "imu", body = "lower", source = "finite-difference" }'
    result = run("--steps", "3", "--set", felt)

    assert "sensors:felt: accelerations are changes of velocity" in result.stdout
    (note,) = summary_of(tmp_path / "out")["notes"]["sensors:felt"]
    assert note.startswith("accelerations are changes of velocity")
    with np.load(tmp_path / "out/series.npz") as series:
        assert series["sensors/felt/orientation"].shape == (3, 1, 1, 4)


def test_throughput_counts_physics_steps_of_all_worlds_after_the_first(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    run("--steps", "101")

    summary = summary_of(tmp_path / "out")
    assert summary["world_steps_per_second"] == pytest.approx(2 * 100 * 2 / summary["seconds"]["run"])
    assert summary["real_time_factor"] == pytest.approx(100 * 0.004 / summary["seconds"]["run"])


def test_a_single_step_has_no_throughput(run: Callable[..., Result], tmp_path: Path) -> None:
    assert run("--steps", "1").exit_code == 0

    assert summary_of(tmp_path / "out")["world_steps_per_second"] is None


def test_what_runs_eagerly_is_said(run: Callable[..., Result], tmp_path: Path) -> None:
    result = run("--steps", "3", "--set", "simulation.capture='off'")

    assert "capture is off" in result.stdout
    assert not summary_of(tmp_path / "out")["captured"]


def test_the_written_configuration_repeats_the_run_to_the_bit(
    run: Callable[..., Result], arm: Path, tmp_path: Path
) -> None:
    run("--steps", "20", "--set", "scene.worlds=3")
    again = run("--steps", "20", file=tmp_path / "out/config.toml", out="again")

    assert again.exit_code == 0
    asked = ["scene.worlds=3", "simulation.substeps=1"]  # the host's choice is written, too
    assert pippin.load(tmp_path / "out/config.toml") == pippin.load(arm, asked)
    with np.load(tmp_path / "out/series.npz") as first, np.load(tmp_path / "again/series.npz") as second:
        assert first.files == second.files
        for name in first.files:
            assert first[name].tobytes() == second[name].tobytes(), name


def test_a_divergence_stops_the_run_with_step_world_and_joint(run: Callable[..., Result], tmp_path: Path) -> None:
    result = run("--steps", "100000", "--set", "actuators.arm.kp=1e12")

    assert result.exit_code == 4
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert "step " in error
    assert "joint 'arm/worldbody/upper/shoulder' of world 0 moves at " in error
    assert "simulated" not in result.stdout, "the error tells the step; the run noticed it some steps later"
    summary = summary_of(tmp_path / "out")
    assert f"error: {summary['failure']}" == error
    assert summary["steps"] < 100000
    with np.load(tmp_path / "out/series.npz") as series:
        assert len(series["time"]) == summary["steps"]


def test_a_plugin_that_raises_in_a_step_is_told_and_the_results_so_far_are_kept(
    run: Callable[..., Result], install_outside: Callable[..., Any], tmp_path: Path
) -> None:
    with install_outside("pippin-broken-plugins"):
        result = run("--steps", "10", "--set", "plugins.disk.type=broken-late")

    assert result.exit_code == 3
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("error:")]
    assert error == (
        "error: --set: plugins.disk: after_step raised OSError: the file is gone (plugin 'broken-late' of"
        " pippin-broken-plugins 0.1.0, extensions.py:26); correct the plugin, or leave it out"
    )
    assert "Traceback" not in result.stderr
    assert summary_of(tmp_path / "out")["steps"] == 3


def test_a_wrong_configuration_is_exit_code_2_and_leaves_no_folder(run: Callable[..., Result], tmp_path: Path) -> None:
    result = run("--set", "actuators.arm.joints=['knee']")

    assert result.exit_code == 2
    assert "error: --set: actuators.arm.joints" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_missing_plugin_is_exit_code_3(run: Callable[..., Result]) -> None:
    result = run("--set", "solver.type='featherstne'")

    assert result.exit_code == 3
    assert "featherstone" in result.stderr


def test_a_step_that_must_be_captured_and_cannot_is_exit_code_4(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pippin_actuator_pd.actuator.ActuatorPD.is_capturable", False)

    result = run("--steps", "2", "--set", "simulation.capture='require'")

    assert result.exit_code == 4
    assert "'require'" in result.stderr


def test_a_run_never_writes_into_a_folder_in_use(run: Callable[..., Result], tmp_path: Path) -> None:
    run("--steps", "2")

    result = run("--steps", "2")

    assert result.exit_code == 2
    assert f"--out: '{tmp_path / 'out'}' is not empty" in result.stderr


def test_runs_gather_where_the_command_is_given(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(arm.parent)

    for _ in range(2):
        assert CliRunner().invoke(main, ["run", "arm.toml", "--steps", "2"]).exit_code == 0

    folders = sorted((arm.parent / "runs").iterdir())
    assert len(folders) == 2
    assert folders[0].name.startswith("arm-")


@pytest.mark.required
def test_the_ant_of_the_readme_runs(run: Callable[..., Result], tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "docs/examples/ant.toml"

    result = run("--steps", "3", "--set", "scene.worlds=2", file=example)

    assert result.exit_code == 0, result.stderr
    assert summary_of(tmp_path / "out")["captured"]
    with np.load(tmp_path / "out/series.npz") as series:
        assert np.isfinite(series["sensors/torso/linear_acceleration"]).all()


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str, str, Path]:
    """A process that was stopped by Ctrl-C after some steps: exit code, output, errors, and the run folder."""
    folder = tmp_path_factory.mktemp("stopped")
    out, recorder = folder / "out", "recorders.series={type='npz', flush_period=0.0}"
    code = "from pippin.cli import main; main()"
    words = ["run", write_arm(folder), "--steps", "2000000", "--json", "--out", out, "--set", recorder]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not any(path.stat().st_size > 5000 for path in out.glob("*.rows")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr, out


@pytest.mark.slow
def test_json_is_one_line_alone_on_stdout(stopped: tuple[int, str, str, Path]) -> None:
    _, stdout, stderr, folder = stopped

    (line,) = stdout.splitlines()
    outcome = json.loads(line)
    assert outcome["run_folder"] == str(folder)
    assert outcome["worlds"] == 2
    assert outcome["simulated_time"] == pytest.approx(outcome["steps"] * 0.004)
    assert outcome["captured"] is True
    assert outcome["world_steps_per_second"] > 0
    assert "compile" in stderr
    assert "\x1b" not in stderr


@pytest.mark.required
def test_ctrl_c_stops_a_run_that_leaves_its_folder(stopped: tuple[int, str, str, Path]) -> None:
    code, stdout, stderr, folder = stopped

    assert code == 130
    assert stderr.splitlines()[-1] == "stopped"
    outcome = json.loads(stdout)
    assert outcome["failure"] == "stopped"
    assert 0 < outcome["steps"] < 2000000
    assert summary_of(folder)["steps"] == outcome["steps"]
    assert (folder / "series.npz").exists()


def test_warmup_takes_one_step_and_writes_nothing(arm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(arm.parent)
    steps = []
    step = pippin.Simulation.step
    monkeypatch.setattr(pippin.Simulation, "step", lambda self, count=1: (steps.append(count), step(self, count)))

    (arm.parent / "heavy.toml").write_text("extends = ['arm.toml']\n[scene]\ngravity = [0.0, 0.0, -20.0]\n")
    result = CliRunner().invoke(main, ["warmup", "arm.toml", "heavy.toml"])

    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines() if not line.endswith(" ...")] == [
        *("read", "arm.toml", "import", "build", "compile", "step"),
        *("heavy.toml", "import", "build", "compile", "step"),
    ]
    assert steps == [1, 1]
    assert not (arm.parent / "runs").exists()


@pytest.mark.parametrize("command", ["run", "warmup"])
def test_help_imports_neither_newton_nor_warp(command: str) -> None:
    code = f"""
import sys
from pippin.cli import main
main([{command!r}, "--help"], standalone_mode=False)
sys.exit(bool({{"newton", "warp", "matplotlib"}} & set(sys.modules)))
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_first_word_is_said_before_newton_is_imported(arm: Path) -> None:
    """The process ends when it begins to import Newton."""
    code = """
import sys
from pippin.cli import main

class Last:
    def find_spec(self, name, path=None, target=None):
        if name == "newton":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Last())
main(sys.argv[1:])
"""
    done = subprocess.run([sys.executable, "-c", code, "run", arm], capture_output=True, text=True)

    assert done.returncode == 130
    assert done.stdout.startswith("read")


@pytest.mark.slow
def test_a_run_whose_buffers_overflow_starts_again_with_larger_ones(run: Callable[..., Result], tmp_path: Path) -> None:
    """A rack of spheres lands after 1.1 s, later than the fall by which the buffers are sized; 20 contacts need 80
    rows, and 64 were allocated.
    """
    spheres = "".join(f'<geom size="0.05" pos="{0.2 * (i % 5)} {0.2 * (i // 5)} 0"/>' for i in range(20))
    body = f'<body pos="0 0 6"><freejoint/>{spheres}</body>'
    (tmp_path / "rack.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    file = tmp_path / "rack.toml"
    file.write_text(
        '[simulation]\ndt = 0.002\ndevice = "cpu"\n[scene]\nground = true\n'
        '[[scene.assets]]\npath = "rack.xml"\n[solver]\ntype = "mujoco"\n'
    )

    result = run("--duration", "1.2", file=file)

    assert result.exit_code == 0, result.output
    summary = summary_of(tmp_path / "out")
    (note,) = summary["notes"]["start"]
    assert note.startswith("buffers were full by t = 1.")
    assert "solver.njmax = 128" in note
    assert summary["steps"] == 600
    assert pippin.load(tmp_path / "out/config.toml").solver.config.njmax == 128
