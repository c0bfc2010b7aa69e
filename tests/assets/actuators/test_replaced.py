"""Motors of a file that a group replaces: the group has their limits, and a note says what it does not have."""

import attrs
import mujoco
import numpy as np
import pippin
import pytest

FILE = """<mujoco><option gravity="0 0 0"/><worldbody><body euler="30 40 0"><joint name="a" axis="1 2 -1" {joint}/>
<geom size=".1" pos=".2 .1 0" mass="1"/><body pos=".3 0 0"><joint name="b" axis="0 1 1"/>
<geom size=".1" pos=".2 .1 0" mass="1"/><site name="tip" pos=".4 0 0"/></body></body><site name="eye" pos="0 1 0"/>
</worldbody><tendon><fixed name="belt" {belt}><joint joint="a" coef="-2"/><joint joint="b" coef=".5"/></fixed>
<spatial name="cord"><site site="eye"/><site site="tip"/></spatial></tendon><actuator>{actuators}</actuator></mujoco>"""

DRIVE = {"type": "pd", "joints": [".*"], "kp": 100.0, "kd": 0.0}


def groups_of(path, tables):
    return pippin.structure(
        {
            "simulation": {"device": "cpu", "dt": 0.0005},
            "scene": {"assets": [{"path": str(path)}], "worlds": 2},
            "solver": {"type": "mujoco-native"},
            "actuators": tables,
        }
    )


def written(folder, text):
    (folder / "arm.xml").write_text(text)
    return folder / "arm.xml"


def largest_efforts(path, text, group):
    """Return the effort of each joint far from its target, and the notes of the run."""
    path.write_text(text)
    with pippin.Simulation(groups_of(path, {"drive": group})) as simulation:
        simulation.actuators["drive"].position_targets.fill_(100.0)
        simulation.step()
        notes = [note for notes in simulation.notes.values() for note in notes]
        return np.abs(simulation.actuators["drive"].applied_effort.numpy().reshape(2, 2)), notes


def of_mujoco(text):
    """Return the largest effort of MuJoCo on each joint, over large inputs of both signs."""
    model = mujoco.MjModel.from_xml_string(text)
    data, found = mujoco.MjData(model), np.zeros(2)
    for sign in (1.0, -1.0):
        data.ctrl[:] = 1e4 * sign
        mujoco.mj_forward(model, data)
        found = np.maximum(found, np.abs(data.qfrc_actuator))
    return found


@pytest.mark.parametrize(
    ("actuators", "joint"),
    [
        ('<motor joint="a" ctrlrange="-1 1"/>', ""),
        ('<motor joint="a" gear="5" ctrlrange="-.2 .2"/>', ""),
        ('<motor joint="a" gear="-5" ctrlrange="-.2 .2"/>', ""),
        ('<motor joint="a" gear="-5" forcerange="-.2 .2"/>', ""),
        ('<motor joint="a" forcerange="-1 1" ctrlrange="-3 3"/>', ""),
        ('<general joint="a" ctrlrange="-1 1"/>', ""),
        ('<general joint="a" gainprm="-4" ctrlrange="-1 1"/>', ""),
        ('<motor joint="a" ctrlrange="-3 3"/>', 'actuatorfrcrange="-1 1"'),
        ('<position joint="a" kp="50" forcerange="-1 1"/>', ""),
        ('<position joint="a" kp="50" gear="-3" forcerange="-1 1"/>', ""),
        ('<motor joint="a" ctrlrange="-1 1"/><motor joint="a" gear="2" ctrlrange="-1 1"/>', ""),
        ('<motor joint="a" ctrlrange="-1 1"/><damper joint="a" kv="2" ctrlrange="0 1"/>', ""),
        ('<motor jointinparent="a" gear="3" ctrlrange="-1 1"/>', ""),
        ('<dcmotor joint="a" gear="2" motorconst=".147" resistance="2.57" ctrlrange="-12 12"/>', ""),
        ('<dcmotor joint="a" gear="2" motorconst=".147" resistance="2.57" saturation=".5"/>', ""),
        ('<motor tendon="belt" gear="-3" ctrlrange="-1 1"/>', ""),
    ],
)
def test_a_group_has_the_limits_of_the_motors_that_it_replaces(tmp_path, actuators, joint):
    text = FILE.format(actuators=actuators, joint=joint, belt="")
    expected = of_mujoco(text)

    efforts, notes = largest_efforts(tmp_path / "arm.xml", text, DRIVE)

    has_limit = expected > 0.0
    np.testing.assert_allclose(efforts[:, has_limit], np.tile(expected[has_limit], (2, 1)), rtol=1e-5)
    assert any("effort_limit: that of the asset" in note for note in notes)


