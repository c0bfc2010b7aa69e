"""Articulations as rows: what is read is what Newton's own view reads, what is set is there, and nothing else moves."""

import mujoco
import newton
import numpy as np
import pippin
import pytest
import warp as wp
from pippin.views import ARTICULATION, RowError, ViewError

WORLDS = 4
READ = [name for name, quantity in ARTICULATION.items() if quantity.source != "computed"]
SETTABLE = [name for name, quantity in ARTICULATION.items() if quantity.is_settable]


@pytest.fixture(scope="module")
def robots(walker, build):
    """Four worlds with a walker and an arm each, a few steps on."""
    with build("mujoco", walker(), WORLDS, observables=["body_qdd", "body_parent_f"]) as simulation:
        simulation.step(3)
        yield simulation


@pytest.fixture
def view(robots):
    return robots.view.articulations("walker")


@pytest.fixture(autouse=True)
def _as_it_was(robots):
    """Put back whatever a test changed in the model and the inputs; states are written as each test needs."""
    owners = (robots.model, robots.control, robots.model.mujoco)
    saved = [(array, wp.clone(array)) for owner in owners for array in vars(owner).values() if _is_number(array)]
    yield
    for array, values in saved:
        wp.copy(array, values)
    robots.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    robots.reset()


def _is_number(value):
    return isinstance(value, wp.array) and value.size > 0


def of_newton(robots, name):
    """Return what `newton.selection.ArticulationView` reads, as rows."""
    quantity = ARTICULATION[name]
    excluded = [newton.JointType.FREE] if quantity.element in ("dof", "coordinate") else []
    view = newton.selection.ArticulationView(robots.model, "walker", exclude_joint_types=excluded)
    state = robots.state
    if name == "root_transforms":
        return view.get_root_transforms(state).numpy().reshape(WORLDS, 7)
    if name == "root_velocities":
        return view.get_root_velocities(state).numpy().reshape(WORLDS, 6)
    owners = {"state": state, "control": robots.control, "model": robots.model, "observable": robots.observables}
    owner = owners[quantity.source]
    arrays = [view.get_attribute(array, owner).numpy() for array in quantity.arrays]
    rows = [array.reshape(WORLDS, array.shape[2], -1) for array in arrays]
    if name == "coms":
        rows.append(np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*rows[0].shape[:2], 4)))
    return np.concatenate(rows, axis=2)


def new_values(view, name):
    """Return other values that a quantity may have, in the shape of the view."""
    generator = np.random.default_rng(3)
    values = generator.uniform(0.2, 0.9, view.shape_of(name)).astype(np.float32)
    if name == "root_transforms":
        values[..., 3:] /= np.linalg.norm(values[..., 3:], axis=-1, keepdims=True)
    if name == "coms":
        values[..., 3:] = [0.0, 0.0, 0.0, 1.0]
    if name == "inertias":
        square = values.reshape(*values.shape[:-1], 3, 3)
        values = (square + square.swapaxes(-1, -2) + 6.0 * np.eye(3, dtype=np.float32)).reshape(values.shape)
    if name == "dof_limits":
        values.sort(axis=-1)
    if name == "disable_gravities":
        values = (values > 0.5).astype(np.uint8)
    return values


def get(view, name):
    return getattr(view, f"get_{name}")().numpy().copy()


def put(view, name, *args, **options):
    getattr(view, f"set_{name}")(*args, **options)


@pytest.mark.first_cases(9)
@pytest.mark.parametrize("name", READ)
def test_a_quantity_is_what_newtons_own_view_reads(robots, view, name):
    values = get(view, name)

    np.testing.assert_array_equal(values.reshape(WORLDS, -1), of_newton(robots, name).reshape(WORLDS, -1))


@pytest.mark.parametrize("name", SETTABLE)
def test_what_is_set_is_read_again(view, name):
    values = new_values(view, name)
    put(view, name, values)

    np.testing.assert_allclose(get(view, name), values, atol=1e-6)


