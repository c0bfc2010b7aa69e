"""Checks of logs: each kind of wrong data is named, and a clean log passes."""

import warnings

import attrs
import numpy as np
import pippin
import pippin_fit
import pytest
from pippin.config import toml_text
from pippin_fit.checks import align, refuse_faults
from pippin_fit.config import FitConfig, FitParameterConfig
from pippin_fit.log import Log, RobotJoint

from . import arms

JOINTS = ("shoulder", "elbow")
COUNT = 2.0 * np.pi / 4096  # [rad]
LIMITS = {"low": -1.5, "high": 1.2}
ROBOT = {
    joint: RobotJoint(label=joint, dof=dof, coordinate=dof, is_turning=True, **LIMITS)
    for dof, joint in enumerate(JOINTS)
}
TABLE = FitConfig(
    parameters={f"actuators.arm.{name}": FitParameterConfig(range=(0.0, 1.0)) for name in ("friction", "armature")}
)


def clean(seconds=12.0, period=0.005):
    """Return a log of two drives, which follow tones with a lag of 30 ms and 2 % of the noise of an encoder."""
    times = np.arange(0.0, seconds, period)
    random = np.random.default_rng(1)
    told = np.stack([targets(times, joint) for joint in range(2)], axis=1)
    moved = np.stack([0.95 * targets(times - 0.03, joint) for joint in range(2)], axis=1)
    moved += 1e-4 * random.normal(size=moved.shape)
    return Log(name="log", times=times, joints=JOINTS, command_times=times, command=told, signals={"position": moved})


def targets(times, joint):
    tones = np.array([0.3, 0.7, 1.1, 1.9]) + 0.1 * joint
    phases = np.random.default_rng(joint).uniform(0.0, 6.0, len(tones))
    return (0.2 * np.sin(2.0 * np.pi * tones * times[:, None] + phases)).sum(axis=1)


def changed(log, **values):
    values = {name: np.asarray(value) for name, value in values.items()}
    if "position" in values:
        values["signals"] = {"position": values.pop("position")}
    if "times" in values:
        values.setdefault("command_times", values["times"])
    return attrs.evolve(log, **values)


def moved(log):
    return log.signals["position"].copy()


def at_times(log, times):
    """Return the log with the motion of other times, told as before."""
    shift = np.stack([0.95 * targets(times - 0.03, joint) for joint in range(2)], axis=1)
    return changed(log, position=shift)


def resampled(log, stride):
    every = slice(None, None, stride)
    return changed(log, times=log.times[every], command=log.command[every], position=moved(log)[every])


def swapped_twice(log):
    times = log.times.copy()
    times[[40, 41]] = times[[41, 40]]
    return changed(log, times=times)


def repeated(log):
    times = log.times.copy()
    times[41] = times[40]
    return changed(log, times=times)


def gap(log):
    return changed(log, times=log.times + 0.5 * (log.times > 3.0))


def jitter(log, share):
    random = np.random.default_rng(0)
    return changed(log, times=log.times + share * log.period * random.uniform(-0.5, 0.5, len(log.times)))


def stale(log):
    positions = moved(log)
    for row in range(3, len(positions), 10):
        positions[row] = positions[row - 1]
    return changed(log, position=positions)


def of_one(log, column, values):
    positions = moved(log)
    positions[:, column] = values
    return changed(log, position=positions)


def slow(log):
    """Return a log whose elbow turns twice."""
    turn = np.sin(2.0 * np.pi * log.times / 12.0)
    command = log.command.copy()
    command[:, 1] = turn
    return changed(of_one(log, 1, np.sin(2.0 * np.pi * (log.times - 0.03) / 12.0)), command=command)


