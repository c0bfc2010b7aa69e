"""Random mechanisms on each solver against plain MuJoCo at a small step.

They are trees with joints of every kind about skew axes, turned frames, centres of mass off the joints, several joints
on a body, and moments of inertia of m r².
"""

import mujoco
import numpy as np
import pippin
import pytest

pytestmark = pytest.mark.slow

DURATION = 0.1
"""Time from the start to the comparison [s]."""

GRAVITY = (3.0, -6.0, -2.0)
"""Gravity, along no axis [m/s²]."""

ALL = ("hinge", "slide", "ball", "universal", "screw", "plane", "across", "skew", "weld", "gimbal")
"""Kinds of connections of a link with its parent: one joint, several joints of one body, or none."""

TURNING = ("hinge", "ball", "universal", "gimbal", "weld")
"""Those without slides: two solvers leave out the torque of a slider that is carried, and say so."""

SOLVERS = {
    "mujoco-native": (1e-3, 1e-5, 1e-4, ALL, {}),
    "mujoco": (1e-3, 1e-5, 1e-4, ALL, {}),
    "featherstone": (2e-4, 3e-4, 1e-2, ALL, {}),
    "steel": (2e-4, 3e-4, 1e-2, ALL, {}),
    "semi-implicit": (5e-5, 1.5e-2, 3e-1, TURNING, {}),
    "xpbd": (2e-4, 4e-4, 5e-3, [each for each in ALL if each != "skew"], {}),
    "vbd": (1e-3, 3e-3, 8e-2, TURNING, {}),
    "kamino": (5e-4, 1e-3, 5e-2, ["hinge", "slide", "ball", "universal", "screw", "weld", "gimbal"], {}),
}
"""For each solver: physics step [s]; largest errors of places [m, rad] and of velocities [m/s, rad/s]; the kinds of
connections that it has; and options.
"""


def numbers(values):
    return " ".join(repr(float(value)) for value in values)


def directions(rng):
    """Return three random directions at right angles, shape [3, 3]."""
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


def joints(rng, kind, name):
    """Return the joints of a body of one kind."""
    first, second, third = directions(rng)
    skew = rng.normal(size=3)
    place = numbers(rng.uniform(-0.1, 0.1, 3))
    axes = {
        "hinge": [("hinge", skew)],
        "slide": [("slide", skew)],
        "universal": [("hinge", first), ("hinge", second)],
        "gimbal": [("hinge", first), ("hinge", second), ("hinge", third)],
        "screw": [("slide", first), ("hinge", first)],
        "plane": [("slide", first), ("slide", second), ("hinge", third)],
        "across": [("slide", first), ("hinge", second)],
        "skew": [("slide", first), ("hinge", skew)],
    }
    if kind == "ball":
        return f'<joint name="{name}" type="ball" pos="{place}"/>'
    return "".join(
        f'<joint name="{name}{index}" type="{each}" axis="{numbers(axis)}" pos="{place}"/>'
        for index, (each, axis) in enumerate(axes.get(kind, ()))
    )


def mechanism(seed, kinds):
    """Return an MJCF of a tree of four links, whose root is free in every second one; it starts bent and moving."""
    rng = np.random.default_rng(seed)
    text, close = "", 0
    for index in range(4):
        kind = rng.choice([each for each in kinds if index or each != "weld"])
        connection = joints(rng, kind, f"j{index}") if index or seed % 2 else '<freejoint name="root"/>'
        mass, radius = rng.uniform(0.5, 1.5), rng.uniform(0.1, 0.2)
        moments = mass * radius**2 * rng.uniform(0.7, 1.3, 3)
        if index > 1 and rng.uniform() < 0.3:
            text, close = text + "</body>", close - 1
        text += (
            f'<body name="b{index}" pos="{numbers(rng.uniform(-0.3, 0.3, 3))}" quat="{numbers(rng.normal(size=4))}">'
            f'{connection}<inertial mass="{mass:.6f}" pos="{numbers(rng.uniform(-0.15, 0.15, 3))}"'
            f' quat="{numbers(rng.normal(size=4))}" diaginertia="{numbers(moments)}"/>'
        )
        close += 1
    world = f"<worldbody>{text}{'</body>' * close}</worldbody>"
    head = f'<mujoco model="m"><option gravity="{numbers(GRAVITY)}" timestep="1e-4" integrator="RK4"/>'
    model = mujoco.MjModel.from_xml_string(f"{head}{world}</mujoco>")
    qpos, qvel = model.qpos0 + rng.uniform(-0.3, 0.3, model.nq), rng.uniform(-1.0, 1.0, model.nv)
    mujoco.mj_normalizeQuat(model, qpos)
    key = f'<key name="start" qpos="{numbers(qpos)}" qvel="{numbers(qvel)}"/>'
    return f"{head}{world}<keyframe>{key}</keyframe></mujoco>"


def truth(text):
    """Return the poses [m, x y z w] and the velocities of the centres of mass [m/s, rad/s] of plain MuJoCo, by body."""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    while data.time < DURATION - 1e-9:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    found = {}
    for body in range(1, model.nbody):
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
        pose = np.concatenate([data.xpos[body], np.roll(data.xquat[body], -1)])
        found[model.body(body).name] = (pose, np.roll(velocity, 3))
    return found


def angle(first, second):
    return 2.0 * min(np.linalg.norm(first - second), np.linalg.norm(first + second))


def errors(solver, seeds, folder):
    """Return for each seed the largest error of places [m, rad] and of velocities in two worlds."""
    dt, _, _, kinds, options = SOLVERS[solver]
    texts = {f"r{seed}": mechanism(seed, kinds) for seed in seeds}
    for label, text in texts.items():
        (folder / f"{label}.xml").write_text(text)
    assets = [{"path": str(folder / f"{label}.xml"), "keyframe": "start", "label": label} for label in texts]
    config = {
        "simulation": {"dt": dt, "device": "cpu"},
        "solver": {"type": solver, **options},
        "scene": {"worlds": 2, "ground": False, "gravity": list(GRAVITY), "assets": assets},
    }
    with pippin.Simulation(config) as simulation:
        simulation.step(round(DURATION / dt))
        poses, speeds = (getattr(simulation.state, name).numpy().astype(float) for name in ("body_q", "body_qd"))
        labels = simulation.model.body_label
    found = {}
    for label, text in texts.items():
        places, rates = [0.0], [0.0]
        for name, (pose, speed) in truth(text).items():
            rows = [
                row for row, each in enumerate(labels) if each.startswith(f"{label}/") and each.endswith(f"/{name}")
            ]
            assert len(rows) == 2
            for row in rows:
                places += [np.abs(poses[row, :3] - pose[:3]).max(), angle(poses[row, 3:], pose[3:])]
                rates.append(np.abs(speeds[row] - speed).max())
        found[label] = (max(places), max(rates))
    return found


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_mechanisms_move_as_in_mujoco(solver, tmp_path):
    found = errors(solver, range(12), tmp_path)

    _, place, rate, *_ = SOLVERS[solver]
    assert {label: each for label, each in found.items() if each[0] > place or each[1] > rate} == {}
