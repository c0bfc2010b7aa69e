"""Places of faults: file and line of the key that a fault begins with."""

import pippin
import pytest
from pippin.config.tree import Node

LINES = {
    ("scene",): 2,
    ("scene", "assets", 0): 5,
    ("scene", "assets", 0, "path"): 6,
    ("actuators", "my legs"): 9,
    ("water", "drag"): 12,
}
TABLES = {
    "scene": {"assets": [{"path": "a.xml"}]},
    "actuators": {"my legs": {"kp": 1.0}},
    "water": {"drag": 1.0},
}
TREE = Node.build(TABLES, source="a.toml", lines=LINES)


@pytest.mark.parametrize(
    ("fault", "placed"),
    [
        ("scene.assets[0].path: no file", "a.toml:6: scene.assets[0].path: no file"),
        ("scene.assets[0].worlds: none", "a.toml:5: scene.assets[0].worlds: none"),
        ("scene.assets[7]: none", "a.toml:2: scene.assets[7]: none"),
        ('actuators."my legs".kp: low', 'a.toml:9: actuators."my legs".kp: low'),
        ("water.drag: too high", "a.toml:12: water.drag: too high"),
        ("wind.speed: too high", "wind.speed: too high"),
        ("solver: missing", "a.toml: solver: missing"),
        ("solver.type plain words", "solver.type plain words"),
        ("world 3: diverged", "world 3: diverged"),
        ("a.toml:6: scene.assets[0].path: no file", "a.toml:6: scene.assets[0].path: no file"),
    ],
)
def test_a_fault_that_begins_with_a_key_gets_its_line(fault, placed):
    assert TREE.placed(fault) == placed


def test_a_fault_of_plain_data_has_no_line():
    assert Node.build({"solver": {}}).placed("solver: wrong") == "solver: wrong"


def test_an_error_keeps_its_object_when_it_gets_its_place():
    error = pippin.ConfigError("solver: missing", "world: lost")

    with pytest.raises(pippin.ConfigError) as caught, TREE.placing():
        raise error

    assert caught.value is error
    assert error.faults == ("a.toml: solver: missing", "world: lost")
    assert str(error) == "a.toml: solver: missing\nworld: lost"
