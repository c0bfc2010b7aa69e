"""`pippin check`: a first step with the file's solver, and each fault once."""

import json

import pytest
from click.testing import CliRunner
from pippin.catalog import Catalog, CheckEvidence
from pippin.cli import main

LEG = """<mujoco><worldbody><body name="thigh" pos="0 0 1"><joint name="hip" axis="0 1 0"/><geom size="0.05"/>
<body name="shank" pos="0 0 -0.5"><joint name="knee" axis="0 1 0" range="-150 -50"/><geom size="0.05"/></body>
</body></worldbody></mujoco>"""

BALLS = "".join(f'<body pos="{0.1 * i} 0 0.05"><freejoint/><geom size="0.1"/></body>' for i in range(3))


CUBE = 'def Cube "{}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]) {{\n{}\n}}\n'
LIFT = f"#usda 1.0\n{CUBE.format('lift', 'bool physics:kinematicEnabled = 1')}{CUBE.format('box', '')}"
"""A kinematic cube, which most of Newton's solvers have and MuJoCo in C has not."""


@pytest.fixture
def check(tmp_path, monkeypatch):
    """Return a function that writes a file, and returns exit code and output of `pippin check` with a few solvers."""
    monkeypatch.setenv("PIPPIN_CATALOG_ALLOW", "mujoco-native,steel,xpbd")

    def run(*arguments, robot=LEG, solver='type = "mujoco-native"', collision=""):
        asset = tmp_path / ("robot.usda" if robot.startswith("#usda") else "robot.xml")
        asset.write_text(robot)
        (tmp_path / "robot.toml").write_text(
            f'[simulation]\ndevice = "cpu"\n[scene]\nground = true\n[[scene.assets]]\npath = "{asset.name}"\n'
            f"[solver]\n{solver}\n[collision]\n{collision}\n"
        )
        result = CliRunner().invoke(main, ["check", str(tmp_path / "robot.toml"), *arguments])
        return result.exit_code, result.stdout

    return run


def test_a_joint_that_starts_outside_its_limits_is_noted_for_the_solver_of_the_file(check):
    code, text = check()

    assert code == 0
    (line,) = [line for line in text.splitlines() if "note: 1 joint" in line]
    assert line.startswith("mujoco-native: note: 1 joint starts outside its limits: knee 0 > -0.873; ")


def test_what_the_kit_found_of_the_solver_of_the_file_is_told_with_its_versions(check, tmp_path, monkeypatch):
    monkeypatch.setenv("PIPPIN_EVIDENCE", str(tmp_path / "records"))
    before = check()[1]
    solver = Catalog.installed().find("solver", "mujoco-native")
    CheckEvidence.now(solver, {"entry_point": "passed"}, {}).save(solver)
    after = check()[1]

    assert "mujoco-native: not checked with these versions; `pippin check-plugin mujoco-native` does it" in before
    assert "mujoco-native: honoured on contract 1, pippin 0.1.0, newton " in after
    assert "steel: not checked" not in before


def test_a_buffer_that_overflows_is_a_fault_with_the_number_to_write(check):
    code, text = check(
        "--json", "--solver", "xpbd", robot=f"<mujoco><worldbody>{BALLS}</worldbody></mujoco>",
        solver='type = "xpbd"', collision="rigid_contact_max = 2",
    )  # fmt: skip

    (verdict,) = json.loads(text)
    assert code == 2
    assert not verdict["is_able"]
    assert any(
        "collision.rigid_contact_max: " in fault and "set it to at least 7" in fault for fault in verdict["faults"]
    )


def test_a_solver_that_refuses_to_be_built_is_a_fault(check):
    code, text = check(robot=LEG.replace(' range="-150 -50"', ""), solver='type = "steel"\ncontact_warmstart = true')

    assert code == 2
    assert ":9: solver.contact_warmstart: True" in text


def test_a_solver_that_would_refuse_the_scene_is_told_before_anybody_selects_it(check):
    code, text = check("--json", robot=LIFT, solver='type = "xpbd"')

    verdicts = {verdict["solver"]: verdict for verdict in json.loads(text)}
    assert code == 0
    assert verdicts["xpbd"]["is_able"]
    assert verdicts["mujoco-native"]["missing"] == {"kinematic_bodies": "/lift"}


def test_what_each_solver_loses_of_a_file_is_told_before_anybody_selects_it(check):
    servo = '<actuator><position joint="hip" kp="5" forcerange="-1 1"/></actuator></mujoco>'
    robot = LEG.replace(' range="-150 -50"', "").replace("</mujoco>", servo).replace("<geom", '<geom priority="1"')
    code, text = check("--json", robot=robot)

    verdicts = {verdict["solver"]: verdict for verdict in json.loads(text)}
    assert code == 0
    assert any("does not support effort_limits" in fault for fault in verdicts["xpbd"]["faults"])
    assert any("priority 1" in note for note in verdicts["steel"]["notes"])


def test_a_fault_of_the_scene_is_told_once(check):
    code, text = check(robot="<mujoco><worldbody/></mujoco>")

    assert code == 2
    (line,) = [line for line in text.splitlines() if "robot.xml" in line]
    assert not line.startswith("mujoco")


MINE = """
import attrs
import pippin

@attrs.frozen(kw_only=True)
class MineConfig:
    implementation = "Mine"

    iterations: int = 1

class Mine:
    coordinates = "maximal"

    def __init__(self, config):
        self.config = config

    @pippin.hookimpl
    def build_solver(self, model):
        import newton

        if self.config.iterations != 3:
            raise pippin.ConfigError("iterations: the settings of the file are lost; keep them")
        return newton.solvers.SolverXPBD(model, iterations=self.config.iterations)
"""


def test_the_solver_of_a_file_beside_it_keeps_its_settings_however_it_is_named(check, tmp_path, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_ALLOW", "mine.py")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)

    code, text = check("--json", "--solver", "mine.py:MineConfig", solver='type = "mine.py:MineConfig"\niterations = 3')

    (verdict,) = json.loads(text)
    assert (code, verdict["is_able"], verdict["is_tried"]) == (0, True, True), verdict
