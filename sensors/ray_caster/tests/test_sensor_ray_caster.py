"""Rays against surfaces whose distances are known by formula, and against Newton's own ray query."""

import math

import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
import warp as wp
from pippin_sensor_ray_caster import targets

DOWN = {"size": [0.0, 0.0], "resolution": 1.0}
"""A grid of a single ray."""
FAN = {"channels": 1, "vertical_range": [0.0, 0.0], "horizontal_count": 1, "horizontal_range": [0.0, 0.0]}
"""A lidar of a single ray, straight ahead."""

GHOST = newton.ModelBuilder.ShapeConfig(density=0.0, has_shape_collision=False, is_visible=False)
"""Of a shape that nothing meets but rays, and not those of Newton's query."""


class Featherstone:
    @pippin.hookimpl
    def build_solver(self, model):
        return newton.solvers.SolverFeatherstone(model)


@pytest.fixture
def robot():
    """Return a function that builds a robot's body at a place [m], turned, with a sphere about it that rays leave."""

    def build(place=(0.0, 0.0, 2.0), turn=None, label="head", builder=None):
        builder = builder or newton.ModelBuilder()
        pose = wp.transform(place, turn or wp.quat_identity())
        body = builder.add_body(label=label, xform=pose, mass=1.0, inertia=wp.diag(wp.vec3(0.1)))
        builder.add_shape_sphere(body, radius=0.2, cfg=GHOST, label=f"{label}_shell")
        return builder

    return build


pytestmark = pytest.mark.simulation(
    dt=0.005,
    capture="require",
    ground=True,
    gravity=0.0,
    solver=Featherstone,
    sensors={"rays": {"type": "ray-caster", "body": "head"}},
    options="sensors.rays",
)


def reading(simulation, name):
    return simulation.sensors["rays"][name].numpy()


def about(axis, angle):
    return wp.quat_from_axis_angle(wp.normalize(wp.vec3(*axis)), angle)


@pytest.mark.alone
def test_a_height_scan_reads_boxes_on_the_ground(simulate, robot):
    """A box of 0.5 × 0.6 × 0.5 m: the rays 2 m above the ground meet its top at 1.5 m, beside it the ground."""
    builder = robot()
    builder.add_shape_box(-1, xform=wp.transform((0.3, 0.0, 0.25)), hx=0.25, hy=0.3, hz=0.25, label="crate")
    with simulate(builder, grid={"size": [1.0, 0.8], "resolution": 0.2}) as simulation:
        x, y = np.meshgrid(0.2 * np.arange(6) - 0.5, 0.2 * np.arange(5) - 0.4, indexing="ij")
        height = np.where((np.abs(x - 0.3) < 0.25) & (np.abs(y) < 0.3), 0.5, 0.0)

        np.testing.assert_allclose(reading(simulation, "distance")[0, 0], 2.0 - height, atol=1e-6)
        np.testing.assert_allclose(reading(simulation, "position")[0, 0], np.stack([x, y, height], -1), atol=1e-6)
        np.testing.assert_allclose(
            reading(simulation, "normal")[0, 0], np.broadcast_to([0, 0, 1], (6, 5, 3)), atol=1e-6
        )
        labels = np.array(simulation.model.shape_label)[reading(simulation, "shape")[0, 0]]
        assert (np.char.find(labels, "crate") >= 0).tolist() == (height > 0.0).tolist()


