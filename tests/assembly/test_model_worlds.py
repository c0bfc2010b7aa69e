"""Worlds that hold different robots, each as if it were alone."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.recording.channels import channels

RIGID = ("xpbd", "featherstone", "semi-implicit", "steel", "vbd")
"""Solvers of rigid robots that declare `heterogeneous_worlds`."""
STEPS = 12


def with_foot(builder):
    """Return the robot with a sphere at its last link, which meets the ground below."""
    builder.add_shape_sphere(builder.body_count - 1, radius=0.1, label="foot")
    return builder


@pytest.fixture
def robots(chain):
    """A chain of two links and one of three, which differ in joints, bodies and numbers."""
    return with_foot(chain(link_count=2, angle=0.3)), with_foot(chain(link_count=3, angle=0.5))


def moved(config, prototype, steps=STEPS, reset=()):
    """Return `joint_q`, `body_q` and `particle_q` of each world after `steps`, some worlds reset half way."""
    with pippin.Simulation(config, prototype=prototype) as simulation:
        simulation.step(steps // 2)
        if reset:
            simulation.reset(reset)
        simulation.step(steps // 2)
        starts = {
            "joint_q": "joint_coord_world_start",
            "body_q": "body_world_start",
            "particle_q": "particle_world_start",
        }
        bounds = {name: getattr(simulation.model, start).numpy() for name, start in starts.items()}
        arrays = {name: getattr(simulation.state, name) for name in starts}
        return [
            {
                name: array.numpy()[slice(*bounds[name][world : world + 2])].copy()
                for name, array in arrays.items()
                if array is not None
            }
            for world in range(simulation.world_count)
        ]


def alone_and_together(make_config, one, other, atol=0.0):
    """Hold four worlds of two kinds, the second of them reset half way, against simulations of one world."""
    together = moved(make_config(worlds=4), [(one, 2), (other, 1), (one, 1)], reset=[1])

    first, second = (moved(make_config(), each)[0] for each in (one, other))
    late = moved(make_config(), one, steps=STEPS // 2)[0]
    for world, expected in enumerate((first, late, second, first)):
        for name, array in expected.items():
            np.testing.assert_allclose(together[world][name], array, rtol=0.0, atol=atol, err_msg=f"{name} of {world}")


@pytest.mark.slow
@pytest.mark.parametrize("solver", RIGID)
def test_each_robot_moves_as_it_does_alone(solver, robots, configure, pd):
    """Bit for bit: another robot in another world changes nothing, captured and with a world reset."""
    pd["legs"]["joints"] = ["hinge_0", "hinge_1"]  # as many in both

    def config(**scene):
        return configure(solver, dt=0.001, substeps=2, actuators=pd, scene=scene)

    alone_and_together(config, *robots)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", RIGID)
def test_each_touches_the_ground_as_it_does_alone(solver, ball, configure):
    one, other = ball(height=0.105), ball(height=0.103, mass=2.0)
    box = other.add_link(label="box", mass=1.0, inertia=wp.diag(wp.vec3(0.01)), xform=wp.transform((1.0, 0.0, 0.101)))
    other.add_shape_box(box, hx=0.1, hy=0.1, hz=0.1)
    other.add_articulation([other.add_joint_free(box)], label="box")

    def config(**scene):
        return configure(solver, dt=0.001, substeps=2, scene={"ground": True, **scene})

    alone_and_together(config, one, other)


@pytest.mark.slow
def test_kamino_moves_each_robot_as_it_does_alone(robots, configure):
    def config(**scene):
        return configure("kamino", dt=0.001, scene=scene)

    alone_and_together(config, *robots)


def sand(rows):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverImplicitMPM.register_custom_attributes(builder)
    grid = {f"cell_{axis}": 0.05 for axis in "xyz"} | {"dim_x": 3, "dim_y": 3, "dim_z": rows}
    builder.add_particle_grid(
        pos=wp.vec3(0.0, 0.0, 0.3),
        rot=wp.quat_identity(),
        vel=wp.vec3(0.0),
        mass=0.1,
        jitter=0.0,
        radius_mean=0.025,
        **grid,
    )
    return builder


@pytest.mark.slow
def test_each_heap_of_sand_moves_as_it_does_alone(configure):
    """Each world has a grid of its own; positions agree within a micron."""
    solver = {"type": "implicit-mpm", "separate_worlds": True, "grid_type": "dense"}

    def config(**scene):
        return configure(solver, dt=0.004, scene=scene)

    alone_and_together(config, sand(2), sand(4), atol=1e-6)


def cloth(height):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_cloth_grid(
        pos=wp.vec3(0.0, 0.0, height), rot=wp.quat_identity(), vel=wp.vec3(), dim_x=2, dim_y=2, cell_x=0.1, cell_y=0.1,
        mass=0.1, tri_ke=100.0, tri_ka=100.0, edge_ke=0.1, add_springs=True, spring_ke=100.0, spring_kd=0.1,
        particle_radius=0.02,
    )  # fmt: skip
    return builder


APART = {
    "xpbd": {"disable_particle_contacts": True},
    "semi-implicit": {"disable_particle_contacts": True},
    "featherstone": {},
    "vbd": {
        "particle_enable_self_contact": True,
        "particle_self_contact_margin": 0.05,
        "particle_self_contact_gap": 0.025,
    },
}
"""Solvers of cloth, with options that keep worlds apart; vbd keeps them apart without options, too."""


def cloths(configure, solver, worlds):
    table = {"type": solver, **APART.get(solver, {})} if worlds else {"type": solver}
    lost = ["bending", "triangles", "springs"] if solver == "xpbd" else []
    heights = worlds or [1.0, 1.01]
    config = configure(table, scene={"worlds": len(heights)}, dt=0.0005, accept_unsupported=lost)
    return pippin.Simulation(config, prototype=[(cloth(height), 1) for height in heights])


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", APART)
def test_a_cloth_is_not_touched_by_that_of_another_world(configure, solver):
    ends = []
    for heights in ([1.0], [1.0, 1.01]):
        with cloths(configure, solver, heights) as simulation:
            simulation.step(20)
            ends.append(simulation.state.particle_q.numpy()[:9].copy())

    assert (ends[0] == ends[1]).all()
    assert ends[0][:, 2].max() < 1.0  # it falls


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    ("solver", "cure"),
    [
        ("xpbd", "set solver.disable_particle_contacts = true"),
        ("semi-implicit", "set solver.disable_particle_contacts = true"),
        ("style3d", "use one world"),
        ("implicit-mpm", "set solver.separate_worlds = true"),
        *((name, "does not support particles") for name in ("mujoco", "mujoco-native", "kamino", "steel")),
    ],
)
def test_a_solver_that_lets_worlds_touch_through_particles_refuses_them(configure, solver, cure):
    with pytest.raises(pippin.ConfigError, match=cure):
        cloths(configure, solver, None)


def test_particles_without_a_size_are_apart_in_any_case(configure):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    builder.add_particle(wp.vec3(), wp.vec3(), 1.0, radius=0.0)

    with pippin.Simulation(configure("xpbd", scene={"worlds": 2}), prototype=builder) as simulation:
        assert simulation.model.particle_grid is None


@pytest.mark.parametrize("solver", ["mujoco", "mujoco-native"])
def test_a_solver_with_one_layout_for_all_worlds_refuses_two(solver, robots, configure):
    one, other = robots
    with pytest.raises(pippin.ConfigError, match=rf"'{solver}' does not support heterogeneous_worlds .*world 2"):
        pippin.Simulation(configure(solver, scene={"worlds": 3}), prototype=[(one, 2), (other, 1)])


def thing(*meshes, has_ball=False):
    """Return a free body above the ground with some hulls, one above the other, and maybe a ball."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    pose = wp.transform(wp.vec3(0.0, 0.0, 0.3), wp.quat_from_axis_angle(wp.vec3(0.6, 0.8, 0.0), 0.7))
    body = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.02)), xform=pose, label="thing")
    for index, mesh in enumerate(meshes):
        place = wp.transform(wp.vec3(0.0, 0.0, 0.1 * index), wp.quat_identity())
        builder.add_shape_convex_hull(body, xform=place, mesh=mesh, label=f"hull_{index}")
    if has_ball:
        builder.add_shape_sphere(body, radius=0.2, label="ball")
    builder.add_articulation([builder.add_joint_free(body)])
    return builder


