"""The MuJoCo plugin: Newton's options with Newton's defaults, and a solver that obeys them or the asset."""

import inspect

import attrs
import mujoco
import newton
import numpy as np
import pippin
import pippin_conformance as conformance
import pytest
from pippin import ConfigError
from pippin_solver_mujoco import MuJoCoConfig

LEFT_OUT = {
    "deterministic": "does not compile with Warp 1.19",
    "update_data_interval": "deprecated in Newton 1.8 for every value",
    "use_mujoco_cpu": "simulates one world only, outside Warp",
}


def newton_options():
    parameters = inspect.signature(newton.solvers.SolverMuJoCo).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.name != "model"}


@pytest.mark.alone
def test_options_and_defaults_are_those_of_newton():
    theirs, ours = newton_options(), {field.name: field.default for field in attrs.fields(MuJoCoConfig)}

    assert ours == {name: default for name, default in theirs.items() if name not in LEFT_OUT}


def test_what_is_left_out_is_an_option_of_newton():
    assert LEFT_OUT.keys() <= newton_options().keys()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iterations", 0),
        ("iterations", True),
        ("njmax", -1),
        ("tolerance", -1e-6),
        ("impratio", float("nan")),
        ("wind", [1.0, 0.0]),
        ("magnetic", [0.0, float("inf"), 0.0]),
        ("solver", "pgs"),
        ("integrator", "verlet"),
        ("cone", "round"),
        ("use_mujoco_cpu", True),
        ("ls_parallel", True),
        ("update_data_interval", 1),
    ],
)
def test_a_bad_option_is_refused_by_name(option, value):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}\b.*: "):
        pippin.structure({"solver": {"type": "mujoco", option: value}})


@pytest.mark.parametrize("option", MuJoCoConfig.replaced_keys)
def test_an_option_of_earlier_versions_is_refused_with_what_replaced_it(option):
    with pytest.raises(pippin.ConfigError, match=rf"^solver\.{option}: not a key any more; [a-z]+"):
        pippin.structure({"solver": {"type": "mujoco", option: 1}})


def test_speculative_contacts_need_those_of_newton():
    config = pippin.structure({"solver": {"type": "mujoco", "use_speculative_contacts": True}})

    with pytest.raises(
        pippin.ConfigError, match=r"^solver\.use_speculative_contacts: True, .*use_mujoco_contacts = false"
    ):
        pippin.Simulation(config)