@pytest.mark.parametrize("align", ["body", "yaw", "world"])
def test_the_pattern_turns_as_align_says(simulate, robot, align):
    """A body that heads along y, nose down by θ. From one ray ahead by x, along its z axis: with the body, the ray
    starts x sin θ lower and goes askew, so it is (h - x sin θ) / cos θ long."""
    pitch, ahead = 0.3, 0.5
    turn = about((0, 0, 1), math.pi / 2) * about((0, 1, 0), pitch)
    with simulate(robot(turn=turn), align=align, grid={"size": [2 * ahead, 0.0], "resolution": ahead}) as simulation:
        distance = reading(simulation, "distance")[0, 0, 2, 0]
        start = {"body": [0, ahead * math.cos(pitch)], "yaw": [0, ahead], "world": [ahead, 0]}[align]
        slant = 2.0 - ahead * math.sin(pitch) if align == "body" else 0.0

        expected = slant / math.cos(pitch) if align == "body" else 2.0
        np.testing.assert_allclose(distance, expected, rtol=1e-6)
        start[1] -= slant * math.tan(pitch)
        np.testing.assert_allclose(reading(simulation, "position")[0, 0, 2, 0], [*start, 0.0], atol=2e-6)


def test_a_grid_that_starts_higher_meets_ground_above_the_site(simulate, robot):
    builder = robot(place=(0.0, 0.0, 0.5))
    builder.add_shape_box(-1, xform=wp.transform((0.0, 0.0, 0.5)), hx=1.0, hy=1.0, hz=0.5)
    with simulate(builder, grid={**DOWN, "start_height": 10.0}) as simulation:
        np.testing.assert_allclose(reading(simulation, "distance"), 9.5, rtol=1e-6)


def test_a_lidar_reads_a_wall_at_each_angle(simulate, robot):
    """A wall 3 m ahead: 3 / (cos elevation · cos azimuth)."""
    builder = robot()
    builder.add_shape_box(-1, xform=wp.transform((3.5, 0.0, 2.0)), hx=0.5, hy=50.0, hz=50.0)
    fan = {"channels": 3, "vertical_range": [-0.2, 0.4], "horizontal_count": 5, "horizontal_range": [-1.0, 1.0]}
    with simulate(builder, lidar=fan, ground=False) as simulation:
        elevation, azimuth = np.meshgrid([-0.2, 0.1, 0.4], np.linspace(-1.0, 1.0, 5), indexing="ij")

        np.testing.assert_allclose(
            reading(simulation, "distance")[0, 0], 3.0 / (np.cos(elevation) * np.cos(azimuth)), rtol=2e-6
        )
        np.testing.assert_allclose(reading(simulation, "normal")[0, 0, 1, 2], [-1.0, 0.0, 0.0], atol=1e-6)


def test_a_full_turn_has_no_ray_twice(simulate, robot):
    fan = {"channels": 1, "vertical_range": [0.0, 0.0], "horizontal_count": 4}
    with simulate(robot(), lidar={**fan, "vertical_range": [-0.5, 0.1]}) as simulation:
        place = reading(simulation, "position")[0, 0, 0] - [0.0, 0.0, 2.0]

        reach = 2.0 / math.tan(0.2)  # one channel looks in the middle of its range, down by 0.2 rad
        corners = [[-reach, 0.0], [0.0, -reach], [reach, 0.0], [0.0, reach]]
        np.testing.assert_allclose(place[:, :2], corners, atol=1e-4)


def test_the_rays_of_an_image_give_the_depth_of_a_plane(simulate, robot):
    """distance × cos of the angle to the axis is the same depth in every pixel; rows begin above."""
    with simulate(robot(), pinhole={"width": 6, "height": 4, "vertical_fov": 1.0}) as simulation:
        distance, place = reading(simulation, "distance")[0, 0], reading(simulation, "position")[0, 0]
        pixel = 2.0 * 2.0 * math.tan(0.5) / 4

        assert distance.shape == (4, 6)
        np.testing.assert_allclose(place[0, 0], [-2.5 * pixel, 1.5 * pixel, 0.0], atol=1e-5)
        np.testing.assert_allclose(place[3, 5], [2.5 * pixel, -1.5 * pixel, 0.0], atol=1e-5)
        np.testing.assert_allclose(distance, np.hypot(2.0, np.linalg.norm(place[..., :2], axis=-1)), rtol=1e-6)


