"""Optimisation by gradients: against formulas and finite differences, on one world and many, and what is refused."""

import csv
import json
import re

import newton  # noqa: F401  (before the first simulation of the process, with its backward kernels)
import numpy as np
import pippin
import pippin_optimise
import pytest
from pippin.studies import RunProgress
from pippin_optimise.config import VariableConfig
from pippin_optimise.descent import Descent
from pippin_optimise.objective import Objective

DT, STEPS, G = 0.02, 20, 9.81
BALL = {"type": "body", "label": "ball", "mass": 0.5, "shapes": [{"type": "sphere", "radius": 0.1}]}
GRAIN = {"type": "particles", "label": "grain", "particle_mass": 0.3}
WEIGHT = {"points": [[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]], "pin": [{"index": [0]}], "particle_mass": 0.2}
WEIGHT |= {"type": "particles", "label": "weight", "springs": [[0, 1]], "spring_ke": 50.0, "spring_kd": 6.0}
TARGET = [1.0, 0.5, 2.0]


def tables(*objects, solver="semi-implicit", worlds=1, steps=STEPS, **optimise):
    own = {"angular_damping": 0.0} if solver == "featherstone" else {"disable_particle_contacts": True}
    return {
        "simulation": {"dt": DT, "device": "cpu", "requires_grad": True},
        "scene": {"worlds": worlds, "objects": list(objects)},
        "solver": {"type": solver, **own},
        "optimise": {"steps": steps, **optimise},
    }


def position(label):
    return {"type": "parts-position", "parts": {"of": label}}


def throw(label, **keys):
    return {"throw": {"velocity_of": {"of": label}, **({"columns": [0, 1, 2]} if label == "ball" else {}), **keys}}


def miss(label, target=TARGET, **keys):
    return {"miss": {"of": position(label), "target": target, **keys}}


def thrown(label="ball", *, worlds=1, solver="semi-implicit", **optimise):
    found = {"ball": BALL, "grain": GRAIN}[label]
    return tables(found, worlds=worlds, solver=solver, variables=throw(label), loss=miss(label), **optimise)


def write(path, data):
    path.write_text(json.dumps(data))
    return path


def course_of(data):
    with pippin.Simulation(pippin.structure(data)) as simulation:
        course = Descent(Objective(simulation))
        course.run()
        return course


EXACT = [1.0 / 0.4, 0.5 / 0.4, 2.0 / 0.4 + G * (0.4 + DT) / 2.0]
"""d / t − g t / 2 for a flight of 0.4 s from the origin; Euler steps fall by g t dt / 2 more."""


@pytest.mark.first_cases(1)
@pytest.mark.parametrize(
    ("label", "solver"), [("ball", "semi-implicit"), ("ball", "featherstone"), ("grain", "semi-implicit")]
)
def test_a_throw_hits_its_target_with_the_velocity_of_the_formula(label, solver):
    course = course_of(thrown(label, solver=solver))

    np.testing.assert_allclose(course.best_values, [EXACT], rtol=1e-4)
    assert course.best_losses[0] < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("method", ["l-bfgs", "adam", pytest.param("sgd", marks=pytest.mark.slow)])
def test_every_method_finds_it_in_every_world(method):
    rates = {"l-bfgs": {}, "adam": {"learning_rate": 0.6}, "sgd": {"learning_rate": 1.5}}
    keys = {"optimiser": method, **rates[method], "iterations": 40, "tolerance": 0.0}
    course = course_of(thrown("grain", worlds=3, **keys))

    assert (course.best_losses < 0.01 * course.losses[0]).all()
    if method != "adam":  # it turns back late
        np.testing.assert_allclose(course.best_values, [EXACT] * 3, rtol=1e-3)


@pytest.mark.slow
def test_the_rest_length_of_a_spring_holds_its_weight_where_it_shall_be():
    """At rest k (l − l_0) = m g with the length l = 0.6 that is asked for."""
    variables = {"length": {"model": "spring_rest_length", "low": 0.1, "high": 1.0}}
    loss = {"miss": {"of": {"type": "parts-position", "parts": {"of": "weight", "index": [1]}}, "axes": "z"}}
    loss["miss"]["target"] = 0.4
    course = course_of(tables(WEIGHT, steps=60, variables=variables, loss=loss))

    np.testing.assert_allclose(course.best_values, [[0.6 - 0.2 * G / 50.0]], atol=1e-4)


@pytest.mark.slow
def test_worlds_that_start_elsewhere_find_the_same():
    data = thrown("grain", worlds=4)
    data["optimise"]["variables"]["throw"]["spread"] = 2.0
    with pippin.Simulation(pippin.structure(data)) as simulation:
        course = Descent(Objective(simulation))
        starts = course.best_values.copy()
        course.run()

    assert np.ptp(starts, axis=0).min() > 0.5
    assert not starts[0].any()
    np.testing.assert_allclose(course.best_values, [EXACT] * 4, rtol=1e-3)


