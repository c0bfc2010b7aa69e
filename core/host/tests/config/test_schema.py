"""The JSON Schema against a real validator: examples fit, and broken files are refused at the key that is wrong."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator
from pippin.catalog.entries import Catalog
from pippin.cli import main
from pippin.config.schema import json_schema

EXAMPLES = sorted(Path(__file__).parents[3].glob("docs/examples/*.toml"))

LEGS = 'actuators.legs.type = "pd"\nactuators.legs.joints = ["hip"]\n'
XPBD = 'solver.type = "xpbd"\n'


@pytest.fixture(scope="module")
def schema():
    document, problems = json_schema(Catalog.installed())
    assert not problems
    return document


def faults(schema, text):
    """Return the key path and the message of each fault that the validator finds."""
    errors = Draft7Validator(schema).iter_errors(tomllib.loads(text))
    return {".".join(map(str, error.absolute_path)): error.message for error in errors}


@pytest.mark.slow
def test_schema_is_valid_itself(schema):
    Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits(schema, path):
    assert faults(schema, path.read_text()) == {}


@pytest.mark.parametrize(
    "text",
    [
        XPBD,
        'solver.type = "pippin-solver-xpbd:xpbd"',
        '"$schema" = "./pippin.schema.json"\n' + XPBD,
        XPBD + LEGS + "actuators.legs.kp = { hip = 4 }",
        XPBD + LEGS + "actuators.legs.kp = 4.0",
        'extends = ["base.toml"]',
        'extends = ["base.toml"]\nsolver.iterations = 3',
        'extends = ["base.toml"]\nactuators.legs.kp = 3',
        'extends = ["base.toml"]\nactuators.legs = { type = "pd", kp = 3 }',
    ],
)
def test_what_loads_fits(schema, text):
    assert faults(schema, text) == {}


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("[simulation]\nsubteps = 1", "simulation", "'subteps' was unexpected"),
        ("[simulaton]", "", "'simulaton' was unexpected"),
        ("simulation.dt = 0.0", "simulation.dt", "less than or equal to the minimum of 0.0"),
        ("simulation.decimation = 2.5", "simulation.decimation", "is not of type 'integer'"),
        ("simulation.capture = 'on'", "simulation.capture", "is not one of"),
        ("scene.gravity = [0, 0]", "scene.gravity", "is too short"),
        ("scene.assets = [{}]", "scene.assets.0", "'path' is a required property"),
        ('solver.type = "xpdb"', "solver.type", "'xpdb' is not one of"),
        ("solver.iterations = 3", "solver", "'type' is a required property"),
        ('solver = { type = "xpbd", njmax = 3 }', "solver", "'njmax' was unexpected"),
        ('solver = { type = "xpbd", iterations = 0 }', "solver.iterations", "less than the minimum of 1"),
        ('actuators.legs.type = "pd"', "actuators.legs", "'joints' is a required property"),
        (LEGS + "actuators.legs.kp = -1", "actuators.legs.kp", "less than the minimum of 0.0"),
        (LEGS + "actuators.legs.kp.hip = -1", "actuators.legs.kp.hip", "less than the minimum of 0.0"),
        (LEGS + "actuators.legs.clamping = [{}]", "actuators.legs.clamping.0", "'type' is a required property"),
        (
            LEGS + 'actuators.legs.clamping = [{ type = "max-effort" }]',
            "actuators.legs.clamping.0",
            "'max_effort' is a required property",
        ),
        ('extends = ["base.toml"]\nsolver.x = 3', "solver", "'x' was unexpected"),
        ('extends = "base.toml"', "extends", "is not of type 'array'"),
    ],
)
def test_broken_file_is_refused_at_the_key_that_is_wrong(schema, text, path, message):
    assert message in faults(schema, text)[path]


def test_every_key_of_every_plugin_has_a_description(schema):
    tables = [schema["properties"][name] for name in ("simulation", "scene", "collision")]
    tables += schema["properties"]["solver"]["anyOf"][:-1]
    for name in ("actuators", "sensors"):
        tables += schema["properties"][name]["additionalProperties"]["anyOf"][:-1]

    silent = [key for table in tables for key, value in table["properties"].items() if not value.get("description")]

    assert silent == []


def test_defaults_are_told(schema):
    step = schema["properties"]["simulation"]["properties"]

    assert (step["dt"]["default"], step["capture"]["default"]) == (0.005, "auto")
    assert schema["properties"]["scene"]["properties"]["spacing"]["default"] == [0.0, 0.0, 0.0]


BOUNDS = '''
import attrs
from attrs.validators import *
from pippin.validators import in_schema

@in_schema(multipleOf=2)
def even(instance, attribute, value):
    """Reject odd numbers."""

@attrs.frozen(kw_only=True)
class DemoConfig:
    """What a demonstration needs."""

    implementation = "Demo"

    bounded: float = attrs.field(validator=and_(ge(1), lt(2)))
    maybe: float | None = attrs.field(default=None, validator=optional([gt(1), le(2)]))
    names: tuple[str, ...] = attrs.field(default=("a",), validator=[min_len(1), max_len(3), deep_iterable(min_len(2))])
    table: dict[str, float] = attrs.field(factory=dict, validator=deep_mapping(instance_of(str), ge(0)))
    chosen: int = attrs.field(default=1, validator=in_([1, 2]))
    even: int = attrs.field(default=2, validator=even)
    pair: tuple[int, str] = (1, "a")

class Demo:
    pass
'''


def test_validators_become_keywords(install):
    install("demo-plug", BOUNDS, 'demo = "demo_plug:DemoConfig"')

    schema, _ = json_schema(Catalog.installed())

    tables = {table["title"]: table["properties"] for table in schema["properties"]["solver"]["anyOf"][:-1]}
    assert tables["demo"] == {
        "type": {"enum": ["demo", "demo-plug:demo"], "description": "What a demonstration needs."},
        "bounded": {"type": "number", "minimum": 1, "exclusiveMaximum": 2},
        "maybe": {"type": "number", "exclusiveMinimum": 1, "maximum": 2},
        "names": {
            "type": "array",
            "items": {"type": "string", "minLength": 2, "minItems": 2},
            "minLength": 1,
            "minItems": 1,
            "maxLength": 3,
            "maxItems": 3,
            "default": ["a"],
        },
        "table": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}, "default": {}},
        "extends": {"const": False, "description": "The keys of the files below are left out."},
        "chosen": {"type": "integer", "enum": [1, 2], "default": 1},
        "even": {"type": "integer", "multipleOf": 2, "default": 2},
        "pair": {
            "type": "array",
            "items": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
            "default": [1, "a"],
        },
    }


def test_broken_plugin_is_left_out_with_a_note(install, tmp_path):
    install("demo-plug", "raise RuntimeError('no licence')", 'demo = "demo_plug:DemoConfig"')

    result = CliRunner().invoke(main, ["schema", "--output", str(tmp_path / "pippin.schema.json")])

    assert result.exit_code == 0
    assert "left out: solver 'demo' of demo-plug 1.0: could not be imported" in result.stderr
    names = json.loads((tmp_path / "pippin.schema.json").read_text())["properties"]["solver"]["properties"]["type"]
    assert "xpbd" in names["then"]["enum"]
    assert "demo" not in names["then"]["enum"]


def test_name_of_two_distributions_must_be_qualified(install):
    source = "import attrs\n@attrs.frozen\nclass DemoConfig: implementation = 'Demo'\nclass Demo: pass\n"
    install("demo-one", source, 'demo = "demo_one:DemoConfig"')
    install("demo-two", source, 'demo = "demo_two:DemoConfig"')

    schema, _ = json_schema(Catalog.installed())

    offered = [name for name in schema["properties"]["solver"]["properties"]["type"]["then"]["enum"] if "demo" in name]
    assert offered == ["demo-one:demo", "demo-two:demo"]


def test_schema_without_plugins_is_valid():
    schema, _ = json_schema(Catalog.installed(), only=())

    Draft7Validator.check_schema(schema)


@pytest.mark.required
def test_schema_imports_neither_newton_nor_warp():
    code = (
        "import sys; from pippin.cli import main; main(['schema'], standalone_mode=False); "
        "print(*sys.modules, file=sys.stderr)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert set(done.stderr.split()).isdisjoint({"newton", "warp"})
    assert json.loads(done.stdout)["title"] == "Pippin simulation"
