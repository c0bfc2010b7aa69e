"""Judgements of twins: logs that other programs than Pippin wrote."""

import json
import shutil

import numpy as np
import onnx
import pippin
import pippin_judge
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper
from pippin import ConfigError
from pippin.cli import main
from pippin.config import toml_text
from pippin_fit.least_squares import DAMPINGS

from . import twins

FAST = {"solvers": ["featherstone"], "laws": ["pd", "servo-m1"]}


def write(folder, kind, seed=0, seconds=3.0):
    return twins.draw(kind, seed, seconds).write(folder)


def test_friction_of_a_twin_is_told_from_none_and_the_winner_runs(tmp_path):
    """The twin has a budget of friction: its law leaves the noise, 1 ± 0.25 σ, and a spring and a damper much more."""
    file = write(tmp_path, "servo-m1")

    found = pippin_judge.judge(file, **FAST, out=tmp_path / "out")

    assert found.is_explained
    assert (found.winner.solver, found.winner.law) == ("featherstone", "servo-m1")
    assert found.alike == (found.winner,)
    assert found.winner.error == pytest.approx(1.0, abs=0.25)
    assert found.candidates[1].error > 5.0 * found.winner.error
    assert found.nominal.error > 100.0 * found.winner.error
    with pippin.Simulation(found.file) as simulation:
        assert simulation.config.solver.type == "featherstone"
        assert simulation.actuators["arm"].get("friction.kc").numpy()[0, 0] > 0.1
        simulation.step()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["winner"] == "featherstone / servo-m1"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "featherstone / servo-m1 explains the logs" in page
    assert "candidates/featherstone.pd/report.html" in page


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A folder with a twin whose law is the file's, and its judgement; `mujoco-native` has its friction."""
    folder = tmp_path_factory.mktemp("twin")
    file = write(folder, "friction")
    laws = {"laws": ["pd", "servo-m1"], "solvers": ["featherstone", "mujoco-native"]}
    return folder, pippin_judge.judge(file, **laws, out=folder / "out")


@pytest.mark.slow
def test_a_solver_that_lacks_a_feature_is_a_row_with_its_reason(judged):
    _, found = judged

    (refused,) = [each for each in found.candidates if each.fit is None]
    assert refused.name == "featherstone / pd"
    assert "does not support joint_friction" in refused.reason
    assert found.candidates[-1] is refused
    assert found.winner.name == "mujoco-native / pd"
    assert found.solvers == ("mujoco-native",)


@pytest.mark.slow
def test_the_same_command_reads_what_it_has_and_comes_to_the_same_bits(judged):
    folder, found = judged
    shutil.rmtree(folder / "out" / "candidates" / "mujoco-native.servo-m1")

    again = pippin_judge.judge(
        folder / "twin.toml", laws=["pd", "servo-m1"], solvers=["featherstone", "mujoco-native"], out=folder / "out"
    )

    assert [(each.name, each.error) for each in again.candidates] == [(one.name, one.error) for one in found.candidates]
    rollouts = {each.name: each.fit.rollouts for each in found.fitted}
    fewer = [each.name for each in again.fitted if each.fit.rollouts < rollouts[each.name]]
    assert fewer == [each.name for each in again.fitted if each.name != "mujoco-native / servo-m1"]


@pytest.mark.slow
def test_several_processes_come_to_the_same_bits(tmp_path):
    file = write(tmp_path, "servo-m1", seconds=1.5)

    one, two = (pippin_judge.judge(file, **FAST, out=tmp_path / str(count), processes=count) for count in (1, 2))

    assert [(each.name, each.error) for each in one.candidates] == [(each.name, each.error) for each in two.candidates]
    assert [each.fit.verdicts for each in one.fitted] == [each.fit.verdicts for each in two.fitted]
    assert one.winner.fit.rollouts == two.winner.fit.rollouts
    assert len(DAMPINGS) + 1 == 8  # the candidates of a fit of one value, and so the most processes


@pytest.mark.slow
def test_a_law_of_a_file_and_the_exit_code_of_a_log_that_none_explains(tmp_path):
    """A spring in the gear is in no law. That of the file has a delay of its own, which the others have not."""
    file = write(tmp_path, "gear")
    late = {"type": "pd", "joints": [".*"], "kp": 60.0, "kd": 2.0, "armature": 0.1, "extends": False}
    tables = {"extends": ["twin.toml"], "actuators": {"arm": {**late, "delay": {"steps": 1}}}}
    (tmp_path / "late.toml").write_text(toml_text(tables), encoding="utf-8")
    options = ["--law", str(tmp_path / "late.toml"), "--law", "pd", "--solver", "featherstone"]

    ended = CliRunner().invoke(main, ["judge", str(file), *options, "--out", str(tmp_path / "out"), "--json"])

    assert ended.exit_code == 4, ended.output
    found = json.loads(ended.stdout.splitlines()[-1])
    assert not found["is_explained"]
    assert {each["law"] for each in found["candidates"]} == {"pd", "late"}
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "None explains these logs" in page
    late = pippin.load(tmp_path / "out" / "candidates" / "featherstone.late.toml")
    assert late.actuators["arm"].config.delay.steps == 1


