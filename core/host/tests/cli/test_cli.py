"""The command line as a whole: what it imports, how it fails, and what `pippin plugins` prints."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pippin.cli
import pytest
from click.testing import CliRunner
from pippin import ConfigError, PluginError, SimulationError
from pippin.cli import Commands, main

MODULES_AFTER = """
import json, sys
from pippin.cli import main
try:
    main({arguments!r})
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def modules_after(*arguments: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after the command."""
    code = MODULES_AFTER.format(arguments=list(arguments))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def failing(error: BaseException) -> click.Group:
    """Return a group like `pippin` whose only command, `fail`, raises."""

    class Failing(Commands):
        def get_command(self, ctx, cmd_name):
            return click.Command("fail", callback=raise_it)

    def raise_it():
        raise error

    return Failing("pippin")


@pytest.mark.first_cases(2)
@pytest.mark.not_in_lane("copies", reason="the lane itself imports NumPy")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["plugins"], ["plugins", "--json"]])
def test_neither_newton_nor_warp_nor_any_plugin_is_imported(install, arguments):
    install("demo-plug", "raise RuntimeError", 'demo = "demo_plug:Demo"')

    modules = modules_after(*arguments)

    assert modules.isdisjoint({"newton", "warp", "numpy", "demo_plug"})
    assert not [module for module in modules if module.startswith(("pippin_solver", "pippin_actuator"))]


def test_help_names_every_command_with_a_line_about_it():
    result = CliRunner().invoke(main, ["--help"])

    assert result.exit_code == 0
    assert re.search(r"plugins +List the installed plugins", result.output)


def test_version_is_the_distribution_s():
    assert CliRunner().invoke(main, ["--version"]).output.startswith("pippin 0.")


@pytest.mark.parametrize(("kind", "code"), [(ConfigError, 2), (PluginError, 3), (SimulationError, 4)])
def test_each_kind_of_error_has_its_exit_code_and_one_line_per_fault(kind, code):
    result = CliRunner().invoke(failing(kind("a: wrong\nb: wrong too")), ["fail"])

    assert result.exit_code == code
    assert result.stderr == "error: a: wrong\nerror: b: wrong too\n"
    assert result.stdout == ""


RAISES = """
import attrs, pippin

@attrs.frozen(kw_only=True)
class RaisesConfig:
    implementation = "Raises"

class Raises:
    def __init__(self, config):
        raise KeyError("boom")

    @pippin.hookimpl
    def build_solver(self):
        pass
"""


def test_a_plugin_that_raises_is_named_with_its_place(install, tmp_path):
    install("bad-plug", RAISES, 'bad = "bad_plug:RaisesConfig"')
    file = tmp_path / "arm.toml"
    file.write_text('[simulation]\ndevice = "cpu"\n\n[solver]\ntype = "bad"\n')

    results = [
        CliRunner().invoke(main, arguments)
        for arguments in (["run", str(file)], ["run", str(file), "--traceback"], ["--traceback", "run", str(file)])
    ]

    assert [result.exit_code for result in results] == [3, 3, 3]
    fault = (
        f"error: {file}:4: solver: __init__ raised KeyError: 'boom' (solver 'bad' of bad-plug 1.0, __init__.py:10);"
        " correct the plugin, or leave it out"
    )
    lines = results[0].stderr.splitlines()
    assert lines[-2:] == [fault, "note: add --traceback to see where"]
    assert "Traceback" not in results[0].stderr
    for result in results[1:]:
        assert result.stderr.splitlines()[-1] == fault
        assert 'raise KeyError("boom")' in result.stderr


def test_a_stop_by_the_user_exits_with_130():
    result = CliRunner().invoke(failing(KeyboardInterrupt()), ["fail"])

    assert result.exit_code == 130
    assert result.stderr == "stopped\n"


def test_an_unknown_command_is_a_usage_error():
    result = CliRunner().invoke(main, ["plugin"])

    assert result.exit_code == 2
    assert "no command 'plugin'; did you mean 'plugins'?" in result.stderr


def test_help_and_version_have_the_usual_other_names():
    assert CliRunner().invoke(main, ["help", "run"]).stdout == CliRunner().invoke(main, ["run", "--help"]).stdout
    assert CliRunner().invoke(main, ["help"]).stdout == CliRunner().invoke(main, ["--help"]).stdout
    assert CliRunner().invoke(main, ["-V"]).stdout == CliRunner().invoke(main, ["--version"]).stdout


def test_names_of_commands_are_completed():
    environment = {"_PIPPIN_COMPLETE": "bash_complete", "COMP_WORDS": "pippin ru", "COMP_CWORD": "1"}

    assert CliRunner().invoke(main, env=environment, prog_name="pippin").stdout == "plain,run\n"
    assert "_PIPPIN_COMPLETE=bash_source" in CliRunner().invoke(main, ["--help"]).stdout


@pytest.mark.parametrize("name", ["run", "play", "compare", "export"])
def test_a_folder_that_is_taken_is_refused_before_the_file_is_read(name, tmp_path):
    (tmp_path / "old.txt").write_text("")
    folder = [str(tmp_path)] if name == "export" else ["--out", str(tmp_path)]

    result = CliRunner().invoke(main, [name, "missing.toml", *folder])

    assert result.exit_code == 2
    assert f"'{tmp_path}' is not empty; choose another folder" in result.stderr
    assert "missing" not in result.stderr


def test_plugins_are_a_plain_table_where_there_is_no_terminal(install):
    install("a-distribution-with-a-name-that-is-longer-than-a-terminal-is-wide-" + 30 * "x", "", 'demo = "no_module:X"')

    result = CliRunner().invoke(main, ["plugins"])

    header, *lines = result.output.splitlines()
    assert header.split() == ["kind", "name", "distribution", "version", "state"]
    assert [line.split()[-1] for line in lines if line.split()[:2] == ["solver", "demo"]] == ["broken"]
    assert lines[-1].endswith("no module named 'no_module'; reinstall the distribution")
    assert "\x1b" not in result.output


def test_plugins_as_json_have_the_same_fields_and_the_problem(install):
    install("plug-a", "", 'demo = "plug_a:Demo"')
    install("plug-b", "", 'demo = "gone:Demo"', version="2.0")

    result = CliRunner().invoke(main, ["plugins", "--json"])

    rows = json.loads(result.output)
    assert [row for row in rows if (row["kind"], row["name"]) == ("solver", "demo")] == [
        {
            "kind": "solver",
            "name": "demo",
            "distribution": "plug-a",
            "version": "1.0",
            "state": "duplicate",
            "contract": 1,
            "problem": "offered by plug-b 2.0 as well; write 'plug-a:demo' for this one",
            "evidence": None,
        },
        {
            "kind": "solver",
            "name": "demo",
            "distribution": "plug-b",
            "version": "2.0",
            "state": "broken",
            "contract": 1,
            "problem": "no module named 'gone'; reinstall the distribution",
            "evidence": None,
        },
    ]


def test_no_command_imports_another():
    folder = Path(pippin.cli.__file__).parent
    commands = {path.stem for path in folder.glob("[!_]*.py")}

    found = {
        (path.stem, node.module)
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in commands and node.level
    }

    assert found == set()


UNTIL_NEWTON = """
import sys
from pippin.cli import main

class Last:
    def find_spec(self, name, path=None, target=None):
        if name == "newton":
            import warp
            print("backward kernels:", warp.config.enable_backward, file=sys.stderr)
            raise KeyboardInterrupt

sys.meta_path.insert(0, Last())
main(sys.argv[1:])
"""
"""A command that ends when it begins to import Newton, and says if kernels would have a backward part."""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "inspect", "run"])
def test_a_command_leaves_out_backward_kernels_before_it_imports_newton(command, tmp_path):
    file = tmp_path / "empty.toml"
    file.write_text('[solver]\ntype = "xpbd"\n')

    done = subprocess.run([sys.executable, "-c", UNTIL_NEWTON, command, file], capture_output=True, text=True)

    assert done.returncode == 130
    assert "backward kernels: False" in done.stderr.splitlines()


def test_an_entry_point_in_a_group_that_nothing_reads_is_a_row_with_a_cure(install):
    install("plug-typo", "", 'demo = "plug_typo:Demo"', kind="senso")  # the group is pippin.sensos
    told = "it is in the group 'pippin.sensos', which nothing reads; did you mean 'pippin.sensors'?"

    (row,) = json.loads(CliRunner().invoke(main, ["plugins", "plug-typo", "--json"]).stdout)
    listed = CliRunner().invoke(main, ["plugins"]).stdout

    assert (row["kind"], row["state"], row["problem"]) == ("pippin.sensos", "unread", told)
    assert f"'demo' of plug-typo 1.0: {told}" in listed


def test_a_plugin_that_ends_the_interpreter_at_import_is_a_broken_one(install, tmp_path):
    install("plug-exits", "raise SystemExit(0)", 'demo = "plug_exits:Demo"')
    file = tmp_path / "a.toml"
    file.write_text('[solver]\ntype = "demo"\n')

    result = CliRunner().invoke(main, ["show", str(file)])

    assert result.exit_code == 3
    assert "could not be imported (SystemExit: 0)" in result.stderr


def test_what_a_plugin_prints_at_import_is_apart_from_json(install):
    install("plug-talks", "print('HELLO')", 'demo = "plug_talks:Demo"')

    result = CliRunner().invoke(main, ["schema"])

    assert json.loads(result.stdout)["type"] == "object"
    assert "HELLO" in result.stderr


COMMANDS = """
import click, pippin

@click.command()
@click.option("--loud", is_flag=True)
def fine(loud):
    "Say hello."
    click.echo("HELLO" if loud else "hello")

@click.command()
def broken():
    raise KeyError("boom")

@click.command()
def refusing():
    raise pippin.ConfigError("a.toml: has no robot; add one")

@click.group()
def many():
    pass

many.add_command(fine)
number = 3
"""


@pytest.fixture
def commands(install):
    """Install commands of plugins: good ones, and one for each way to be wrong."""
    names = ("fine", "broken", "refusing", "many", "number", "missing")
    points = [
        *(f'{name} = "plug_says:{name}"' for name in names),
        'gone = "plug_says.gone:x"',
        'run = "plug_says:fine"',
    ]
    install("plug-says", COMMANDS, "\n".join(points), kind="subcommand")
    install("plug-also", COMMANDS, 'broken = "plug_also:fine"', kind="subcommand")


def test_commands_of_plugins_are_listed_without_an_import_and_called_by_name(commands):
    listed = CliRunner().invoke(main, ["--help"])
    assert "plug_says" not in sys.modules

    called = [CliRunner().invoke(main, words).stdout for words in (["fine", "--loud"], ["many", "fine"])]
    helped = CliRunner().invoke(main, ["fine", "--help"])

    assert listed.exit_code == 0
    assert re.search(
        r"Commands of plugins:\n  broken +\(of plug-also, plug-says\)\n  fine +Say hello. \(of plug-says\)\n",
        listed.stdout,
    )
    assert called == ["HELLO\n", "hello\n"]
    assert "Say hello." in helped.stdout


REFUSED = {
    "broken": (
        3,
        "error: subcommand 'broken': offered by plug-also 1.0 and plug-says 1.0; write 'plug-also:",
    ),
    "plug-says:broken": (3, "subcommand 'broken' of plug-says 1.0: raised KeyError: 'boom'; correct the plugin"),
    "refusing": (2, "error: a.toml: has no robot; add one"),
    "number": (3, "number' of plug-says 1.0: expected a click command at 'plug_says:number', got 3; decorate"),
    "missing": (3, "module 'plug_says' has no command 'missing'"),
    "gone": (3, "No module named 'plug_says.gone'); repair or reinstall plug-says"),
    "fyne": (2, "no command 'fyne'"),
    "fine": (2, "no command 'fine'"),  # it is blocked
}


def test_a_command_of_a_plugin_fails_as_those_of_pippin(commands, monkeypatch):
    monkeypatch.setenv("PIPPIN_CATALOG_BLOCK", "fine")

    for name, (code, told) in REFUSED.items():
        result = CliRunner().invoke(main, [name])

        assert result.exit_code == code, name
        assert told in result.stderr


def test_a_command_of_a_name_that_pippin_has_is_told(commands):
    told = "subcommand 'run' of plug-says 1.0: is never called, since Pippin has a command of this name"

    assert told in CliRunner().invoke(main, ["plugins", "plug-says"]).stderr
    assert "has no checks; try `pippin fine --help`" in CliRunner().invoke(main, ["check-plugin", "fine"]).stderr


def test_check_plugin_refuses_a_key_below_a_number():
    result = CliRunner().invoke(
        main, ["check-plugin", "npz", "--kind", "recorder", "--set", "worlds=1", "--set", "worlds.first=2"]
    )

    assert result.exit_code == 2
    assert "--set: worlds.first: worlds is not a table, but 1" in result.stderr


def test_check_plugin_asks_for_the_kind_of_a_class_that_is_not_installed():
    result = CliRunner().invoke(main, ["check-plugin", "some.py:Thing"])

    assert result.exit_code == 2
    assert "is a class that may be of any kind; choose one with --kind" in result.stderr