def test_a_heightfield_of_a_slope_is_read_at_every_place(simulate, robot):
    """z = x / 4 + 0.5 on a field from -2 to 2 m: triangles of a slope are the slope."""
    builder = robot()
    heights = np.tile(np.linspace(0.0, 1.0, 9), (9, 1))
    field = newton.Heightfield(heights, nrow=9, ncol=9, hx=2.0, hy=2.0)
    builder.add_shape_heightfield(heightfield=field, label="terrain")
    with simulate(builder, grid={"size": [2.2, 2.2], "resolution": 0.55}, ground=False) as simulation:
        x = (0.55 * np.arange(5) - 1.1)[:, None]

        np.testing.assert_allclose(reading(simulation, "distance")[0, 0], 2.0 - 0.25 * x - 0.5 + 0.0 * x.T, atol=1e-5)
        normal = np.array([-0.25, 0.0, 1.0]) / math.hypot(0.25, 1.0)
        np.testing.assert_allclose(reading(simulation, "normal")[0, 0], np.broadcast_to(normal, (5, 5, 3)), atol=1e-5)


def adders(builder):
    """Return a function for every kind of shape, which adds one to a body at a pose; planes come last."""
    mesh = newton.Mesh.create_box(0.4, 0.3, 0.2, compute_inertia=False)
    return [
        lambda body, pose: builder.add_shape_box(body, xform=pose, hx=0.5, hy=0.3, hz=0.7),
        lambda body, pose: builder.add_shape_sphere(body, xform=pose, radius=0.6),
        lambda body, pose: builder.add_shape_ellipsoid(body, xform=pose, rx=0.7, ry=0.3, rz=0.5),
        lambda body, pose: builder.add_shape_capsule(body, xform=pose, radius=0.3, half_height=0.5),
        lambda body, pose: builder.add_shape_cylinder(body, xform=pose, radius=0.4, half_height=0.6),
        lambda body, pose: builder.add_shape_cone(body, xform=pose, radius=0.5, half_height=0.7),
        lambda body, pose: builder.add_shape_mesh(body, xform=pose, mesh=mesh, scale=(1.0, 2.0, 3.0)),
        lambda body, pose: builder.add_shape_convex_hull(body, xform=pose, mesh=mesh, scale=(2.0, 1.0, 1.0)),
        lambda body, pose: builder.add_shape_plane(body=body, xform=pose, width=1.0, length=1.5),
    ]


def every_shape(builder):
    """Add every kind of shape on a ring of 3 m about the sensor, each turned in its own way."""
    generator, kinds = np.random.default_rng(3), adders(builder)
    for index, add in enumerate(kinds):
        angle = 2.0 * math.pi * index / len(kinds)
        turn = wp.quat_from_axis_angle(wp.normalize(wp.vec3(*generator.normal(size=3))), 1.0 + index)
        add(-1, wp.transform((3.0 * math.cos(angle), 3.0 * math.sin(angle), 2.0), turn))
    return len(kinds)


def test_rays_meet_every_kind_of_shape_where_newton_s_query_does(simulate, robot):
    builder = robot()
    kind_count = every_shape(builder)
    fan = {"channels": 40, "vertical_range": [-0.4, 0.4], "horizontal_count": 360}
    with simulate(builder, lidar=fan, targets=["shape_.*"], ground=False) as simulation:
        model, count = simulation.model, 40 * 360
        distance, normal, shape = (reading(simulation, name)[0, 0] for name in ("distance", "normal", "shape"))
        sensor = simulation.sensors["rays"]
        query = {
            "ray_origins": wp.full(count, wp.vec3(0.0, 0.0, 2.0), dtype=wp.vec3),
            "ray_directions": sensor._directions,
            "ray_worlds": wp.zeros(count, dtype=int),
            "out_dist": wp.zeros(count, dtype=float),
            "out_shape_id": wp.zeros(count, dtype=int),
            "out_normal": wp.zeros(count, dtype=wp.vec3),
        }
        newton.intersect_ray(model, **query)
    theirs = {name: values.numpy().reshape(40, 360, -1).squeeze() for name, values in query.items() if "out" in name}
    is_hit = shape >= 0
    assert len(np.unique(shape[is_hit])) == kind_count
    np.testing.assert_array_equal(shape, theirs["out_shape_id"])
    # Rays that graze a round surface are good to the root of a float's rounding.
    np.testing.assert_allclose(distance[is_hit], theirs["out_dist"][is_hit], atol=2e-4)
    np.testing.assert_allclose(normal[is_hit], theirs["out_normal"][is_hit], atol=2e-3)


