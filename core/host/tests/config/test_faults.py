"""Wrong configurations: every fault is reported at once, with its line, its value and what to do."""

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import get_origin

import attrs
import numpy as np
import pippin
import pippin_task
import pytest
from pippin.catalog import Catalog
from pippin.config import CollisionConfig
from pippin.config.fields import fields_of
from pippin.config.tree import path_text

SOLVER = {"solver": {"type": "xpbd"}}

DRIVE = """
from __future__ import annotations
from typing import Literal
import attrs

@attrs.frozen(kw_only=True)
class Limit:
    type: Literal["limit"] = "limit"
    effort: float = 1.0

@attrs.frozen(kw_only=True)
class Curve:
    type: Literal["curve"]
    points: tuple[tuple[float, str], ...]

@attrs.frozen(kw_only=True)
class DriveConfig:
    implementation = "Drive"

    low: float = 0.0
    high: float = 1.0
    size: int | Literal["auto"] | tuple[int, ...] = "auto"
    clamping: tuple[Limit | Curve, ...] = ()
    shape: Limit | Curve | None = None

    @high_validator
    def _above(self, attribute, value):
        if value < self.low:
            raise ValueError(f"'high' must be above low: {value}")

class Drive:
    pass
""".replace("high: float = 1.0", "high: float = attrs.field(default=1.0)").replace("@high_validator", "@high.validator")

DEMO = "@attrs.frozen\nclass DemoConfig:\n    implementation = 'Demo'\n"
"""Beginning of a configuration, whose fields follow."""


@pytest.fixture
def drive(install):
    """Install an actuator whose configuration uses every kind of type that the built-in ones do not."""
    install("demo-drive", DRIVE, 'drive = "demo_drive:DriveConfig"', kind="actuator")
    return lambda **settings: pippin.structure({**SOLVER, "actuators": {"a": {"type": "drive", **settings}}})


def faults(call, *arguments, error=pippin.ConfigError, **keywords):
    with pytest.raises(error) as raised:
        call(*arguments, **keywords)
    return str(raised.value).splitlines()


def test_all_faults_of_a_file_are_reported_in_its_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ant.toml").write_text(
        textwrap.dedent("""\
        [simulation]
        dt = -1.0
        substeps = 0       # the second of two validators of one table
        subteps = 3
        capture = "of"

        [scene]
        worlds = true
        spacing = [1.0, 2.0]
        gravity = [0, nan, "x"]
        [[scene.assets]]
        up_axis = "w"

        [solver]
        type = "mujoco"
        iterations = "20"

        [actuators.legs]
        type = "pd"
        joints = "hip"
        kp = { ".*hip.*" = 40.0, ".*ankle.*" = "25.0" }
        clamping = [
            { type = "max-effort", max_effort = -1 },
            3,
        ]
        [actuators.arm]
        type = "pdd"
        [actuators.hand]
        joints = ["finger"]
        """)
    )

    found = faults(pippin.load, "ant.toml")

    assert found[:-2] == [
        "ant.toml:2: simulation.dt: must be > 0.0: -1.0",
        "ant.toml:3: simulation.substeps: must be >= 1: 0",
        "ant.toml:4: simulation.subteps: unknown key; did you mean 'substeps'?",
        "ant.toml:5: simulation.capture: expected one of 'auto', 'require', 'off', got 'of'; did you mean 'off'?",
        "ant.toml:8: scene.worlds: expected an integer, got true",
        "ant.toml:9: scene.spacing: expected a list of 3 numbers, got [1.0, 2.0]",
        "ant.toml:10: scene.gravity.1: expected a finite number, got nan",
        "ant.toml:10: scene.gravity.2: expected a number, got 'x'",
        "ant.toml:11: scene.assets.0.path: missing; expected a string",
        "ant.toml:12: scene.assets.0.up_axis: expected one of 'x', 'y', 'z', got 'w'",
        "ant.toml:16: solver.iterations: expected an integer, got '20'; remove the quotes",
        "ant.toml:20: actuators.legs.joints: expected a list of strings, got 'hip'; write ['hip']",
        "ant.toml:21: actuators.legs.kp.\".*ankle.*\": expected a number or a table, got '25.0'; remove the quotes",
        "ant.toml:23: actuators.legs.clamping.0.max_effort: must be finite and >= 0: -1.0",
        "ant.toml:24: actuators.legs.clamping.1: expected a table, got 3",
    ]
    assert found[-2].startswith("ant.toml:27: actuators.arm.type: actuator 'pdd': not installed; ")
    assert found[-2].endswith("; did you mean 'pd'?")
    assert found[-1].startswith("ant.toml:28: actuators.hand.type: missing; expected the name of a plugin, installed: ")


