"""The largest velocity of driven joints, which the host keeps with every solver."""

import newton
import numpy as np
import pippin
import pytest
import warp as wp

URDF = """<robot name="slide"><link name="base"/><link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-100" upper="100" effort="50" velocity="{velocity}"/>{dynamics}</joint></robot>"""
PUSH = {"kp": 0.0, "kd": 0.0}

pytestmark = pytest.mark.simulation(options="actuators.push", gravity=0.0, solver="featherstone", dt=0.002)


def cart(limit=2.0, start=0.0):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=2.0, inertia=wp.diag(wp.vec3(1.0)))
    joint = builder.add_joint_prismatic(-1, link, axis=newton.Axis.X, velocity_limit=limit, label="rail")
    builder.add_articulation([joint])
    builder.joint_qd = [start]
    return builder


def speeds(simulation, effort, steps=400):
    simulation.actuators["push"].feedforward.fill_(effort)
    found = []
    for _ in range(steps):
        simulation.step()
        found.append(simulation.state.joint_qd.numpy().copy())
    return np.array(found)


def limited(effort, mass, limit, dt, steps, start=0.0):
    """Return the speeds of the documented law, integrated."""
    speed, found = start, []
    for _ in range(steps):
        room = limit - speed * np.sign(effort)
        speed += dt / mass * np.sign(effort) * np.clip(mass * room / dt, 0.0, abs(effort))
        found.append(speed)
    return np.array(found)


@pytest.mark.first_cases(3)
@pytest.mark.parametrize("start", [0.0, 3.0, -3.0])
@pytest.mark.parametrize("solver", ["featherstone", "mujoco", "xpbd"])
def test_effort_takes_a_joint_to_its_limit_and_brakes_in_full(simulate, solver, start):
    with simulate(cart(start=start), type="pd", joints=[".*"], solver=solver, **PUSH, worlds=2) as simulation:
        found = speeds(simulation, 20.0)

    expected = limited(20.0, 2.0, 2.0, 0.002, 400, start)
    assert found == pytest.approx(np.stack([expected, expected], axis=1), rel=2e-3, abs=2e-3)
    assert found[-1] == pytest.approx(max(2.0, start), rel=1e-3)


@pytest.mark.parametrize("mode", ["explicit", "implicit"])
def test_recorded_steps_reach_the_limit_and_not_more_with_far_too_much_effort(simulate, mode):
    keys = {"type": "pd", "joints": [".*"], "kp": 0.0, "kd": 300.0, "effort_mode": mode}
    with simulate(cart(), **keys, solver="mujoco", capture="auto", dt=0.004) as simulation:
        simulation.actuators["push"].velocity_targets.fill_(-50.0)
        simulation.step(2)
        found = simulation.state.joint_qd.numpy(), simulation.actuators["push"].saturated.numpy()

    assert found == (pytest.approx(-2.0, rel=1e-5), [[True]])


def test_a_view_sets_the_limit_of_driven_joints_in_recorded_steps(simulate):
    with simulate(cart(), type="pd", joints=[".*"], **PUSH, worlds=2) as simulation:
        view = simulation.view.articulations("*")
        speeds(simulation, 20.0, steps=10)
        view.set_dof_max_velocities(np.array([[1.0], [np.inf]], dtype=np.float32))
        simulation.reset()
        found = speeds(simulation, 20.0)[-1]

    assert found == pytest.approx([1.0, 20.0 / 2.0 * 0.8], rel=1e-3)


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ({"velocity_limit": 0.5}, 0.5),
        ({"velocity_limit": {"rail": 4.0}}, 4.0),
        ({"clamping": [{"type": "dc-motor", "saturation_effort": 100.0, "velocity_limit": 3.0}]}, 3.0),
    ],
)
def test_a_limit_of_the_table_replaces_that_of_the_asset(simulate, group, expected):
    with simulate(cart(), type="pd", joints=[".*"], **PUSH, **group) as simulation:
        found = speeds(simulation, 15.0, steps=1000)

    assert found[-1] == pytest.approx(expected, rel=2e-3)


def test_gravity_pushes_beyond_the_limit(simulate):
    with simulate(cart(), type="pd", joints=[".*"], **PUSH, gravity=[5.0, 0.0, 0.0]) as simulation:
        assert speeds(simulation, 20.0)[-1] == pytest.approx(5.0 * 0.8 + 2.0, rel=0.4)


def urdf(tmp_path, velocity=2.0, dynamics=""):
    (tmp_path / "slide.urdf").write_text(URDF.format(velocity=velocity, dynamics=dynamics))
    return [{"path": str(tmp_path / "slide.urdf")}]


def noted(simulation):
    return [note for note in simulation.notes["scene"] if "the solver ignores" in note]


def test_a_file_that_states_what_the_solver_lacks_runs_with_a_note(simulate, tmp_path):
    assets = urdf(tmp_path, dynamics='<dynamics damping="1" friction="2"/>')
    with simulate(options="", assets=assets, solver="xpbd") as simulation:
        ignored, notes = simulation.ignored_features, noted(simulation)

    assert list(ignored) == ["joint_friction", "joint_damping", "velocity_limits"]
    assert notes[2].endswith("used by slide/rail; drive the joints by an actuator group, which keeps their limits")


@pytest.mark.parametrize(
    ("group", "said"),
    [
        ({"type": "pd", "kp": 1.0, "friction": 1.0}, "does not support joint_friction"),
        ({"type": "pd", "kp": 1.0, "damping": {"rail": 1.0}}, "does not support joint_damping"),
        ({"type": "solver-pd", "kp": 1.0, "kd": 1.0, "velocity_limit": 1.0}, "does not support velocity_limits"),
    ],
)
def test_a_key_that_asks_for_what_the_solver_lacks_is_refused(simulate, tmp_path, group, said):
    with pytest.raises(pippin.ConfigError, match=said):
        simulate(assets=urdf(tmp_path), solver="xpbd", joints=["rail"], **group)


def test_limits_of_drives_of_the_solver_are_noted_as_lost(simulate, tmp_path):
    keys = {"type": "solver-pd", "joints": [".*"], "kp": 0.0, "kd": 1.0}
    with simulate(assets=urdf(tmp_path), **keys, solver="mujoco") as simulation:
        assert list(simulation.ignored_features) == ["velocity_limits"]


def test_a_model_made_in_python_is_refused_where_nothing_limits_it(simulate):
    with pytest.raises(pippin.ConfigError, match=r"velocity_limits.*used by rail; drive the joints by an actuator"):
        simulate(cart(), options="")