def test_rays_that_start_inside_meet_the_surface_from_there(simulate, robot):
    builder = robot()
    builder.add_shape_box(-1, xform=wp.transform((0.0, 0.0, 2.0)), hx=0.7, hy=1.0, hz=1.0)
    with simulate(builder, lidar=FAN) as simulation:
        np.testing.assert_allclose(reading(simulation, "distance"), 0.7, rtol=1e-6)
        np.testing.assert_allclose(reading(simulation, "normal").ravel(), [1.0, 0.0, 0.0], atol=1e-6)


def test_a_small_sphere_far_away_is_met_where_it_is(simulate, robot):
    """Of radius 5 cm at 200 m, of which the square is 16 million times that of the radius: more than a float holds."""
    builder = robot()
    builder.add_shape_sphere(-1, xform=wp.transform((200.0, 0.03, 2.0)), radius=0.05)
    with simulate(builder, lidar=FAN, ground=False) as simulation:
        np.testing.assert_allclose(reading(simulation, "distance"), 200.0 - 0.04, rtol=2e-7)


def test_what_is_beyond_reach_or_nowhere_reads_infinite(simulate, robot):
    with simulate(robot(), grid=DOWN, max_distance=1.9) as simulation:
        for name, nothing in {"distance": np.inf, "position": np.inf, "normal": 0.0, "shape": -1}.items():
            assert (reading(simulation, name) == nothing).all()
    upwards = {**DOWN, "direction": [0.0, 0.0, 3.0]}
    for no_hit, distance in {"infinity": np.inf, "max-distance": 9.0, "zero": 0.0}.items():
        with simulate(robot(), grid=upwards, max_distance=9.0, no_hit=no_hit) as simulation:
            assert reading(simulation, "distance").item() == distance


@pytest.fixture
def traffic(robot):
    """A head over a truck of 0.5 m that drives at 1 m/s along x, from -1 m."""
    builder = robot(builder=robot(place=(-1.0, 0.0, 0.0), label="truck"))
    builder.add_shape_box(0, hx=0.39, hy=0.39, hz=0.5, cfg=GHOST, label="trailer")
    builder.joint_qd[0] = 1.0
    return builder


def test_bodies_that_move_are_met_where_they_are_but_not_the_sensor_s_own(simulate, traffic):
    """The trailer is below from 0.61 s to 1.39 s."""
    with simulate(traffic, moving=True, grid=DOWN) as simulation:
        readings = []
        for _ in range(8):
            readings.append(reading(simulation, "distance").item())
            simulation.step(40)

        np.testing.assert_allclose(readings, [2.0] * 4 + [1.5] * 3 + [2.0], rtol=1e-6)
        assert simulation.program.is_captured


def test_bodies_are_not_met_unless_they_are_asked_for(simulate, traffic):
    traffic.joint_qd[0] = 0.0
    traffic.joint_q[0] = 0.0
    with simulate(traffic, grid=DOWN) as simulation:
        np.testing.assert_allclose(reading(simulation, "distance"), 2.0, rtol=1e-6)
    with pytest.raises(
        pippin.ConfigError, match=r"^sensors\.rays\.targets: no static shape matches 'trailer'.*\n.*moving = true"
    ):
        simulate(traffic, grid=DOWN, targets=["trailer"])