@pytest.mark.parametrize(
    ("table", "key", "value", "fault"),
    [
        ("simulation", "substeps", "3", "expected an integer or 'auto', got '3'; remove the quotes"),
        ("simulation", "substeps", 2.7, "expected an integer or 'auto', got 2.7"),
        ("simulation", "substeps", True, "expected an integer or 'auto', got true"),
        ("simulation", "decimation", None, "expected an integer, got null"),
        ("simulation", "dt", "fast", "expected a number, got 'fast'"),
        ("simulation", "dt", False, "expected a number, got false"),
        ("simulation", "dt", float("inf"), "expected a finite number, got inf"),
        ("simulation", "device", 0, "expected a string, got 0"),
        ("simulation", "capture", True, "expected one of 'auto', 'require', 'off', got true"),
        ("scene", "ground", 1, "expected true or false, got 1"),
        ("scene", "ground", "true", "expected true or false, got 'true'"),
        ("scene", "gravity", {"z": -9.81}, "expected a list of 3 numbers, got {'z': -9.81}"),
        ("scene", "assets", {"path": "a.xml"}, "expected a list of tables, got {'path': 'a.xml'}"),
        ("collision", "interval", [1], "expected an integer or 'adaptive', got [1]"),
    ],
)
def test_nothing_is_coerced(table, key, value, fault):
    assert faults(pippin.structure, {**SOLVER, table: {key: value}}) == [f"{table}.{key}: {fault}"]


def test_integers_are_numbers_and_so_are_those_of_numpy():
    data = {**SOLVER, "simulation": {"dt": 1, "substeps": np.int64(2)}, "scene": {"gravity": [0, 0, np.float32(-2)]}}

    config = pippin.structure(data)

    assert (config.simulation.dt, config.simulation.substeps, config.scene.gravity) == (1.0, 2, (0.0, 0.0, -2.0))
    assert type(config.simulation.dt) is float
    assert type(config.scene.gravity[2]) is float


def test_a_huge_integer_is_not_a_finite_number():
    (fault,) = faults(pippin.structure, {**SOLVER, "simulation": {"dt": 10**400}})

    assert fault.startswith("simulation.dt: expected a finite number, got 1000")
    assert len(fault) < 120


def test_settings_that_raise_on_their_own_are_located(install):
    source = f"import attrs\n{DEMO}    def __attrs_post_init__(self): raise LookupError('no map')\n"
    install("demo-plug", f"{source}class Demo: pass\n", 'demo = "demo_plug:DemoConfig"')

    assert faults(pippin.structure, {"solver": {"type": "demo"}}) == ["solver: LookupError: no map"]


def test_what_is_not_a_configuration_at_all_is_said_to_be_none():
    assert faults(pippin.structure, ["solver"]) == ["expected a table, got ['solver']"]


@pytest.mark.parametrize("table", ["simulation", "scene", "solver", "actuators", "sensors"])
def test_what_is_not_a_table_is_said_to_be_none(table):
    cure = "; set solver.type" if table == "solver" else ""

    assert faults(pippin.structure, {**SOLVER, table: "x"}) == [f"{table}: expected a table, got 'x'{cure}"]


def test_unknown_key_far_from_any_lists_those_there_are():
    known = ", ".join(field.name for field in attrs.fields(CollisionConfig))

    (fault,) = faults(pippin.structure, {**SOLVER, "collision": {"zzz": 1}})

    assert fault == f"collision.zzz: unknown key; known keys: {known}"


def test_key_of_an_earlier_version_is_refused_with_what_replaced_it(install):
    source = (
        f"from typing import ClassVar\nimport attrs\n{DEMO}    gap: float = 0.0\n"
        "    replaced_keys: ClassVar[dict] = {'radius': 'write gap'}\nclass Demo: pass\n"
    )
    install("demo-plug", source, 'demo = "demo_plug:DemoConfig"')

    found = faults(pippin.structure, {"solver": {"type": "demo", "radius": 1.0, "replaced_keys": {}, "gab": 0.5}})

    assert found == [
        "solver.gab: unknown key; did you mean 'gap'?",
        "solver.radius: not a key any more; write gap",
        "solver.replaced_keys: unknown key; known keys: gap",
    ]


