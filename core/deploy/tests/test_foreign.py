"""Policies of other programs: what they read and do in Pippin, what must be said, and what is refused."""

import copy
import re

import numpy as np
import onnx
import pippin
import pytest
from click.testing import CliRunner
from onnx.reference import ReferenceEvaluator
from pippin.cli import main
from pippin_deploy import deploy, foreign_passport, task_text
from pippin_deploy.fitting import orders
from pippin_deploy.runner import Runner
from pippin_task import passport_of, read_passport

from . import exports

ROBOT = "pkg:newton/examples/assets/quadruped.urdf"

ANSWERS = {
    "dt": "0.005",
    "decimation": "4",
    "action_delay": "[0, 0]",
    "delay": "[0, 0]",
    "offset": '"initial"',
    "clip": None,
    "point": '"centre-of-mass"',
    "type": '"velocity"',
}
"""What a user writes in the place of each `"?"`; None takes the line away."""

OTHERS = """
[solver]
type = "mujoco-native"
"""


def finished(text, answers=ANSWERS):
    """Return the file of a task with the answers of a user, and what no policy says: the ground and the solver."""
    lines = []
    for line in text.splitlines():
        key, _, value = line.partition(" = ")
        if value == '"?"':
            line = None if answers[key] is None else f"{key} = {answers[key]}"
        lines.append(line)
    text = "\n".join(line for line in lines if line is not None)
    asset = "floating = true\nposition = [0.0, 0.0, 0.6]\nself_collisions = false\narmature = 0.02\n"
    text = text.replace("[[scene.assets]]\n", "[scene]\nground = true\n[[scene.assets]]\n" + asset)
    return text.replace('type = "velocity"', 'type = "velocity"\nperiod = [0.5, 1.0]') + OTHERS


def put(folder, export, text=None, **options):
    """Write a policy, its file and what its program says; return the arguments of `deploy`."""
    policy, beside = exports.write(export, folder, **options)
    if text is None:
        text = finished(task_text(foreign_passport(policy, beside, export.motors), ROBOT))
        text = text.replace(
            'type = "velocity"\n', 'type = "velocity"\nx = [-1.0, 1.0]\ny = [-0.5, 0.5]\nyaw = [-1, 1]\n'
        )
        text = re.sub(r"(?m)^(x|y|yaw) = .*\n(?=(?s:.*)^\1 = )", "", text)  # unitree_rl_lab says the ranges
    (folder / "task.toml").write_text(text)
    return {"policy": policy, "file": folder / "task.toml", "beside": beside, "motors": export.motors}


@pytest.fixture(scope="module", params=exports.EXPORTS, ids=lambda export: export.program)
def deployed(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param.program)
    given = put(folder, request.param)
    deploy(out=folder / "robot", **given)
    return request.param, given, folder


def played(export, given, folder, steps):
    """Return the largest differences of inputs, actions and targets between Pippin and the rules of the program."""
    evaluator = ReferenceEvaluator(onnx.load(given["policy"]))
    model = onnx.load(folder / "robot" / "policy.onnx")
    model.graph.output.append(onnx.helper.make_tensor_value_info("obs", onnx.TensorProto.FLOAT, ["rows", export.width]))
    within = ReferenceEvaluator(model)
    own = [f'policy={{path = "{folder / "robot" / "policy.onnx"}"}}']
    reader, worst = exports.Reader(export), np.zeros(3)
    with pippin.Simulation(pippin.load(given["file"], own)) as simulation:
        task = simulation.task
        names = [label.rpartition("/")[2] for label in simulation.actuators["robot"].joint_labels]
        order = [names.index(name) for name in export.joints]
        assert order != list(range(12))
        simulation.reset()
        for _ in range(steps):
            wanted = reader.read(simulation)
            (found,) = within.run(["obs"], {"pippin_observations": task.observations["policy"].values.numpy()})
            (action,) = evaluator.run(None, {"obs": found})
            simulation.step()
            targets = simulation.actuators["robot"].position_targets.numpy()[0][order]
            reader.last = task.episodes.action.numpy()[0][order].astype(float)
            law = [exports.start(name) + exports.scale(name) * reader.last[i] for i, name in enumerate(export.joints)]
            errors = (found[0] - wanted, reader.last - action[0], targets - law)
            worst = np.maximum(worst, [np.abs(each).max() for each in errors])
        assert np.abs(reader.last).max() > 0.1
    print(export.program, worst)
    return worst