@pytest.mark.first_cases(20)
@pytest.mark.parametrize("choice", ["indices", "device indices", "mask", "compact"])
@pytest.mark.parametrize("name", SETTABLE)
def test_only_chosen_rows_are_set(robots, view, name, choice):
    before, values = get(view, name), new_values(view, name)
    chosen = [2, 0]
    if choice == "indices":
        put(view, name, values, indices=chosen)
    elif choice == "device indices":
        put(view, name, values, indices=wp.array(chosen, dtype=int, device=robots.device))
    elif choice == "mask":
        put(view, name, values, mask=[True, False, True, False])
    else:
        put(view, name, np.ascontiguousarray(values[chosen]), chosen, compact=True)

    after = get(view, name)
    np.testing.assert_allclose(after[chosen], values[chosen], atol=1e-6)
    np.testing.assert_array_equal(after[[1, 3]], before[[1, 3]])
    view.raise_errors()


@pytest.mark.parametrize("name", SETTABLE)
def test_an_index_of_no_row_writes_nothing(robots, view, name):
    before, values = get(view, name), new_values(view, name)
    for wrong in (WORLDS, -1):
        with pytest.raises(RowError, match=f"set_{name}: {wrong} is not a row; there are 4"):
            put(view, name, values, indices=[0, wrong])
    np.testing.assert_array_equal(get(view, name), before)

    put(view, name, values, indices=wp.array([-1, WORLDS, 2**30], dtype=int, device=robots.device))
    np.testing.assert_array_equal(get(view, name), before)
    with pytest.raises(RowError, match="3 indices on the device were out of range"):
        robots.raise_errors()
    robots.raise_errors()


def test_an_index_error_is_pythons_too(view):
    with pytest.raises(IndexError):
        view.set_dof_positions(0.0, indices=[WORLDS])


def test_bodies_follow_joints_and_other_articulations_keep_their_bits(robots, view):
    arms = robots.view.articulations("arm")
    poses, others = get(view, "link_transforms"), get(arms, "link_transforms")
    positions = get(view, "dof_positions")
    positions[1] += 0.4
    view.set_dof_positions(positions, indices=[1])

    after = get(view, "link_transforms")
    expected = robots.model.state()
    newton.eval_fk(robots.model, robots.state.joint_q, robots.state.joint_qd, expected)
    np.testing.assert_array_equal(after[1], expected.body_q.numpy()[view.body_indices[1]])
    assert np.abs(after[1] - poses[1]).max() > 0.05
    np.testing.assert_array_equal(after[[0, 2, 3]], poses[[0, 2, 3]])
    np.testing.assert_array_equal(get(arms, "link_transforms"), others)


def test_a_root_velocity_leaves_the_dofs_as_they_are(view):
    """Isaac runs inverse kinematics over it, and a spinning root made every hinge spin the other way."""
    dofs = get(view, "dof_velocities")
    spin = np.tile(np.array([0.1, 0.2, 0.3, 0.0, 0.0, 2.0], dtype=np.float32), (WORLDS, 1))
    view.set_root_velocities(spin)

    np.testing.assert_array_equal(get(view, "dof_velocities"), dofs)
    np.testing.assert_allclose(get(view, "root_velocities"), spin, atol=1e-6)


def test_a_moved_fixed_root_takes_its_links_along(robots):
    arms = robots.view.articulations("arm")
    before, joints = get(arms, "link_transforms"), get(arms, "dof_positions")
    poses = get(arms, "root_transforms")
    poses[:, :3] += [0.5, -0.25, 1.0]
    arms.set_root_transforms(poses)
    robots.step()

    after = get(arms, "link_transforms")
    np.testing.assert_allclose((after - before)[..., :3], np.broadcast_to([0.5, -0.25, 1.0], (WORLDS, 2, 3)), atol=2e-3)
    np.testing.assert_allclose(get(arms, "dof_positions"), joints, atol=2e-3)