def test_worlds_see_the_ground_of_all_and_the_shapes_of_their_own(simulate, robot):
    """Two heads in each of three worlds; a crate stands below the right one, in the middle world alone."""
    builder = robot(builder=robot(place=(5.0, 0.0, 3.0), label="left_head"), label="right_head")
    other = robot(builder=robot(place=(5.0, 0.0, 3.0), label="left_head"), label="right_head")
    other.add_shape_box(-1, xform=wp.transform((0.0, 0.0, 0.25)), hx=0.2, hy=0.2, hz=0.25, label="crate")
    worlds = [(builder, 1), (other, 1), (builder, 1)]
    with simulate(worlds, worlds=3, body=".*_head", grid=DOWN) as simulation:
        assert reading(simulation, "position").shape == (3, 2, 1, 1, 3)
        np.testing.assert_allclose(reading(simulation, "distance").squeeze(), [[3.0, 2.0], [3.0, 1.5], [3.0, 2.0]])


def test_a_reset_casts_the_rays_of_the_masked_worlds_anew_and_leaves_the_others(simulate, robot):
    with simulate(robot(), worlds=3, grid=DOWN, gravity=-9.81) as simulation:
        simulation.step(20)
        fallen = reading(simulation, "distance").ravel().copy()
        simulation.reset([1])

        assert (fallen < 1.99).all()
        np.testing.assert_array_equal(reading(simulation, "distance").ravel(), [fallen[0], 2.0, fallen[2]])


def test_a_reset_casts_no_ray_of_another_world(simulate, robot):
    with simulate(robot(), worlds=3, grid=DOWN, gravity=-9.81) as simulation:
        rays, distances = simulation.sensors["rays"], []
        measure = rays.measure

        def watch(*arguments):
            rays["distance"].fill_(7.0)  # `only` has a copy of what the others had
            measure(*arguments)
            distances.append(reading(simulation, "distance").ravel().copy())

        rays.measure = watch
        simulation.reset([1])
        np.testing.assert_array_equal(distances, [[7.0, 2.0, 7.0]])
        np.testing.assert_array_equal(reading(simulation, "distance").ravel(), [2.0, 2.0, 2.0])


def test_recorded_and_eager_steps_and_a_checkpoint_read_the_same_bits(simulate, traffic, tmp_path):
    fan = {"channels": 4, "vertical_range": [-1.5, -0.5], "horizontal_count": 16}
    options = {"moving": True, "lidar": fan, "gravity": 1.0, "period": 0.01}
    names = ("distance", "position", "normal", "shape")
    with simulate(traffic, **options) as simulation:
        simulation.step(5)
        simulation.save(tmp_path / "run")
        recorded = [reading(simulation, name).tobytes() for name in names]
    with simulate(traffic, capture="off", **options) as simulation:
        simulation.step(5)
        assert [reading(simulation, name).tobytes() for name in names] == recorded
    with pippin.Simulation.load(tmp_path / "run", [Featherstone()], traffic) as resumed:
        assert [reading(resumed, name).tobytes() for name in names] == recorded


def crowd(robot, seed):
    """A head between turned shapes of every kind, of which half spin and fly around it."""
    builder, generator = robot(), np.random.default_rng(seed)
    kinds = adders(builder)
    for index in range(24):
        place, axis = generator.uniform((-4.0, -4.0, 0.0), (4.0, 4.0, 3.0)), generator.normal(size=3)
        body = -1
        if index % 2:
            body = builder.add_body(
                mass=1.0, inertia=wp.diag(wp.vec3(0.1)), xform=wp.transform(place, about(axis, 1.0))
            )
            builder.joint_qd[-6:] = [*np.cross((0.0, 0.0, 5.0), place), *axis]
        pose = wp.transform() if index % 2 else wp.transform(place, about(axis, float(index)))
        kinds[index % len(kinds)](body, pose)
    return builder


