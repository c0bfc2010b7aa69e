"""The loop that a user of Newton would write by hand, over the same model as a Pippin simulation.

It calls Newton's solver, actuators, sensors and collision pipeline directly, and is captured by hand or not at all.
"""

from __future__ import annotations

from collections.abc import Callable

import newton
import numpy as np
import warp as wp
from newton.actuators import Actuator, DrivePD
from newton.sensors import SensorContact, SensorIMU

SOLVERS: dict[str, Callable[[newton.Model], newton.solvers.SolverBase]] = {
    "mujoco": newton.solvers.SolverMuJoCo,
    "xpbd": newton.solvers.SolverXPBD,
    "featherstone": newton.solvers.SolverFeatherstone,
    "semi-implicit": newton.solvers.SolverSemiImplicit,
}


class HandWrittenLoop:
    """One control step is `decimation` physics steps of `dt` [s] and one update of the sensors.

    Args:
        model: The model to step; its drives are off where `joints` names them.
        solver: Name of the solver.
        joints: Indices of the joints under PD control, all worlds.
        gains: Proportional and derivative gain.
        sites: Shape indices of the sites that carry an IMU.
        bodies: Indices of the bodies whose contact forces are summed up.
    """

    def __init__(self, model, solver, joints, gains, sites=(), bodies=(), dt=0.005, decimation=4):
        self.model, self.dt, self.decimation = model, dt, decimation
        self.solver = SOLVERS[solver](model)
        self.is_maximal = solver in ("xpbd", "semi-implicit")
        self.state, self.other = model.state(), model.state()
        self.control = model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, self.state)
        self.actuator = self.pd(joints, gains)
        if solver == "mujoco":
            self.pipeline = None
            self.contacts = newton.Contacts(self.solver.get_max_contact_count(), 0, device=model.device)
        else:
            pipeline = newton.CollisionPipeline(model)
            self.pipeline = pipeline if model.shape_contact_pair_count else None
            self.contacts = pipeline.contacts()
        self.imu = SensorIMU(model, list(sites), request_state_attributes=False) if len(sites) else None
        self.feet = (
            SensorContact(model, sensing_bodies=list(bodies), request_contact_attributes=False) if len(bodies) else None
        )
        sensors = [sensor for sensor in (self.imu, self.feet) if sensor is not None]
        kinds = set().union(*(sensor.solver_observable_kinds for sensor in sensors))
        self.observables = self.solver.observables(kinds, contacts=self.contacts) if kinds else None
        self.graph = None

    def pd(self, joints, gains):
        """Return Newton's PD actuator on joints of one DOF, holding their initial positions."""
        device = self.model.device
        dofs = wp.array(self.model.joint_qd_start.numpy()[joints], dtype=wp.uint32, device=device)
        coordinates = wp.array(self.model.joint_q_start.numpy()[joints], dtype=wp.uint32, device=device)
        kp, kd = (wp.full(len(joints), gain, dtype=float, device=device) for gain in gains)
        targets = self.control.joint_target_q.numpy()
        targets[coordinates.numpy()] = self.model.joint_q.numpy()[coordinates.numpy()]
        self.control.joint_target_q.assign(targets)
        return Actuator(dofs, drive=DrivePD(kp=kp, kd=kd), pos_indices=coordinates)

    def control_step(self):
        """Call everything once, in order; the state ends in the object it began in."""
        state, other = self.state, self.other
        for tick in range(self.decimation):
            self.control.joint_f.zero_()
            self.actuator.step(state, self.control, dt=self.dt)
            state.clear_forces()
            if self.pipeline is not None:
                self.pipeline.collide(state, self.contacts)
            observables = self.observables if tick == self.decimation - 1 else None
            self.solver.step(state, other, self.control, self.contacts, self.dt, observables=observables)
            state, other = other, state
            if self.is_maximal:
                newton.eval_ik(self.model, state, state.joint_q, state.joint_qd)
        if state is not self.state:
            self.state.assign(state)
        if self.imu is not None:
            self.imu.update(self.state, observables=self.observables)
        if self.feet is not None:
            self.feet.update(self.state, self.contacts, observables=self.observables)

    def capture(self):
        """Record a control step by hand. Every kernel must have run once."""
        with wp.ScopedCapture(device=self.model.device) as capture:
            self.control_step()
        self.graph = capture.graph

    def run(self, count):
        """Advance by calling everything."""
        for _ in range(count):
            self.control_step()

    def replay(self, count):
        """Advance by replaying what was recorded."""
        for _ in range(count):
            wp.capture_launch(self.graph)

    def joint_q(self) -> np.ndarray:
        """Return the joint coordinates."""
        return self.state.joint_q.numpy()
