"""The contract of every controller, kept by the built-in ones."""

import pippin_conformance as conformance
import pytest
from click.testing import CliRunner
from pippin.cli import main

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


def test_the_command_checks_a_controller_with_a_table_of_its_actuators():
    drive = 'actuators.legs={ type = "pd", joints = ["hinge_.*"], kp = 50.0, kd = 2.0 }'
    keys = ["actuator=legs", "body=link_1", "rotation_weight=0.0"]
    command = ["check-plugin", "ik", "--check", "goals", "--check", "lifecycle"]
    command += [word for key in keys for word in ("--set", key)]

    without, within = (CliRunner().invoke(main, [*command, *more]) for more in ([], ["--table", drive]))

    assert within.exit_code == 0, within.output
    assert without.exit_code == 3
    assert "no group 'legs' in [actuators]" in " ".join(without.output.split())