REFUSED = {
    "milliseconds": (lambda log: changed(log, times=1e3 * log.times), "a sample each 5 s; times are in seconds"),
    "nanoseconds": (lambda log: changed(log, times=1e9 * log.times), r"a sample each 5e\+06 s; times are in seconds"),
    "backwards": (swapped_twice, r"times do not ascend at 0\.205 s"),
    "repeated": (repeated, r"times do not ascend at 0\.2 s; .* drop those that come twice"),
    "gap": (gap, r"no samples for 0\.505 s at 3 s"),
    "jitter": (lambda log: jitter(log, 0.9), "steps of time differ by more than half"),
    "slow": (lambda log: resampled(log, 13), r"15\.4 samples a second; friction and armature need 25"),
    "early": (lambda log: at_times(log, log.times + 0.2), r"the joints move -0\.17 s after their commands"),
    "late": (lambda log: at_times(log, log.times - 0.9), r"the joints move 0\.9\d+ s after their commands"),
    "drift": (
        lambda log: at_times(log, log.times * (1.0 - 0.02)),
        r"the lag .* changes by 0\.1\d* s in 8 s, a drift of 0\.02",
    ),
    "stale": (stale, "10% of the samples repeat while the command moves"),
    "copy": (lambda log: changed(log, position=log.command), "shoulder: the commands are the measured positions"),
    "degrees": (
        lambda log: changed(log, position=np.degrees(moved(log))),
        r'elbow: positions range .* fit.units = "deg"',
    ),
    "zero": (
        lambda log: of_one(log, 1, moved(log)[:, 1] + 2.5),
        "elbow: positions from .* beyond its limits -1.5 and 1.2",
    ),
    "mirrored": (lambda log: of_one(log, 1, -moved(log)[:, 1]), "elbow: moves against its command"),
    "permuted": (lambda log: changed(log, position=moved(log)[:, ::-1]), "elbow moves as shoulder is told"),
    "few turns": (slow, r"elbow: turns 2 times, and friction needs 4 turns: not excited; `pippin excite`"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_wrong_data_are_refused_and_named(fault):
    spoil, words = REFUSED[fault]

    with pytest.raises(pippin.ConfigError, match=words):
        refuse_faults([spoil(clean())], TABLE, ROBOT)


@pytest.mark.slow
def test_a_drift_of_a_thousandth_is_refused_in_a_log_of_a_minute_and_a_half():
    log = clean(90.0)

    refuse_faults([log], TABLE, ROBOT)
    with pytest.raises(pippin.ConfigError, match=r"changes by 0\.06 s in 60 s, a drift of 0\.001; log"):
        refuse_faults([at_times(log, log.times * (1.0 - 1e-3))], TABLE, ROBOT)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda log: jitter(log, 0.25), r"steps of time differ by \d+% of their median"),
        (
            lambda log: changed(of_one(log, 1, 0.0 * log.times), command=log.command * [1.0, 0.0]),
            "elbow: at rest, which tells nothing of it",
        ),
    ],
)
def test_what_only_limits_a_fit_is_noted(spoil, words):
    with pytest.warns(UserWarning, match=words) as noted:
        refuse_faults([spoil(clean())], TABLE, ROBOT)
    assert len(noted) == 1


@pytest.mark.parametrize("stride", [1, 4])
def test_a_clean_log_passes_without_a_note(stride):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        refuse_faults([resampled(clean(), stride)], TABLE, ROBOT)


@pytest.mark.parametrize(("kind", "fault"), [("lag", "early"), ("stale", "stale"), ("units", "zero"), ("clock", "gap")])
def test_an_accepted_fault_is_noted(kind, fault):
    spoil, words = REFUSED[fault]

    with pytest.warns(UserWarning, match=words):
        refuse_faults([spoil(clean())], attrs.evolve(TABLE, accept=(kind,)), ROBOT)


def test_a_delay_that_the_fit_looks_for_is_no_fault():
    late = at_times(clean(), clean().times - 0.9)
    delay = {"signals.delay": FitParameterConfig(range=(0.0, 1.0))}

    refuse_faults([late], attrs.evolve(TABLE, parameters={**TABLE.parameters, **delay}), ROBOT)

    assert align(late, TABLE).lag == pytest.approx(0.93, abs=0.005)