def test_a_fixed_root_gets_its_pose_although_its_joint_has_just_moved(robots):
    """The body still stands where the old joint had it."""
    arms = robots.view.articulations("arm")
    frames = arms.get_attribute("joint_X_p").numpy()
    frames[:, 0, :3] += 0.04
    arms.set_attribute("joint_X_p", frames)
    poses = get(arms, "root_transforms")
    poses[1:, :3] += [0.5, -0.25, 1.0]
    arms.set_root_transforms(poses[1:], indices=[1, 2, 3], compact=True)

    np.testing.assert_allclose(get(arms, "root_transforms"), poses, atol=1e-5)


def test_a_jointed_root_has_no_velocity_to_set(robots):
    arms = robots.view.articulations("arm")
    with pytest.raises(ViewError, match="set_root_velocities: row 0, 'arm' is held by a joint"):
        arms.set_root_velocities(0.0)


def test_the_dof_of_a_root_hinge_is_one(robots):
    """Isaac leaves out the first joint, whatever it is."""
    arms = robots.view.articulations("arm")

    assert arms.dof_names == ("shoulder", "elbow")
    assert arms.max_dofs == 2


def test_rows_of_other_lengths_are_padded(robots):
    both = robots.view.articulations(["arm", "walker"])
    arms, walkers = robots.view.articulations("arm"), robots.view.articulations("walker")
    positions = get(both, "dof_positions")

    assert not both.is_homogeneous
    assert both.labels == ("arm",) * WORLDS + ("walker",) * WORLDS
    np.testing.assert_array_equal(positions[:WORLDS, :2], get(arms, "dof_positions"))
    np.testing.assert_array_equal(positions[:WORLDS, 2:], 0.0)
    np.testing.assert_array_equal(positions[WORLDS:], get(walkers, "dof_positions"))
    np.testing.assert_array_equal(both.dof_mask.sum(axis=1), [2] * WORLDS + [walkers.max_dofs] * WORLDS)
    assert (get(both, "coms")[0, -1] == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).all()
    assert get(both, "jacobians").shape == (2 * WORLDS, walkers.max_links, 6, 6 + walkers.max_dofs)


def test_padding_is_never_written(robots):
    both = robots.view.articulations(["arm", "walker"])
    before = robots.state.joint_q.numpy().copy()
    values = get(both, "dof_positions")
    values[:WORLDS, 2:] = 7.0
    both.set_dof_positions(values)

    np.testing.assert_array_equal(robots.state.joint_q.numpy(), before)


def test_arguments_that_do_not_fit_are_refused(view):
    right = np.zeros((WORLDS, view.max_dofs), dtype=np.float32)
    wrong = {
        "expected float32 of shape": (right[:, :-1], {}),
        "expected float32 of shape .*, got float64": (right.astype(np.float64), {}),
        "got indices and a mask": (right, {"indices": [0], "mask": [True] * WORLDS}),
        "no indices that the rows": (right, {"compact": True}),
        "0 is listed twice; list each row once": (right, {"indices": [0, 1, 2, 3, 0]}),
        "expected integers or booleans, got float64": (right, {"indices": [0.5]}),
        "expected a mask of type bool": (right, {"mask": [1, 0, 1, 0]}),
        "expected an array, got str": ("zero", {}),
    }
    for message, (data, options) in wrong.items():
        with pytest.raises(ViewError, match=message):
            view.set_dof_positions(data, **options)
    for message, out in {
        r"expected float32 of shape \[4, 4\]": np.zeros((WORLDS, 2), dtype=np.float32),
        "cannot be written": np.broadcast_to(np.float32(0.0), (WORLDS, view.max_dofs)),
    }.items():
        with pytest.raises(ViewError, match=message):
            view.get_dof_positions(out)


@pytest.mark.parametrize("row", [-1, WORLDS, True, 0.0])
def test_a_metatype_is_of_a_row(view, row):
    with pytest.raises(RowError, match=f"metatype: {row} is not a row; the view has 4, counted from 0"):
        view.metatype(row)


