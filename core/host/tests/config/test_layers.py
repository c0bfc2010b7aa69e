"""Files over files, and single values over both."""

from pathlib import Path

import pippin
import pytest
from pippin.config import unstructure
from pippin.config.loading import read_tree


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def faults(path, overrides=None):
    with pytest.raises(pippin.ConfigError) as raised:
        pippin.load(path, overrides)
    return raised.value.faults


def test_tables_merge_lists_replace_and_the_last_file_wins(folder):
    write(
        folder / "a.toml",
        '[simulation]\ndt = 0.1\nsubsteps = 2\n[scene]\ngravity = [0, 0, -1]\n[solver]\ntype = "xpbd"',
    )
    write(folder / "b.yaml", "simulation: {dt: 0.2, seed: 3}\nscene: {gravity: [0, 0, -2]}")
    write(folder / "c.json", '{"extends": ["a.toml", "b.yaml"], "$schema": "x", "simulation": {"seed": 4}}')

    config = pippin.load("c.json")

    assert (config.simulation.dt, config.simulation.substeps, config.simulation.seed) == (0.2, 2, 4)
    assert config.scene.gravity == (0.0, 0.0, -2.0)


def test_names_in_extends_are_relative_to_the_file_that_writes_them(folder):
    write(folder / "x" / "solver.toml", '[solver]\ntype = "xpbd"')
    write(folder / "x" / "base.toml", 'extends = ["solver.toml"]')
    write(folder / "ant.toml", 'extends = ["x/base.toml"]')

    assert pippin.load("ant.toml").solver.type == "xpbd"


def test_fault_in_a_base_names_the_base(folder):
    write(folder / "base" / "base.toml", '[simulation]\n\ndt = "x"\n[solver]\ntype = "xpbd"')
    write(folder / "ant.toml", 'extends = ["base/base.toml"]\n[simulation]\nsubsteps = 0')

    assert faults("ant.toml") == (
        "ant.toml:3: simulation.substeps: must be >= 1: 0",
        f"{Path('base/base.toml')}:3: simulation.dt: expected a number, got 'x'",
    )


def test_changed_type_keeps_the_keys_that_both_plugins_have(folder):
    group = '[actuators.legs]\ntype = "pd"\njoints = ["a"]\nkp = 5.0\ndelay = { steps = 2 }'
    write(folder / "base.toml", f'{group}\nclamping = [{{ type = "max-effort", max_effort = 3.0 }}]')
    write(
        folder / "ant.toml", 'extends = ["base.toml"]\nsolver.type = "xpbd"\n[actuators.legs]\ntype = "pid"\nki = 1.0'
    )

    legs = pippin.load("ant.toml").actuators["legs"]

    assert (legs.type, legs.config.joints, legs.config.kp, legs.config.ki) == ("pid", ("a",), 5.0, 1.0)
    assert (legs.config.delay.steps, legs.config.clamping[0].config.max_effort) == (2, 3.0)


@pytest.mark.parametrize("way", ["file", "override"])
def test_changed_type_refuses_the_keys_that_the_new_plugin_lacks(folder, way):
    write(folder / "base.toml", 'solver.type = "xpbd"\n[actuators.legs]\ntype = "pid"\njoints = ["a"]\nki = 1.0')
    write(folder / "ant.toml", 'extends = ["base.toml"]\n[actuators.legs]\ntype = "pd"')

    found = faults("ant.toml") if way == "file" else faults("base.toml", ["actuators.legs.type=pd"])

    (fault,) = found
    assert fault.startswith("base.toml:5: actuators.legs.ki: unknown key")
    assert "; it was written for type 'pid': write extends = false beside the new type in a file, or --set" in fault


@pytest.mark.parametrize("way", ["file", "override"])
def test_another_solver_gets_no_key_of_the_first_one_and_a_warning_names_them(folder, way):
    write(folder / "base.toml", '[solver]\ntype = "mujoco"\nnjmax = 50\niterations = 7')
    write(folder / "ant.toml", 'extends = ["base.toml"]\n[solver]\ntype = "xpbd"\nsoft_body_relaxation = 0.5')
    changes = ["solver.type=xpbd", "solver.soft_body_relaxation=0.5"]

    with pytest.warns(UserWarning, match="base.toml:3: solver: left out, as written for type 'mujoco': njmax, itera"):
        config = pippin.load("ant.toml") if way == "file" else pippin.load("base.toml", changes)

    assert (config.solver.config.iterations, config.solver.config.soft_body_relaxation) == (2, 0.5)
    assert pippin.load("base.toml", ["solver.type=mujoco"]).solver.config.iterations == 7


def test_another_solver_keeps_a_key_that_both_have_with_one_type_and_default(folder):
    write(folder / "base.toml", '[solver]\ntype = "mujoco"\nintegrator = "rk4"')

    assert pippin.load("base.toml", ["solver.type=mujoco-native"]).solver.config.integrator == "rk4"


