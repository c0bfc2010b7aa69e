import numpy as np
import pytest
from pippin.assets.urdf.repairs import of_sphere, principal, repaired


def rotation() -> np.ndarray:
    axes, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    return axes


def test_an_inertia_that_a_body_can_have_is_kept():
    tensor = rotation() @ np.diag([1.0, 2.0, 2.5]) @ rotation().T

    kept, is_other = repaired(tensor)

    assert kept is tensor
    assert not is_other


def test_the_largest_moment_stays_and_the_others_grow_to_it():
    tensor = rotation() @ np.diag([1.0, 2.0, 5.0]) @ rotation().T

    balanced, is_other = repaired(tensor)

    # The deficit of 2 is shared; the margin for single precision is 1e-5 of the trace.
    np.testing.assert_allclose(principal(balanced), [2.0, 3.0, 5.0], rtol=1e-4)
    np.testing.assert_allclose(balanced @ np.linalg.inv(tensor), np.linalg.inv(tensor) @ balanced, atol=1e-4)
    assert is_other


@pytest.mark.parametrize("moments", [(-1.0, 2.0, 3.0), (0.0, 0.0, 1.0), (-1.0, -2.0, -3.0), (1.0, 1.0, 2.0)])
def test_any_tensor_becomes_one_that_single_precision_keeps_valid(moments):
    tensor = rotation() @ np.diag(moments) @ rotation().T

    low, middle, high = principal(repaired(tensor)[0].astype(np.float32).astype(float))

    assert low > 0.0
    assert low + middle > high


def test_a_flat_plate_is_not_told_to_change():
    balanced, is_other = repaired(np.diag([1.0, 1.0, 2.0]))

    np.testing.assert_allclose(principal(balanced), [1.0, 1.0, 2.0], rtol=1e-4)
    assert not is_other


def test_a_sphere_of_a_litre_of_water_weighs_a_kilogram():
    radius = (3e-3 / (4.0 * np.pi)) ** (1.0 / 3.0)  # of a volume of 0.001 m³

    np.testing.assert_allclose(of_sphere(1.0), np.eye(3) * 0.4 * radius**2)
    np.testing.assert_allclose(of_sphere(1e-9), np.eye(3) * 2e-10)


def test_a_tiny_inertia_stays_above_what_newton_replaces():
    balanced, is_other = repaired(np.diag([1e-12, 1e-12, 1e-12]))

    np.testing.assert_allclose(principal(balanced), 2e-10, rtol=1e-6)
    assert is_other
