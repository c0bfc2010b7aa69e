"""What a run decides before it builds anything."""

import pippin
import pytest
from pippin.studies import step_count

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
    with pytest.raises(pippin.ConfigError, match=r"duration: .* of 0\.02 s, got 0\.05; use 0\.04 or 0\.06"):
        step_count(CONFIG, steps=None, duration=0.05)


def test_less_than_a_step_is_refused_with_one_step() -> None:
    with pytest.raises(pippin.ConfigError, match=r"got 0\.001; use 0\.02$"):
        step_count(CONFIG, steps=None, duration=0.001)


@pytest.mark.parametrize("duration", [0.0, -1.0, float("nan"), float("inf")])
def test_a_duration_that_is_not_a_time_is_refused(duration: float) -> None:
    with pytest.raises(pippin.ConfigError, match="duration: expected a positive time"):
        step_count(CONFIG, steps=None, duration=duration)


def test_steps_beside_a_duration_are_refused() -> None:
    with pytest.raises(pippin.ConfigError, match="give only one of the two"):
        step_count(CONFIG, steps=3, duration=0.06)
