"""Owners of degrees of freedom: two drivers from any two sources are refused, and so is an object of two worlds."""

import newton
import pippin
import pytest
import warp as wp
from newton.actuators import DrivePD
from pippin_actuator_pd import PDConfig
from pippin_actuator_pd.actuator import ActuatorPD
from pippin_isaac import ActuatorConfig, ArticulationActuators

PD = {"type": "pd", "joints": ["hinge_0"], "kp": 1.0}


class Owner:
    """Lists DOFs, and drives them with nothing."""

    def __init__(self, *dofs):
        self.dofs = dofs

    @pippin.hookimpl
    def bind(self, simulation):
        self.actuated_dofs = wp.array(self.dofs, dtype=int, device=simulation.device)


def given(joint="hinge_0"):
    gains = [wp.full(1, value, dtype=float, device="cpu") for value in (7.0, 0.0)]
    return ArticulationActuators.from_actuators(".*", [(ActuatorConfig(DrivePD(*gains)), joint)])


def servo():
    """Return a hinge with a drive of its own."""
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    link = builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(1.0)))
    builder.add_articulation([builder.add_joint_revolute(-1, link, label="hinge_0", target_ke=5.0)])
    return builder


@pytest.mark.parametrize(
    ("groups", "plugins", "message"),
    [
        ({"one": PD, "two": PD}, {}, r"^actuators\.two\.joints: joint 'hinge_0' is driven by actuators\.one already"),
        ({"one": PD}, {"arm": given()}, r"^plugins\.arm: joint 'hinge_0' is driven by actuators\.one already"),
        ({}, {"arm": given(), "leg": given()}, r"^plugins\.leg: joint 'hinge_0' is driven by plugins\.arm already"),
        ({"one": PD}, {"push": Owner(1, 0)}, r"^plugins\.push: .*driven by actuators\.one .*only add effort"),
        (
            {"one": PD},
            {"more": ActuatorPD(PDConfig(joints=("hinge_0",), kp=1.0))},
            r"^plugins\.more: joint 'hinge_0' is driven by actuators\.one already",
        ),
    ],
)
def test_two_drivers_of_one_dof_are_refused(chain, configure, groups, plugins, message):
    config = configure("featherstone", actuators=groups)

    with pytest.raises(pippin.ConfigError, match=message):
        pippin.Simulation(config, plugins=plugins, prototype=chain())


def test_an_object_that_drives_beside_the_drive_of_the_asset_is_refused(configure):
    with pytest.raises(pippin.ConfigError, match=r"plugins\.push: joint 'hinge_0' is driven by the asset too; call"):
        pippin.Simulation(configure("featherstone"), plugins={"push": Owner(0)}, prototype=servo())


def test_dofs_that_do_not_exist_are_refused(chain, configure):
    with pytest.raises(pippin.PluginError, match=r"plugins:push: actuated_dofs lists DOF 2; there are 2"):
        pippin.Simulation(configure("featherstone"), plugins={"push": Owner(2)}, prototype=chain())


@pytest.mark.parametrize("make", [given, lambda: ActuatorPD(PDConfig(joints=("hinge_0",), kp=1.0))])
def test_an_object_of_one_simulation_is_refused_by_another(chain, configure, make):
    config, shared = configure("featherstone"), make()

    with (
        pippin.Simulation(config, plugins={"arm": shared}, prototype=chain()),
        pytest.raises(pippin.ConfigError, match=r"^plugins\.arm\.object: this \w+ belongs to another simulation; make"),
    ):
        pippin.Simulation(config, plugins={"arm": shared}, prototype=chain())