ASSET = """
<mujoco>
  <option iterations="7" ls_iterations="9" cone="elliptic"/>
  <worldbody>
    <body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def asset(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(ASSET)
    return path


@pytest.fixture
def scene(asset):
    return {"ground": True, "assets": [{"path": str(asset)}]}


pytestmark = pytest.mark.simulation(dt=0.002, capture="require", solver={"type": "mujoco"}, options="solver")


@pytest.mark.alone
def test_what_the_file_states_overrides_the_asset_and_the_rest_is_inherited(simulate, scene):
    with simulate(scene=scene, iterations=11) as simulation:
        option = simulation.solver.mj_model.opt

    assert isinstance(simulation.solver, newton.solvers.SolverMuJoCo)
    assert (option.iterations, option.ls_iterations, option.cone) == (11, 9, 1)


@pytest.mark.parametrize("use_mujoco_contacts", [True, False])
def test_a_sphere_rests_on_the_ground_whoever_detects_its_contacts(simulate, scene, use_mujoco_contacts):
    """Soft contacts give way by some 0.4 mm under 41 N; the velocity is what is left after 1 s."""
    with simulate(scene=scene, worlds=2, use_mujoco_contacts=use_mujoco_contacts) as simulation:
        simulation.step(500)
        simulation.raise_errors()

        assert (simulation.contact_source.pipeline is None) == use_mujoco_contacts
        np.testing.assert_allclose(simulation.state.body_q.numpy()[:, 2], 0.1, atol=1e-3)
        np.testing.assert_allclose(simulation.state.body_qd.numpy(), 0.0, atol=1e-4)


SLIPPERY = """<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0 0.02 0.01" condim="6"/>
<body pos="0 0 0.1"><freejoint/><geom size="0.1" friction="0 0.02 0.01" condim="6"/></body></worldbody></mujoco>"""


def test_pyramids_without_sliding_friction_are_refused_for_they_give_nan(simulate, tmp_path):
    path = tmp_path / "slippery.xml"
    path.write_text(SLIPPERY)
    scene = {"assets": [{"path": str(path)}]}

    with pytest.raises(ConfigError, match=r"^solver\.cone: contacts of condim 4 or 6 need .*mu = 0\.002"):
        simulate(scene=scene)
    with simulate(scene=scene, cone="elliptic") as simulation:
        simulation.step(20)
        assert np.isfinite(simulation.state.body_qd.numpy()).all()


def test_wind_carries_a_light_sphere_along(simulate, scene):
    """A medium with density pulls every body towards its own velocity."""
    speeds = []
    for wind in (0.0, 5.0):
        with simulate(scene=scene, wind=[wind, 0.0, 0.0], density=10.0) as simulation:
            simulation.step(50)
            speeds.append(simulation.state.body_qd.numpy()[0, 0])

    assert abs(speeds[0]) < 1e-6
    assert 0.0 < speeds[1] < 5.0


def test_a_force_acts_in_its_own_world(simulate, scene):
    """(F / m - g) dt from the start, where the spheres touch the ground and no contact holds them yet."""
    forces = np.array([[0.0], [100.0], [50.0]], dtype=np.float32) * np.float32([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    with simulate(scene=scene, worlds=3) as simulation:
        simulation.state.body_f.assign(forces)
        simulation.step()

        velocity, mass = simulation.state.body_qd.numpy()[:, 2], simulation.model.body_mass.numpy()

    np.testing.assert_allclose(velocity, (forces[:, 2] / mass - 9.81) * 0.002, rtol=1e-4)


RACK = "".join(f'<geom type="sphere" size="0.05" pos="{0.2 * (i % 5)} {0.2 * (i // 5)} 0"/>' for i in range(20))
"""Twenty spheres of one body: on the ground they need 20 contacts of four rows each, more than the usual 64 rows."""


@pytest.fixture
def rack(tmp_path):
    """Return a function that builds a rack of spheres that starts at a height [m]."""

    def build(height, worlds=2, **options):
        asset = tmp_path / "rack.xml"
        body = f'<body name="rack" pos="0 0 {height}"><freejoint/>{RACK}</body>'
        asset.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
        tables = {
            "simulation": {"device": "cpu", "dt": 0.002, "capture": "off"},
            "scene": {"worlds": worlds, "ground": True, "assets": [{"path": str(asset)}]},
            "solver": {"type": "mujoco", **options},
        }
        return pippin.Simulation(pippin.structure(tables))

    return build


def test_buffers_have_room_for_the_contacts_of_a_fall(rack):
    """Twice the rows and three times the contacts of a fall, 80 and 20 here, rounded up."""
    with rack(0.5) as simulation:
        allocated = {capacity.field: capacity.allocated for capacity in simulation.capacities}

    assert allocated["solver.njmax"] == 192
    assert allocated["solver.nconmax"] == 2 * 64


def test_a_size_in_the_file_is_kept(rack):
    with rack(0.5, njmax=70, nconmax=21) as simulation:
        allocated = {capacity.field: capacity.allocated for capacity in simulation.capacities}

    assert allocated["solver.njmax"] == 70
    assert allocated["solver.nconmax"] == 2 * 21


@pytest.mark.slow
def test_too_small_a_size_in_the_file_is_an_error_with_the_number_per_world(rack):
    with rack(0.5, njmax=60, nconmax=10) as simulation:
        simulation.step(170)

        with pytest.raises(pippin.BufferOverflowError) as caught:
            simulation.raise_errors()

    assert caught.value.needed == {"solver.njmax": 80, "solver.nconmax": 20}
    assert "solver.nconmax: 40 pairs of shapes of all worlds that may touch did not fit into 20; " in str(caught.value)
    assert "set it to at least 20 per world" in str(caught.value)


def test_a_reached_limit_of_iterations_is_counted_and_not_printed(rack, capfd):
    with rack(0.049, iterations=1, ls_iterations=1) as simulation:
        simulation.step(3)
        simulation.raise_errors()
        count = simulation.iteration_limit_count

    assert 0 < count <= 2 * 3
    assert "iterations" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("flag", "integrator", "is_told"), [("disable", "implicit", True), ("enable", "implicit", False)]
)
def test_damping_that_a_flag_takes_to_the_start_of_a_step_is_told(tmp_path, flag, integrator, is_told):
    """A damper of 0.1 N·m·s/rad on 0.002 kg·m² takes 0.1 of the speed in 2 ms, or 1 - 1 / 1.1 of it."""
    file = tmp_path / "damped.xml"
    file.write_text(f"""<mujoco><option gravity="0 0 0" timestep=".002" integrator="{integrator}">
      <flag actuation="{flag}"/></option><worldbody><body name="b"><joint name="j" damping="0.1"/>
      <inertial pos="0 0 0" mass="1" diaginertia=".002 .002 .002"/></body></worldbody>
      <keyframe><key name="k" qvel="1"/></keyframe></mujoco>""")
    asset = {"path": str(file), "keyframe": "k"}
    config = {"simulation": {"device": "cpu", "dt": 0.002}, "scene": {"assets": [asset]}, "solver": {"type": "mujoco"}}

    with pippin.Simulation(pippin.structure(config)) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes]
        simulation.step()
        speed = float(simulation.state.joint_qd.numpy()[0])

    assert any("start of a step" in note for note in notes) == is_told
    assert speed == pytest.approx(0.9 if is_told else 1.0 / 1.1, rel=1e-4)


@pytest.mark.parametrize(("flag", "speed"), [("enable", 1.0 / 1.5), ("disable", 1.0 / 2.5)])
def test_a_control_out_of_its_range_is_clamped_in_implicit_damping_too(tmp_path, flag, speed):
    """The damper has 1 N·m·s/rad per control, on 0.02 kg·m², for 10 ms; MuJoCo Warp's derivative has 3 of them."""
    file = tmp_path / "damper.xml"
    file.write_text(f"""<mujoco><option gravity="0 0 0" integrator="implicitfast"><flag clampctrl="{flag}"/></option>
      <worldbody><body name="b"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia=".02 .02 .02"/></body>
      </worldbody><actuator><damper joint="j" kv="1" ctrlrange="0 1"/></actuator>
      <keyframe><key name="k" qvel="1" ctrl="3"/></keyframe></mujoco>""")
    asset = {"path": str(file), "keyframe": "k"}
    config = {"simulation": {"device": "cpu", "dt": 0.01}, "scene": {"assets": [asset]}, "solver": {"type": "mujoco"}}

    with pippin.Simulation(pippin.structure(config)) as simulation:
        simulation.step()

        assert simulation.state.joint_qd.numpy()[0] == pytest.approx(speed, rel=1e-4)