PD = {"arm": {"type": "pd", "joints": [".*"], "kp": 20.0, "kd": 1.0}}
SLIDER = {"type": "body", "label": "cart", "mass": 2.0, "shapes": [{"type": "sphere", "radius": 0.1}]}
SLIDER["joint"] = {"type": "prismatic", "axis": [1.0, 0.0, 0.0], "label": "rail"}
NET = {"type": "cloth-grid", "label": "net", "cells": [2, 2], "cell": [0.1, 0.1], "particle_mass": 0.02}
NET |= {"particle_radius": 0.02, "pin": [{"edge": "left"}], "tri_ke": 10.0, "tri_ka": 10.0, "tri_kd": 0.1}
AIM = {"velocity_of": {"of": "net"}, "together": True}

VARIABLES = {
    "velocity of a ball": ([BALL], {"velocity_of": {"of": "ball"}}, "ball"),
    "velocity of a grain": ([GRAIN], {"velocity_of": {"of": "grain"}}, "grain"),
    "rest lengths": ([WEIGHT], {"model": "spring_rest_length"}, "weight"),
    "stiffness": ([WEIGHT], {"model": "spring_stiffness", "scale": 20.0}, "weight"),
    "triangles together": ([NET], {"model": "tri_materials", "columns": [0], "together": True, "scale": 20.0}, "net"),
    "triangles of a corner": (
        [NET],
        {"model": "tri_materials", "columns": [0, 1], "of": {"of": "net", "box": [[0, 0, -1], [0.11, 0.11, 1]]}}
        | {"scale": 20.0},
        "net",
    ),
    "targets": ([SLIDER], {"value_of": "actuators.arm.position_targets", "points": 5}, "cart"),
    "targets of steps": (
        [SLIDER],
        {"value_of": "actuators.arm.feedforward", "points": 5, "interpolation": "step", "scale": 5.0},
        "cart",
    ),
    "gain": ([SLIDER], {"value_of": "actuators.arm.kp", "scale": 5.0}, "cart"),
}


def compared(objects, variable, label, **optimise):
    data = tables(*objects, steps=10, variables={"x": variable}, loss=miss(label), check=8, check_step=0.01, **optimise)
    data["scene"]["gravity"] = [1.0, 0.5, -9.81]
    if label == "cart":
        data["actuators"] = PD
    with pippin.Simulation(pippin.structure(data)) as simulation:
        if label == "cart":
            simulation.actuators["arm"].position_targets.fill_(0.3)
        objective = Objective(simulation)
        values = objective.start()
        _, gradient = objective.gradient(values)
        return gradient, objective.compare(values, gradient), objective.loss(values)


