"""A robot from an SDF file, a yard of rubble and a command that somebody else wrote, installed like any package."""

from pathlib import Path

import pippin
import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin_conformance import Conformance, parametrize

ROVER = Path(__file__).parent / "pippin-yard" / "rover.sdf"

CONFORMANCE = Conformance("importer", "sdf", file=ROVER)


@pytest.fixture(scope="module", autouse=True)
def plugin(install_outside):
    """Install the plugins for the tests of this file, and for the processes that they start."""
    with install_outside("pippin-yard") as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        yield


@parametrize(CONFORMANCE)
def test_the_importer_keeps_the_contract(check):
    check()


pytestmark = pytest.mark.simulation(dt=0.002, capture="off", worlds=2, solver="featherstone")


def test_a_suffix_chooses_the_importer_and_an_actuator_drives_what_it_reads(simulate):
    pd = {"type": "pd", "joints": ["shoulder"], "kp": 5.0, "kd": 0.5}
    asset = {"path": str(ROVER), "floating": False, "position": [0, 0, 1], "joint_positions": {"shoulder": 0.4}}

    with simulate(assets=[asset], actuators={"arm": pd}) as simulation:
        start = simulation.state.joint_q.numpy().copy()
        simulation.actuators["arm"].position_targets.fill_(-0.5)
        simulation.step(20)

        assert start.tolist() == pytest.approx([0.4, 0.4])
        assert simulation.state.body_q.numpy()[0, 2] == pytest.approx(1.3)
        assert (simulation.state.joint_q.numpy() < 0.4).all()


def test_two_of_a_file_have_labels_and_a_table_has_settings(simulate):
    rovers = [
        {"path": str(ROVER), "label": label, "importer": {"type": "sdf", "density": density}}
        for label, density in (("light", 100.0), ("heavy", 300.0))
    ]

    with simulate(assets=rovers) as simulation:
        masses = dict(zip(simulation.model.body_label, simulation.model.body_mass.numpy(), strict=False))

        assert masses["heavy/arm"] == pytest.approx(3.0 * masses["light/arm"])


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            {"scale": 2.0},
            r"scene\.assets\[0\]\.scale: importer 'sdf' of pippin-yard 0\.1\.0 has no such option, got 2\.0",
        ),
        ({"importer": "sdf", "format": "urdf"}, r"scene\.assets\[0\]\.format: 'urdf' beside .*importer; leave one"),
        ({"importer": {"type": "sdf", "density": -1}}, r"scene\.assets\.0\.importer\.density: must be > 0\.0"),
        ({"importer": {"type": "sdff"}}, r"importer 'sdff': not installed; installed importers: sdf.*mean 'sdf'"),
        ({"importer": "rubble"}, r"importer 'rubble': not installed"),
    ],
)
def test_what_an_asset_cannot_ask_for_is_refused(simulate, options, fault):
    with pytest.raises(pippin.PippinError, match=fault):
        simulate(assets=[{"path": str(ROVER), **options}])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", r"scene\.assets\[0\]: path: .*is not XML, no element found"),
        ("<sdf/>", r"scene\.assets\[0\]: path: the file has no <model>"),
        ("<sdf><model name='x'><joint name='j' type='ball'/></model></sdf>", r"joint 'j' is 'ball'; use revolute"),
        ("<sdf><model name='x'><link name='l'><pose>1</pose></link></model></sdf>", r"importer 'sdf' of .* failed on"),
    ],
)
def test_a_wrong_file_is_refused_by_the_importer_that_reads_it(simulate, tmp_path, text, fault):
    (tmp_path / "a.sdf").write_text(text)

    with pytest.raises(pippin.ConfigError, match=fault):
        simulate(assets=[{"path": str(tmp_path / "a.sdf")}])


def test_an_unknown_suffix_lists_the_installed_importers(simulate, tmp_path):
    (tmp_path / "a.dae").write_text("")

    with pytest.raises(pippin.ConfigError, match=r"no importer reads '\.dae', got 'a\.dae'; known: .*\.sdf by 'sdf'"):
        simulate(assets=[{"path": str(tmp_path / "a.dae")}])


def test_a_file_that_blocks_the_importer_does_without_it(simulate):
    with pytest.raises(pippin.ConfigError, match=r"no importer reads '\.sdf'"):
        simulate(assets=[{"path": str(ROVER)}], catalog={"block": ["sdf"]})


def test_a_plugin_brings_rubble_that_stops_a_ball(ball):
    class Ball:
        @pippin.hookimpl
        def fill_prototype(self, builder):
            builder.add_builder(ball(height=1.2))

    yard = {"type": "rubble", "count": 1, "extent": 1e-3, "size": 1.0}
    tables = {"simulation": {"device": "cpu", "dt": 0.005}, "scene": {"worlds": 2}, "plugins": {"yard": yard}}
    config = pippin.structure({**tables, "solver": {"type": "xpbd"}})

    with pippin.Simulation(config, [Ball()]) as simulation:
        stones = [label for label in simulation.model.shape_label if label == "stone_0"]
        simulation.step(200)

        assert len(stones) == 2
        assert (simulation.state.body_q.numpy()[:, 2] > 0.3).all()


def test_inspect_reads_the_format_and_plugins_lists_all_kinds():
    inspected = CliRunner().invoke(main, ["inspect", str(ROVER)])
    listed = CliRunner().invoke(main, ["plugins", "pippin-yard"])

    assert "(sdf): 4.52" in inspected.stdout
    assert [line.split()[:2] for line in listed.stdout.splitlines()[1:4]] == [
        ["importer", "sdf"],
        ["subcommand", "stones"],
        ["plugin", "rubble"],
    ]


def test_its_command_is_called_by_name_and_fails_as_those_of_pippin(tmp_path):
    (tmp_path / "yard.toml").write_text('[plugins.yard]\ntype = "rubble"\ncount = 7\n')
    (tmp_path / "none.toml").write_text("")

    counted = CliRunner().invoke(main, ["stones", str(tmp_path / "yard.toml")])
    refused = CliRunner().invoke(main, ["stones", str(tmp_path / "none.toml")])
    listed = CliRunner().invoke(main, ["--help"])

    assert counted.stdout == "7 stones\n"
    assert (refused.exit_code, refused.stderr) == (
        2,
        f"error: {tmp_path}/none.toml: has no rubble; add [plugins.rubble]\n",
    )
    assert "(of pippin-yard)" in " ".join(listed.stdout.split())
