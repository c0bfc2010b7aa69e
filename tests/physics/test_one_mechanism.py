"""One arm as URDF, MJCF, USD, objects and a Python prototype: it rests and moves alike on each solver.

Joints have turned frames and skew axes, and centres of mass are off them. Two worlds are simulated.
"""

import functools

import newton
import numpy as np
import pippin
import pytest
import warp as wp

PLACES = ((0.1, -0.2, 0.3), (0.25, 0.1, -0.05))
TURNS = ((0.4, -0.3, 1.2), (-0.7, 0.5, 0.9))
AXES = ((0.6, 0.0, 0.8), (0.48, 0.6, 0.64))
COM, MASS, MOMENTS = (0.1, 0.05, -0.08), 1.0, (0.02, 0.025, 0.03)
LINKS = ("upper", "lower")

DT = {"semi-implicit": 1e-4}
"""Physics steps that are shorter than 1 ms [s]."""

SOLVERS = ("featherstone", "kamino", "mujoco", "mujoco-native", "semi-implicit", "steel", "vbd", "xpbd")
FORMS = ("urdf", "mjcf", "usd", "objects", "python")


def turn(angles):
    """Return a rotation by roll, pitch and yaw [rad], as URDF has it."""
    x, y, z = (wp.quat_from_axis_angle(wp.vec3(*np.eye(3)[axis].tolist()), angles[axis]) for axis in range(3))
    return z * y * x


def text(values):
    return " ".join(repr(float(value)) for value in values)


def urdf(folder):
    parts, parent = ['<robot name="arm"><link name="base"/>'], "base"
    for link, place, angles, axis in zip(LINKS, PLACES, TURNS, AXES, strict=True):
        ixx, iyy, izz = MOMENTS
        parts.append(
            f'<link name="{link}"><inertial><origin xyz="{text(COM)}"/><mass value="{MASS}"/>'
            f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j_{link}" type="continuous"><parent link="{parent}"/><child link="{link}"/>'
            f'<origin xyz="{text(place)}" rpy="{text(angles)}"/><axis xyz="{text(axis)}"/></joint>'
        )
        parent = link
    (folder / "arm.urdf").write_text("".join(parts) + "</robot>")
    return {"assets": [{"path": str(folder / "arm.urdf"), "collapse_fixed_joints": False}]}


def mjcf(folder):
    inner = ""
    for link, place, angles, axis in reversed(list(zip(LINKS, PLACES, TURNS, AXES, strict=True))):
        x, y, z, w = turn(angles)
        inner = (
            f'<body name="{link}" pos="{text(place)}" quat="{text((w, x, y, z))}"><joint axis="{text(axis)}"/>'
            f'<inertial pos="{text(COM)}" mass="{MASS}" diaginertia="{text(MOMENTS)}"/>{inner}</body>'
        )
    (folder / "arm.xml").write_text(f"<mujoco><worldbody>{inner}</worldbody></mujoco>")
    return {"assets": [{"path": str(folder / "arm.xml")}]}


def usd(folder):
    def quat(rotation):
        x, y, z, w = rotation
        return f"({w}, {x}, {y}, {z})"

    prims, pose, parent = [], wp.transform(), None
    for link, place, angles, axis in zip(LINKS, PLACES, TURNS, AXES, strict=True):
        pose = pose * wp.transform(wp.vec3(*place), turn(angles))
        along = wp.quat_between_vectors(wp.vec3(0.0, 0.0, 1.0), wp.vec3(*axis))
        prims.append(
            f"""def Xform "{link}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
                quatf xformOp:orient = {quat(pose.q)}
                double3 xformOp:translate = ({pose.p[0]}, {pose.p[1]}, {pose.p[2]})
                uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
                float physics:mass = {MASS}
                point3f physics:centerOfMass = {COM}
                float3 physics:diagonalInertia = {MOMENTS}
                quatf physics:principalAxes = (1, 0, 0, 0)
            }}
            def PhysicsRevoluteJoint "j_{link}" {{
                {f"rel physics:body0 = </arm/{parent}>" if parent else ""}
                rel physics:body1 = </arm/{link}>
                uniform token physics:axis = "Z"
                point3f physics:localPos0 = {place}
                quatf physics:localRot0 = {quat(turn(angles) * along)}
                point3f physics:localPos1 = (0, 0, 0)
                quatf physics:localRot1 = {quat(along)}
            }}"""
        )
        parent = link
    (folder / "arm.usda").write_text(
        '#usda 1.0\n(defaultPrim = "arm"\nmetersPerUnit = 1\nkilogramsPerUnit = 1\nupAxis = "Z")\n'
        'def Xform "arm" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n' + "\n".join(prims) + "\n}\n"
    )
    return {"assets": [{"path": str(folder / "arm.usda")}]}


