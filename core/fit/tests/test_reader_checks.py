"""Readers of logs with faults: the kit finds them, and a fit tells them as faults of the plugin."""

import pippin
import pytest
from pippin.config import structure_choice
from pippin_conformance import Conformance
from pippin_fit.readers.reader import read_arrays

FILE = '''
import attrs
import numpy as np

TIMES = 0.01 * np.arange(20)

class Reader:
    form = "lines of numbers"
    def __init__(self, config): pass
    def read(self, path, targets):
        if path.read_bytes().startswith(b"\\0"):
            raise ValueError("there are no lines")
        column = TIMES[:, None]
        arrays = {"time": TIMES, "joints": ["elbow"], "position": column, "command": column}
        yield from FOUND

@attrs.frozen(kw_only=True)
class Config:
    """Numbers in lines."""
    implementation = "Reader"
'''
PLUGIN_FAULTS = {
    "[arrays['torso']]": "read raised KeyError: 'torso' (reader.py:15)",
    "None": "read raised TypeError: 'NoneType' object is not iterable (reader.py:15)",
    "[None]": "read yields NoneType; yield the arrays of a log by name",
    "[[1]]": "read yields list; yield the arrays of a log by name",
    "[{'time': TIMES}]": "read yields no 'joints'",
    "[arrays | {'velocty': column}]": "read yields 'velocty', which no log has; did you mean 'velocity'?",
}
FAULTS = {
    **PLUGIN_FAULTS,
    "[]": "finds no log",
    "[arrays | {'time': TIMES[::-1]}]": "times do not ascend",
    "[arrays | {'position': column[:3]}]": "'position' has shape (3, 1), not (20, 1)",
    "[arrays | {'position': np.random.rand(20, 1)}]": "a second reading gives other numbers",
}


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a reader, and returns its name; the log is `log.txt`."""
    (tmp_path / "log.txt").write_text("a line\n")

    def write(found, text=FILE):
        (tmp_path / "reader.py").write_text(text.replace("FOUND", found))
        return f"{tmp_path / 'reader.py'}:Config"

    return write


def outcome(name, tmp_path):
    return Conformance("log", name, file=tmp_path / "log.txt").run("log")


def test_a_right_reader_passes(write, tmp_path):
    assert outcome(write("[arrays]"), tmp_path).outcome == "passed"


@pytest.mark.parametrize("found", FAULTS)
def test_a_wrong_reader_is_found(write, tmp_path, found):
    result = outcome(write(found), tmp_path)

    assert result.outcome == "failed"
    assert FAULTS[found] in result.reason


def test_a_reader_that_takes_zeros_for_a_log_is_found(write, tmp_path):
    name = write("[arrays]", FILE.replace('startswith(b"\\0")', 'startswith(b"1")'))

    assert "reads a file of zeros as a log" in outcome(name, tmp_path).reason


@pytest.mark.parametrize("found", PLUGIN_FAULTS)
def test_a_fault_of_a_reader_names_the_plugin_and_not_the_file(write, tmp_path, found):
    choice = structure_choice("log", {"type": write(found)})
    with pytest.raises(pippin.PluginError) as caught:
        list(read_arrays(tmp_path / "log.txt", choice, "position_targets"))

    assert f"log 'Config' of {tmp_path / 'reader.py'}: {PLUGIN_FAULTS[found]}" in str(caught.value)


def test_a_reader_without_a_constructor_or_a_form_is_named(write, tmp_path):
    for line in ("    def __init__(self, config): pass\n", '    form = "lines of numbers"\n'):
        result = outcome(write("[arrays]", FILE.replace(line, "")), tmp_path)

        assert "log 'Config' of" in result.reason
        assert "__init__ raised" in result.reason