TIED = """<mujoco><option gravity="0 0 0" timestep=".002" tolerance="1e-12" iterations="100"/><worldbody><body name="a">
  <joint name="j" axis="0 0 1"/><geom size=".1" pos="{com} 0 0" contype="0" conaffinity="0"/>
  <body name="b" pos=".14 .09 .05"><joint name="k" type="ball" pos=".1 .2 .05"/>
  <geom type="box" size=".1 .07 .05" pos="0 .1 0" contype="0" conaffinity="0"/></body></body></worldbody>
  <equality><weld body1="a" body2="b"/></equality><keyframe><key name="k" qvel=".5 2 3 -2"/></keyframe></mujoco>"""


HARD = """<mujoco><option gravity="-5 -2 1" integrator="implicitfast"/><worldbody><body name="a"><inertial pos="0 0 0"
  mass="1" diaginertia=".01 .01 .01"/><body name="b" pos=".01 .3 .4"><joint axis="0 0 1"/>
  <inertial pos="-.04 -.06 -.05" mass="2" diaginertia=".03 .03 .03"/>
  <body name="c"><joint type="ball"/><inertial pos="-.03 .03 .02" mass=".6" diaginertia=".005 .004 .003"/></body>
  </body></body></worldbody><keyframe><key name="k"/></keyframe>
  <equality><connect body1="a" body2="c" anchor="-.08 -.006 .2" solimp="{0} {0} .001"/></equality></mujoco>"""


