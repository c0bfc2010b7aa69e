"""Least squares: minima of known functions, bounds, and points that fail."""

import numpy as np
import pytest
from pippin_fit.least_squares import LeastSquares
from pippin_fit.verdicts import covariance, judge, variances


def minimise(function, start, low=-10.0, high=10.0, **options):
    start = np.array(start, dtype=float)
    ends = (np.full(len(start), low), np.full(len(start), high))
    method = LeastSquares(lambda points: np.stack([function(x) for x in points]), *ends, tolerance=1e-12, **options)
    points = list(method.iterate(start, 200))
    costs = [point.cost for point in points]
    assert costs == sorted(costs, reverse=True)
    return points[-1].x, method


def rosenbrock(x):
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def test_the_valley_of_rosenbrock_is_followed_to_its_end():
    x, _ = minimise(rosenbrock, [-1.2, 1.0])

    np.testing.assert_allclose(x, [1.0, 1.0], atol=1e-3)


@pytest.mark.alone
def test_a_minimum_outside_the_bounds_is_sought_on_them():
    x, _ = minimise(lambda x: np.array([x[0] - 3.0, x[1] + 2.0, x[0] - x[1]]), [0.0, 0.0], low=-1.0, high=1.0)

    np.testing.assert_allclose(x, [1.0, -0.5], atol=1e-6)


def test_points_that_fail_are_avoided():
    x, _ = minimise(lambda x: np.array([x[0] - 0.9, 0.0]) if x[0] < 1.0 else np.full(2, np.nan), [-3.0])

    np.testing.assert_allclose(x, [0.9], atol=1e-3)


def test_a_cost_that_cannot_fall_ends_the_search():
    calls = []

    def noisy(x):  # the same point gives another cost in each place of a batch, as single precision does
        calls.append(x)
        return np.array([1e-3 * (x[0] - 0.5), 1.0 + 1e-9 * (len(calls) % 3)])

    _, method = minimise(noisy, [0.0])

    assert method.taken < 20
    assert method.ended in ("the cost no longer falls", "no step lowers the cost")


def test_a_minimum_ends_the_search_without_another_evaluation():
    points = []
    method = LeastSquares(
        lambda batch: points.append(len(batch)) or np.stack([np.array([x[0] - 0.5, 1.0]) for x in batch]),
        np.array([-9.0]),
        np.array([9.0]),
        tolerance=1e-4,
    )

    assert len(list(method.iterate(np.array([0.5]), 50))) == 1
    assert len(points) == 1
    assert method.ended == "the cost no longer falls"


def test_residuals_far_below_their_noise_end_the_search():
    x, method = minimise(rosenbrock, [-1.2, 1.0], floor=0.03)
    _, whole = minimise(rosenbrock, [-1.2, 1.0])

    assert method.ended == "what is left is far below the noise"
    assert method.taken < whole.taken
    assert 1e-6 < np.abs(rosenbrock(x)).max() < 0.05


def test_a_start_that_fails_is_refused():
    with pytest.raises(FloatingPointError, match="start"):
        minimise(lambda x: np.array([np.inf]), [0.0])


def test_outliers_matter_less_with_a_robust_loss():
    data = np.array([1.0, 1.1, 0.9, 1.0, 50.0])

    plain, _ = minimise(lambda x: x[0] - data, [0.0], high=100.0)
    robust, _ = minimise(lambda x: x[0] - data, [0.0], high=100.0, is_robust=True)

    assert plain[0] == pytest.approx(data.mean(), abs=1e-3)
    assert robust[0] == pytest.approx(1.0 + 1.345 / 4, abs=1e-2)


@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_intervals_hold_the_truth_as_often_as_they_say(ratio):
    """Also if one channel is noisier than the fit assumed, and tells most of one value."""
    random = np.random.default_rng(0)
    design = random.normal(size=(120, 3))
    channels = np.repeat([0, 1], 60)
    design[:60, 1] *= 0.1
    sizes = np.where(channels == 0, 0.3, 0.3 * ratio)
    held = np.zeros(3)
    for _ in range(200):
        data = design @ [1.0, 2.0, 3.0] + sizes * random.normal(size=120)
        found = np.linalg.lstsq(design, data, rcond=None)[0]
        noise = variances(design @ found - data, channels, 117 / 120)
        deviations = np.sqrt(np.diag(covariance(design, noise, np.zeros(3))))
        names = [("line", str(number)) for number in range(3)]
        ranges, places = np.tile([-9.0, 9.0], (3, 1)), np.full(3, 0.5)
        verdicts = judge(names, found, found, ranges, places, deviations, design, np.zeros(3), np.zeros(3))
        held += [abs(each.value - truth) <= each.half_width for each, truth in zip(verdicts, (1, 2, 3), strict=True)]

    assert 0.92 <= held.sum() / 600 <= 0.98
    assert (held / 200 >= 0.90).all()


def bent(x):
    return np.array([np.exp(2.0 * x[0]) + x[1] ** 2, x[0] * x[1], np.sin(x[1])])


@pytest.mark.parametrize("x", [[0.3, 0.5], [1.0, -1.0]])
def test_refined_derivatives_are_of_second_order_also_at_a_bound(x):
    x = np.array(x)
    method = LeastSquares(lambda points: np.stack([bent(p) for p in points]), -np.ones(2), np.ones(2), tolerance=1e-9)
    rough = next(method.iterate(x, 0))
    exact = np.array([[2.0 * np.exp(2.0 * x[0]), 2.0 * x[1]], [x[1], x[0]], [0.0, np.cos(x[1])]])

    refined = method.refine(rough)

    errors = np.linalg.norm(rough.jacobian - exact, axis=0)
    np.testing.assert_allclose(refined.errors, errors, rtol=0.1)
    assert (np.linalg.norm(refined.jacobian - exact, axis=0) < 0.1 * errors).all()


def test_what_only_an_error_of_a_derivative_tells_apart_is_not_identified():
    random = np.random.default_rng(1)
    same, other = random.normal(size=(2, 500))
    design = np.stack([same, same + 0.02 * random.normal(size=500), other], axis=1)  # good to 2 %
    ranges, places = np.tile([0.0, 9.0], (3, 1)), np.full(3, 0.5)
    values, deviations = np.ones(3), np.full(3, 1e-3)
    names = [("arm", name) for name in ("kd", "damping", "mass")]

    exact, rough = (
        judge(names, values, values, ranges, places, deviations, design, np.zeros(3), share * np.sqrt(500.0) * values)
        for share in (1e-4, 0.02)
    )

    assert [each.verdict for each in exact] == ["identified"] * 3
    assert [each.verdict for each in rough] == ["not identifiable", "not identifiable", "identified"]
    assert rough[0].coupled == ("arm: damping",)


def test_values_that_grow_do_so_by_their_derivative_and_shrinking_ones_stay_positive():
    truth = np.array([2.5, 40.0, 0.02])

    def linear(x):
        return np.exp(x) / truth - 1.0

    x, method = minimise(linear, [0.0, 0.0, 0.0], is_ratio=np.ones(3, dtype=bool), damping=1e-9)
    _, by_powers = minimise(linear, [0.0, 0.0, 0.0], damping=1e-9)

    np.testing.assert_allclose(np.exp(x), truth, rtol=1e-4)
    assert method.taken < by_powers.taken