def box(height):
    return newton.Mesh.create_box(0.2, 0.15, height)


@pytest.mark.parametrize("has_own_contacts", [True, False])
def test_each_world_moves_to_the_bit_as_its_own_meshes_alone(configure, has_own_contacts):
    things = [
        thing(box(0.1)),
        thing(box(0.2)),
        thing(box(0.1), box(0.05)),
        thing(newton.Mesh.create_cylinder(0.2, 0.1)),
    ]
    solver = {"type": "mujoco", "use_mujoco_contacts": has_own_contacts}
    scene, steps = {"ground": True}, 150

    together = moved(configure(solver, dt=0.002, scene={**scene, "worlds": 4}), [(each, 1) for each in things], steps)

    for world, each in enumerate(things):
        alone = moved(configure(solver, dt=0.002, scene=scene), each, steps)[0]
        np.testing.assert_array_equal(together[world]["joint_q"], alone["joint_q"], err_msg=f"world {world}")
    assert len({each["joint_q"].tobytes() for each in together}) == 4


def test_meshes_are_told_from_other_differences_and_named_in_one_text(configure):
    def refusal(solver, *others):
        things = [(thing(box(0.1)), 1), *((each, 2) for each in others)]
        with pytest.raises(pippin.ConfigError) as caught:
            pippin.Simulation(configure(solver, scene={"worlds": 1 + 2 * len(others)}), prototype=things)
        return str(caught.value)

    meshes = refusal("mujoco-native", thing(box(0.2)), thing(box(0.1)), thing(box(0.1), box(0.2)))
    shapes = refusal("mujoco", thing(box(0.2), has_ball=True))

    assert "does not support different_meshes" in meshes
    assert "used by worlds 1:3, 5:7;" in meshes
    assert "heterogeneous_worlds" not in meshes.partition("solvers that do")[0]
    assert "does not support heterogeneous_worlds" in shapes
    with pippin.Simulation(
        configure("mujoco", scene={"worlds": 2}), prototype=[(thing(box(h)), 1) for h in (0.1, 0.2)]
    ) as simulation:
        assert "heterogeneous_worlds" not in simulation.ignored_features


