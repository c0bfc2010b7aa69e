"""The record of a run names every axis."""

import newton
import pippin
import warp as wp
from pippin.analysis.recorder import Recorder
from pippin.axes import name_axes


def test_series_are_labelled_by_axes(configure):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
    base, arm, hand = (builder.add_link(mass=1.0, inertia=wp.diag(wp.vec3(0.1))) for _ in range(3))
    slide, turn = (newton.ModelBuilder.JointDofConfig(axis=axis) for axis in ((1, 0, 0), (0, 1, 0)))
    joints = [
        builder.add_joint_free(base, label="bot/base"),
        builder.add_joint_d6(base, arm, linear_axes=[slide], angular_axes=[turn], label="bot/arm"),
        builder.add_joint_d6(arm, hand, linear_axes=[slide], angular_axes=[turn], label="bot/hand"),
    ]
    builder.add_articulation(joints)
    name_axes(builder, joints[1], ["reach", "turn"])
    recorder = Recorder(steps=1)
    config = configure("featherstone", actuators={"all": {"type": "pd", "joints": [".*"], "kp": 1.0}})

    with pippin.Simulation(config, [recorder], builder) as simulation:
        simulation.step()

    series, own = recorder.series(), ("bot/reach", "bot/turn", "bot/hand:0", "bot/hand:1")
    assert series["joint_q"].labels == (*(f"bot/base:{index}" for index in range(7)), *own)
    assert series["joint_qd"].labels == (*(f"bot/base:{index}" for index in range(6)), *own)
    assert series["actuators/all/applied_effort"].labels == own
    assert series["actuators/all/applied_effort"].units == ("N", "N·m") * 2