SOLVER_ALONE = 'solver={extends=false, type="xpbd"}'


@pytest.mark.parametrize("overrides", [{"scene": {"worlds": 2}}, ["scene={worlds=2}"], {"scene.worlds": 2}])
def test_a_table_among_the_overrides_is_merged(folder, overrides):
    write(folder / "ant.toml", '[scene]\nground = true\n[solver]\ntype = "xpbd"')

    scene = pippin.load("ant.toml", overrides).scene

    assert (scene.worlds, scene.ground) == (2, True)


def test_an_empty_table_among_the_overrides_is_refused(folder):
    write(folder / "ant.toml", "[scene]\nground = true")

    (fault,) = faults("ant.toml", {"scene": {}})

    assert fault.startswith("overrides: scene: an empty table changes nothing; extends = false in it")
    assert not pippin.load("ant.toml", {"scene": {"extends": False}}).scene.ground


def test_the_name_of_a_plugin_in_place_of_its_table_is_told_the_key(folder):
    write(folder / "ant.toml", '[solver]\ntype = "xpbd"')

    (fault,) = faults("ant.toml", ["solver=mujoco"])

    assert fault.endswith("got 'mujoco'; set solver.type")


@pytest.mark.parametrize("way", ["file", "override"])
def test_a_table_that_does_not_extend_has_its_own_keys_only(folder, way):
    write(folder / "base.toml", '[solver]\ntype = "mujoco"\nnjmax = 50\niterations = 7')
    write(folder / "ant.toml", 'extends = ["base.toml"]\n[solver]\nextends = false\ntype = "xpbd"')

    config = pippin.load("ant.toml") if way == "file" else pippin.load("base.toml", [SOLVER_ALONE])

    assert (config.solver.type, config.solver.config.iterations) == ("xpbd", 2)


def test_a_table_that_does_not_extend_may_have_nothing_below(folder):
    write(folder / "ant.toml", '[solver]\nextends = false\ntype = "xpbd"')

    assert pippin.load("ant.toml").solver.type == "xpbd"


def test_same_type_keeps_the_keys_of_the_base(folder):
    write(folder / "base.toml", '[solver]\ntype = "xpbd"\niterations = 7')
    write(folder / "ant.toml", 'extends = ["base.toml"]\n[solver]\ntype = "xpbd"')

    assert pippin.load("ant.toml").solver.config.iterations == 7


def test_cycle_is_named_as_a_chain(folder):
    write(folder / "a.toml", 'extends = ["b.toml"]')
    write(folder / "b.toml", '\nextends = ["a.toml"]')

    assert faults("a.toml") == ("b.toml:2: extends: the files extend each other: a.toml -> b.toml -> a.toml",)


@pytest.mark.parametrize(
    ("extends", "fault"),
    [
        ('"base.toml"', "a.toml:1: extends: expected a list of file names, got 'base.toml'"),
        ("[1]", "a.toml:1: extends: expected a list of file names, got [1]"),
        ('[\n"gone.toml"]', "a.toml:2: extends: no such file: 'gone.toml'"),
    ],
)
def test_wrong_extends_is_located(folder, extends, fault):
    write(folder / "a.toml", f"extends = {extends}")

    assert faults("a.toml") == (fault,)


def test_asset_paths_are_relative_to_the_file_that_writes_them(folder):
    asset = '[[scene.assets]]\npath = "ant.xml"\n'
    write(
        folder / "robots" / "base.toml", f'{asset}[[scene.assets]]\npath = "pkg:newton/a.xml"\n[solver]\ntype = "xpbd"'
    )
    write(folder / "ant.toml", 'extends = ["robots/base.toml"]')

    first, second = pippin.load("ant.toml").scene.assets

    assert Path(first.path) == folder / "robots" / "ant.xml"
    assert second.path == "pkg:newton/a.xml"


def test_asset_path_on_the_command_line_is_relative_to_the_working_folder(folder):
    write(folder / "x" / "ant.toml", '[[scene.assets]]\npath = "a.xml"\n[solver]\ntype = "xpbd"')

    config = pippin.load("x/ant.toml", ["scene.assets.0.path=b.xml"])

    assert Path(config.scene.assets[0].path) == folder / "b.xml"


def test_asset_path_in_plain_data_stays_as_it_is():
    config = pippin.structure({"solver": {"type": "xpbd"}, "scene": {"assets": [{"path": "a.xml"}]}})

    assert config.scene.assets[0].path == "a.xml"


