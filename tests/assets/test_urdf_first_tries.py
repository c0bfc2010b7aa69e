"""A bare URDF with all that such files state runs at the first try."""

import numpy as np
import pytest

INERTIA = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = f"""<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>{INERTIA}</link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.5" friction="0.1"/></joint>
<link name="tool"/><joint name="to_tool" type="fixed"><parent link="rod"/><child link="tool"/></joint>
<link name="tip"><inertial><mass value="1e-9"/>{INERTIA.replace("0.1", "1e-9")}</link>
<joint name="to_tip" type="fixed"><parent link="tool"/><child link="tip"/></joint></robot>"""

LOST = {
    "mujoco": ["velocity_limits"],
    "mujoco-native": ["velocity_limits"],
    "xpbd": ["joint_friction", "joint_damping", "velocity_limits"],
    "featherstone": ["joint_friction", "velocity_limits"],
    "kamino": ["velocity_limits"],
}


@pytest.mark.first_cases(2)
@pytest.mark.parametrize("solver", LOST)
def test_a_bare_urdf_runs_and_says_what_is_lost(simulate, tmp_path, solver):
    (tmp_path / "arm.urdf").write_text(URDF)

    with simulate(assets=[{"path": str(tmp_path / "arm.urdf")}], solver=solver) as simulation:
        simulation.step(2)
        simulation.raise_errors()
        assert np.isfinite(simulation.state.body_q.numpy()).all()
        assert list(simulation.ignored_features) == LOST[solver]
        assert any("the solver ignores velocity_limits" in note for note in simulation.notes["scene"])


@pytest.mark.parametrize(("limits", "positions", "start"), [
    ((0.5, 1.0), {}, 0.5),
    ((-2.0, -0.9), {}, -0.9),
    ((0.5, 1.0), {"hinge": 0.7}, 0.7),
    ((-1.0, 1.0), {}, 0.0),
])  # fmt: skip
def test_a_joint_starts_at_the_limit_nearest_to_0_and_says_so(simulate, tmp_path, caplog, limits, positions, start):
    """A knee that starts at 0, a radian beyond its limit, would throw the robot metres away."""
    caplog.set_level("INFO")
    text = URDF.replace('lower="-1" upper="1"', 'lower="{}" upper="{}"'.format(*limits))
    (tmp_path / "arm.urdf").write_text(text)
    asset = {"path": str(tmp_path / "arm.urdf"), "joint_positions": positions}

    with simulate(assets=[asset], solver="mujoco-native") as simulation:
        position = simulation.state.joint_q.numpy()[0]

    assert position == pytest.approx(start)
    is_said = f"which their limits leave out: 'hinge' at {start:g}" in caplog.text
    assert is_said == (start in limits)
