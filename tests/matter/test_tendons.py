"""Tendons as viewers draw them: the line through the guides, and around rollers, against geometry and the solver."""

from typing import Any

import av
import numpy as np
import pippin
import pytest
from pippin.matter import render_tendons
from pippin.recording.channels import channels

R = 0.2
LOADS = {"type": "body", "label": "load", "poses": [[-R, 0.0, 1.0], [R, 0.0, 1.0]], "mass": 1.0}
LOADS |= {"shapes": [{"type": "sphere", "radius": 0.05}]}


def build(guides, worlds=1, folder=None, **others):
    tables = {
        "simulation": {"device": "cpu", "dt": 0.01, "substeps": 4},
        "scene": {"objects": [LOADS], "worlds": worlds, "spacing": [2.0, 0.0, 0.0]},
        "solver": {"type": "xpbd"},
        **others,
    }
    if guides:
        tables["scene"]["tendons"] = [{"label": "rope", "compliance": 1e-5, "guides": guides}]
    return pippin.Simulation(pippin.structure(tables), folder=folder)


def roller(x=0.0, z=3.0, side=1, **keys):
    table = {"type": "roller", "position": [x, 0.0, z], "axis": [0.0, 1.0, 0.0], "radius": R, "orientation": side}
    return table | keys


def line_of(simulation, world=0):
    [seen] = render_tendons(simulation.model, [world])
    line = seen.points(simulation.state.body_q.numpy())
    assert len(line) == seen.point_count
    return line


def length_of(line):
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def test_a_line_over_a_pulley_is_two_straight_parts_and_half_a_turn():
    with build([{"body": "load_0"}, roller(), {"body": "load_1"}]) as simulation:
        line = line_of(simulation)

    np.testing.assert_allclose(line[[0, 1, -2, -1]], [[-R, 0, 1], [-R, 0, 3], [R, 0, 3], [R, 0, 1]], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(line[1:-1] - [0.0, 0.0, 3.0], axis=1), R, atol=1e-6)
    assert line[:, 2].max() == pytest.approx(3.0 + R, abs=1e-6)
    assert length_of(line) == pytest.approx(2 * 2.0 + np.pi * R, rel=2e-3)  # chords in place of the arc


def test_the_other_side_of_a_roller_is_passed_below():
    with build([{"body": "load_0"}, roller(z=1.0, side=-1), {"body": "load_1"}]) as simulation:
        line = line_of(simulation)

    assert line[:, 2].min() == pytest.approx(1.0 - R, abs=1e-6)


@pytest.mark.parametrize(("sides", "length"), [((1, 1), 2.0), ((1, -1), np.sqrt(4.0 - 4 * R**2))])
def test_a_span_between_two_rollers_touches_both(sides, length):
    """The tangent on the same side is as long as the distance of the centres, and a crossed one shorter."""
    end = 0.0 if sides == (1, 1) else 5.0
    ends = [{"position": [-1.0 - R, 0.0, 0.0]}, {"position": [1.0 + (R if end == 0.0 else -R), 0.0, end]}]
    with build([ends[0], roller(-1.0, side=sides[0]), roller(1.0, side=sides[1]), ends[1]]) as simulation:
        line = line_of(simulation)

    parts = np.linalg.norm(np.diff(line, axis=0), axis=1)
    assert parts[13] == pytest.approx(length, rel=1e-4)  # after the start and thirteen points of the first roller


def test_spans_end_where_the_solver_has_its_ends():
    guides = [{"body": "load_0"}, {"type": "pinhole", "position": [-0.5, 0.1, 2.0]}, roller(), {"body": "load_1"}]
    with build(guides, worlds=2) as simulation:
        simulation.step(20)
        line, state = line_of(simulation, 1), simulation.state
        ends = state.tendon_segment_attachment_l_local.numpy()[3:], state.tendon_segment_attachment_r_local.numpy()[3:]

    np.testing.assert_allclose(line[1], [-0.5, 0.1, 2.0], atol=1e-6)
    np.testing.assert_allclose(line[2], ends[1][1], atol=2e-3)  # on the world; the solver's are of the last substep
    np.testing.assert_allclose(line[-2], ends[0][2], atol=2e-3)