def objects(folder):
    tables, pose, parent = [], wp.transform(), None
    for link, place, angles, axis in zip(LINKS, PLACES, TURNS, AXES, strict=True):
        pose = pose * wp.transform(wp.vec3(*place), turn(angles))
        tables.append(
            {
                "type": "body",
                "label": link,
                "position": list(map(float, pose.p)),
                "rotation": list(map(float, pose.q)),
                "mass": MASS,
                "com": list(COM),
                "inertia": list(MOMENTS),
                "joint": {"type": "revolute", "axis": list(axis), **({"parent": parent} if parent else {})},
            }
        )
        parent = link
    return {"objects": tables}


def python(folder):
    builder = newton.ModelBuilder()
    parent, joints = -1, []
    for link, place, angles, axis in zip(LINKS, PLACES, TURNS, AXES, strict=True):
        inertia = wp.mat33(*np.diag(MOMENTS).ravel().tolist())
        body = builder.add_link(mass=MASS, inertia=inertia, com=COM, lock_inertia=True, label=link)
        frame = wp.transform(wp.vec3(*place), turn(angles))
        joints.append(builder.add_joint_revolute(parent, body, parent_xform=frame, axis=wp.vec3(*axis), armature=0.0))
        parent = body
    builder.add_articulation(joints)
    return builder


@functools.cache
def motion(solver, form, folder, gravity=(0.0, 0.0, 0.0)):
    """Return the poses of both links in the second world at the start and after 0.1 s, and their velocities."""
    content = globals()[form](folder)
    dt = DT.get(solver, 1e-3)
    scene = {"worlds": 2, "ground": False, "gravity": list(gravity)}
    is_python = isinstance(content, newton.ModelBuilder)
    config = {
        "simulation": {"dt": dt, "device": "cpu"},
        "solver": {"type": solver},
        "scene": scene if is_python else {**scene, **content},
    }
    with pippin.Simulation(config, prototype=content if is_python else None) as simulation:
        labels = simulation.model.body_label
        rows = [[row for row, label in enumerate(labels) if label.endswith(link)][1] for link in LINKS]
        start = simulation.state.body_q.numpy()[rows].copy()
        simulation.step(round(0.1 / dt))
        state = simulation.state
        return start, state.body_q.numpy()[rows].copy(), state.body_qd.numpy()[rows].copy()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arm")


def same_turns(poses):
    """Return poses whose quaternions have a real part that is not negative."""
    return np.where(np.arange(7) < 3, poses, poses * np.where(poses[:, 6:] < 0.0, -1.0, 1.0))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", [pytest.param(each, marks=[pytest.mark.slow] * (each != "vbd")) for each in SOLVERS])
def test_an_arm_rests_in_every_form(solver, form, folder):
    start, end, speed = motion(solver, form, folder)

    assert same_turns(start) == pytest.approx(same_turns(motion("vbd", "python", folder)[0]), abs=1e-6)
    assert same_turns(end) == pytest.approx(same_turns(start), abs=2e-5)
    assert np.abs(speed).max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_arm_moves_alike_in_every_form(solver, form, folder):
    gravity = (3.0, -6.0, -2.0)
    _, place, speed = motion(solver, form, folder, gravity)
    _, expected, rate = motion(solver, "python", folder, gravity)

    assert same_turns(place) == pytest.approx(same_turns(expected), abs=5e-4)
    assert speed == pytest.approx(rate, abs=1e-2)
    assert np.abs(rate).max() > 1.0
