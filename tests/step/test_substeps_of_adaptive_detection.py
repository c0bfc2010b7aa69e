"""Detections as often as speeds demand: `collision.interval = "adaptive"`."""

import numpy as np
import pippin
import pytest

WALL = {"type": "body", "label": "wall", "motion": "static", "shapes": [{"type": "box", "size": [0.05, 2.0, 2.0]}]}
BALL = {"type": "body", "label": "ball", "position": [-2.0, 0.0, 0.0], "velocity": [60.0, 0.0, 0.0]}
BALL |= {"shapes": [{"type": "sphere", "radius": 0.05}]}
SAND = {"type": "granular", "label": "sand", "position": [0.0, 5.0, 0.0], "size": [0.1, 0.1, 0.1], "spacing": 0.1}
SAND |= {"density": 1000.0}


def shot(interval, *more, substeps=20, **collision):
    """Return a simulation of a ball that is shot at a wall, without gaps of contact."""
    return pippin.Simulation(
        pippin.structure(
            {
                "simulation": {"device": "cpu", "dt": 1 / 60, "substeps": substeps, "capture": "require"},
                "collision": {"interval": interval, "speculative_contact_gap_max": 0.2, **collision},
                "scene": {"gravity": [0.0, 0.0, 0.0], "shapes": {"gap": 0.0}, "objects": [WALL, BALL, *more]},
                "solver": {"type": "xpbd"},
            }
        )
    )


def place_of_ball(simulation):
    with simulation:
        simulation.step(6)
        simulation.raise_errors()
        return simulation.state.body_q.numpy()[0, 0]


@pytest.mark.slow
def test_a_fast_ball_is_stopped_by_adaptive_detections_and_not_by_one_a_step():
    assert place_of_ball(shot(20)) < -3.0  # thrown back by a contact found deep inside
    assert -0.5 < place_of_ball(shot("adaptive")) < -0.05
    np.testing.assert_allclose(place_of_ball(shot("adaptive")), place_of_ball(shot(1)), atol=1e-5)


def test_travel_beyond_the_gap_is_an_error():
    with pytest.raises(pippin.SimulationError, match="moved farther in a substep than speculative_contact_gap_max"):
        place_of_ball(shot("adaptive", substeps=2))


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: shot("adaptive", substeps=3), r"substeps: 3, but collision\.interval = 'adaptive' needs even"),
        (lambda: shot("adaptive", SAND), r"'adaptive', but the scene has particles"),
        (lambda: shot("adaptive", speculative_contact_gap_max=0.0), r"set it to a distance above 0"),
        (lambda: shot(0), r"interval.*>= 1"),
        (lambda: shot("always"), r"interval"),
    ],
)
def test_an_interval_that_cannot_be_is_refused(build, reason):
    with pytest.raises(pippin.ConfigError, match=reason):
        build()
