"""Energy of a comparison: the work of actuators is subtracted, and with other work there is no figure."""

from __future__ import annotations

import time

import numpy as np
import pippin
import pytest
from pippin.measuring.measured_run import MeasuredRun
from pippin_benchmark.reference_motions import integrated

MASS, LENGTH, INERTIA, EFFORT = 2.0, 0.7, 0.05, 4.0
BODY = (
    f'<inertial mass="{MASS}" pos="0 0 -{LENGTH}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>'
    '<joint name="hinge" axis="0 1 0" {joint}/>{more}'
)
ACTUATOR = {"type": "pd", "joints": ["hinge"], "kp": 0.0, "kd": 0.5}


@pytest.fixture
def measured(tmp_path):
    """Return a function that lets a pendulum swing for a second, and returns the result."""

    def run(actuators=None, joint="", more="", ground=False, **options):
        text = BODY.format(joint=joint, more=more)
        (tmp_path / "arm.xml").write_text(f'<mujoco><worldbody><body pos="0 0 2">{text}</body></worldbody></mujoco>')
        asset = {"path": str(tmp_path / "arm.xml"), "joint_positions": {"hinge": 1.0}}
        config = pippin.structure(
            {
                "simulation": {"device": "cpu", "dt": 0.001},
                "scene": {"worlds": 2, "ground": ground, "assets": [asset]},
                "solver": {"type": "mujoco-native", **options},
                "actuators": actuators or {},
            }
        )
        return MeasuredRun(config, 1000, time.time()).result("mujoco-native")

    return run


def truth(damping):
    """Return the energy that the damping of a pendulum takes in a second [J], by its equation in double precision."""
    moment, pull = MASS * LENGTH**2 + INERTIA, MASS * 9.81 * LENGTH
    state = integrated(
        lambda s: np.array([s[1], (-pull * np.sin(s[0]) - damping * s[1]) / moment]),
        np.array([1.0, 0.0]),
        np.array([0.0, 1.0]),
        1e-3,
    )
    energy = 0.5 * moment * state[:, 1] ** 2 - pull * np.cos(state[:, 0])
    return energy[1] - energy[0]


def test_the_work_of_an_actuator_is_that_of_the_formula_and_is_no_drift(measured):
    result = measured({"motor": ACTUATOR})
    work, energy = (result.series[name].values for name in ("work", "energy"))

    assert truth(0.5) < -1.0
    np.testing.assert_allclose(work[-1], truth(0.5), rtol=0.01)
    np.testing.assert_allclose(energy[-1] - energy[0], truth(0.5), rtol=0.01)
    assert result.unmeasured_work == ()
    assert result.energy_drift < 0.02 * abs(truth(0.5))


def test_without_actuators_the_figure_is_the_change_of_energy(measured):
    result = measured(integrator="rk4")
    energy = result.series["energy"].values

    assert result.energy_drift == pytest.approx(np.abs(energy - energy[0]).max())
    assert result.energy_drift < 1e-3
    assert "work" not in result.series


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"joint": 'damping="0.5"'}, ("joint_damping",)),
        ({"more": '<geom size="0.1"/>', "ground": True}, ("rigid_contacts",)),
        ({"actuators": {"motor": {"type": "solver-pd", "joints": ["hinge"], "kp": 9.0, "kd": 1.0}}}, ("joint_drives",)),
    ],
)
def test_where_something_else_does_work_there_is_no_figure(measured, options, what):
    result = measured(**options)

    assert result.outcome == "finished"
    assert result.unmeasured_work == what
    assert result.energy_drift is None


def test_a_limit_that_is_violated_does_work(measured):
    result = measured(joint='range="0 90" limited="true"')

    assert result.angle_limit_violation > 0.0
    assert result.energy_drift is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "what"),
    [
        ({"type": "particles", "points": [[0, 0, 0], [1, 0, 0]], "particle_mass": 1.0, "springs": [[0, 1]]}, "springs"),
        ({"type": "cloth-grid", "cells": [2, 1], "cell": [0.1, 0.1], "density": 0.5}, "triangles"),
    ],
)
def test_matter_that_stores_energy_has_no_figure(content, what):
    """Each solver has a law of its own for what deformed matter stores, so nobody knows the whole."""
    config = pippin.structure(
        {
            "simulation": {"device": "cpu", "dt": 0.001},
            "scene": {"objects": [{"label": "matter", **content}]},
            "solver": {"type": "vbd"},
        }
    )
    result = MeasuredRun(config, 2, time.time()).result("vbd")

    assert result.outcome == "finished", result.reason
    assert what in result.unmeasured_work
    assert result.energy_drift is None