def test_robots_of_equal_parts_in_another_order_are_other_robots(configure):
    """Two hinges one after the other, and two hinges at one body: equal counts, another tree."""

    def hinges(is_chain):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        bodies = [builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3)]
        parents = [-1, bodies[0], bodies[1] if is_chain else bodies[0]]
        pairs = zip(parents, bodies, strict=True)
        builder.add_articulation([builder.add_joint_revolute(parent, body) for parent, body in pairs])
        return builder

    with pytest.raises(pippin.ConfigError, match="heterogeneous_worlds"):
        pippin.Simulation(configure("mujoco", scene={"worlds": 2}), prototype=[(hinges(True), 1), (hinges(False), 1)])


PD = {"type": "pd", "kp": 5.0, "kd": 0.5}


def test_a_group_covers_the_worlds_that_have_its_joints(robots, configure):
    """Its arrays have a row for each of them; gains are looked up in each robot's own labels."""
    one, other = robots
    actuators = {
        "knee": {**PD, "joints": ["hinge_2"], "delay": {"steps": 2}},
        "hip": {**PD, "joints": ["hinge_0"]},
    }
    config = configure("featherstone", scene={"worlds": 4}, dt=0.001, actuators=actuators)
    with pippin.Simulation(config, prototype=[(one, 1), (other, 2), (one, 1)]) as simulation:
        knee, hip = simulation.actuators["knee"], simulation.actuators["hip"]
        knee.position_targets.assign([[1.0], [-1.0]])
        simulation.step(5)

        assert knee.worlds.tolist() == [1, 2]
        assert hip.worlds.tolist() == [0, 1, 2, 3]
        effort = knee.applied_effort.numpy()
        assert effort.shape == (2, 1)
        assert effort[0] > 0.0 > effort[1]
        simulation.reset([2])
        assert (knee.applied_effort.numpy() == [effort[0], [0.0]]).all()
        knee.set("kp", 7.0, worlds=[2])
        assert knee.get("kp").numpy().tolist() == [[5.0], [7.0]]
        with pytest.raises(pippin.ConfigError, match=r"world 0 has none of the joints; choose from \[1, 2\]"):
            knee.set("kp", 7.0, worlds=[0])


def test_every_joint_leaves_out_worlds_without_axes(chain, ball, configure):
    config = configure("featherstone", scene={"worlds": 2}, actuators={"arm": {**PD, "joints": [".*"]}})
    with pippin.Simulation(config, prototype=[(ball(), 1), (chain(), 1)]) as simulation:
        assert simulation.actuators["arm"].worlds.tolist() == [1]
        assert "actuators:arm" not in simulation.notes


def test_patterns_that_match_more_in_some_worlds_are_refused(robots, configure):
    one, other = robots
    actuators = {"all": {**PD, "joints": ["hinge_.*"]}}
    config = configure("featherstone", scene={"worlds": 3}, actuators=actuators)
    with pytest.raises(pippin.ConfigError) as caught:
        pippin.Simulation(config, prototype=[(one, 2), (other, 1)])

    assert str(caught.value).startswith("actuators.all.joints: the patterns match 2 in worlds 0:2, 3 in world 2;")


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (["hinge_9"], r"^actuators\.arm\.joints: no joint matches 'hinge_9'"),
        (["hinge_0", "hinge_2"], r"^actuators\.arm\.joints: no joint matches 'hinge_2'.* \(in worlds 0:2\)"),
    ],
)
def test_patterns_that_match_nowhere_or_in_part_are_refused(joints, message, robots, configure):
    one, other = robots
    config = configure("featherstone", scene={"worlds": 3}, actuators={"arm": {**PD, "joints": joints}})
    with pytest.raises(pippin.ConfigError, match=message):
        pippin.Simulation(config, prototype=[(one, 2), (other, 1)])