def speeds_of_ties(folder, text, steps):
    """Return the speeds of joints after some steps, those of MuJoCo, and the notes on ties."""
    (folder / "tied.xml").write_text(text)
    asset = {"path": str(folder / "tied.xml"), "keyframe": "k"}
    config = {"simulation": {"device": "cpu", "dt": 0.002}, "scene": {"assets": [asset]}, "solver": {"type": "mujoco"}}
    with pippin.Simulation(pippin.structure(config)) as simulation:
        simulation.step(steps)
        found = simulation.solver.mjw_data.qvel.numpy()[0]
        notes = [note for notes in simulation.notes.values() for note in notes if "weld:" in note]
    model = mujoco.MjModel.from_xml_path(str(folder / "tied.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, steps)
    return found, data.qvel, notes


@pytest.mark.filterwarnings("ignore:.*Adding a FIXED joint")
def test_ties_take_the_velocities_of_their_own_step(tmp_path):
    """MuJoCo Warp takes those of the step before for the acceleration that turning makes: 9e-4 rad/s off."""
    found, true, notes = speeds_of_ties(tmp_path, TIED.format(com=0.1), 20)

    np.testing.assert_allclose(found, true, atol=2e-5)
    assert not notes


@pytest.mark.filterwarnings("ignore:.*Adding a FIXED joint")
def test_a_tie_of_a_body_that_turns_about_its_centre_of_mass_is_told(tmp_path):
    found, true, notes = speeds_of_ties(tmp_path, TIED.format(com=0.0), 1)

    (note,) = notes
    assert "body 'worldbody_a' turns about its centre of mass" in note
    assert np.abs(found - true).max() > 1e-3


@pytest.mark.parametrize(("impedance", "error"), [(1.0, (0.02, 0.05)), (0.999, (0.0, 1e-3))])
def test_a_tie_that_is_too_hard_for_single_precision_is_told(tmp_path, impedance, error):
    """Velocities after the first step, in units of the largest one."""
    found, true, notes = speeds_of_ties(tmp_path, HARD.format(impedance), 1)

    least, most = error
    assert [note.partition(" that")[0] for note in notes] == ["connect, weld: solimp 1 is so hard"] * (least > 0.0)
    assert least <= np.abs(found - true).max() / np.abs(true).max() <= most


@pytest.mark.parametrize(("flag", "speed"), [("disable", 0.9), ("enable", 1.0 / 1.1)])
def test_damping_of_actuators_that_a_flag_takes_to_the_start_of_a_step_is_told(tmp_path, flag, speed):
    file = tmp_path / "damped.xml"
    file.write_text(f"""<mujoco><option gravity="0 0 0" timestep=".002" integrator="implicit"><flag damper="{flag}"/>
      </option><worldbody><body name="b"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia=".002 .002 .002"/>
      </body></worldbody><actuator><velocity joint="j" kv="0.1"/></actuator>
      <keyframe><key name="k" qvel="1"/></keyframe></mujoco>""")
    asset = {"path": str(file), "keyframe": "k"}
    config = {"simulation": {"device": "cpu", "dt": 0.002}, "scene": {"assets": [asset]}, "solver": {"type": "mujoco"}}

    with pippin.Simulation(pippin.structure(config)) as simulation:
        notes = [note for notes in simulation.notes.values() for note in notes if "start of a step" in note]
        simulation.step()

        assert simulation.state.joint_qd.numpy()[0] == pytest.approx(speed, rel=1e-4)
    assert [flag for note in notes if 'flag damper="disable"' in note] == ["disable"] * (flag == "disable")


PYRAMID = 'its cone of friction is a pyramid unless cone = "elliptic", and rubs more between its edges'
CONFORMANCE = conformance.Conformance(
    "solver", "mujoco", expected_failures={"relation_rotate": PYRAMID, "relation_turn": PYRAMID}
)


@pytest.mark.slow
@conformance.parametrize(CONFORMANCE)
def test_it_keeps_the_contract(check):
    check()


@pytest.mark.slow
def test_matter_rubs_alike_in_all_directions_with_an_elliptic_cone():
    kit = conformance.Conformance("solver", "mujoco", config={"cone": "elliptic"})

    assert [kit.run(name).reason for name in ("relation_rotate", "relation_turn")] == ["", ""]