def test_numbers_are_broadcast(view):
    view.set_dof_forces(2.5)
    assert (get(view, "dof_forces") == 2.5).all()

    view.set_dof_forces([1.0, 2.0, 3.0, 4.0], indices=[1])
    np.testing.assert_array_equal(get(view, "dof_forces")[:2], [[2.5] * 4, [1.0, 2.0, 3.0, 4.0]])


@pytest.mark.first_cases(9)
@pytest.mark.parametrize("name", READ)
def test_out_receives_what_the_view_returns(view, name):
    values = get(view, name)
    out = np.full(values.shape, 9, dtype=values.dtype)
    spread = np.full((*values.shape, 2), 9, dtype=values.dtype)[..., 0]

    assert getattr(view, f"get_{name}")(out) is out
    getattr(view, f"get_{name}")(spread)
    np.testing.assert_array_equal(out, values)
    np.testing.assert_array_equal(spread, values)


def test_two_views_of_one_robot_agree(robots, view):
    """Isaac keeps masses and centres of mass in each view."""
    other = robots.view.articulations("walk*")
    view.set_masses(3.0)
    view.set_coms([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0])

    np.testing.assert_array_equal(get(other, "masses"), get(view, "masses"))
    np.testing.assert_array_equal(get(other, "coms"), get(view, "coms"))


def test_inverse_masses_follow_in_the_rows_that_are_set(robots, view):
    before = robots.model.body_inv_mass.numpy().copy()
    view.set_masses(4.0, indices=[1])
    view.set_inertias([2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 5.0], indices=[1])

    after = robots.model.body_inv_mass.numpy()
    rest = np.setdiff1d(np.arange(len(after)), view.body_indices[1])
    assert (get(view, "inv_masses")[1] == 0.25).all()
    assert (get(view, "inv_inertias")[1] == np.float32([0.5, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.2])).all()
    np.testing.assert_array_equal(after[rest], before[rest])


ROD = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]) / 3.0  # its axis


@pytest.mark.parametrize(
    ("inertia", "is_body"),
    [
        (np.diag([1.0, 0.1, 0.1]), False),
        (np.diag([3.01, 1.0, 2.0]), False),
        (np.diag([3.0, 1.0, 2.0]), True),  # a plate
        (0.7 * (np.eye(3) - ROD) + 1e-7 * np.eye(3), True),  # a rod along no axis
        (0.7 * ROD + 0.3 * np.eye(3), False),
    ],
)
@pytest.mark.parametrize("is_on_device", [False, True])
def test_an_inertia_of_no_body_is_refused_with_its_numbers(robots, view, inertia, is_body, is_on_device):
    before = get(view, "inertias").copy()
    values = np.broadcast_to(inertia.reshape(9), before.shape).astype(np.float32)
    data = wp.array(values, dtype=float, device=robots.device) if is_on_device else values

    def write():
        view.set_inertias(data)
        view.raise_errors()

    if is_body:
        write()
        np.testing.assert_array_equal(get(view, "inertias"), values)
        return
    with pytest.raises(ViewError, match="no principal moment above the sum of the others"):
        write()
    np.testing.assert_array_equal(get(view, "inertias"), before)


def test_a_massless_body_has_no_inverse(view):
    view.set_masses(0.0)
    view.set_inertias(0.0)

    assert (get(view, "inv_masses") == 0.0).all()
    assert (get(view, "inv_inertias") == 0.0).all()


def test_a_rotated_centre_of_mass_is_refused(view):
    with pytest.raises(ViewError, match=r"set_coms: row 1, .*, link 'base': .* rotate the inertia instead"):
        view.set_coms([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], indices=[1])


def test_jacobians_map_velocities_of_dofs_to_those_of_links(robots, view):
    robots.step(5)
    jacobians = get(view, "jacobians")
    qd = robots.state.joint_qd.numpy()[view.generalized_indices]

    np.testing.assert_allclose(np.einsum("nlkc,nc->nlk", jacobians, qd), get(view, "link_velocities"), atol=1e-5)