def test_a_tree_of_boxes_leaves_no_target_out(simulate, robot, monkeypatch):
    """Worlds of different shapes, of which half move: the bits of trying each target, before and after some steps."""
    fan = {"channels": 16, "vertical_range": [-1.5, 1.5], "horizontal_count": 60}
    worlds = [(crowd(robot, 0), 1), (robot(), 1), (crowd(robot, 1), 1)]
    options = {"worlds": 3, "moving": True, "lidar": fan, "solver": Featherstone}
    found = []
    for few in (targets.FEW, 10**6):
        monkeypatch.setattr(targets, "FEW", few)
        with simulate(worlds, **options) as simulation:
            found.append([reading(simulation, name).copy() for name in ("distance", "position", "normal", "shape")])
            simulation.step(40)
            found[-1] += [reading(simulation, name).copy() for name in ("distance", "position", "normal", "shape")]
            assert (simulation.sensors["rays"]._tree is None) == (few > 8)
    bits = [[each.tobytes() for each in readings] for readings in found]

    assert bits[0] == bits[1]
    assert bits[0][0] != bits[0][4], "what moves is met where it is"
    assert all(len(np.unique(each)) > 15 for each in found[0][3][[0, 2]])


def test_a_barrel_is_refused(simulate, robot):
    builder = robot()
    builder.add_shape_cylinder(-1, radius=0.4, half_height=0.5, barrel_radius=1.0, label="keg")

    with pytest.raises(pippin.ConfigError, match=r"^sensors\.rays\.targets: shape 'keg' is a cylinder with the sides"):
        simulate(builder, grid=DOWN)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"targets: no static shape matches 'ground_plan'.*'ground_plane'", {"targets": ["ground_plan"]}),
        (r"body: no body matches 'hed'.*'head'", {"body": "hed"}),
    ],
)
def test_what_is_not_in_the_scene_is_refused_with_the_nearest_one(simulate, robot, message, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.rays\.{message}"):
        simulate(robot(), grid=DOWN, **options)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        (r"exactly one of grid, lidar, pinhole must be given: none", {}),
        (r"exactly one of grid, lidar, pinhole must be given: grid, lidar", {"grid": DOWN, "lidar": FAN}),
        (r"grid\.resolution: must be > 0", {"grid": {**DOWN, "resolution": 0.0}}),
        (r"grid\.resolution: must divide each 'size'.*use a size of 1 or 2", {"grid": {**DOWN, "size": [1.5, 0.0]}}),
        (r"grid\.size: must be >= 0.0: -1.0", {"grid": {**DOWN, "size": [1.0, -1.0]}}),
        (r"grid\.direction: must have a length", {"grid": {**DOWN, "direction": [0.0, 0.0, 0.0]}}),
        (r"lidar\.channels: must be >= 1: 0", {"lidar": {**FAN, "channels": 0}}),
        (r"lidar\.horizontal_count: must be >= 1: 0", {"lidar": {**FAN, "horizontal_count": 0}}),
        (r"lidar\.vertical_range: must go upwards", {"lidar": {**FAN, "vertical_range": [0.0, 2.0]}}),
        (r"lidar\.horizontal_range: must go upwards", {"lidar": {**FAN, "horizontal_range": [0.0, 7.0]}}),
        (r"pinhole\.width: must be >= 1: 0", {"pinhole": {"width": 0, "height": 2, "vertical_fov": 1.0}}),
        (r"pinhole\.vertical_fov: .*< 3.14", {"pinhole": {"width": 2, "height": 2, "vertical_fov": 3.2}}),
        (r"max_distance: .*got -inf|max_distance: .*inf", {"grid": DOWN, "max_distance": math.inf}),
        (r"align: expected .*'yaw'", {"grid": DOWN, "align": "jaw"}),
        (r"targets: ", {"grid": DOWN, "targets": []}),
    ],
)
def test_values_that_make_no_sense_are_refused_where_they_stand(message, options):
    with pytest.raises(pippin.ConfigError, match=rf"^sensors\.rays(\.|: ){message}"):
        pippin.structure({"sensors": {"rays": {"type": "ray-caster", "body": "head", **options}}})


CONFORMANCE = conformance.Conformance("sensor", "ray-caster", config={"body": "link_.*", "moving": True, "grid": DOWN})


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()