@pytest.mark.first_cases(4)
@pytest.mark.parametrize("name", VARIABLES)
def test_gradients_are_the_differences_of_rollouts(name):
    """Central differences of single precision agree to a hundredth of the largest slope."""
    _, found, _ = compared(*VARIABLES[name])

    slopes = np.array([[each.derivative, each.difference] for each in found])
    np.testing.assert_allclose(slopes[:, 0], slopes[:, 1], atol=0.01 * np.abs(slopes).max())
    assert np.abs(slopes).max() > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("segment", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_a_rollout_in_segments_has_the_same_gradient(segment):
    for name in ("targets", "rest lengths", "velocity of a grain"):
        whole, _, loss = compared(*VARIABLES[name])
        pieces, _, same = compared(*VARIABLES[name], segment=segment)

        np.testing.assert_allclose(pieces, whole, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(same, loss, rtol=1e-6)


@pytest.mark.first_cases(1)
@pytest.mark.parametrize("name", ["velocity of a ball", "targets"])
def test_a_rollout_in_segments_on_featherstone_has_the_same_gradient(name):
    """Its states have accelerations, which the state that a rollout starts from lacks."""
    whole, _, loss = compared(*VARIABLES[name], solver="featherstone")
    pieces, _, same = compared(*VARIABLES[name], solver="featherstone", segment=4)

    np.testing.assert_allclose(pieces, whole, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(same, loss, rtol=1e-6)
    assert np.abs(whole).max() > 1e-3


def test_targets_in_time_push_a_cart_by_the_impulse_of_each_step():
    """The end of a free cart is x = Σ F_k dt² (n − k) / m, whose derivative is known for each control step."""
    variables = {"push": {"value_of": "actuators.arm.feedforward", "points": 10, "interpolation": "step"}}
    loss = {"end": {"of": "joint-positions", "function": "value"}}
    data = tables(SLIDER, steps=10, variables=variables, loss=loss)
    data["actuators"] = {"arm": {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 0.0}}
    with pippin.Simulation(pippin.structure(data)) as simulation:
        objective = Objective(simulation)
        _, gradient = objective.gradient(objective.start())

    np.testing.assert_allclose(gradient[0], DT**2 * np.arange(10, 0, -1) / 2.0, rtol=1e-3)


def test_a_step_counter_goes_with_a_rollout_and_its_backward_pass():
    with pippin.Simulation(pippin.structure(thrown("grain"))) as simulation:
        simulation.step(3)
        seen = []
        simulation.rollout(2, first=1, before_step=lambda number: seen.append(int(simulation.step_counter.numpy()[0])))

        assert seen == [4, 5]
        assert simulation.step_counter.numpy()[0] == 3


def test_what_was_found_is_played_from_the_file_that_was_written(tmp_path):
    result = pippin_optimise.optimise(
        write(tmp_path / "throw.json", thrown("ball")), {"scene.worlds": 2}, out=tmp_path / "out"
    )

    with pippin.Simulation.from_file(result.file) as simulation:
        for _ in range(2):
            simulation.step(STEPS)
            np.testing.assert_allclose(simulation.state.body_q.numpy()[:, :3], [TARGET] * 2, atol=1e-3)
            simulation.reset()
    rows = list(csv.reader((tmp_path / "out" / "losses.csv").read_text().splitlines()))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert rows[0] == ["iteration", "world_0", "world_1"]
    assert len(rows) == summary["iterations"] + 1
    assert summary["loss"] == pytest.approx(result.loss)
    assert "Loss before each iteration" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_targets_in_time_are_played_as_they_were_found(tmp_path):
    variables = {"push": {"value_of": "actuators.arm.feedforward", "points": 4, "scale": 10.0}}
    data = tables(SLIDER, steps=20, variables=variables, loss=miss("cart", [0.4, 0.0, 0.0], axes="xyz"))
    data["actuators"] = PD
    result = pippin_optimise.optimise(write(tmp_path / "push.json", data), out=tmp_path / "out")

    with pippin.Simulation.from_file(result.file, {"scene.worlds": 2}) as simulation:
        simulation.step(20)
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:, 0], 0.4, atol=1e-3)
        simulation.reset([1])
        simulation.step(20)
        assert simulation.state.body_q.numpy()[1, 0] == pytest.approx(0.4, abs=1e-3)


FREE = {"arm": {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 0.0}}


@pytest.mark.parametrize("solver", ["semi-implicit", "featherstone"])
def test_each_move_is_the_first_step_of_a_plan_from_where_the_last_one_ends(solver, tmp_path):
    """A cart that shall have a speed v after one step needs m v / dt in the first move, and no force later."""
    data = tables(
        SLIDER,
        solver=solver,
        steps=1,
        moves=3,
        worlds=2,
        variables={"push": {"value_of": "actuators.arm.feedforward", "scale": 5.0}},
        loss={"speed": {"of": "joint-velocities", "target": 0.1}},
    )
    result = pippin_optimise.optimise(write(tmp_path / "push.json", {**data, "actuators": FREE}), out=tmp_path / "out")

    np.testing.assert_allclose(result.values["push"], [[2.0 * 0.1 / DT], [0.0], [0.0]], atol=2e-2)
    assert result.moves == 3
    assert result.losses.shape == (3, 2)
    with pippin.Simulation.from_file(result.file) as simulation:
        simulation.step(3)
        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), 0.1, atol=1e-3)
    assert (tmp_path / "out" / "losses.csv").read_text().startswith("move,world_0,world_1")
    assert "Loss of the plan of each move" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("interpolation", "later"), [("step", [2.0, 3.0, 4.0, 4.0]), ("linear", [1.75, 2.75, 3.75, 4.0])]
)
def test_a_plan_goes_on_one_step_later(interpolation, later):
    """Its last value holds."""
    keys = {"value_of": "actuators.arm.feedforward", "points": 4, "interpolation": interpolation}
    loss = {"speed": {"of": "joint-velocities"}}
    data = tables(SLIDER, steps=4, moves=2, worlds=2, variables={"push": keys}, loss=loss)
    with pippin.Simulation(pippin.structure({**data, "actuators": FREE})) as simulation:
        objective = Objective(simulation)
        plans = objective.move(np.array([1.0, 2.0, 3.0, 4.0]))

        np.testing.assert_allclose(plans, [later] * 2)
        np.testing.assert_allclose(simulation.state.joint_qd.numpy(), 0.0, err_msg="the simulation stays")


def test_plans_in_other_worlds_start_elsewhere_within_the_bounds():
    keys = {"value_of": "actuators.arm.feedforward", "points": 50, "low": -0.1, "high": 2.0, "spread": 1.0}
    data = tables(SLIDER, steps=50, worlds=4, variables={"push": keys}, loss={"speed": {"of": "joint-velocities"}})
    with pippin.Simulation(pippin.structure({**data, "actuators": FREE})) as simulation:
        values = Objective(simulation).start()

    assert (values[0] == 0.0).all()
    assert ((values > -0.1) & (values < 2.0))[1:].mean() > 0.98, "drawn again, and not put on a bound"
    assert values[1:].std() > 0.3


