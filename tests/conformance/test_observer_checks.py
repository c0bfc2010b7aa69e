"""The viewers and recorders of the core keep the contract."""

import os

import pytest
from pippin import conformance

pytestmark = pytest.mark.slow

CONFORMANCES = [
    conformance.Conformance("viewer", "gl"),
    conformance.Conformance("viewer", "usd", config={"path": "motion.usda"}),
    conformance.Conformance("viewer", "video", config={"size": [64, 48]}),
    conformance.Conformance("viewer", "viser"),
    conformance.Conformance("recorder", "hdf5"),
    conformance.Conformance("recorder", "lerobot", config={"action": ["joint_qd"]}, dt=1.0 / 300.0),
    conformance.Conformance("recorder", "robomimic", config={"action": ["joint_qd"]}),
    conformance.Conformance("recorder", "mcap"),
    conformance.Conformance("recorder", "npz"),
]


@pytest.mark.parametrize(
    ("kit", "check"),
    [(kit, check) for kit in CONFORMANCES for check in kit.checks],
    ids=lambda each: str(getattr(each, "subject", each)),
)
def test_it_keeps_the_contract(kit, check):
    if kit.subject.name == "gl" and not os.environ.get("DISPLAY"):
        pytest.skip("needs a display")
    result = kit.run(check)

    assert result.outcome in ("passed", "expected failure", "not applicable"), result.reason