def test_a_network_reads_what_its_program_says(deployed):
    """300 steps: input of the network, actions and targets are those that NumPy makes by the program's own rules."""
    assert (played(*deployed, 300) <= 1e-5).all()


def test_the_command_plays_it(deployed):
    """`pippin play` takes the policy with its check, and the file as it is."""
    _, given, folder = deployed
    words = [
        "play",
        given["file"],
        "--policy",
        folder / "robot" / "policy.onnx",
        "--steps",
        20,
        "--out",
        folder / "run",
    ]
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code == 0, result.output


def test_a_policy_as_mjlab_wrote_it_is_not_played(tmp_path):
    """Its order is another one, and its widths do not tell; `policy.check` lets it play nevertheless."""
    given = put(tmp_path, exports.MJLAB)
    words = ["play", given["file"], "--policy", given["policy"], "--steps", 2, "--out", tmp_path / "run"]
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code != 0
    assert "names joints and observations as mjlab does" in result.output
    result = CliRunner().invoke(main, [*map(str, words), "--set", "policy.check=false"])
    assert result.exit_code == 0, result.output


def test_the_passport_says_who_said_what(deployed):
    export, _, folder = deployed
    trained = read_passport(folder / "robot" / "policy.onnx")["trained"]
    assert trained["exported_by"] == export.program
    assert "action_delay" in trained["said_by_the_file_alone"]
    assert ("control_dt" in trained["said_by_the_file_alone"]) == (export is exports.MJLAB)


def test_the_runner_takes_the_joints_of_the_other_program(deployed):
    """The folder runs on a robot that has its joints in the order of the program."""
    export, _, folder = deployed
    given = {"base_lin_vel"} & export.terms.keys()
    runner = Runner(folder / "robot" / "policy.onnx", joints=export.joints, rate=50.0, given=given)
    seen = {"positions": list(map(exports.start, export.joints)), "velocities": [0.0] * 12}
    seen |= {"orientation": [0.0, 0.0, 0.0, 1.0], "angular_velocity": [0.0] * 3, "given": {"base_lin_vel": [0.0] * 3}}
    (command,) = (label for label in runner.passport["commands"])
    targets = runner.step(seen | {"commands": {command: [0.3, 0.0, 0.0]}})
    ((label, names),) = runner.driven.items()
    for name, target in zip(names, targets[label], strict=True):
        assert abs(target - exports.start(name[-6:])) <= exports.scale(name[-6:])


def test_what_is_not_said_has_a_question_mark_in_the_file(tmp_path):
    """Nobody's guess runs: the file is refused at each place, with the key, until the user has answered."""
    policy, _ = exports.write(exports.MJLAB, tmp_path, is_new=False)
    said = foreign_passport(policy)
    (tmp_path / "task.toml").write_text(task_text(said, ROBOT))
    with pytest.raises(pippin.ConfigError) as found:
        pippin.load(tmp_path / "task.toml")
    terms = [
        f"observations.{name}.{key}" for name in exports.MJLAB.terms for key in ("scale", "clip", "history", "delay")
    ]
    law = [f"actions.joint_pos.recipe.{key}" for key in ("offset", "clip")]
    others = [
        "control_dt",
        "physics.dt",
        "action_delay",
        "commands.twist.type",
        "observations.base_lin_vel.settings.point",
    ]
    assert sorted(said["missing"]) == sorted([*terms, *law, *others])
    for place in (
        "task.action_delay",
        "task.observations.policy.actions.scale",
        "simulation.dt",
        "task.commands.twist",
    ):
        assert any(place in fault for fault in found.value.faults), place