def refused(data, tmp_path):
    with pytest.raises((pippin.ConfigError, pippin.SimulationError)) as caught:
        pippin_optimise.optimise(write(tmp_path / "file.json", data), out=tmp_path / "out")
    return str(caught.value)


def changed(data, path, value):
    *above, last = path.split(".")
    table = data
    for key in above:
        table = table[key]
    table[last] = value
    return data


@pytest.mark.first_cases(6)
@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("solver", {"type": "xpbd"}, "'xpbd' does not support gradients"),
        ("optimise.variables.throw.velocity_of.of", "bull", "optimise.variables.throw.velocity_of.of: .*'bull'"),
        (
            "optimise.variables.x",
            {"model": "spring_lengths"},
            "variables.x.model: .*no array 'spring_lengths'",
        ),
        ("optimise.variables.x", {"value_of": "actuators.arm.kp"}, "there is no 'arm' in actuators"),
        ("optimise.variables.x", {"value_of": "kp"}, "'kp' is not a path"),
        ("optimise.variables.x", {"low": 0.5}, "expected one of 'velocity_of', .* got none"),
        ("optimise.variables.throw.points", 3, "throw.points: needs 'value_of'"),
        ("optimise.variables.throw.columns", [3], "columns: 3, but there are 3; count from 0 to 2"),
        ("optimise.variables.throw.low", 1.0, "starts at 0, outside 1 to inf"),
        (
            "optimise.loss.miss.of",
            "action-rate",
            "miss.of: 'action-rate' is not declared to be differentiable",
        ),
        ("optimise.loss.miss.axes", "q", "optimise.loss.miss.axes"),
        ("optimise.loss.miss.discount", 0.5, "miss.discount: needs when"),
        ("optimise.loss.miss.target", [1.0, 2.0], "optimise.loss.miss.target: expected 1 or 3 numbers"),
        (
            "optimise.variables.again",
            throw("grain", columns=[2])["throw"],
            "variables.again: varies numbers that optimise.variables.throw varies, too",
        ),
        ("optimise.moves", 3, "optimise.moves: takes plans of inputs one step at a time, and 'throw' is none"),
        ("optimise.variabels", {}, "variabels"),
        ("optimise.variables.mass", {"model": "particle_mass"}, "variables.mass: the loss does not depend on it"),
        ("optimise", None, "has no .optimise. table"),
    ],
)
def test_what_cannot_be_optimised_is_refused_by_name(path, value, fault, tmp_path):
    data = changed(thrown("grain"), path, value)
    if value is None:
        del data["optimise"]
    if path == "solver":
        data["scene"]["objects"] = [BALL]
        data["simulation"]["requires_grad"] = False

    text = refused(data, tmp_path)

    assert re.search(fault, text), text


def test_a_wrong_gradient_is_refused():
    """Found without the derivative of a kernel: the check says so, and lets nothing through."""
    with pippin.Simulation(pippin.structure(thrown("grain"))) as simulation:
        objective = Objective(simulation)
        losses, gradient = objective.gradient(objective.start())
        wrong = gradient * [[1.0, 1.0, 1.3]]
        with pytest.raises(pippin.ConfigError, match=r"optimise.variables.throw: the gradient gives .* differ by"):
            objective.refuse_wrong(losses, wrong, objective.compare(objective.start(), wrong))
        with pytest.raises(pippin.ConfigError, match="no gradient reaches it"):
            objective.refuse_wrong(losses, 0.0 * wrong, objective.compare(objective.start(), 0.0 * wrong))


def test_a_loss_that_is_not_finite_ends_it_with_the_best_values_written(tmp_path):
    data = thrown("ball", optimiser="sgd", learning_rate=1e25, tolerance=0.0)

    text = refused(data, tmp_path)

    assert "is not finite" in text
    assert (tmp_path / "out" / "optimised.npz").is_file()


@pytest.mark.slow
def test_ctrl_c_keeps_the_best(tmp_path, monkeypatch):
    def stop(self, text):
        raise KeyboardInterrupt

    monkeypatch.setattr(RunProgress, "update", stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        pippin_optimise.optimise(write(tmp_path / "throw.json", thrown("grain")), out=tmp_path / "out")

    assert caught.value.args[0].iterations == 1
    assert (tmp_path / "out" / "optimised.toml").is_file()


def test_a_variable_names_one_thing():
    with pytest.raises(ValueError, match="expected one of"):
        VariableConfig(model="gravity", value_of="plugins.a.b")