@pytest.mark.parametrize("is_dynamic", [True, False])
def test_a_dynamic_roller_that_is_left_is_passed_by(is_dynamic):
    guides = [{"position": [-1.0, 0.0, 2.9]}, roller(z=3.5, side=-1, is_dynamic=is_dynamic), {"body": "load_1"}]
    with build(guides) as simulation:
        simulation.step(1)
        line, active = line_of(simulation), simulation.state.tendon_guide_active.numpy()

    assert active.tolist() == [True, not is_dynamic, True]
    is_straight = length_of(line) == pytest.approx(np.linalg.norm(line[-1] - line[0]), rel=1e-6)
    assert is_straight == is_dynamic


@pytest.mark.parametrize("worlds", [[0], [1, 0]])
def test_the_recorded_length_is_that_of_the_line(worlds):
    """The film has chords in place of arcs: each of twelve parts of half a turn is shorter by (π / 12)² / 24."""
    guides = [{"body": "load_0"}, {"type": "pinhole", "position": [-0.5, 0.1, 2.0]}, roller(), {"body": "load_1"}]
    with build(guides, worlds=2) as simulation:
        simulation.step(20)
        [channel] = channels(simulation, worlds, ["tendons/.*length"])
        lengths, lines = channel.numpy(), [length_of(line_of(simulation, world)) for world in worlds]

    assert (channel.name, channel.units) == ("tendons/rope/length", ("m",))
    np.testing.assert_allclose(lengths, lines, rtol=1e-3)
    assert (lengths >= lines).all()


def test_the_recorded_length_of_a_pulley_is_the_formula():
    with build([{"body": "load_0"}, roller(), {"body": "load_1"}]) as simulation:
        [channel] = channels(simulation, series=["tendons/.*/length"])
        start = channel.numpy().copy()
        simulation.step(30)
        now = channel.numpy().copy()

    np.testing.assert_allclose(start, 2 * 2.0 + np.pi * R, rtol=1e-5)
    np.testing.assert_allclose(now, start, rtol=1e-3)  # equal loads stretch it by 1e-5 m/N · 9.81 N for each span


def tensions_of(simulation, worlds=(0,)):
    """Return the recorded tensions [N], shape [worlds, spans], and those that Newton's solver reports of all spans."""
    [channel] = channels(simulation, worlds, ["tendons/rope/tension"])
    solver: Any = simulation.solver
    reported = solver.tendon_segment_material_tension.numpy() + solver.tendon_segment_damping_tension.numpy()
    return channel.numpy(), np.maximum(reported, 0.0)


def hung(mass, solver, worlds=1):
    """Return a weight on a tendon that is damped, of 1e-4 m/N."""
    load = {"type": "body", "label": "load", "mass": mass, "position": [0.0, 0.0, 1.0], "shapes": LOADS["shapes"]}
    load["joint"] = {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}
    rope = {"label": "rope", "compliance": 1e-4, "damping": 100.0}
    rope["guides"] = [{"position": [0.0, 0.0, 3.0]}, {"body": "load"}]
    scene = {"objects": [load], "tendons": [rope], "worlds": worlds}
    return build([], scene=scene, solver={"type": solver, **({"iterations": 16} if solver == "xpbd" else {})})


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["xpbd", "vbd"])
def test_a_tendon_pulls_with_the_weight_that_it_holds_in_every_world(solver):
    with hung(2.0, solver, worlds=2) as simulation:
        before = tensions_of(simulation)[0].copy()
        simulation.step(3)  # the weight is still falling, and the damping pulls
        falling, reported = tensions_of(simulation, [1, 0])
        np.testing.assert_allclose(falling[:, 0], reported[::-1], rtol=0.02)
        simulation.step(200)
        held, reported = tensions_of(simulation, [1, 0])

    assert before.tolist() == [[0.0]]
    np.testing.assert_allclose(held, 2.0 * 9.81, rtol=0.01)
    np.testing.assert_allclose(held[:, 0], reported[::-1], rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [pytest.param(0.0, marks=pytest.mark.slow), 0.15])