ANT = """\
[scene]
assets = [{ path = "pkg:newton/a.xml" }]
[solver]
type = "mujoco"
njmax = 50
[actuators.legs]
type = "pd"
joints = ["hip"]
kp = { ".*hip.*" = 40.0, "knee.1" = 1.0 }
"""


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("simulation.substeps=8", ("simulation", "substeps"), 8),
        (" simulation . dt = 1e-3 ", ("simulation", "dt"), 1e-3),
        ("simulation.device=cuda:0", ("simulation", "device"), "cuda:0"),
        ("simulation.device='cuda:0'", ("simulation", "device"), "cuda:0"),
        ("scene.ground=true", ("scene", "ground"), True),
        ("scene.gravity=[0, 0, 1]", ("scene", "gravity"), [0.0, 0.0, 1.0]),
        ("scene.assets.0.position=[1, 2, 3]", ("scene", "assets", 0, "position"), [1.0, 2.0, 3.0]),
        ('actuators.legs.kp.".*hip.*"=3', ("actuators", "legs", "kp", ".*hip.*"), 3.0),
        ("actuators.legs.kp.'knee.1'=3", ("actuators", "legs", "kp", "knee.1"), 3.0),
        ("actuators.legs.delay.steps=2", ("actuators", "legs", "delay", "steps"), 2),
        ("actuators.legs.delay={steps=2}", ("actuators", "legs", "delay", "steps"), 2),
        ("sensors.t={type='imu',body='a=b'}", ("sensors", "t", "body"), "a=b"),
    ],
)
def test_value_is_set_from_the_command_line(folder, text, path, value):
    write(folder / "ant.toml", ANT)

    found = unstructure(pippin.load("ant.toml", [text]))

    for key in path:
        found = found[key]
    assert found == value


def test_override_in_python_takes_the_value_as_it_is(folder):
    write(folder / "ant.toml", ANT)

    config = pippin.load("ant.toml", {"solver.njmax": 8, 'actuators.legs.kp.".*hip.*"': 2, "scene.gravity": (0, 0, 1)})

    assert config.solver.config.njmax == 8
    assert config.actuators["legs"].config.kp == {".*hip.*": 2.0, "knee.1": 1.0}
    assert config.scene.gravity == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("order", [1, -1])
def test_changed_type_and_a_key_of_it_are_set_in_any_order(folder, order):
    write(folder / "ant.toml", '[solver]\ntype = "mujoco"\niterations = 7')

    config = pippin.load("ant.toml", ["solver.type=xpbd", "solver.iterations=5"][::order])

    assert (config.solver.type, config.solver.config.iterations) == ("xpbd", 5)


def test_type_set_to_what_it_was_drops_nothing(folder):
    write(folder / "ant.toml", ANT)

    assert pippin.load("ant.toml", ["solver.type=mujoco"]).solver.config.njmax == 50


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("solver", "--set: expected KEY=VALUE, got 'solver'; quote parts of the key as in a.\".*b.*\"=1"),
        ("a.=1", "--set: expected KEY=VALUE, got 'a.=1'; quote parts of the key as in a.\".*b.*\"=1"),
        ("scene.ground=", "--set: scene.ground: '' is not a TOML value"),
        ("scene.gravity=[1,", "--set: scene.gravity: '[1,' is not a TOML value"),
        ("scene.ground=1\nx=2", "--set: scene.ground: expected one value, got '1\\nx=2'"),
        ("solver.njmax.x=1", "--set: solver.njmax.x: solver.njmax is not a table, but 50"),
        ("scene.assets.x.path=a", "--set: scene.assets.x.path: scene.assets is a list; name an item by its position, "
         "counted from 0"),
        ("scene.assets.1.path=a", "--set: scene.assets.1.path: scene.assets has 1 items, counted from 0; set the "
         "whole list to add one"),
        ("solver.njmaxx=1", "--set: solver.njmaxx: unknown key; did you mean 'njmax'?"),
        ("solver.njmax=many", "--set: solver.njmax: expected an integer, got 'many'"),
    ],
)  # fmt: skip
def test_wrong_override_is_said_to_be_one(folder, override, fault):
    write(folder / "ant.toml", ANT)

    assert faults("ant.toml", [override]) == (fault,)


def test_all_wrong_overrides_are_reported(folder):
    write(folder / "ant.toml", ANT)

    assert len(faults("ant.toml", ["x", "y", "solver.njmax=1"])) == 2
    assert faults("ant.toml", {"a..b": 1}) == (
        "overrides: 'a..b' is not a dotted key; quote parts of it as in a.\".*b.*\"",
    )


def test_every_value_remembers_where_it_was_written(folder):
    write(folder / "base.toml", '[simulation]\ndt = 0.1\nseed = 1\n[solver]\ntype = "mujoco"\nnjmax = 3')
    write(folder / "ant.toml", 'extends = ["base.toml"]\n[simulation]\nseed = 2\n')

    tree = read_tree("ant.toml", ["solver.iterations=4"])

    origins = {path: str(tree.nearest_origin(path)) for path in [("simulation", "dt"), ("simulation", "seed")]}
    assert list(origins.values()) == ["base.toml:2", "ant.toml:3"]
    assert str(tree.nearest_origin(("solver", "njmax"))) == "base.toml:6"
    assert str(tree.nearest_origin(("solver", "iterations"))) == "--set"