def test_gains_outside_of_the_solver_are_not_said(tmp_path):
    """Isaac Lab writes zeros for joints whose actuator is its own; they are no gains."""
    known = within("articulations", "robot", default_joint_stiffness=[0.0] * 12, default_joint_damping=[0.0] * 12)
    said = foreign_passport(*exports.write(exports.ISAAC_LAB, tmp_path, known))
    assert {f"actuators.robot.parameters.{key}" for key in ("kp", "kd")} <= set(said["missing"])
    assert 'kp = "?"' in task_text(said, ROBOT)


def test_a_policy_without_a_file_names_all_that_is_missing(tmp_path):
    policy, beside = exports.write(exports.UNITREE, tmp_path)
    with pytest.raises(pippin.ConfigError) as found:
        deploy(policy, tmp_path / "robot", beside=beside)
    assert len(found.value.faults) == 1 + len(foreign_passport(policy, beside)["missing"]) == 4
    for text in ("name the file of its task by --file", "motors: unitree-rl-lab does not say it; name its joints"):
        assert text in str(found.value)
    assert not (tmp_path / "robot").exists()


def test_the_command_prints_the_file_of_a_task(tmp_path):
    policy, beside = exports.write(exports.UNITREE, tmp_path)
    words = ["deploy", policy, "--from", beside, "--motors", ",".join(exports.UNITREE.motors), "--robot", ROBOT]
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code == 0, result.output
    assert result.output == task_text(foreign_passport(policy, beside, exports.UNITREE.motors), ROBOT)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The passport and the observations of the file of each program, by its name."""
    found = {}
    for export in exports.EXPORTS:
        config = pippin.load(put(tmp_path_factory.mktemp("files"), export)["file"])
        found[export.program] = passport_of(config, "policy"), config.task.observations["policy"]
    return found


def of(key, row):
    """Return a change of a key of what a program says, or of some items of its row as mjlab writes it."""

    def change(known):
        whole = known[key].split(",") if isinstance(row, dict) else row
        if isinstance(row, dict):
            for number, text in row.items():
                whole[number] = text
            whole = ",".join(whole)
        known[key] = whole

    return change


def within(*path, **keys):
    """Return a change of keys in an inner table."""

    def change(known):
        for each in path:
            known = known[each]
        known.update(keys)

    return change


POLICY, ACTION = ("observations", "policy"), ("actions", 0)
CLASS = "isaaclab.envs.mdp.actions.joint_actions."
NAMES, MOTORS = exports.BY_LEG, exports.BY_MOTOR

SAID = {
    exports.MJLAB: {
        "order of joints": (of("joint_names", {0: NAMES[1], 1: NAMES[0]}), r"joints\.RF_HFE\.start: mjlab says -0\.03"),
        "order in the gains": (of("joint_names", {0: NAMES[1], 1: NAMES[0]}), r"actions\.RF_HFE\.kp: mjlab says 80\.0"),
        "stiffness": (
            of("joint_stiffness", {2: "119.000"}),
            r"actions\.RF_KFE\.kp: mjlab says 119\.0, and the file 120",
        ),
        "damping": (of("joint_damping", {2: "2.100"}), r"actions\.RF_KFE\.kd: mjlab says 2\.1, and the file 2"),
        "zero": (of("default_joint_pos", {1: "-0.382"}), r"joints\.RF_HFE\.start: mjlab says -0\.382"),
        "sign": (of("default_joint_pos", {1: "0.380"}), r"joints\.RF_HFE\.start: mjlab says 0\.38"),
        "degrees": (of("default_joint_pos", {1: "-21.772"}), r"joints\.RF_HFE\.start: mjlab says -21\.772"),
        "scale of an action": (of("action_scale", {0: "0.127"}), r"actions\.RF_HAA\.scale: mjlab says 0\.127"),
        "scale of a term": (of("observation_terms_scale", {1: "0.250"}), r"base_ang_vel\.scale: mjlab says 0\.25"),
        "clip": (of("observation_terms_clip", {3: "-0.250;0.260"}), r"joint_pos\.clip: mjlab says \[-0\.25, 0\.26\]"),
        "history": (of("observation_terms_history_length", {4: "2.000"}), r"joint_vel\.history: mjlab says 2"),
        "order of terms": (of("observation_names", {0: "base_ang_vel", 1: "base_lin_vel"}), "observations: mjlab says"),
        "a term less": (of("observation_names", "base_lin_vel,base_ang_vel"), "observations: mjlab says"),
        "unknown term": (
            of("observation_names", {2: "height_scan"}),
            r"observations\.height_scan: 'height_scan' is unk",
        ),
        "another joint": (of("joint_names", {0: "waist"}), r"joints\.waist\.start: .* has no such joint"),
        "a joint less": (of("joint_names", ",".join(NAMES[1:])), "positions or gains are not those of 11 joints"),
    },
    exports.ISAAC_LAB: {
        "rate": (within("scene", dt=0.01), r"control_dt: isaac-lab says 0\.01, and the file 0\.02"),
        "offset": (within(*ACTION, offset=[0.0] * 12), r"actions\.RH_KFE\.offset: isaac-lab says 0\.0"),
        "bounds": (within(*ACTION, clip=[[-1.0, 1.0]] * 12), r"actions\.RH_KFE\.clip: isaac-lab says \[-1\.0, 1\.0\]"),
        "class": (within(*ACTION, full_path=CLASS + "JointEffortAction"), "'JointEffortAction' is unknown"),
        "velocities": (within(*ACTION, full_path=CLASS + "JointVelocityAction"), r"actions\.RH_KFE\.type"),
        "joints of an action": (within(*ACTION, joint_names=exports.BY_TYPE[:11]), "actions: isaac-lab says"),
        "joints of a term": (within(*POLICY, 4, joint_names=exports.BY_TYPE[:11]), r"joint_pos_rel\.joints"),
        "modifiers": (within(*POLICY, 1, extras={"modifiers": [{"func": "bias"}]}), r"base_ang_vel: modifiers"),
        "zero of velocities": (
            within(*POLICY, 5, joint_vel_offsets=[0.1] * 12),
            r"joint_vel_rel: modifiers and offsets",
        ),
        "no row": (within(*POLICY, 4, "overloads", flatten_history_dim=False), r"joint_pos_rel: its 4 readings are no"),
        "other scales": (within(*POLICY, 3, "overloads", scale=[2.0, 0.25]), r"generated_commands\.scale: numbers"),
        "no group": (within(observations={"actor": []}), "a group 'policy' are wanted"),
    },
    exports.UNITREE: {
        "gains by joint": (within(stiffness=[1.0] * 12), r"actions\.RH_HAA\.kp: unitree-rl-lab says 1\.0"),
        "no gains": (lambda known: known.pop("damping"), "it lacks 'damping'"),
        "layout": (within("observations", "base_ang_vel", history_length=1), r"base_ang_vel\.history"),
        "clip after scale": (within("observations", scale_first=True), "scale_first: here, clip comes before scale"),
        "a motor more": ([*MOTORS, "waist"], "motors: 13 names, and its joints are"),
        "order of motors": (MOTORS[1::-1] + MOTORS[2:], r"joints\.RH_HAA\.start: unitree-rl-lab says"),
    },
}
CASES = [(export, name) for export, cases in SAID.items() for name in cases]


@pytest.mark.parametrize(("export", "name"), CASES, ids=lambda each: each if isinstance(each, str) else each.program)
def test_what_differs_from_the_file_is_named(export, name, files, tmp_path):
    change, text = SAID[export][name]
    motors = change if isinstance(change, list) else export.motors
    policy, beside = exports.write(export, tmp_path, None if isinstance(change, list) else change)
    with pytest.raises(pippin.ConfigError, match=text):
        orders(foreign_passport(policy, beside, motors), *files[export.program])


@pytest.mark.parametrize("export", exports.EXPORTS, ids=lambda export: export.program)
def test_what_a_program_rounds_is_not_refused(export, files, tmp_path):
    """Numbers of the file between those that the program can write: three decimals, or three digits."""
    policy, beside = exports.write(export, tmp_path)
    passport, terms = copy.deepcopy(files[export.program])
    group = passport["actuators"]["robot"]["parameters"]
    group["kp"] = [gain + {"mjlab": 0.0004, "unitree-rl-lab": 0.04}.get(export.program, 0.0) for gain in group["kp"]]
    orders(foreign_passport(policy, beside, export.motors), passport, terms)
    group["kp"] = [gain + {"mjlab": 0.0006, "unitree-rl-lab": 0.6}.get(export.program, 0.001) for gain in group["kp"]]
    with pytest.raises(pippin.ConfigError, match=r"actions\.RH_KFE\.kp"):
        orders(foreign_passport(policy, beside, export.motors), passport, terms)


FILES = {
    "frame": (
        exports.MJLAB,
        'frame = "body"',
        'frame = "world"',
        r"base_ang_vel\.frame: mjlab says body, and the file w",
    ),
    "width": (exports.MJLAB, "", "", r"the network has obs \[90\], actions \[12\]"),
    "positions": (exports.MJLAB, "relative = true", "relative = false", r"joint_pos\.relative: mjlab says True"),
    "rate": (exports.UNITREE, "decimation = 4", "decimation = 2", r"control_dt: unitree-rl-lab says 0\.02"),
    "smoothing": (
        exports.MJLAB,
        'offset = "initial"',
        'offset = "zero"\nsmoothing = 0.2',
        r"RH_KFE\.smoothing: mjlab says 0",
    ),
    "offset": (
        exports.UNITREE,
        'offset = "initial"',
        'offset = "zero"',
        r"RH_KFE\.offset: unitree-rl-lab says 0\.66, and the file 0",
    ),
    "axes": (
        exports.MJLAB,
        "scale = 0.2\n",
        'scale = 0.2\naxes = "zyx"\n',
        r"base_ang_vel\.axes: mjlab says \[0, 1, 2\]",
    ),
    "clip": (
        exports.ISAAC_LAB,
        'offset = "initial"',
        'offset = "initial"\nclip = [-1.0, 1.0]',
        r"RH_KFE\.clip: isaac-l",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_differs_is_named(name, tmp_path):
    """No folder is left."""
    export, old, new, text = FILES[name]
    model = exports.network(export, width=90) if name == "width" else None
    given = put(tmp_path, export, model=model)
    whole = given["file"].read_text()
    assert old in whole
    given["file"].write_text(whole.replace(old, new))
    with pytest.raises(pippin.ConfigError, match=text):
        deploy(out=tmp_path / "robot", **given)
    assert not (tmp_path / "robot").exists()


def test_what_is_of_nobody_is_refused(tmp_path):
    """A file of nobody, a file that is none, and a policy of two inputs."""
    policy, _ = exports.write(exports.MJLAB, tmp_path)
    (tmp_path / "other.yaml").write_text("a: 1\n")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    for name, text in {"other.yaml": "is of none of mjlab, isaac-lab", "broken.yaml": "cannot be read"}.items():
        with pytest.raises(pippin.ConfigError, match=text):
            foreign_passport(policy, tmp_path / name)
    onnx.save(exports.network(exports.MJLAB), policy)
    assert foreign_passport(policy) is None
    result = CliRunner().invoke(main, ["deploy", str(policy), "--robot", ROBOT])
    assert "is of no known program" in result.output