def test_the_tensions_before_and_behind_a_roller_differ_as_euler_says(friction):
    """The heavier load goes down with (2 - r) / (2 + r) g, r = exp(μ π), and pulls with 2 kg less this acceleration."""
    ratio = np.exp(friction * np.pi)
    loads = [
        {"type": "body", "label": label, "mass": mass, "position": [x, 0.0, 1.0], "shapes": LOADS["shapes"]}
        | {"joint": {"type": "prismatic", "axis": [0.0, 0.0, 1.0]}}
        for label, mass, x in (("light", 1.0, -R), ("heavy", 2.0, R))
    ]
    rope = {"label": "rope", "compliance": 1e-5, "damping": 10.0}
    rope["guides"] = [{"body": "light"}, roller(mu=friction), {"body": "heavy"}]
    solver = {"type": "xpbd", "iterations": 32}
    step = {"device": "cpu", "dt": 0.01, "substeps": 16}
    with build([], scene={"objects": loads, "tendons": [rope]}, solver=solver, simulation=step) as simulation:
        found = []
        for _ in range(20):
            simulation.step()
            found.append(tensions_of(simulation)[0][0].copy())

    acceleration = 9.81 * (2.0 - ratio) / (2.0 + ratio)
    expected = [9.81 + acceleration, 2.0 * (9.81 - acceleration)]
    np.testing.assert_allclose(np.mean(found[5:], axis=0), expected, rtol=0.05)
    assert expected[1] / expected[0] == pytest.approx(ratio)


def test_both_spans_beside_a_roller_that_is_left_pull_alike():
    guides = [{"position": [-1.0, 0.0, 2.9]}, roller(z=3.5, side=-1, is_dynamic=True), {"body": "load_1"}]
    with build(guides) as simulation:
        simulation.step(10)
        [[left, right]], reported = tensions_of(simulation)

    assert left == right > 0.0
    np.testing.assert_allclose(left, reported[0], rtol=0.05)


def test_a_tendon_that_does_not_stretch_has_no_tension():
    scene = {"objects": [LOADS], "tendons": [{"label": "rope", "guides": [{"body": "load_0"}, {"body": "load_1"}]}]}
    with build([], scene=scene) as simulation:
        names = [each.name for each in channels(simulation, series=["tendons/.*"])]

    assert names == ["tendons/rope/length"]


@pytest.mark.slow
@pytest.mark.parametrize("side", ["above", "beside"])
def test_a_video_shows_the_line(side, tmp_path):
    eye = {"above": (0.0, -0.1, 8.0), "beside": (0.0, -6.0, 2.2)}[side]
    viewer = {"type": "video", "size": (200, 200), "path": "film.mp4", "eye": eye, "target": (0.0, 0.0, 2.2)}
    images = []
    for place in ([0.0, 0.0, 3.0], [0.0, 50.0, 3.0]):  # the second one is out of sight
        guides = [{"position": [-R, *place[1:]]}, roller(position=place), {"position": [R, place[1], 1.0]}]
        tables = {"viewers": {"film": viewer}}
        with build(guides, folder=tmp_path, **tables) as simulation:
            simulation.step(1)
        with av.open(str(tmp_path / "film.mp4")) as container:
            images.append(next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int))
        (tmp_path / "film.mp4").unlink()

    rows, columns = np.nonzero(np.abs(images[0] - images[1]).max(axis=2) > 60)
    assert len(rows) > 40
    if side == "beside":
        assert np.ptp(rows) > 1.5 * np.ptp(columns)  # 1.8 m high with the bend, 0.4 m wide


def test_a_stage_has_a_curve_that_moves(tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    viewers = {"stage": {"type": "usd", "path": "rope.usda"}}
    with build([{"position": [0.0, 0.0, 3.0]}, {"body": "load_0"}], folder=tmp_path, viewers=viewers) as simulation:
        simulation.step(10)
        load = simulation.state.body_q.numpy()[0, :3]
    stage = usd.Stage.Open(str(tmp_path / "rope.usda"))
    curve = next(prim for prim in stage.Traverse() if prim.GetTypeName() == "BasisCurves")
    points = curve.GetAttribute("points").Get(stage.GetEndTimeCode())

    assert curve.GetName() == "rope"
    np.testing.assert_allclose(points, [[0.0, 0.0, 3.0], load], atol=1e-5)


def test_a_page_draws_the_lines_of_the_chosen_worlds(tmp_path):
    with build(
        [{"body": "load_0"}, roller(), {"body": "load_1"}], worlds=2, viewers={"page": {"type": "viser"}}
    ) as one:
        page = one.viewers["page"]._panel.page
        page.show(one, 0.0)
        both = page.matter._lines.points.copy()
        page.look_at_worlds(one, [1])
        page.show(one, 0.0)
        second, offset = page.matter._lines.points.copy(), page.offsets_of([1])[0]
        line = line_of(one, 1) + offset

    assert both.shape == (2 * (len(line) - 1), 2, 3)
    np.testing.assert_allclose(second, np.stack([line[:-1], line[1:]], axis=1), atol=1e-5)
