"""What Isaac Sim's `test_object_type` checks, by the names of its tests."""

import pytest
from pippin.views import ObjectType


@pytest.fixture(scope="module")
def balls(simulate, ball_grid):
    return simulate(ball_grid(2))


def test_rigid_body(balls):
    assert balls.view.get_object_type("/envs/env0/ball") is ObjectType.RIGID_BODY


def test_invalid_path(balls):
    assert balls.view.get_object_type("/nonexistent/path") is ObjectType.INVALID


def test_articulation_root_link(ants):
    assert ants.view.get_object_type("/ant/torso") is ObjectType.ARTICULATION_ROOT_LINK


def test_articulation_link(ants):
    assert ants.view.get_object_type("/ant/front_left_leg") is ObjectType.ARTICULATION_LINK


def test_articulation_joint(ants):
    assert ants.view.get_object_type("/ant/joints/front_left_leg") is ObjectType.ARTICULATION_JOINT


def test_nonphysics_xform(ants):
    """Their root is `ant/torso` and `ant` is nothing; ours is `/ant`, and what holds its joints is nothing."""
    assert ants.view.get_object_type("/ant/joints") is ObjectType.INVALID
    assert ants.view.get_object_type("/ant") is ObjectType.ARTICULATION