def test_number_that_yaml_reads_as_text_gets_its_cure(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("solver: {type: xpbd}\nsimulation:\n  dt: 1e-3\n")

    assert faults(pippin.load, path) == [
        f"{path}:3: simulation.dt: expected a number, got '1e-3'; YAML reads this as text, write 1.0e-03"
    ]


def test_validator_that_reads_another_field_names_its_own(drive):
    assert faults(drive, low=3.0, high=2.0) == ["actuators.a.high: must be above low: 2.0"]


def test_a_validator_s_own_fault_is_told_at_its_field(install):
    """It is not a fault of reading another field, which only an instance has."""
    source = (
        "import attrs\n"
        "def check(instance, attribute, value): value.no_such_method()\n"
        f"{DEMO}    gain: float = attrs.field(default=1.0, validator=check)\n"
    )
    install("demo-plug", f"{source}class Demo: pass\n", 'demo = "demo_plug:DemoConfig"')

    (fault,) = faults(pippin.structure, {"solver": {"type": "demo", "gain": 2.0}})

    assert fault == "solver.gain: AttributeError: 'float' object has no attribute 'no_such_method'"


def test_union_takes_the_member_that_is_written_so(drive):
    config = drive(size=[1, 2], clamping=[{"type": "curve", "points": [[1, "a"]]}], shape={"type": "limit"})

    settings = config.actuators["a"].config

    assert settings.size == (1, 2)
    assert settings.clamping[0].points == ((1.0, "a"),)
    assert settings.shape.effort == 1.0


@pytest.mark.first_cases(3)
@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"size": "big"}, "size: expected an integer or 'auto' or a list of integers, got 'big'"),
        ({"size": [1, 2.5]}, "size.1: expected an integer, got 2.5"),
        ({"clamping": [{"effort": 1.0}]}, "clamping.0.type: missing; expected one of 'limit', 'curve'"),
        (
            {"clamping": [{"type": "curv"}]},
            "clamping.0.type: expected one of 'limit', 'curve', got 'curv'; did you mean 'curve'?",
        ),
        ({"clamping": [{"type": "curve"}]}, "clamping.0.points: missing; expected a list of lists"),
        (
            {"clamping": [{"type": "curve", "points": [[1.0]]}]},
            "clamping.0.points.0: expected a list of 2 items, got [1.0]",
        ),
        ({"shape": {"type": "limit", "efort": 1.0}}, "shape.efort: unknown key; did you mean 'effort'?"),
    ],
)
def test_union_fault_names_what_its_place_takes(drive, settings, fault):
    assert faults(drive, **settings) == [f"actuators.a.{fault}"]


def test_only_broken_plugins_are_a_plugin_error(install):
    install("demo-plug", "raise RuntimeError('no licence')", 'demo = "demo_plug:DemoConfig"')

    found = faults(pippin.structure, {"solver": {"type": "demo", "x": 1}}, error=pippin.PluginError)

    assert found == [
        "solver.type: solver 'demo' of demo-plug 1.0: could not be imported (RuntimeError: no licence); "
        "repair or reinstall demo-plug"
    ]


def test_unknown_plugin_beside_another_fault_is_a_config_error():
    found = faults(pippin.structure, {"solver": {"type": "xpdb"}, "simulation": {"dt": "x"}})

    assert found[0] == "simulation.dt: expected a number, got 'x'"
    assert found[1].startswith("solver.type: solver 'xpdb': not installed; ")


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("x: Nowhere = 1", "class DemoConfig: an annotation cannot be resolved (name 'Nowhere' is not defined)"),
        ("x: complex = 1", "the plugin's configuration asks for <class 'complex'>, which no file can hold"),
    ],
)
def test_config_class_that_no_file_can_fill_is_the_plugins_fault(install, field, reason):
    source = f"import attrs\n{DEMO}    {field}\nclass Demo: pass\n"
    install("demo-plug", f"from __future__ import annotations\n{source}", 'demo = "demo_plug:DemoConfig"')

    (found,) = faults(pippin.structure, {"solver": {"type": "demo", "x": 1}}, error=pippin.PluginError)

    assert reason in found


def test_loading_imports_neither_newton_nor_warp_nor_unused_plugins(tmp_path):
    (tmp_path / "a.toml").write_text('[solver]\ntype = "xpbd"\n[sensors.s]\ntype = "imu"\nbody = "b"\n')
    code = "import sys, pippin; pippin.load('a.toml'); print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    modules = set(done.stdout.split())
    assert {"pippin_solver_xpbd", "pippin_sensor_imu"} <= modules
    assert modules.isdisjoint({"newton", "warp", "yaml", "pippin_solver_mujoco", "pippin_actuator_pd"})


TABLES_OF_LABELS = [
    *((kind.table,) for kind in Catalog.installed().kinds.values() if kind.table and kind.is_labelled),
    *(("task", field.name) for field in fields_of(pippin_task.TaskConfig) if get_origin(field.type) is Mapping),
]


@pytest.mark.parametrize("label", ["", "..", "../../esc", "a/b", "a\\b", "a\nb"])
@pytest.mark.parametrize("path", TABLES_OF_LABELS, ids=".".join)
def test_a_label_that_would_name_another_file_is_refused(path, label):
    data = {label: {"type": "npz"}}
    for key in reversed(path):
        data = {key: data}

    (fault,) = faults(pippin.structure, data)

    assert fault.startswith(f"{path_text((*path, label))}: a label names files")


def test_terms_have_labels_and_patterns_have_none():
    legs = {"type": "pd", "joints": [".*"], "kp": {".*/hip": 1.0}}
    (fault,) = faults(pippin.structure, {"task": {"observations": {"policy": {"a/b": {"of": "last-action"}}}}})

    assert fault.startswith('task.observations.policy."a/b": a label names files')
    assert pippin.structure({"actuators": {"legs": legs}}).actuators["legs"].config.kp == {".*/hip": 1.0}
