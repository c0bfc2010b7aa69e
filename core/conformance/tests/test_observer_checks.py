"""The viewers and recorders of the core keep the contract."""

import os

import pippin_conformance as conformance
import pytest

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


NO_FOLDER = """
import pippin
from pippin.files import output_path
from pippin.viewing import ViewerConfig


class NoFolderConfig(ViewerConfig):
    implementation = "NoFolder"


class NoFolder:
    def __init__(self, config):
        self.frame_period = 1.0 / config.rate

    @pippin.hookimpl
    def bind(self, simulation):
        path = output_path(simulation.folder, "frames.txt")
        MAKE
        self.file = path.open("w")

    @pippin.hookimpl
    def frame(self, time):
        self.file.write(str(time))

    @pippin.hookimpl
    def close(self):
        if hasattr(self, "file"):
            self.file.close()
"""


@pytest.mark.parametrize(("make", "outcome"), [("path.parent.mkdir()", "passed"), ("pass", "failed")])
def test_a_viewer_that_does_not_make_its_folder_is_found(make, outcome, tmp_path):
    (tmp_path / "no_folder.py").write_text(NO_FOLDER.replace("MAKE", make))
    result = conformance.Conformance("viewer", f"{tmp_path / 'no_folder.py'}:NoFolderConfig").run("folder")

    assert result.outcome == outcome
    assert ("No such file or directory" in result.reason) == (outcome == "failed")
