"""The kit where nothing but the host is installed beside it."""

import pytest
from pippin_conformance import Conformance


@pytest.mark.alone
@pytest.mark.parametrize(
    ("kind", "name", "config", "checks"),
    [
        ("clamping", "max-effort", {"max_effort": 0.5}, ["schema", "round_trip", "effect", "worlds"]),
        ("stage", "bias", {"mean": 0.1}, ["schema", "effect"]),
    ],
)
def test_a_plugin_of_the_host_keeps_its_promises(kind, name, config, checks):
    kit = Conformance(kind, name, config=config)

    assert {check: kit.run(check).reason for check in checks} == dict.fromkeys(checks, "")
