"""Passports of policies: written into ONNX files, and compared with the task of a file."""

import numpy as np
import pippin
import pytest
from pippin_task.passport import described, read_passport, write_passport

WEIGHTS = np.array([[0.1], [-2.0], [0.3], [0.4], [-0.2], [0.5]], np.float32)
POSITIONS, VELOCITIES = {"of": "joint-positions"}, {"of": "joint-velocities", "history": 2}


@pytest.fixture
def stamped(tasked, network_file):
    """Return the file of a network with the passport of the cart's task."""
    file = network_file(6, [("MatMul", [WEIGHTS], {})])
    with tasked(worlds=1) as simulation:
        passport = described(simulation, "policy")
    write_passport(file, passport | {"record": {"observations": [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]}})
    return file


def test_a_passport_says_what_the_task_is(stamped):
    passport = read_passport(stamped)
    assert [each["name"] for each in passport["joints"]] == ["rail", "pole"]
    assert passport["control_dt"] == pytest.approx(0.02)
    assert passport["observations"][1]["recipe"] == {"kind": "joint-velocities", "joints": ["rail", "pole"]}
    assert passport["actions"][0]["recipe"]["clip"] == [-1.0, 1.0]
    assert passport["actuators"]["rail"]["parameters"]["kp"] == [10.0]
    np.testing.assert_allclose(passport["network"], np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]]) @ WEIGHTS, rtol=1e-6)


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"observations": {"policy": {"q": POSITIONS | {"noise": 0.1}, "qd": VELOCITIES | {"delay": [0, 2]}}}},
        {"actions": {"f": {"type": "joint-targets", "actuator": "rail", "clip": [-1.0, 1.0]}}, "events": {}},
        {"solver": "mujoco-native"},
    ],
    ids=["the same", "noise and delay", "other labels", "another solver"],
)
def test_the_same_meaning_plays(task, tasked, stamped):
    with tasked(policy={"path": str(stamped)}, **task) as simulation:
        simulation.step()


def limited(**keys):
    return {"actions": {"force": {"type": "joint-targets", "actuator": "rail", "clip": [-1.0, 1.0], **keys}}}


OTHERS = {
    "control step": ({"simulation": {"decimation": 3}}, r"a control step of 0\.02 s, here 0\.03 s"),
    "scale": (
        {"observations": {"policy": {"p": POSITIONS | {"scale": 2.0}, "v": VELOCITIES}}},
        r"positions\.scale = 1",
    ),
    "clip": ({"observations": {"policy": {"p": POSITIONS | {"clip": [-1, 1]}, "v": VELOCITIES}}}, r"positions\.clip"),
    "order": ({"observations": {"policy": {"v": VELOCITIES, "p": POSITIONS}}}, r"positions\.type"),
    "terms": (
        {
            "observations": {
                "policy": {"p": POSITIONS, "v": {"of": "joint-velocities"}, "w": {"of": "joint-velocities"}}
            }
        },
        "2 terms of observations, here 3",
    ),
    "target scale": (limited(scale=0.5), r"actions\.force\.recipe\.scale = \[1\.0\], here \[0\.5\]"),
    "smoothing": (limited(smoothing=0.5), r"actions\.force\.recipe\.smoothing = 0\.0, here 0\.5"),
    "kind of targets": (
        {"actions": {"force": {"type": "joint-velocity-targets", "actuator": "rail", "clip": [-1.0, 1.0]}}},
        r"actions\.force\.type",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_meaning_is_refused(name, tasked, stamped):
    task, message = OTHERS[name]
    with pytest.raises(pippin.ConfigError, match=message):
        tasked(policy={"path": str(stamped)}, **task)
    with tasked(policy={"path": str(stamped), "check": False}, **task) as simulation:
        simulation.step()


def test_a_damaged_passport_is_refused(tasked, stamped):
    """A text that is no JSON, another version, and numbers that were changed are each told."""
    import onnx

    for text, message in (("{", "is damaged"), ('{"version": 2}', "has version 2"), ('{"version": 1}', "was changed")):
        model = onnx.load(stamped)
        onnx.helper.set_model_props(model, {"pippin.passport": text})
        stamped.write_bytes(model.SerializeToString())
        with pytest.raises(pippin.ConfigError, match=message):
            tasked(policy={"path": str(stamped)})


def test_the_first_step_after_a_build_keeps_the_first_reading(tasked):
    """A simulation that nobody has reset begins its first episode as any other."""
    with tasked(worlds=1, events={}) as simulation:
        simulation.task.episodes.action.fill_(1.0)
        simulation.step()
        earlier, present = simulation.task.observations["policy"].values.numpy()[0, 2:].reshape(2, 2)
        assert not earlier.any()
        assert present.any()
