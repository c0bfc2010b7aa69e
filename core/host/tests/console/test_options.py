"""Options that several commands share: a plugin that a command adds."""

import pytest
from click.testing import CliRunner
from pippin.cli import main

PUSH = """
import attrs

@attrs.frozen(kw_only=True)
class PushConfig:
    implementation = "Push"

    force: float = 1.0

class Push:
    pass
"""


@pytest.fixture
def show(tmp_path, monkeypatch):
    """Return a function that shows a file which has one plugin of its own, with some options."""
    (tmp_path / "push.py").write_text(PUSH)
    (tmp_path / "robot.toml").write_text('[plugins.own]\ntype = "push.py:PushConfig"\n')
    monkeypatch.chdir(tmp_path)
    return lambda *options: CliRunner().invoke(main, ["show", "robot.toml", *options])


def test_a_plugin_is_added_under_the_name_of_its_class(show, tmp_path):
    shown = show("--plugin", "push.py:PushConfig", "--set", "plugins.push.force=2").stdout

    (added,) = shown.split("[plugins.push]")[1:]
    assert [" ".join(line.split()) for line in added.strip().splitlines()[:2]] == [
        f'type = "{tmp_path}/push.py:PushConfig" # --plugin',
        "force = 2.0 # --set",
    ]


def test_a_label_tells_two_of_a_class_apart(show):
    shown = show("--plugin", "left=push.py:PushConfig", "--plugin", "right arm=push.py:PushConfig").stdout

    assert "[plugins.left]" in shown
    assert '[plugins."right arm"]' in shown


def test_the_keys_set_most_have_options(show):
    found = show("--worlds", "3", "--device", "cpu").stdout

    assert "worlds = 3" in found
    assert 'device = "cpu"' in found


def test_a_key_set_in_two_ways_is_refused(show):
    result = show("--worlds", "3", "--set", " scene.worlds =4")

    assert result.exit_code == 2
    assert result.stderr == "error: --set: scene.worlds is also given by --worlds; give it once\n"


@pytest.mark.parametrize(
    ("plugins", "fault"),
    [
        (
            ["own=push.py:PushConfig"],
            "--plugin: plugins.own.type: plugins.own exists already, robot.toml:1; choose another",
        ),
        (
            ["push.py:PushConfig", "push.py:PushConfig"],
            "--plugin: plugins.push.type: plugins.push exists already, --plugin",
        ),
        (["left="], "--plugin: expected file.py:Name, module:Name or an installed plugin, got 'left='"),
        (
            ["push.py:PashConfig"],
            "the file has no class 'PashConfig'; name one of its classes; did you mean 'PushConfig'?",
        ),
        (["gone.py:PushConfig"], "gone.py: there is no such file; correct the path"),
        (["gone:Push"], "plugin 'gone:Push': not installed"),
    ],
)
def test_a_plugin_that_cannot_be_added_is_refused(show, plugins, fault):
    result = show(*(word for plugin in plugins for word in ("--plugin", plugin)))

    assert result.exit_code in (2, 3)
    assert fault in result.stderr
