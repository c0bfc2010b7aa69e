"""The contract of every controller, kept by the built-in ones."""

import pippin_conformance as conformance
import pytest

DRIVES = {"actuators": {"legs": {"type": "pd", "joints": ["hinge_.*"], "kp": 50.0, "kd": 2.0}}}
KEYS = {"actuator": "legs", "body": "link_1", "position": [0.0, 0.0, -0.5]}
SETTINGS = {
    "differential-ik": {"axis_weights": [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]},
    "ik": {"rotation_weight": 0.0},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SETTINGS)
def test_it_keeps_the_contract(kind):
    suite = conformance.Conformance("controller", kind, config={**KEYS, **SETTINGS[kind]}, tables=DRIVES)
    results = [suite.run(check) for check in suite.checks]

    assert not [each for each in results if each.outcome == "failed"]
    assert {"goals", "targets"} <= {each.check for each in results}
