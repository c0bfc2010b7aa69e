"""Rewards over contacts of two boxes that fall and rest: weights, and the time of the fall, by formulas."""

import math

import newton
import numpy as np
import pippin
import pytest
import warp as wp

HEIGHT, WEIGHT = 0.2, 8.0 * 9.81
FEET = {"sensor": "feet", "weight": 1.0}
REWARDS = {
    "count": {**FEET, "type": "contacts", "threshold": 1.0},
    "excess": {**FEET, "type": "contacts", "threshold": 10.0, "excess": True},
    "hardest": {**FEET, "type": "contacts", "threshold": 1.0, "history": True},
    "slip": {**FEET, "type": "slip"},
    "air": {**FEET, "type": "air-time", "threshold": 0.1},
    "readings": {**FEET, "type": "contacts", "threshold": 1.0, "readings": True},
    "ground": {**FEET, "type": "contacts", "threshold": 1.0, "partners": True},
}


def boxes(right: tuple[float, float, float] = (1.0, 0.0, 0.1 + HEIGHT)) -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis="Z")
    for name, place in (("left", (0.0, 0.0, 0.1 + HEIGHT)), ("right", right)):
        body = builder.add_body(label=name, xform=wp.transform(place, wp.quat_identity()))
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=1000.0))
    return builder


@pytest.mark.parametrize("solver", ["mujoco", "xpbd"])
def test_boxes_that_land_and_rest_earn_what_formulas_say(simulate, solver):
    feet = {"feet": {"type": "contact", "bodies": ["left", "right"], "history": 3, "partners": ["ground_plane"]}}
    task = {"reward_rate": "step", "rewards": REWARDS}
    keys = {"dt": 0.002, "decimation": 5, "worlds": 2, "ground": True, "sensors": feet, "task": task, "solver": solver}
    with simulate(boxes, **keys) as simulation:
        terms, air = simulation.task.episodes.reward_terms, []
        for _ in range(100):
            simulation.step()
            air.append(float(terms.numpy()[4, 1]))
        rest = dict(zip(REWARDS, terms.numpy()[:, 1], strict=True))
        force = simulation.sensors["feet"].outputs["net_force"].data.numpy()
        simulation.raise_errors()

    np.testing.assert_allclose(force[..., 2], WEIGHT, rtol=2e-3)
    assert (rest["count"], rest["hardest"], rest["ground"], rest["readings"]) == (2.0, 2.0, 2.0, 3.0)
    np.testing.assert_allclose(rest["excess"], 2 * (WEIGHT - 10.0), rtol=2e-3)
    assert rest["slip"] < 1e-3
    landing = math.sqrt(2 * HEIGHT / 9.81)
    (first, *_) = np.flatnonzero(air)
    assert abs(0.01 * (first + 1) - landing) < 0.011  # a control step, in which the box arrives
    assert abs(air[first] - 2 * (landing - 0.1)) < 2 * 0.011


def test_boxes_that_touch_each_other_count_by_their_partners(simulate):
    """A box stands on another one: both touch something, and one of them a box, two a box or the ground."""
    boxed = {"type": "contact", "bodies": ["left", "right"], "partners": ["right"], "history": 3}
    feet = {"type": "contact", "bodies": ["left", "right"], "partners": ["left", "ground_plane"]}
    count = {"type": "contacts", "weight": 1.0, "threshold": 1.0, "partners": True}
    rewards = {"boxed": {**count, "sensor": "boxed"}, "feet": {**count, "sensor": "feet"}}
    rewards["readings"] = {**rewards["boxed"], "readings": True}
    ends = {"hit": {"type": "contact", "sensor": "boxed", "threshold": 1.0, "partners": True}}
    task = {"reward_rate": "step", "rewards": rewards, "terminations": ends, "autoreset": "disabled"}
    sensors = {"boxed": boxed, "feet": feet}
    keys = {
        "dt": 0.002,
        "decimation": 5,
        "worlds": 2,
        "ground": True,
        "sensors": sensors,
        "task": task,
        "solver": "mujoco",
    }
    with simulate(boxes((0.0, 0.0, 0.31 + HEIGHT)), **keys) as simulation:
        ended = []
        for _ in range(60):
            simulation.step()
            ended.append(bool(simulation.task.episodes.terminated.numpy()[0]))
        found = simulation.task.episodes.reward_terms.numpy()[:, 0].tolist()

    landing = math.sqrt(2 * HEIGHT / 9.81)
    assert found == [1.0, 2.0, 3.0]
    assert abs(0.01 * (ended.index(True) + 1) - landing) < 0.02  # the lower box stops the other one


@pytest.mark.parametrize(("key", "cure"), [("partners", "`partners`"), ("history", "a `history`")])
def test_forces_that_a_sensor_does_not_have_are_refused_with_what_it_lacks(simulate, key, cure):
    count = {**FEET, "type": "contacts", "threshold": 1.0, key: True}
    feet = {"feet": {"type": "contact", "bodies": ["left"]}}
    with pytest.raises(pippin.ConfigError, match=f"task.rewards.count.sensor: 'feet' has no output .*; give it {cure}"):
        simulate(boxes, ground=True, sensors=feet, task={"rewards": {"count": count}}, solver="mujoco")
