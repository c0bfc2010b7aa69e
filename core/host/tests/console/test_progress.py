"""Output of a command while it shows progress."""

import ctypes
import io
import logging
import os
import re
import time
import warnings

import pytest
from click.testing import CliRunner
from pippin.cli import main
from pippin.console.progress import ConsoleProgress, shown_progress
from rich.console import Console


@pytest.mark.skipif(os.name != "posix", reason="the C library has another name there")
def test_standard_output_is_kept_free_of_what_kernels_print(capfd):
    with shown_progress(is_stdout_reserved=True):
        print("from Python")
        ctypes.CDLL(None).printf(b"from a kernel\n")
    print("the result")

    out, noise = capfd.readouterr()
    assert out == "the result\n"
    assert "from Python" in noise
    assert "from a kernel" in noise


def test_without_a_terminal_each_phase_is_one_plain_line() -> None:
    page = io.StringIO()
    progress = ConsoleProgress(Console(file=page))

    with progress.phase("compile"):
        progress.update("1 of 2")
        progress.update("2 of 2")

    lines = page.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["compile", "compile"]
    assert lines[0].split()[1] == "..."
    assert "\x1b" not in page.getvalue()


def test_a_long_phase_without_a_terminal_tells_of_itself_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    monkeypatch.setattr("pippin.console.progress._PLAIN_PERIOD", 0.0)
    progress = ConsoleProgress(Console(file=page))

    with progress.phase("run"):
        progress.update("t = 1.00 s")

    assert page.getvalue().splitlines()[1].split() == ["run", "t", "=", "1.00", "s"]


def test_on_a_terminal_one_line_is_drawn_over() -> None:
    page = io.StringIO()
    progress = ConsoleProgress(Console(file=page, force_terminal=True))

    with progress.phase("run"):
        progress.update("t = 1.00 s")

    assert "\x1b[" in page.getvalue()


def test_a_phase_that_fails_is_timed_but_not_announced_as_done() -> None:
    page = io.StringIO()
    progress = ConsoleProgress(Console(file=page))

    with pytest.raises(KeyboardInterrupt), progress.phase("run"):
        raise KeyboardInterrupt

    assert "run" in progress.seconds
    assert page.getvalue().split() == ["run", "..."]


def test_a_reserved_stdout_stays_clean(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress(is_stdout_reserved=True) as progress:
        progress.note("building")
        print("an importer talks")

    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["building", "an importer talks"]


def test_warnings_become_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress(), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("joint 'hip' has no limits", stacklevel=1)

    assert capsys.readouterr().out == "warning: joint 'hip' has no limits\n"


def test_a_note_of_the_end_is_not_repeated_by_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress(is_stdout_reserved=True) as progress:
        logging.getLogger("pippin").warning("viewers:video: 10 frames")
        progress.remark("viewers:video: 10 frames")

    assert capsys.readouterr().err.splitlines() == ["note: viewers:video: 10 frames"]


def test_a_note_of_the_library_becomes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress():
        for _ in range(2):  # `check` builds the scene once for each solver
            logging.getLogger("pippin.assembly").log(logging.INFO + 5, "left out 'base'")

    assert capsys.readouterr().out == "note: left out 'base'\n"


def test_silence_is_counted_on_a_plain_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code that compiles one kernel tells nothing."""
    page = io.StringIO()
    monkeypatch.setattr("pippin.console.progress._PLAIN_SILENCE", 0.4)
    monkeypatch.setattr("pippin.console.progress._PLAIN_PERIOD", 0.0)
    progress = ConsoleProgress(Console(file=page))

    with progress.phase("check"):
        progress.update("compile  1 of 2")
        time.sleep(1.2)

    assert re.search(r"^check    compile  1 of 2 \([01] s\)$", page.getvalue(), re.MULTILINE)


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_a_terminal_may_ask_for_plain_lines(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "dumb")
    page = io.StringIO()
    progress = ConsoleProgress(Console(file=page, force_terminal=True))

    with progress.phase("run"):
        progress.update("t = 1.00 s")

    assert "\x1b" not in page.getvalue()


@pytest.mark.parametrize(("option", "shown"), [("-q", []), ("-v", ["reading", "note: low"])])
def test_quiet_and_verbose_choose_what_the_log_prints(option, shown):
    @main.command("talk")
    def talk():
        with shown_progress():
            logging.getLogger("pippin").info("reading")
            logging.getLogger("pippin").warning("low")

    main.get_command = lambda _, name: talk if name == "talk" else None
    try:
        lines = CliRunner().invoke(main, [option, "talk"]).stdout.splitlines()
    finally:
        del main.get_command
        del main.commands["talk"]

    assert lines == shown


@pytest.mark.parametrize("arguments", [["--no-progress", "run", "no.toml"], ["run", "no.toml", "--no-progress"]])
def test_without_progress_only_results_and_notes_are_printed(arguments: list[str]) -> None:
    shown = CliRunner().invoke(main, ["run", "no.toml"]).output.splitlines()

    assert CliRunner().invoke(main, arguments).output.splitlines() == [each for each in shown if each[:4] != "read"]
    assert shown[0] == "read     ..."
