"""Claims that an MJCF file is the robot that MuJoCo reads: fields of MuJoCo's own model and of ours are compared."""

import mujoco
import newton
import numpy as np
import pytest
from pippin.assembly.model import build_model
from pippin.assembly.scene import add_assets, new_builder
from pippin.axes import axis_labels
from pippin.config.model import AssetConfig, SceneConfig
from pippin.errors import ConfigError

B = '<geom size=".05" mass="1"/>'

HINGES = """<mujoco><worldbody><body name="b" pos="0 0 1"><joint name="x" axis="1 0 0"/>
<joint name="y" axis="0 1 0" {pos}/><geom size=".05" mass="1" pos=".1 0 0"/></body></worldbody>{rest}</mujoco>"""


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "robot.xml") -> str:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def prototype_of(path: str, **options) -> newton.ModelBuilder:
    scene = SceneConfig(assets=(AssetConfig(path=path, **options),))
    builder = new_builder(scene)
    newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
    add_assets(builder, scene)
    return builder


def converted(builder: newton.ModelBuilder):
    model = builder.finalize(device="cpu", skip_validation_inertia=True)
    return newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True).mj_model


def both(path: str, **options):
    return mujoco.MjModel.from_xml_path(path), converted(prototype_of(path, **options))


def same(theirs, ours, *fields: str) -> bool:
    return all(np.allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-5, atol=1e-9) for name in fields)


@pytest.mark.first_cases(2)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            f'<mujoco><default class="main"><joint damping=".5" armature=".1"/></default>'
            f'<worldbody><body><joint name="j"/>{B}</body></worldbody></mujoco>',
            id="a main class",
        ),
        pytest.param(
            f'<mujoco><default><joint damping=".5"/></default><default><joint armature=".1"/></default>'
            f'<worldbody><body><joint name="j"/>{B}</body></worldbody></mujoco>',
            id="two sets of defaults",
        ),
        pytest.param(
            f'<mujoco><worldbody><body><freejoint/>{B}<replicate count="3" offset="0 0 1"><body>'
            f'<joint axis="0 1 0"/>{B}</body></replicate></body></worldbody></mujoco>',
            id="replicas",
        ),
        pytest.param(
            '<mujoco><worldbody><body pos="0 0 1"><composite type="cable" count="5 1 1" curve="s" size="1" prefix="c_"'
            ' initial="none"><joint kind="main" damping=".1"/><geom type="capsule" size=".01"/></composite></body>'
            "</worldbody></mujoco>",
            id="a composite",
        ),
        pytest.param(
            f'<mujoco><worldbody><body><joint name="j" springdamper=".1 1"/>{B}</body></worldbody></mujoco>',
            id="a spring by its time constant",
        ),
        pytest.param(
            f'<mujoco><worldbody><body><joint type="free" damping=".5" armature=".1" frictionloss=".2"/>{B}</body>'
            "</worldbody></mujoco>",
            id="a damped free joint",
        ),
    ],
)
def test_a_file_has_the_masses_and_joints_that_mujoco_reads(write, text):
    theirs, ours = both(write(text))

    assert same(theirs, ours, "body_mass", "dof_damping", "dof_armature", "dof_frictionloss", "jnt_stiffness")


@pytest.mark.filterwarnings("ignore:compiler attribute 'settotalmass'")
def test_the_total_mass_of_a_compiler_option_holds(write):
    text = f'<mujoco><compiler settotalmass="14"/><worldbody><body><joint/>{B}</body></worldbody></mujoco>'

    builder = prototype_of(write(text))

    assert sum(builder.body_mass) == pytest.approx(14.0)


def test_an_attached_robot_is_there_with_its_mesh(write):
    write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "arm/k.obj")
    write(
        '<mujoco><asset><mesh name="k" file="k.obj"/></asset><worldbody><body name="b"><joint/>'
        '<geom type="mesh" mesh="k"/></body></worldbody></mujoco>',
        "arm/arm.xml",
    )
    path = write(
        '<mujoco><asset><model name="m" file="arm/arm.xml"/></asset>'
        '<worldbody><frame pos="1 2 3"><attach model="m" body="b" prefix="p_"/></frame></worldbody></mujoco>'
    )

    builder = prototype_of(path)

    assert builder.body_label == ["worldbody/p_b"]
    assert builder.body_mass[0] == pytest.approx(1000 / 6, rel=1e-4)


@pytest.mark.parametrize(
    ("pos", "rest", "joints"),
    [
        pytest.param("", "", ["x_y"], id="one anchor"),
        pytest.param('pos="0 0 .2"', "", ["x", "y"], id="two anchors"),
        pytest.param(
            "",
            '<tendon><fixed name="t"><joint joint="x" coef="1"/></fixed></tendon>',
            ["x", "y"],
            id="a tendon on one of them",
        ),
    ],
)
def test_joints_of_one_body_merge_if_one_joint_is_the_same_mechanism(write, pos, rest, joints):
    path = write(HINGES.format(pos=pos, rest=rest))

    builder = prototype_of(path)
    theirs, ours = mujoco.MjModel.from_xml_path(path), converted(builder)

    assert [label.rpartition("/")[2] for label in builder.joint_label] == joints
    assert _tip(theirs, (0.3, 0.5)) == pytest.approx(_tip(ours, (0.3, 0.5)), abs=1e-6)
    assert theirs.ntendon == ours.ntendon


def _tip(model, angles) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:] = angles
    mujoco.mj_forward(model, data)
    return data.xipos[-1]


