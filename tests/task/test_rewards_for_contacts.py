"""Rewards over contacts of two boxes that fall and rest: weights, and the time of the fall, by formulas."""

import math

import newton
import numpy as np
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
}


def boxes() -> newton.ModelBuilder:
    builder = newton.ModelBuilder(up_axis="Z")
    for name, x in (("left", 0.0), ("right", 1.0)):
        body = builder.add_body(label=name, xform=wp.transform((x, 0.0, 0.1 + HEIGHT), wp.quat_identity()))
        builder.add_shape_box(body, hx=0.1, hy=0.1, hz=0.1, cfg=newton.ModelBuilder.ShapeConfig(density=1000.0))
    return builder


@pytest.mark.parametrize("solver", ["mujoco", "xpbd"])
def test_boxes_that_land_and_rest_earn_what_formulas_say(simulate, solver):
    feet = {"feet": {"type": "contact", "bodies": ["left", "right"], "history": 3}}
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
    assert (rest["count"], rest["hardest"]) == (2.0, 2.0)
    np.testing.assert_allclose(rest["excess"], 2 * (WEIGHT - 10.0), rtol=2e-3)
    assert rest["slip"] < 1e-3
    landing = math.sqrt(2 * HEIGHT / 9.81)
    (first, *_) = np.flatnonzero(air)
    assert abs(0.01 * (first + 1) - landing) < 0.011  # a control step, in which the box arrives
    assert abs(air[first] - 2 * (landing - 0.1)) < 2 * 0.011
