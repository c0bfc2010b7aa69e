"""The runner beside Pippin: the same observations and targets, and refusals of what is wrong."""

import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import onnx
import pippin
import pytest
from pippin_deploy import deploy, runner
from pippin_deploy.runner import RobotError, Runner
from pippin_task.passport import read_passport

from . import walker

GIVEN = {"height"}


def test_the_runner_is_a_short_file():
    """Its users read it whole, beside their robot."""
    assert len(Path(runner.__file__).read_text(encoding="utf-8").splitlines()) <= 300


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return walker.write(tmp_path_factory.mktemp("walker"))


def measured(simulation, order):
    """Return what a robot of joints in some order measures, by Newton's own arrays."""
    model, state = simulation.model, simulation.state
    names = [label for label, kind in zip(model.joint_label, model.joint_type.numpy(), strict=True) if kind != 4]
    rows = [model.joint_label.index(next(each for each in names if each.endswith(name))) for name in order]
    q, qd = model.joint_q_start.numpy(), model.joint_qd_start.numpy()
    body = model.body_label.index(next(each for each in model.body_label if each.endswith("trunk")))
    pose, turning = state.body_q.numpy()[body].astype(float), state.body_qd.numpy()[body, 3:].astype(float)
    x, y, z, w = pose[3:]
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return {
        "positions": state.joint_q.numpy()[q[rows]],
        "velocities": state.joint_qd.numpy()[qd[rows]],
        "orientation": pose[3:],
        "angular_velocity": turn.T @ turning,
        "commands": {"way": simulation.task.commands["way"].value.numpy()[0]},
        "given": {"height": pose[2:3]},
    }


def largest_error(file, policy, steps):
    """Return the largest difference of observations and targets, with an episode that ends now and then."""
    order, worst = ["arm", "knee", "hip"], 0.0
    runner = Runner(policy, joints=order, given=GIVEN, late={"sine": 2})
    draws = np.random.default_rng(4)
    with pippin.Simulation(walker.exact(file)) as simulation:
        task = simulation.task
        for _ in range(steps):
            if task.episodes.length.numpy()[0] == 0:
                runner.reset()
            seen = measured(simulation, order)
            found, wanted = runner.observe(seen), task.observations["policy"].values.numpy()[0].copy()
            action = draws.normal(0.0, 0.5, 3).astype(np.float32)
            targets = runner.act(action, seen)
            task.episodes.action.assign(action[None])
            simulation.step()
            if task.episodes.length.numpy()[0] == 0:
                continue  # the reset put the targets back
            own = {
                "legs": simulation.actuators["legs"].position_targets.numpy()[0],
                "arm": simulation.actuators["arm"].velocity_targets.numpy()[0],
            }
            errors = [np.abs(found - wanted).max(), *(np.abs(targets[label] - own[label]).max() for label in own)]
            worst = max(worst, *errors)
    return worst


def test_the_runner_acts_as_pippin_does(files):
    """All kinds of terms, clips, scales, histories, a delay, smoothing, episodes; joints in another order."""
    assert largest_error(*files, 2500) <= 1e-6


def test_the_runner_keeps_the_memory_of_a_recurrent_policy(files):
    """Against the policy in Pippin, which starts with no memory in each episode; one ends after 20 steps."""
    file, policy = files
    policy = walker.recurrent(policy)
    config = walker.exact(file)
    task = attrs.evolve(config.task, episode_length=20 * 0.005)
    config = pippin.load(config.with_tables(task=task), {"policy.path": str(policy), "policy.check": False})
    runner, worst, forgotten = Runner(policy, joints=["arm", "knee", "hip"], given=GIVEN, late={"sine": 2}), 0.0, 0.0
    with pippin.Simulation(config) as simulation:
        task = simulation.task
        for _ in range(50):
            if task.episodes.length.numpy()[0] == 0:
                runner.reset()
            observations = task.observations["policy"].values.numpy()[0].copy()
            own = runner._network(observations)
            fresh = runner._session.run(None, {"o": observations[None], **runner._fresh})[0][0]
            simulation.step()
            worst = max(worst, np.abs(task.episodes.taken_action.numpy()[0] - own).max())
            forgotten = max(forgotten, np.abs(fresh - own).max())

    assert worst < 1e-5
    assert forgotten > 0.01


@pytest.mark.slow
def test_the_runner_acts_as_pippin_does_for_long(files):
    """The same for 100 000 steps."""
    assert largest_error(*files, 100_000) <= 1e-6


