"""What `pippin run` decides before it builds anything, and how it tells of its progress."""

import io
import logging
import sys
import warnings

import pippin
import pytest
from pippin.cli._progress import Progress, shown_progress
from pippin.cli._simulate import step_count
from rich.console import Console

CONFIG = pippin.structure({"simulation": {"dt": 0.005, "decimation": 4}})
"""Control steps of 0.02 s."""


def test_steps_are_control_steps() -> None:
    assert step_count(CONFIG, steps=7, duration=None) == 7


def test_a_duration_is_simulated_time() -> None:
    assert step_count(CONFIG, steps=None, duration=0.3) == 15


def test_five_seconds_are_simulated_by_default() -> None:
    assert step_count(CONFIG, steps=None, duration=None) == 250


def test_the_default_is_rounded_up_to_a_whole_step() -> None:
    config = pippin.structure({"simulation": {"dt": 0.3}})

    assert step_count(config, steps=None, duration=None) == 17


def test_a_broken_step_is_refused_with_the_nearest_durations() -> None:
    with pytest.raises(pippin.ConfigError, match=r"--duration: .* of 0\.02 s, got 0\.05; use 0\.04 or 0\.06"):
        step_count(CONFIG, steps=None, duration=0.05)


def test_less_than_a_step_is_refused_with_one_step() -> None:
    with pytest.raises(pippin.ConfigError, match=r"got 0\.001; use 0\.02$"):
        step_count(CONFIG, steps=None, duration=0.001)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf")])
def test_a_duration_that_is_no_time_is_refused(duration: float) -> None:
    with pytest.raises(pippin.ConfigError, match="--duration: expected a positive time"):
        step_count(CONFIG, steps=None, duration=duration)


def test_steps_beside_a_duration_are_refused() -> None:
    with pytest.raises(pippin.ConfigError, match="leave one of the two out"):
        step_count(CONFIG, steps=3, duration=0.06)


def test_without_a_terminal_each_phase_is_one_plain_line() -> None:
    page = io.StringIO()
    progress = Progress(Console(file=page))

    with progress.phase("compile"):
        progress.update("1 of 2")
        progress.update("2 of 2")

    lines = page.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["compile", "compile"]
    assert lines[0].split()[1] == "..."
    assert "\x1b" not in page.getvalue()


def test_a_long_phase_without_a_terminal_tells_of_itself_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    monkeypatch.setattr("pippin.cli._progress._PLAIN_PERIOD", 0.0)
    progress = Progress(Console(file=page))

    with progress.phase("run"):
        progress.update("t = 1.00 s")

    assert page.getvalue().splitlines()[1].split() == ["run", "t", "=", "1.00", "s"]


def test_on_a_terminal_one_line_is_drawn_over() -> None:
    page = io.StringIO()
    progress = Progress(Console(file=page, force_terminal=True))

    with progress.phase("run"):
        progress.update("t = 1.00 s")

    assert "\x1b[" in page.getvalue()


def test_a_phase_that_fails_is_timed_but_not_announced_as_done() -> None:
    page = io.StringIO()
    progress = Progress(Console(file=page))

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


def test_a_note_of_the_library_becomes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress():
        for _ in range(2):  # `check` builds the scene once for each solver
            logging.getLogger("pippin.assembly").log(logging.INFO + 5, "left out 'base'")

    assert capsys.readouterr().out == "note: left out 'base'\n"


def test_warp_talks_again_afterwards() -> None:
    import warp as wp

    before = wp.config.log_level
    with shown_progress():
        assert wp.config.log_level == wp.LOG_WARNING

    assert wp.config.log_level == before
    assert sys.stdout is not sys.stderr
