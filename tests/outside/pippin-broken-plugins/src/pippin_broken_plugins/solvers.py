"""Solvers that break a promise in what they do or in what they say of themselves."""

from typing import Any, ClassVar

import attrs
import newton
import numpy as np
import pippin
import warp as wp
from pippin.solving import FEATURES
from pippin_solver_xpbd import XPBDConfig
from pippin_solver_xpbd.solver import SolverXPBD

__all__ = [
    "Allocating",
    "Averaging",
    "Claiming",
    "Detecting",
    "FixedGravity",
    "Floating",
    "Forgetful",
    "Frozen",
    "Hesitant",
    "JointsOnly",
    "Loose",
    "Mingling",
    "Random",
    "Remembering",
    "Shared",
    "SilentObservable",
    "Single",
    "SlowPendulum",
    "UnknownFeature",
    "WholeStep",
    "WithGlobal",
]

COUNTS: dict[int, int] = {}


@wp.kernel
def push(force: wp.vec3, body_f: wp.array[wp.spatial_vector]):
    i = wp.tid()
    body_f[i] = body_f[i] + wp.spatial_vector(force, wp.vec3())


@wp.kernel
def push_less_and_less(calls: wp.array[float], body_f: wp.array[wp.spatial_vector]):
    i = wp.tid()
    calls[i] = calls[i] + 1.0
    body_f[i] = body_f[i] + wp.spatial_vector(wp.vec3(1.0 / calls[i], 0.0, 0.0), wp.vec3())


def push_all(state: newton.State, x: float) -> None:
    wp.launch(push, state.body_count, [wp.vec3(x, 0.0, 0.0), state.body_f], device=state.body_f.device)


@attrs.frozen(kw_only=True)
class SingleConfig(XPBDConfig):
    """Settings of `Single`."""

    implementation = "Single"


class Single(SolverXPBD):
    """Can be built once in a process."""

    is_taken: ClassVar[bool] = False

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> newton.solvers.SolverXPBD:
        if Single.is_taken:
            raise RuntimeError("the engine is in use")
        Single.is_taken = True
        return super().build_solver(model, dt)


@attrs.frozen(kw_only=True)
class HesitantConfig(XPBDConfig):
    """Settings of `Hesitant`."""

    implementation = "Hesitant"


class Hesitant(SolverXPBD):
    """Reads on the host in a step, and does not say so."""

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        push_all(state, -float(state.body_qd.numpy()[0, 0]))


@attrs.frozen(kw_only=True)
class RandomConfig(XPBDConfig):
    """Settings of `Random`."""

    implementation = "Random"


class Random(SolverXPBD):
    """Pushes as nobody can foresee."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        push_all(state, float(np.random.default_rng().uniform(1.0, 2.0)))


@attrs.frozen(kw_only=True)
class AveragingConfig(XPBDConfig):
    """Settings of `Averaging`."""

    implementation = "Averaging"


class Averaging(SolverXPBD):
    """Weighs velocities of all worlds with nothing, which makes no number of what is none."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        push_all(state, 0.0 * float(state.body_qd.numpy().sum()))


@attrs.frozen(kw_only=True)
class WholeStepConfig(XPBDConfig):
    """Settings of `WholeStep`."""

    implementation = "WholeStep"


class WholeStep(SolverXPBD):
    """Takes each substep for a whole step."""

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        self.dt = simulation.config.simulation.dt

    @pippin.hookimpl
    def step_solver(
        self, solver: Any, state_in: Any, state_out: Any, control: Any, contacts: Any, observables: Any
    ) -> None:
        solver.step(state_in, state_out, control, contacts, self.dt, observables=observables)


@attrs.frozen(kw_only=True)
class AllocatingConfig(XPBDConfig):
    """Settings of `Allocating`."""

    implementation = "Allocating"


class Allocating(SolverXPBD):
    """Makes a new array in each substep."""

    is_capturable = False

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        wp.zeros(state.body_count, dtype=float, device=state.body_f.device)


@attrs.frozen(kw_only=True)
class RememberingConfig(XPBDConfig):
    """Settings of `Remembering`."""

    implementation = "Remembering"


class Remembering(SolverXPBD):
    """Carries an array that it does not declare, so that no reset forgets it."""

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        self.calls = wp.zeros(simulation.model.body_count, dtype=float, device=simulation.device)

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        wp.launch(push_less_and_less, len(self.calls), [self.calls, state.body_f], device=self.calls.device)


@attrs.frozen(kw_only=True)
class ForgetfulConfig(XPBDConfig):
    """Settings of `Forgetful`."""

    implementation = "Forgetful"


class Forgetful(SolverXPBD):
    """Stops every world where one is reset."""

    @pippin.hookimpl
    def reset_worlds(self, state: newton.State) -> None:
        state.body_qd.zero_()


@attrs.frozen(kw_only=True)
class WithGlobalConfig(XPBDConfig):
    """Settings of `WithGlobal`."""

    implementation = "WithGlobal"


class WithGlobal(SolverXPBD):
    """Carries a number where nobody finds it."""

    is_capturable = False

    @pippin.hookimpl
    def bind(self) -> None:
        COUNTS[id(self)] = 0

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        COUNTS[id(self)] += 1
        push_all(state, float(COUNTS[id(self)]))


@attrs.frozen(kw_only=True)
class SharedConfig(XPBDConfig):
    """Settings of `Shared`."""

    implementation = "Shared"


class Shared(SolverXPBD):
    """Carries a number that all simulations share."""

    is_capturable = False
    calls: ClassVar[dict[str, int]] = {}

    @pippin.hookimpl
    def bind(self) -> None:
        self.calls["count"] = 0

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        self.calls["count"] += 1
        push_all(state, float(self.calls["count"]))


