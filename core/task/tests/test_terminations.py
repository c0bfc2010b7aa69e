"""Terminations, in states drawn at random."""

import numpy as np
import pytest
from pippin.errors import ConfigError

JOINTS = {"type": "joint-positions", "joints": ("hip_.*",)}


def ends(terms, type, **keys):
    return terms.evaluate(type, kind="termination", **keys)


def test_outside_ends_worlds_in_which_any_number_leaves_the_range(terms):
    x = terms.measure(**JOINTS)
    high = np.sort(x.max(axis=1))[1]

    ended = ends(terms, "outside", of=JOINTS, high=float(high))

    np.testing.assert_array_equal(ended, (x > high).any(axis=1))
    assert set(ended) == {True, False}


def test_outside_ends_a_world_whose_number_is_none(terms):
    terms.simulation.state.joint_q[22:23].fill_(np.nan)

    np.testing.assert_array_equal(ends(terms, "outside", of=JOINTS, high=2.0), [False, True, False])


def test_bad_orientation_is_the_range_of_projected_gravity(terms, bodies):
    """Isaac Lab ends an episode if the angle from upright is above a limit."""
    upright = bodies["R"][:, 0, 2, 2]
    limit = np.arccos(np.sort(upright)[1]) + 0.01

    tilted = ends(terms, "outside", of="projected-gravity", axes="z", high=float(-np.cos(limit)))

    np.testing.assert_array_equal(tilted, np.arccos(upright) > limit)
    assert set(tilted) == {True, False}


def test_contact_ends_worlds_with_a_force_above_the_threshold(terms):
    sizes = np.linalg.norm(terms.set("net_force", np.random.default_rng(8).normal(size=(3, 4, 3))), axis=2)
    threshold = float(np.sort(sizes.max(axis=1))[1])

    ended = ends(terms, "contact", sensor="feet", threshold=threshold)

    np.testing.assert_array_equal(ended, (sizes > threshold).any(axis=1))
    assert set(ended) == {True, False}


def test_contact_with_history_sees_an_earlier_reading(terms):
    terms.set("net_force", np.zeros((3, 4, 3)))
    forces = np.zeros((3, 4, 2, 3))
    forces[2, 1, 1] = [0.0, 3.0, 4.0]
    terms.set("net_force_history", forces)

    np.testing.assert_array_equal(ends(terms, "contact", sensor="feet", history=True), [False, False, True])
    np.testing.assert_array_equal(ends(terms, "contact", sensor="feet"), [False, False, False])


@pytest.mark.parametrize(
    ("type", "keys", "text"),
    [
        (
            "contact",
            {"sensor": "torso"},
            "sensor: 'torso' has no output 'net_force'; choose a sensor of type 'contact'",
        ),
        ("contact", {"sensor": "trunk"}, "sensor: there is no sensor 'trunk'"),
        ("outside", {"of": JOINTS, "high": 1.0, "axes": "z"}, "axes: the quantity has"),
    ],
)
def test_a_bad_choice_is_named_with_its_key_and_a_cure(ants, type, keys, text):
    with pytest.raises(ConfigError, match=text):
        ants.make("termination", type, **keys)


def test_a_range_without_an_end_is_refused(ants):
    with pytest.raises(ValueError, match="must make a range"):
        ants.make("termination", "outside", of="root-height")