def test_the_range_of_a_tendon_limits_its_motors(tmp_path):
    text = FILE.format(actuators='<motor tendon="belt"/>', joint="", belt='actuatorfrcrange="-1.5 1.5"')

    efforts, _ = largest_efforts(tmp_path / "arm.xml", text, DRIVE)

    np.testing.assert_allclose(efforts, np.tile([3.0, 0.75], (2, 1)), rtol=1e-6)


@pytest.mark.parametrize(
    "actuators",
    [
        '<motor joint="a"/>',
        '<motor joint="a" ctrlrange="-1 1" ctrllimited="false"/>',
        '<general joint="a" dyntype="integrator" ctrlrange="-1 1"/>',
        '<position joint="a" kp="50" ctrlrange="-1 1"/>',
        '<motor joint="a" ctrlrange="-1 1"/><motor joint="a"/>',
    ],
)
def test_a_motor_without_a_limit_gives_none(tmp_path, actuators):
    efforts, notes = largest_efforts(
        tmp_path / "arm.xml", FILE.format(actuators=actuators, joint="", belt=""), {**DRIVE, "joints": [".*"]}
    )

    assert (efforts[:, 0] > 5000.0).all()
    assert not any("effort_limit" in note for note in notes)


def test_the_solver_s_drive_has_the_limit_as_well(tmp_path):
    text = FILE.format(actuators='<motor joint="a" gear="-5" ctrlrange="-.2 .2"/>', joint="", belt="")
    (tmp_path / "arm.xml").write_text(text)

    with pippin.Simulation(groups_of(tmp_path / "arm.xml", {"drive": {**DRIVE, "type": "solver-pd"}})) as simulation:
        np.testing.assert_allclose(simulation.solver.mj_model.jnt_actfrcrange[0], [-1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize(
    ("actuator", "lost"),
    [
        ('<motor name="m" joint="a" ctrlrange="0 1"/>', "its range of forces from 0 to 1"),
        ('<motor name="m" tendon="cord" ctrlrange="-2 2"/>', "its range of forces from -2 to 2"),
        ('<general name="m" joint="a" dyntype="filter" dynprm=".05"/>', "its lag of 0.05 s"),
        ('<general name="m" joint="a" damping=".2"/>', "its damping of 0.2"),
        ('<dcmotor name="m" joint="a" motorconst=".147" resistance="2.57"/>', "its back-EMF"),
    ],
)
def test_what_the_group_does_not_take_over_is_noted(tmp_path, actuator, lost):
    _, notes = largest_efforts(tmp_path / "arm.xml", FILE.format(actuators=actuator, joint="", belt=""), DRIVE)

    assert f"a group replaces m and does not have {lost}; give the group what it should have of it" in notes


DELAYED = '<motor name="m" joint="a" delay=".01" nsample="20"/>'
WAVE = np.sin(0.3 * np.arange(40))


def waves(path, actuators, group):
    """Return the efforts of a wave of inputs on each joint [N·m], shape [40, 2], and the notes of the run."""
    path.write_text(FILE.format(actuators=actuators, joint="", belt=""))
    config = groups_of(path, {"drive": {**DRIVE, "kp": 0.0, **group}})
    reached = []
    with pippin.Simulation(attrs.evolve(config, simulation=attrs.evolve(config.simulation, dt=0.001))) as running:
        drive = running.actuators["drive"]
        for input_ in WAVE:
            drive.feedforward.fill_(input_)
            running.step()
            reached.append(drive.applied_effort.numpy()[1].copy())
        notes = [note for notes in running.notes.values() for note in notes]
        return np.array(reached), notes


def delayed_by_mujoco(actuators):
    """Return what MuJoCo's own actuators exert on each joint for the same wave, shape [40, 2]."""
    model = mujoco.MjModel.from_xml_string(FILE.format(actuators=actuators, joint="", belt=""))
    model.opt.timestep = 0.001
    data, found = mujoco.MjData(model), []
    for input_ in WAVE:
        data.ctrl[:] = input_
        mujoco.mj_step(model, data)
        found.append(data.qfrc_actuator.copy())
    return np.array(found)


@pytest.mark.parametrize(
    "actuators",
    [
        DELAYED,
        '<motor name="m" joint="a" delay=".0034" nsample="20"/>',  # a sample is held until the next one
        '<motor joint="b"/><motor joint="a" delay=".01" nsample="20"/>',
        '<motor joint="b" delay=".003" nsample="20"/><motor joint="a" delay=".01" nsample="20"/>',
        '<motor tendon="belt" delay=".01" nsample="20"/>',
    ],
)
def test_a_group_has_the_delay_of_the_motors_that_it_replaces(tmp_path, actuators):
    theirs = delayed_by_mujoco(actuators)
    has_motor = theirs.any(axis=0)

    ours, notes = waves(tmp_path / "arm.xml", actuators, {})

    theirs /= [-2.0, 0.5] if "belt" in actuators else 1.0  # the coefficients of the tendon, which the group has not
    np.testing.assert_allclose(ours[11:, has_motor], theirs[11:, has_motor], atol=1e-6)
    assert any("delay.steps: that of the asset" in note for note in notes)
    assert not any("0.01 → 0" in note for note in notes)


def test_the_delay_of_the_table_wins(tmp_path):
    ours, notes = waves(tmp_path / "arm.xml", DELAYED, {"delay": {"steps": 2}})

    np.testing.assert_allclose(ours[2:, 0], WAVE[:-2], atol=1e-6)
    assert not any("delay" in note for note in notes)


def test_the_delay_of_the_asset_can_be_shortened_in_a_run(tmp_path):
    (tmp_path / "arm.xml").write_text(FILE.format(actuators=DELAYED, joint="", belt=""))

    with pippin.Simulation(groups_of(tmp_path / "arm.xml", {"drive": DRIVE})) as simulation:
        drive = simulation.actuators["drive"]
        assert drive.get("delay.steps").numpy().tolist() == [[20, 0]] * 2
        with pytest.raises(pippin.ConfigError, match="whole number of at least 0 up to 20, got 21"):
            drive.set("delay.steps", 21)
        drive.set("delay.steps", 3, joints="a")
        assert drive.get("delay.steps").numpy().tolist() == [[3, 0]] * 2


@pytest.mark.parametrize(
    ("actuators", "group", "lost"),
    [
        (DELAYED, {"type": "solver-pd"}, "0.01"),  # a solver's drive has no delay
        (DELAYED + '<motor joint="a" delay=".02" nsample="30"/>', {}, "0.02"),
        (DELAYED + '<motor joint="a"/>', {}, "0"),
    ],
)
def test_a_delay_that_the_group_cannot_have_is_noted(tmp_path, actuators, group, lost):
    text = FILE.format(actuators=actuators, joint="", belt="")

    with pippin.Simulation(groups_of(written(tmp_path, text), {"drive": {**DRIVE, **group}})) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes]

    assert any(f"does not have its delay of {lost} s; give the group" in note for note in notes)
    assert not any("→ 0" in note for note in notes)


def test_a_delay_that_no_group_replaces_is_noted(tmp_path):
    with pippin.Simulation(groups_of(written(tmp_path, FILE.format(actuators=DELAYED, joint="", belt="")), {})) as own:
        assert "arm.xml: actuator 'm': delay 0.01 → 0" in own.notes["scene"]