def test_the_lag_of_a_slow_motion_is_found():
    """Sines that are exactly 40 or 80 ms late, of 2.5 s to 10 s and shorter, are no drift."""
    right, count = 0, 0
    for frequency in (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 2.0):
        for late in (0.04, 0.08):
            for seconds in (10.0, 20.0):
                times = np.arange(0.0, seconds, 0.01)
                told, done = (
                    0.5 * np.sin(2.0 * np.pi * frequency * (times - shift))[:, None].repeat(2, 1) for shift in (0, late)
                )
                log = changed(clean(), times=times, command=told, position=done)
                found = align(log, TABLE)
                right += abs(found.lag - late) < 0.0101
                count += 1
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    refuse_faults([log], attrs.evolve(TABLE, accept=("excitation",)), ROBOT)

    assert right == count == 32


def test_encoders_with_coarse_counts_are_not_stale():
    coarse = changed(clean(), position=np.round(moved(clean()) / 1.5e-3) * 1.5e-3)

    refuse_faults([coarse], TABLE, ROBOT)


def test_a_slow_joint_that_sticks_between_counts_is_not_stale():
    """A hand guides both arms, with rests: the command trembles by a count, and the joints stay where they are."""
    log = clean()
    rests = np.sin(2.0 * np.pi * log.times / 5.0) > 0.0
    trembling = COUNT * np.random.default_rng(0).integers(0, 2, log.command.shape)
    commands = np.where(rests[:, None], log.command[int(np.argmax(rests))], log.command) + trembling
    positions = np.where(rests[:, None], log.command[int(np.argmax(rests))], moved(log))

    refuse_faults([changed(log, command=commands, position=np.round(positions / COUNT) * COUNT)], TABLE, ROBOT)


def test_a_joint_that_rests_through_its_whole_command_is_stale():
    frozen = moved(clean())
    frozen[400:, 1] = frozen[400, 1]

    with pytest.raises(pippin.ConfigError, match=r"elbow: \d+% of the samples repeat while the command moves"):
        refuse_faults([changed(clean(), position=frozen)], TABLE, ROBOT)


def fitted(folder, table, log, **keys):
    """Return the fit of the file of a table to a log."""
    parameters = {"actuators.arm.kp": {"range": [1.0, 200.0]}}
    file = folder / "arm.toml"
    file.write_text(toml_text({**table, "fit": {"parameters": parameters, "iterations": 1, **keys}}), encoding="utf-8")
    return pippin_fit.fit(file, [log], out=folder / "out")


@pytest.mark.slow
def test_contacts_that_the_fit_does_not_know_are_refused(tmp_path):
    arms.log(tmp_path / "log.npz", arms.tables(tmp_path), seconds=1.0)
    ball = '<geom type="sphere" size="0.05" pos="0 0 -0.3"/>'
    table = arms.tables(tmp_path)
    text = arms.PENDULUM.replace('diaginertia="0.005 0.005 0.0005"/>', f'diaginertia="0.005 0.005 0.0005"/>{ball}')
    block = '<geom name="wall" type="box" size="0.02 1 1" pos="0.19 0 0.5"/>'
    (tmp_path / "pendulum.xml").write_text(text.replace("<worldbody>", f"<worldbody>{block}"), encoding="utf-8")

    with pytest.raises(pippin.ConfigError, match=r"(lower and wall|wall and lower) touch at 0\.\d+ s.*\"contact\""):
        fitted(tmp_path, table, tmp_path / "log.npz")


@pytest.mark.slow
def test_efforts_at_a_limit_and_a_file_that_is_right_are_noted(tmp_path):
    table = arms.tables(tmp_path, effort_limit={".*shoulder": 0.8, ".*elbow": 100.0})
    arms.log(tmp_path / "log.npz", table, seconds=2.0)

    with pytest.warns(UserWarning, match=r"shoulder: its effort is at a limit for \d\d%|nothing to gain") as noted:
        fitted(tmp_path, table, tmp_path / "log.npz", validation=0.5, signals={"position": {"std": 1e-4}})

    texts = [str(each.message) for each in noted]
    assert sum("effort is at a limit" in text for text in texts) == 1
    assert sum("there is nothing to gain" in text for text in texts) == 1
