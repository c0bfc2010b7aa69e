"""Files that cannot be read: each says the file, and the line where there is one."""

import textwrap

import pippin
import pytest
from pippin.config.documents import read


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file into an empty working folder, and return its path as a user would type it."""
    monkeypatch.chdir(tmp_path)

    def write(name, text):
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return type(tmp_path)(name)

    return write


def faults(path):
    with pytest.raises(pippin.ConfigError) as raised:
        read(path)
    return raised.value.faults


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.toml", "x = 1\ny 2\n", "a.toml:2:3: expected '='"),
        ("a.toml", "x = 1\ny = [", "a.toml:2: "),
        ("a.toml", "x = 1\nx = 2\ny = 3", "a.toml:2:6: cannot overwrite a value"),
        ("a.yaml", "x: 1\ny: [1,\nz: }", "a.yaml:3:4: "),
        ("a.yaml", "x: 1\n---\nx: 2", "a.yaml:2:1: "),
        ("a.yaml", "x: !!python/object:os.system {}", "a.yaml:1:4: could not determine a constructor"),
        ("a.json", '{\n "x": 1,\n}', "a.json:3:1: "),
        ("a.json", "[1, 2]", "a.json: expected a table at the top, got [1, 2]"),
        ("a.yml", "just words", "a.yml: expected a table at the top, got 'just words'"),
        ("a.txt", "", "a.txt: unknown suffix '.txt'; a configuration is .toml, .yaml, .yml or .json"),
    ],
)
def test_malformed_file_is_located(write, name, text, fault):
    (found,) = faults(write(name, text))

    assert found.lower().startswith(fault.lower())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"solver": {\n "x": 1,\n "y": 2,\n "x": 3}}'),
        ("a.yaml", "solver:\n  x: 1\n  y: 2\n  x: 3\n"),
    ],
)
def test_repeated_key_names_both_lines(write, name, text):
    line, first = (4, 2)

    assert faults(write(name, text)) == (f"{name}:{line}: solver.x: the key stands in line {first} already; keep one",)


def test_yaml_keys_must_be_strings(write):
    assert faults(write("a.yaml", "a:\n  1: x\n  on: y\n")) == (
        "a.yaml:2: a.1: a key must be a string; put it in quotes",
        "a.yaml:3: a.on: a key must be a string; put it in quotes",
    )


def test_yaml_that_contains_itself_is_refused(write):
    assert faults(write("a.yaml", "a: &a\n  b: *a\n")) == ("a.yaml:1: a.b: refers to itself",)


def test_yaml_anchors_and_merge_keys_are_resolved_and_located(write):
    tree = read(write("a.yaml", "a: &a\n  x: 1\nb:\n  <<: *a\n  y: 2\n"))

    assert tree.plain() == {"a": {"x": 1}, "b": {"x": 1, "y": 2}}
    assert str(tree.nearest_origin(("b", "x"))) == "a.yaml:2"
    assert str(tree.nearest_origin(("b", "y"))) == "a.yaml:5"


def test_empty_yaml_is_an_empty_table(write):
    assert read(write("a.yaml", "# nothing\n")).plain() == {}


def test_missing_file_suggests_its_neighbour(write):
    path = write("ant.toml", "")

    assert faults(path.with_name("ants.toml")) == ("ants.toml: no such file; did you mean 'ant.toml'?",)


def test_folder_is_not_a_configuration(write, tmp_path):
    (tmp_path / "a.toml").mkdir()

    assert faults(type(tmp_path)("a.toml")) == ("a.toml: cannot be read: Is a directory",)


def test_text_in_another_encoding_says_where(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b'x = "\xe9"')

    assert faults(path) == (f"{path}: byte 5 is not UTF-8; save the file as UTF-8",)


def test_windows_files_are_read(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")

    tree = read(path)

    assert tree.plain() == {"x": 1, "y": 2}
    assert tree.nearest_origin(("y",)).line == 2