def test_mass_matrices_give_the_kinetic_energy(robots, view):
    robots.step(5)
    qd = robots.state.joint_qd.numpy()[view.generalized_indices]
    masses, velocities, poses = (get(view, name) for name in ("masses", "link_velocities", "link_transforms"))
    inertias = get(view, "inertias").reshape(WORLDS, -1, 3, 3)
    turn = np.array([[np.array(wp.quat_to_matrix(wp.quat(*pose[3:]))).reshape(3, 3) for pose in row] for row in poses])
    spin = np.einsum("nlji,nlj->nli", turn, velocities[..., 3:])
    energy = 0.5 * (masses * (velocities[..., :3] ** 2).sum(-1)).sum(1)
    energy += 0.5 * np.einsum("nli,nlij,nlj->n", spin, inertias, spin)
    energy += 0.5 * (robots.model.joint_armature.numpy()[view.generalized_indices] * qd**2).sum(1)

    by_matrix = 0.5 * np.einsum("ni,nij,nj->n", qd, get(view, "mass_matrices"), qd)
    np.testing.assert_allclose(by_matrix, energy, rtol=1e-4)


FLOATING = """<mujoco><worldbody><body name="base" pos="0 0 1"><freejoint/>
<geom type="box" size=".2 .1 .05" mass="2" pos=".1 .05 .02"/>
<body name="arm" pos=".2 0 .1" euler="20 30 10"><joint axis="0 1 0" armature=".02"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 .1" mass=".5"/>
<body name="hand" pos=".3 0 .1"><joint axis="1 0 1"/><geom type="box" size=".05 .04 .03" pos=".02 .03 .1" mass=".3"/>
</body></body></body></worldbody></mujoco>"""


def test_a_floating_base_has_the_mass_matrix_and_the_jacobians_of_mujoco(simulate, tmp_path):
    """MuJoCo takes the velocity of a base at its origin and turns about its own axes, Newton at the centre of mass."""
    (tmp_path / "robot.xml").write_text(FLOATING)
    theirs = mujoco.MjModel.from_xml_string(FLOATING)
    data, qpos = mujoco.MjData(theirs), np.random.default_rng(0).normal(size=theirs.nq)
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    data.qpos[:] = qpos
    mujoco.mj_forward(theirs, data)
    with simulate(assets=[{"path": str(tmp_path / "robot.xml")}], solver="mujoco-native") as simulation:
        qpos[3:7] = np.roll(qpos[3:7], -1)
        simulation.state.joint_q.assign(qpos)
        simulation.invalidate("joints")
        view = simulation.view.articulations("*")
        mass, jacobians = get(view, "mass_matrices")[0], get(view, "jacobians")[0]

    x, y, z = data.xipos[1] - data.xpos[1]
    turn, expected = np.eye(theirs.nv), np.zeros((theirs.nv, theirs.nv))
    turn[:3, 3:6] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
    turn[3:6, 3:6] = data.xmat[1].reshape(3, 3).T
    mujoco.mj_fullM(theirs, data, expected)
    np.testing.assert_allclose(mass, turn.T @ expected @ turn, atol=1e-5)
    for body in range(1, theirs.nbody):
        linear, angular = np.zeros((3, theirs.nv)), np.zeros((3, theirs.nv))
        mujoco.mj_jacBodyCom(theirs, data, linear, angular, body)
        np.testing.assert_allclose(jacobians[body - 1], np.vstack([linear, angular]) @ turn, atol=1e-5)


def test_gravity_and_coriolis_forces_are_those_of_newton(robots, view):
    robots.step(5)
    gravity, coriolis = (wp.zeros(robots.model.joint_dof_count, dtype=float, device=robots.device) for _ in range(2))
    newton.eval_inverse_dynamics_passive(robots.model, robots.state, gravity_force=gravity, coriolis_force=coriolis)

    np.testing.assert_allclose(get(view, "gravity_forces"), gravity.numpy()[view.generalized_indices], atol=1e-4)
    np.testing.assert_array_equal(get(view, "coriolis_forces"), coriolis.numpy()[view.generalized_indices])