def test_a_folder_runs_without_pippin(files, tmp_path):
    """The runner of a folder imports no Pippin, and checks the policy."""
    out = tmp_path / "robot"
    deploy(files[1], out)
    code = (
        "import runpy, sys; sys.argv = ['runner.py', 'policy.onnx']; runpy.run_path('runner.py', run_name='__main__');"
        " print(any(name.split('.')[0] in ('pippin', 'warp', 'newton') for name in sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True)
    lines = found.stdout.splitlines()
    assert lines[0] == "policy.onnx: the record of its passport is repeated"
    assert lines[-1] == "False"
    page = (out / "README.md").read_text()
    for text in ("- Rate: 200 Hz", "**`root-height`: give its numbers**", "knee` | 0.3"):
        assert text in page


def test_names_of_a_passport_are_text_on_the_page(files, tmp_path):
    """Whoever wrote the policy named its joints, and a viewer of Markdown interprets HTML."""
    name = "<img src=x onerror=alert(1)> | [a](javascript:b)"

    def renamed(passport):
        for group in ("joints", "observations", "actions"):
            passport[group][0]["name" if group == "joints" else "label"] = name
        passport["body"] = name

    deploy(walker.rewritten(files[1], renamed), tmp_path / "robot")
    page = (tmp_path / "robot" / "README.md").read_text()

    assert page.count("&#60;img src&#61;x onerror&#61;alert&#40;1&#41;&#62; &#124; &#91;a") == 4
    assert "<" not in page
    assert "](" not in page


def test_what_cannot_be_deployed_leaves_no_folder(files, tmp_path):
    """A missing file, a needless key and an unknown group are each told, before anything is written."""
    file, policy = files
    bare = onnx.load(policy)
    onnx.helper.set_model_props(bare, {})
    onnx.save(bare, tmp_path / "bare.onnx")
    wrong = {
        "not a readable ONNX file": (tmp_path / "none.onnx", {}),
        "has no passport; name": (tmp_path / "bare.onnx", {}),
        "has a passport; leave out --file": (policy, {"file": file}),
        "leave out --from, --motors, --observations": (
            policy,
            {"observations": "policy", "beside": file, "motors": ["hip"]},
        ),
        "got 'critic'; name a group": (tmp_path / "bare.onnx", {"file": file, "observations": "critic"}),
    }
    for message, (chosen, options) in wrong.items():
        with pytest.raises(pippin.ConfigError, match=message):
            deploy(chosen, tmp_path / "robot", **options)
    assert not (tmp_path / "robot").exists()


def term(label):
    return lambda passport: next(each for each in passport["observations"] if each["label"] == label)


def swapped(passport):
    names = term("speeds")(passport)["recipe"]["joints"]
    names[:2] = names[1::-1]


def set_in(find, *keys, to):
    def change(passport):
        place = find(passport)
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = to(place[keys[-1]]) if callable(to) else to

    return change


def action(number):
    return lambda passport: passport["actions"][number]


CHANGES = {
    "order of joints": (swapped, r"observations\.speeds"),
    "order of actions": (lambda passport: passport["actions"].reverse(), r"actions\.arm"),
    "order of terms": (lambda passport: passport["observations"].reverse(), r"observations\.left"),
    "quaternion": (set_in(term("pose"), "recipe", "order", to="xyzw"), r"observations\.pose"),
    "double cover": (set_in(term("pose"), "columns", to=[1, 2, 3, 0]), r"observations\.pose"),
    "offset": (set_in(term("bend"), "recipe", "offset", to=[0.0] * 3), r"observations\.bend"),
    "degrees": (set_in(term("cosine"), "recipe", "scale", to=[57.3]), r"observations\.cosine"),
    "form": (set_in(term("sine"), "recipe", "form", to="cosine"), r"observations\.sine"),
    "limits": (set_in(term("share"), "recipe", "scale", to=[1.0, 1.0]), r"observations\.share"),
    "clip": (set_in(term("bend"), "clip", to=None), r"observations\.bend"),
    "scale": (set_in(term("turning"), "scale", to=1.0), r"observations\.turning"),
    "history": (set_in(term("turning"), "history", to=1), r"observations\."),
    "late by one": (set_in(term("last"), "recipe", "kind", to="action-rate"), r"observations\.last"),
    "frame": (set_in(term("ahead"), "recipe", "frame", to="body"), r"observations\.ahead"),
    "axes": (set_in(term("ahead"), "columns", to=[0, 2]), r"observations\.ahead"),
    "gravity": (set_in(term("gravity"), "recipe", "gravity", to=[0.0, 0.0, 9.81]), r"observations\.gravity"),
    "command": (set_in(term("way"), "recipe", "command", to="other"), "'other'"),
    "kind": (set_in(term("jerk"), "recipe", "kind", to="snap"), r"observations\.jerk: unknown kind 'snap'"),
    "width": (set_in(term("speeds"), "columns", to=[0, 1]), r"observations\.speeds"),
    "target scale": (set_in(action(0), "recipe", "scale", to=[0.2, 0.4]), r"actions\.legs"),
    "target offset": (set_in(action(0), "recipe", "offset", to=[0.0, 0.0]), r"actions\.legs"),
    "target clip": (set_in(action(0), "recipe", "clip", to=None), r"actions\.legs"),
    "smoothing": (set_in(action(0), "recipe", "smoothing", to=0.0), r"actions\.legs"),
    "network": (set_in(lambda passport: passport, "network", to=lambda rows: rows[::-1]), "network"),
    "no recipe": (set_in(action(1), "recipe", to=None), r"actions\.arm: joint-velocity-targets needs a simulation"),
    "version": (set_in(lambda passport: passport, "version", to=2), "version"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_meaning_is_named(files, name):
    """A passport that says something else than its record is refused, by the place."""
    change, text = CHANGES[name]
    with pytest.raises(RobotError, match=text):
        Runner(walker.rewritten(files[1], change), given=GIVEN)


def test_a_change_without_its_program_is_refused(files):
    """An edit of the text does not pass for the passport that was written."""
    data = files[1].read_bytes()
    files[1].with_name("edited.onnx").write_bytes(data.replace(b'"smoothing": 0.3', b'"smoothing": 0.5'))
    with pytest.raises(RobotError, match="digest"):
        Runner(files[1].with_name("edited.onnx"), given=GIVEN)
    with pytest.raises(pippin.ConfigError, match="was changed"):
        read_passport(files[1].with_name("edited.onnx"))


ROBOTS = {
    "missing joint": ({"joints": ["arm", "knee"]}, "'hip' is 0 times"),
    "double joint": ({"joints": ["arm", "knee", "hip", "hip"]}, "'hip' is 2 times"),
    "rate": ({"rate": 50.0}, "rate: the policy has 200 Hz, and the robot 50 Hz"),
    "gain": ({"gains": {"kp": {"knee": 60.0}}}, r"gains: kp of knee is 60, in training \[30"),
    "gain of nobody": ({"gains": {"ki": {"knee": 1.0}}}, "gains: ki of knee is 1, in training not known"),
    "unknown term": ({"late": {"sines": 2}}, "there is no term 'sines'"),
    "no estimate": ({"given": ()}, "given: no formula says height"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_another_robot_is_named(files, name):
    """A robot that cannot be the one of the training is refused before its first step."""
    options, text = ROBOTS[name]
    with pytest.raises(RobotError, match=text):
        Runner(files[1], **{"given": GIVEN, **options})


READINGS = {
    "degrees": ({"positions": [0.0, 17.0, 0.0]}, "knee at 17 is out of its limits"),
    "w, x, y, z": ({"orientation": [1.0, 0.0, 0.0, 0.0]}, "or this is w, x, y, z"),
    "no quaternion": ({"orientation": [0.0, 0.0, 0.0, 57.3]}, "no unit quaternion"),
    "width": ({"velocities": [0.0, 0.0]}, "velocities: 3 numbers are wanted"),
    "too many": ({"positions": [0.0, 0.3, 0.0, 0.0]}, r"positions: 3 numbers are wanted, got the shape \(4,\)"),
    "NaN": ({"angular_velocity": [0.0, np.nan, 0.0]}, "angular_velocity: not finite"),
    "no command": ({"commands": {}}, "'way' is missing"),
    "no height": ({"given": {}}, "'height' is missing"),
}


@pytest.mark.parametrize("name", READINGS)
def test_readings_of_another_robot_are_named(files, name):
    """A first reading that this robot cannot have is refused, by its name."""
    seen = {"positions": [0.0, 0.3, 0.0], "velocities": [0.0] * 3, "orientation": [0.0, 0.0, 0.0, 1.0]}
    seen |= {"angular_velocity": [0.0] * 3, "commands": {"way": [0.0, 0.0, 0.5]}, "given": {"height": [0.25]}}
    change, text = READINGS[name]
    runner = Runner(files[1], joints=["arm", "knee", "hip"], given=GIVEN)
    assert set(runner.step(seen)) == {"legs", "arm"}
    runner.reset()
    with pytest.raises(RobotError, match=text):
        runner.step(seen | change)