def test_numbers_of_worlds_must_agree(robots, configure):
    one, other = robots
    with pytest.raises(pippin.ConfigError, match=r"^scene.worlds: 4, but the prototypes are for 2 \+ 1 worlds"):
        pippin.Simulation(configure("xpbd", scene={"worlds": 4}), prototype=[(one, 2), (other, 1)])


POLE = """<mujoco><worldbody><body name="pole"><joint name="hinge" axis="0 1 0"/>
<geom name="rod" type="capsule" size="0.05" fromto="0 0 0 0 0 -1"/></body></worldbody></mujoco>"""
BALL = """<mujoco><worldbody><body name="ball" pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.fixture
def assets(tmp_path):
    """Return a function that makes the scene of a pole and a ball, in given worlds."""
    for name, text in (("pole", POLE), ("ball", BALL)):
        (tmp_path / f"{name}.xml").write_text(text)

    def scene(count, **worlds):
        tables = [{"path": str(tmp_path / f"{name}.xml")} | chosen for name, chosen in worlds.items()]
        return {"worlds": count, "assets": tables}

    return scene


def test_an_asset_is_in_the_worlds_it_names(assets, configure):
    scene = assets(4, pole={}, ball={"worlds": "::2"})
    with pippin.Simulation(configure("semi-implicit", scene=scene)) as simulation:
        counts = np.diff(simulation.model.body_world_start.numpy()[:5])

    assert counts.tolist() == [2, 1, 2, 1]
    assert simulation.prototype_of_world.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("worlds", "message"),
    [
        ("0:9", r"assets\[1\].worlds: '0:9' reaches beyond the 4 worlds"),
        ("2:2", r"assets\[1\].worlds: '2:2' holds none"),
        ([4], r"assets\[1\].worlds: 4 is not a world; there are 4"),
        ([0, 1], "no asset and no object is in worlds 2:4"),
    ],
)
def test_worlds_that_do_not_exist_or_hold_nothing_are_refused(worlds, message, assets, configure):
    scene = assets(4, pole={"worlds": [0]}, ball={"worlds": worlds})
    with pytest.raises(pippin.ConfigError, match=message):
        pippin.Simulation(configure("semi-implicit", scene=scene))


@pytest.mark.parametrize("worlds", ["2", "0:4:0", "::-1", "a:b", [], 3])
def test_what_is_neither_a_slice_nor_indices_is_refused(worlds, assets, configure):
    with pytest.raises(pippin.ConfigError, match=r"scene\.assets\.0\.worlds"):
        configure("semi-implicit", scene=assets(4, pole={"worlds": worlds}))


def test_worlds_that_are_alike_have_channels(robots, configure):
    one, other = robots
    actuators = {label: {**PD, "joints": [joint]} for label, joint in (("hip", "hinge_0"), ("knee", "hinge_2"))}
    config = configure("featherstone", scene={"worlds": 3}, actuators=actuators)
    runs = [(one, 2), (other, 1)]
    with pippin.Simulation(config, prototype=runs) as simulation:
        found = {channel.name: channel for channel in channels(simulation, [0, 1])}
        with pytest.raises(pippin.ConfigError, match="world 2 has other contents than world 0"):
            channels(simulation, [0, 1, 2])

    assert found["joint_q"].shape == (2, 2)
    assert found["actuators/hip/applied_effort"].shape == (2, 1)
    assert "actuators/knee/applied_effort" not in found


def test_a_simulation_of_different_robots_resumes_from_a_file(robots, configure, tmp_path):
    one, other = robots
    config, runs = configure("semi-implicit", scene={"worlds": 2}, dt=0.001), [(one, 1), (other, 1)]
    with pippin.Simulation(config, prototype=runs) as simulation:
        simulation.step(2)
        simulation.save(tmp_path / "here.npz")
        simulation.step(2)
        expected = simulation.state.body_q.numpy().copy()

    with pippin.Simulation.load(tmp_path / "here.npz", prototype=runs) as resumed:
        resumed.step(2)
        assert (resumed.state.body_q.numpy() == expected).all()


def test_a_plugin_that_knows_one_prototype_is_told_of_the_others(robots, configure):
    class First:
        @pippin.hookimpl
        def bind(self, binding):
            binding.indices("body", [0])

    one, other = robots
    with pytest.raises(
        pippin.PluginError, match="plugins:first: passes indices of one prototype, but the worlds have 2"
    ):
        pippin.Simulation(configure("xpbd", scene={"worlds": 2}), [First()], [(one, 1), (other, 1)])