@pytest.fixture(scope="module")
def arms(build):
    """Three worlds with an arm of three hinges, and nothing else."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    below, joints, parent = wp.transform(wp.vec3(0.1, 0.0, -0.3), wp.quat_identity()), [], -1
    for axis in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
        link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1)), com=wp.vec3(0.02, 0.0, -0.1))
        joints.append(builder.add_joint_revolute(parent, link, parent_xform=below, axis=axis))
        builder.joint_qd[-1], parent = 0.5, link
    builder.add_articulation(joints, label="arm")
    with build("featherstone", builder, 3) as simulation:
        simulation.step(5)
        yield simulation


@pytest.mark.parametrize("name", ["jacobians", "mass_matrices", "gravity_forces"])
def test_a_part_of_the_rows_has_the_numbers_of_the_whole(arms, name):
    """Newton's own matrices are the rows of a view of all articulations; a view of some copies them."""
    whole, part = arms.view.articulations("arm"), arms.view.articulations("arm", worlds=[0, 2])

    expected = get(whole, name)[[0, 2]]

    np.testing.assert_array_equal(get(part, name), expected)
    assert np.abs(expected).max() > 0.1


def test_bodies_without_gravity_need_no_effort(robots, view):
    weighty = get(view, "gravity_forces")
    marks = np.zeros(view.shape_of("disable_gravities"), dtype=np.uint8)
    marks[1] = 1

    view.set_disable_gravities(marks)

    efforts = get(view, "gravity_forces")
    np.testing.assert_array_equal(efforts[1], 0.0)
    np.testing.assert_array_equal(np.delete(efforts, 1, axis=0), np.delete(weighty, 1, axis=0))


def test_names_and_shapes_are_those_of_the_rows(robots):
    both = robots.view.articulations(["walker", "arm"], worlds=[0])

    assert both.dof_labels == [["left_hip", "left_knee", "right_hip", "right_knee"], ["shoulder", "elbow"]]
    assert both.dof_paths == both.dof_labels
    assert both.joint_names == ("left_hip", "left_knee", "right_hip", "right_knee")
    assert both.get_jacobians().shape[1:] == both.jacobian_shape == (5, 6, 10)
    assert both.get_mass_matrices().shape[1:] == both.generalized_mass_matrix_shape == (10, 10)


@pytest.mark.parametrize("name", [name for name, quantity in ARTICULATION.items() if quantity.source != "observable"])
def test_a_view_without_rows_reads_nothing(robots, name):
    nothing = robots.view.articulations("nothing", allow_empty=True)

    assert nothing.count == 0
    assert getattr(nothing, f"get_{name}")().shape[0] == 0


def test_what_the_solver_is_not_asked_for_is_refused_with_the_cure(walker, build):
    with build("featherstone", walker(), 1) as simulation:
        view = simulation.view.articulations("walker")
        with pytest.raises(ViewError, match=r"'body_qdd'.*simulation.observables = \[\"body_qdd\"\]"):
            view.get_link_accelerations()


def test_a_change_that_the_solver_would_ignore_is_refused_and_not_written(walker, build):
    prototype = walker()
    prototype.joint_armature = [0.0] * len(prototype.joint_armature)
    with build("xpbd", prototype, 1, accept_unsupported=["velocity_limits"]) as simulation:
        view = simulation.view.articulations("walker")
        before = get(view, "dof_armatures")
        with pytest.raises(pippin.ConfigError, match="does not support armature"):
            view.set_dof_armatures(5.0)

        np.testing.assert_array_equal(get(view, "dof_armatures"), before)


def test_an_invalidated_view_raises(walker, build):
    with build("featherstone", walker(), 1) as simulation:
        of_all = simulation.view
        view = of_all.articulations("walker")
        of_all.invalidate()

        assert not view.is_valid
        assert not view.check()
        for call in (view.get_dof_positions, view.apply_forces, lambda: view.set_masses(1.0)):
            with pytest.raises(pippin.SimulationError, match="was invalidated"):
                call()
        with pytest.raises(pippin.SimulationError, match="was invalidated"):
            of_all.articulations("walker")
        assert simulation.view.articulations("walker").is_valid