def test_the_order_of_joints_holds_if_a_hinge_comes_before_a_slide(write):
    text = (
        f'<mujoco><worldbody><body name="b"><joint/><joint type="slide" axis="1 0 0"/>{B}</body></worldbody></mujoco>'
    )
    theirs, ours = both(write(text))

    assert list(ours.jnt_type) == list(theirs.jnt_type)
    assert _tip(theirs, (1.0, 0.5)) == pytest.approx(_tip(ours, (1.0, 0.5)), abs=1e-6)


def test_a_position_servo_is_a_drive_and_one_with_a_filter_is_not(write):
    text = f"""<mujoco><worldbody><body><joint name="a"/>{B}<body><joint name="b"/>{B}</body></body></worldbody>
    <actuator><position joint="a" kp="10" kv="1"/><position joint="b" kp="10" timeconst=".1"/></actuator></mujoco>"""
    path = write(text)

    builder = prototype_of(path)
    theirs, ours = mujoco.MjModel.from_xml_path(path), converted(builder)

    assert list(builder.joint_target_ke) == [10.0, 0.0]
    assert same(theirs, ours, "actuator_gainprm", "actuator_biasprm", "actuator_dyntype", "actuator_dynprm")


def test_a_joint_with_two_servos_keeps_both(write):
    text = f"""<mujoco><worldbody><body><joint name="a"/>{B}</body></worldbody>
    <actuator><position joint="a" kp="10" kv="3"/><velocity joint="a" kv="2"/></actuator></mujoco>"""
    theirs, ours = both(write(text))

    assert same(theirs, ours, "actuator_gainprm", "actuator_biasprm")


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_the_integrator_of_a_file_is_taken_over(write, integrator):
    option = f'<option integrator="{integrator}"/>'
    theirs, ours = both(write(f"<mujoco>{option}<worldbody><body><joint/>{B}</body></worldbody></mujoco>"))

    assert ours.opt.integrator == theirs.opt.integrator


def test_a_file_without_an_integrator_gets_one_in_which_drives_are_implicit(write):
    _, ours = both(write(f"<mujoco><worldbody><body><joint/>{B}</body></worldbody></mujoco>"))

    assert ours.opt.integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)


def test_an_ignored_geom_takes_its_mass_with_it(write):
    text = f'<mujoco><worldbody><body><joint/>{B}<geom name="box" size=".1" mass="5"/></body></worldbody></mujoco>'

    builder = prototype_of(write(text), ignore=("box",))

    assert builder.body_mass == pytest.approx([1.0])


def test_inertias_below_newtons_floor_are_kept(write):
    text = '<mujoco><worldbody><body><joint/><geom size="1e-4" mass="1e-6"/></body></worldbody></mujoco>'
    scene = SceneConfig(assets=(AssetConfig(path=write(text)),))
    theirs = mujoco.MjModel.from_xml_path(scene.assets[0].path)

    model = _built(scene)

    assert model.body_inertia.numpy()[0, 0, 0] == pytest.approx(theirs.body_inertia[1, 0], rel=1e-5)


def _built(scene: SceneConfig) -> newton.Model:
    from pippin.catalog.entries import Catalog
    from pippin.components.registry import Components
    from pippin.config import SimulationConfig
    from pippin.devices import find_device

    config = SimulationConfig(scene=scene)
    components = Components(config, (), Catalog.installed())
    return build_model(components, config, None, find_device("cpu"))[0]


def test_a_normal_form_can_be_switched_off(write):
    path = write(
        f'<mujoco><default class="main"><joint damping=".5"/></default><worldbody><body><joint/>{B}</body>'
        "</worldbody></mujoco>"
    )

    builder = prototype_of(path, normalise=False)

    assert builder.joint_damping == [0.0]


def test_the_names_of_merged_axes_are_kept(write):
    builder = prototype_of(write(HINGES.format(pos="", rest="")))

    assert axis_labels(builder) == ["worldbody/b/x", "worldbody/b/y"]


@pytest.mark.parametrize("name", ["", 'name="lost"'])
def test_a_sensor_that_names_nothing_does_not_stop_the_import(write, name):
    sensor = f'<sensor><touch {name} site="nowhere"/></sensor>'
    path = write(f"<mujoco><worldbody><body><joint/>{B}</body></worldbody>{sensor}</mujoco>")

    builder = prototype_of(path)

    assert builder.joint_dof_count == 1


@pytest.mark.parametrize("option", [{"accept_lost": ("flexes",)}, {"normalise": False}])
def test_what_only_mjcf_has_is_refused_for_a_urdf(write, option):
    path = write('<robot name="r"><link name="base"/></robot>', "robot.urdf")

    with pytest.raises(ConfigError, match=f"{next(iter(option))}: Newton's URDF importer has no such option"):
        prototype_of(path, **option)


def test_bounds_of_masses_do_not_reach_the_bodies_that_only_carry_a_joint(write):
    """The hinges have two anchors, so that each gets a body; with 1 g and 1e-4 kg·m² it would be another mechanism."""
    bounds = '<compiler boundmass="0.001" boundinertia="0.0001"/><worldbody>'
    text = HINGES.format(pos='pos=".1 0 0"', rest="").replace("<worldbody>", bounds)
    theirs, ours = both(write(text.replace('mass="1"', 'mass="0.0001"')))

    assert ours.nbody == theirs.nbody + 1
    assert ours.body_mass.sum() == pytest.approx(theirs.body_mass.sum(), rel=1e-5)
    assert theirs.body_mass.sum() == 0.001