def network(stiffness, damping, most):
    """Return a network of one cell: the torque most · tanh((stiffness · error − damping · speed) / most) [N·m]."""
    weights = {"cell": np.array([[stiffness, -damping]]) / most, "most": np.array([[most]])}
    nodes = [
        helper.make_node("Gemm", ["state", "cell"], ["sum"], transB=1),
        helper.make_node("Tanh", ["sum"], ["share"]),
        helper.make_node("Gemm", ["share", "most"], ["torque"]),
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, width])]
        for name, width in (("state", 2), ("torque", 1))
    ]
    numbers = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "motor", *ends, numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.helper.set_model_props(model, {"metadata": json.dumps({"model_type": "mlp"})})
    return model.SerializeToString()


@pytest.mark.slow
def test_a_network_that_was_given_is_judged_in_logs_that_it_has_not_seen(tmp_path):
    """The motor of the twin saturates as its network says, and no other law does; of it, only the armature is fitted.
    A network of a weaker motor leaves much more.
    """
    random = np.random.default_rng(0)
    targets = twins.commands(3.0, 1, random)
    positions = twins.pendulum(targets, lambda target, q, v: 6.0 * np.tanh((60.0 * (target - q) - 2.0 * v) / 6.0), 0.05)
    positions = positions + twins.NOISE * random.normal(size=positions.shape)
    twin = twins.Twin(law="", solvers=twins.SOLVERS, text=twins.robot(), targets=targets, positions=positions)
    file, laws = twin.write(tmp_path), ["pd"]
    for name, most in (("network", 6.0), ("weaker", 3.0)):
        (tmp_path / f"{name}.onnx").write_bytes(network(60.0, 2.0, most))
        arm = {"extends": False, "type": "neural", "joints": [".*"], "model_path": f"{name}.onnx", "armature": 0.1}
        varied = {"extends": False, "actuators.arm.armature": {"range": [1e-3, 1.0]}}
        tables = {"extends": ["twin.toml"], "actuators": {"arm": arm}, "fit": {"parameters": varied}}
        (tmp_path / f"{name}.toml").write_text(toml_text(tables), encoding="utf-8")
        laws.append(str(tmp_path / f"{name}.toml"))

    found = pippin_judge.judge(file, solvers=["featherstone"], laws=laws, out=tmp_path / "out")

    errors = {each.law: each.error for each in found.candidates}
    assert found.is_explained
    assert (found.winner.law, found.winner.value_count) == ("network", 1)
    assert found.winner.error == pytest.approx(1.0, abs=0.25)
    assert min(errors["pd"], errors["weaker"]) > 10.0 * errors["network"]
    assert found.winner.fit.value("actuators.arm.armature")["joint0"] == pytest.approx(0.05, rel=0.02)
    assert pippin.load(found.file).actuators["arm"].config.model_path.endswith("network.onnx")


def test_arguments_without_a_meaning_are_refused(tmp_path):
    file = write(tmp_path, "pd", seconds=1.0)
    refusals = {
        "there are .* servo-m6, servo, and files": {"laws": ["servo-m9"]},
        "named twice": {"solvers": ["featherstone", "featherstone"]},
        "no log is held out": {"overrides": {"fit.validation": 0.0}},
        r"processes: expected 1 to 8, or 'auto', got 9": {"processes": 9},
        r"processes: .* got 'all'": {"processes": "all"},
        "has no target that 'pd' could pull to": {"overrides": {"fit.command": "feedforward"}},
        "there is no actuator 'leg'; did you mean|there is no actuator 'leg'": {
            "overrides": {"fit.parameters": {"extends": False, "actuators.leg.kp": {"range": [1.0, 2.0]}}}
        },
    }

    for text, options in refusals.items():
        with pytest.raises(ConfigError, match=text):
            pippin_judge.judge(file, **options, out=tmp_path / "out")


def test_a_log_that_no_candidate_can_read_is_an_error(tmp_path):
    file = write(tmp_path, "pd", seconds=1.0)
    np.savez(tmp_path / "log.npz", time=np.arange(5.0))

    with pytest.raises(ConfigError, match=r"featherstone / pd: .*log\.npz.*is no log"):
        pippin_judge.judge(file, **FAST, out=tmp_path / "out")


@pytest.mark.slow
def test_a_stated_noise_counts_and_other_logs_judge(tmp_path):
    file = write(tmp_path, "pd", seed=0)
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", "pd", seed=0)
    options = {"solvers": ["featherstone"], "laws": ["pd"], "overrides": {"fit.validation": 0.0}}

    found = pippin_judge.judge(
        file, **options, holdout=[tmp_path / "other" / "log.npz"], noise=1e-2, out=tmp_path / "out"
    )

    assert found.winner.error == pytest.approx(twins.NOISE / 1e-2, rel=0.2)
    assert {log for log, _ in found.winner.unseen.places} == {str(tmp_path / "other" / "log.npz")}


LAWS = ["pd", "dc-motor", "servo-m1", "servo-m2", "servo-m3"]


@pytest.mark.slow
def test_forty_hidden_twins_are_named(tmp_path):
    """Solver and law of at least 38 of 40 twins are right: one of them, those that are the same physics, or none."""
    wrong = []
    for number in range(40):
        twin = twins.draw(twins.KINDS[number % len(twins.KINDS)], number)
        folder = tmp_path / str(number)
        folder.mkdir()

        found = pippin_judge.judge(twin.write(folder), solvers=sorted(twins.SOLVERS), laws=LAWS, out=folder / "out")

        named = (found.winner.law if found.is_explained else "", frozenset(found.solvers))
        if named != (twin.law, twin.solvers) and (named[0] or twin.law):
            wrong.append((number, named, twin.law, sorted(twin.solvers)))
        shutil.rmtree(folder)

    assert len(wrong) <= 2, wrong
