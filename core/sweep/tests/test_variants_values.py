"""Swept values as text: lists, ranges, files and their faults."""

import pytest
from pippin.errors import ConfigError
from pippin_sweep.variants import axis_of, axis_of_file


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("solver.iterations=4,8,16", "solver.iterations", ["4", "8", "16"]),
        ("simulation.seed=0..3", "simulation.seed", ["0", "1", "2", "3"]),
        ("a.b=7,0..20..10", "a.b", ["7", "0", "10", "20"]),
        ("a.b=2..0..-1", "a.b", ["2", "1", "0"]),
        ("solver.type=xpbd,mujoco", "solver.type", ["xpbd", "mujoco"]),
        ('a="x,y",z', "a", ['"x,y"', "z"]),
        (
            "scene.gravity=[0.0, 0.0, -9.81],[0.0, 0.0, -1.6]",
            "scene.gravity",
            ["[0.0, 0.0, -9.81]", "[0.0, 0.0, -1.6]"],
        ),
        ('actuators.legs.kp.".*_hip=1"={x=1}', 'actuators.legs.kp.".*_hip=1"', ["{x=1}"]),
    ],
)
def test_each_value_of_a_list_is_one_alternative(text, key, values):
    assert axis_of(text) == [{key: value} for value in values]


def test_a_file_has_one_value_on_each_line(tmp_path):
    path = tmp_path / "gains.txt"
    path.write_text("1.5\n\n2.5\n")

    assert axis_of(f"actuators.legs.kp=@{path}") == [{"actuators.legs.kp": "1.5"}, {"actuators.legs.kp": "2.5"}]


@pytest.mark.alone
def test_a_row_of_a_table_sets_its_keys_together(tmp_path):
    path = tmp_path / "variants.csv"
    path.write_text('simulation.dt,scene.gravity\n0.001,"[0, 0, -1]"\n0.002,"[0, 0, -2]"\n')

    assert axis_of_file(path) == [
        {"simulation.dt": "0.001", "scene.gravity": "[0, 0, -1]"},
        {"simulation.dt": "0.002", "scene.gravity": "[0, 0, -2]"},
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("solver.iterations", "over: expected KEY=VALUES, got 'solver.iterations'"),
        ("solver.iterations=", "over: solver.iterations: has no values; separate them by commas"),
        ("a=[1,2", "over: a: '[1,2' is not a TOML value; close its quotes or brackets"),
        ("a=5..1", "over: a: '5..1' has no numbers; write first..last, or first..last..step"),
        ("a=0..9..0", "over: a: '0..9..0' has no numbers"),
        ("a=@missing.txt", "over: a: 'missing.txt' cannot be read"),
    ],
)
def test_a_malformed_list_is_refused_with_its_key(text, fault):
    with pytest.raises(ConfigError) as caught:
        axis_of(text)

    assert str(caught.value).startswith(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [("a,b\n1\n", "row 2 has 1 values for 2 keys: 1; give each one"), ("a,b\n", "has no rows"), ("", "has no rows")],
)
def test_an_incomplete_table_is_refused(tmp_path, text, fault):
    path = tmp_path / "variants.csv"
    path.write_text(text)

    with pytest.raises(ConfigError, match=fault):
        axis_of_file(path)