@attrs.frozen(kw_only=True)
class FloatingConfig(XPBDConfig):
    """Settings of `Floating`."""

    implementation = "Floating"


class Floating(SolverXPBD):
    """Bears half of everything's weight."""

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        forces = np.zeros((simulation.model.body_count, 6), dtype=np.float32)
        forces[:, 2] = self.share(simulation.model) * 9.81 * simulation.model.body_mass.numpy()
        self.lift = wp.array(forces, dtype=wp.spatial_vector, device=simulation.device)

    def share(self, model: newton.Model) -> Any:
        return 0.5

    @pippin.hookimpl
    def before_substep(self, state: newton.State) -> None:
        wp.copy(state.body_f, self.lift)


@attrs.frozen(kw_only=True)
class SlowPendulumConfig(FloatingConfig):
    """Settings of `SlowPendulum`."""

    implementation = "SlowPendulum"


class SlowPendulum(Floating):
    """Bears a part of the weight of pendulums."""

    def share(self, model: newton.Model) -> Any:
        return np.array([0.3 * (label == "bob") for label in model.body_label])


@attrs.frozen(kw_only=True)
class JointsOnlyConfig(XPBDConfig):
    """Settings of `JointsOnly`."""

    implementation = "JointsOnly"


class JointsOnly(SolverXPBD):
    """Writes joints, and claims to write bodies too."""

    coordinates = "reduced"

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> newton.solvers.SolverFeatherstone:
        self.whole = model.state()
        return newton.solvers.SolverFeatherstone(model)

    @pippin.hookimpl
    def step_solver(self, solver: Any, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float) -> None:
        solver.step(state_in, self.whole, control, contacts, dt)
        wp.copy(state_out.joint_q, self.whole.joint_q)
        wp.copy(state_out.joint_qd, self.whole.joint_qd)


@attrs.frozen(kw_only=True)
class DetectingConfig(XPBDConfig):
    """Settings of `Detecting`."""

    implementation = "Detecting"


class Detecting(SolverXPBD):
    """Says that it detects contacts, and takes the host's."""

    detects_contacts = True


@attrs.frozen(kw_only=True)
class UnknownFeatureConfig(XPBDConfig):
    """Settings of `UnknownFeature`."""

    implementation = "UnknownFeature"


class UnknownFeature(SolverXPBD):
    """Declares what no scene may have."""

    supported_features = SolverXPBD.supported_features | {"warp_drive": "live"}


@attrs.frozen(kw_only=True)
class ClaimingConfig(XPBDConfig):
    """Settings of `Claiming`."""

    implementation = "Claiming"


class Claiming(SolverXPBD):
    """Declares friction of joints, which XPBD does not know."""

    supported_features = SolverXPBD.supported_features | {"joint_friction": "live"}


class SilentXPBD(newton.solvers.SolverXPBD):
    """Offers an observable that it does not write."""

    SUPPORTED_OBSERVABLES = newton.solvers.SolverXPBD.SUPPORTED_OBSERVABLES | {"body_qdd"}


@attrs.frozen(kw_only=True)
class SilentObservableConfig(XPBDConfig):
    """Settings of `SilentObservable`."""

    implementation = "SilentObservable"


class SilentObservable(SolverXPBD):
    """Builds it."""

    supported_observables = SilentXPBD.SUPPORTED_OBSERVABLES

    @pippin.hookimpl
    def build_solver(self, model: newton.Model, dt: float) -> newton.solvers.SolverXPBD:
        return SilentXPBD(model)


@attrs.frozen(kw_only=True)
class MinglingConfig(XPBDConfig):
    """Settings of `Mingling`."""

    implementation = "Mingling"


class Mingling(SolverXPBD):
    """Declares that the particles of a world meet no others; XPBD searches for neighbours in all worlds."""

    supported_features = SolverXPBD.supported_features | {"particle_worlds": "live"}


@attrs.frozen(kw_only=True)
class FixedGravityConfig(XPBDConfig):
    """Settings of `FixedGravity`."""

    implementation = "FixedGravity"


class FixedGravity(SolverXPBD):
    """Keeps to the gravity that it was built with."""

    @pippin.hookimpl
    def bind(self, simulation: pippin.Host) -> None:
        self.gravity, self.kept = simulation.model.gravity, wp.clone(simulation.model.gravity)

    @pippin.hookimpl
    def before_substep(self) -> None:
        wp.copy(self.gravity, self.kept)


class SolverLoose(newton.solvers.SolverBase):
    """Lets bodies and particles fall, whatever joins them; or, where it is frozen, leaves everything where it is."""

    def __init__(self, model: newton.Model, is_frozen: bool) -> None:
        super().__init__(model)
        self.is_frozen = is_frozen

    def step(
        self, state_in: Any, state_out: Any, control: Any, contacts: Any, dt: float, *, observables: Any = None
    ) -> None:
        state_out.assign(state_in)
        if not self.is_frozen:
            self.integrate_bodies(self.model, state_in, state_out, dt)
            self.integrate_particles(self.model, state_in, state_out, dt)


@attrs.frozen(kw_only=True)
class LooseConfig(XPBDConfig):
    """Settings of `Loose`."""

    implementation = "Loose"


class Loose(SolverXPBD):
    """Declares every feature, and knows no joint, no contact and no spring."""

    is_frozen: ClassVar[bool] = False
    supported_features = dict.fromkeys(FEATURES, "live")

    @pippin.hookimpl
    def build_solver(self, model: newton.Model) -> SolverLoose:
        return SolverLoose(model, self.is_frozen)


@attrs.frozen(kw_only=True)
class FrozenConfig(LooseConfig):
    """Settings of `Frozen`."""

    implementation = "Frozen"


class Frozen(Loose):
    """Declares every feature, and moves nothing."""

    is_frozen = True
