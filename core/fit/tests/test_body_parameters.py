"""Fits of bodies: masses, centres of mass and inertias that a body can have."""

import numpy as np
import pippin
import pippin_fit
import pytest
from pippin.config import toml_text
from pippin.errors import ConfigError
from pippin.inertias import inertia_fault
from pippin_fit.body_parameters import BodyNumbers

from . import arms

LOWER = {"mass": 1.1, "com": [0.02, 0.0, -0.19], "inertia": [0.009, 0.009, 0.0008]}
"""The true numbers of the lower link: it carries a load that the file does not know."""


def write(folder, parameters, **fit):
    truth = arms.tables(folder)
    truth["scene"]["bodies"] = {"lower": LOWER}
    arms.log(folder / "log.npz", truth, seconds=4.0, noise=1e-5)
    file = folder / "arm.toml"
    file.write_text(toml_text({**arms.tables(folder), "fit": {"parameters": parameters, **fit}}), encoding="utf-8")
    return file


@pytest.mark.slow
def test_a_load_is_found_and_the_file_has_its_numbers(tmp_path):
    """Of a planar link, the mass, the centre of mass across and along, and the moment about the hinge can be told."""
    parameters = {
        "bodies.lower.mass": {"range": [0.2, 3.0]},
        "bodies.lower.com": {"range": [-0.4, 0.4], "joints": [".* x", ".* z"]},
        "bodies.lower.spread": {"range": [1e-5, 0.1], "joints": [".* x"]},
    }
    file = write(tmp_path, parameters)

    result = pippin_fit.fit(file, [tmp_path / "log.npz"], out=tmp_path / "out")

    found = result.value("bodies.lower.mass") | result.value("bodies.lower.com")
    assert found["lower"] == pytest.approx(LOWER["mass"], rel=0.02)
    assert found["lower z"] == pytest.approx(LOWER["com"][2], rel=0.02)
    with pippin.Simulation(result.file) as simulation:
        names = [label.rpartition("/")[2] for label in simulation.model.body_label]
        body = names.index("lower")
        assert simulation.model.body_mass.numpy()[body] == pytest.approx(found["lower"], rel=1e-6)
        assert simulation.model.body_com.numpy()[body][2] == pytest.approx(found["lower z"], rel=1e-6)
    assert "lower: ±" in result.file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_spread_and_an_armature_that_only_act_together_are_not_told(tmp_path):
    """A hinge feels the moment about its axis alone: a spread and an armature are one number to it."""
    parameters = {
        "bodies.upper.spread": {"range": [1e-5, 0.1], "joints": [".* x"]},
        "actuators.arm.armature": {"range": [1e-3, 1.0], "joints": ["shoulder"]},
        "bodies.lower.mass": {"range": [0.2, 3.0]},
        "bodies.lower.com": {"range": [-0.4, 0.4], "joints": [".* x", ".* z"]},
        "bodies.lower.spread": {"range": [1e-5, 0.1], "joints": [".* x"]},
    }
    file = write(tmp_path, parameters)

    result = pippin_fit.fit(file, [tmp_path / "log.npz"], out=tmp_path / "out")

    found = {(each.key.rpartition(".")[2], each.name): each for each in result.verdicts}
    assert found["com", "lower x"].is_identified
    assert found["mass", "lower"].value == pytest.approx(LOWER["mass"], rel=1e-3)
    assert not found["spread", "upper x"].is_identified
    assert not found["armature", "shoulder"].is_identified


def test_every_triple_of_spreads_is_that_of_a_body(tmp_path):
    tables = arms.tables(tmp_path)
    with pippin.Simulation({**tables, "scene": {**tables["scene"], "worlds": 50}}) as simulation:
        numbers = BodyNumbers(simulation)
        inertias = numbers.inertias()[0]
        stated = simulation.model.body_inertia.numpy()[:2].copy()
        numbers.varied[1] = {"spread"}
        numbers.values["spread"][:, 1] = 10.0 ** np.random.default_rng(0).uniform(-5, 0, (50, 3))
        numbers.push()
        pushed = simulation.model.body_inertia.numpy().reshape(50, 2, 3, 3)

    np.testing.assert_allclose(inertias, stated, rtol=1e-5, atol=1e-9)
    assert {inertia_fault(matrix.astype(float)) for matrix in pushed[:, 1]} == {None}
    np.testing.assert_allclose(pushed[:, 0], np.broadcast_to(stated[0], (50, 3, 3)), rtol=1e-5, atol=1e-9)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("parameters", "cure"),
    [
        ({"bodies.lowr.mass": {"range": [0.2, 3.0]}}, "did you mean 'lower'"),
        ({"bodies.lower.masss": {"range": [0.2, 3.0]}}, "did you mean 'mass'"),
        (
            {"bodies.lower.mass": {"range": [0.2, 3.0]}, "bodies.low.*.mass": {"range": [0.2, 3.0]}},
            "varies by another key",
        ),
    ],
)
def test_a_wrong_key_is_refused(tmp_path, parameters, cure):
    file = write(tmp_path, parameters)

    with pytest.raises(ConfigError, match=cure):
        pippin_fit.fit(file, [tmp_path / "log.npz"], out=tmp_path / "out")
